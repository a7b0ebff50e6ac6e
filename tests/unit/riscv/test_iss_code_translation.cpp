// SPDX-License-Identifier: Apache-2.0
/// What the translations of instruction fetches cost.
#include <string>

#include <catch2/catch.hpp>

#include "tests/unit/riscv/paged_machine.h"

using namespace sluice;
using namespace sluice::riscv;

namespace {

constexpr std::uint64_t kMissSlots = 40, kSecondCycles = 7;

/// TLBs of so many pages of code, all in one set, and of 16 in the second level.
HartConfig with_code_tlb(TimingParts& parts, Timing timing, unsigned entries, unsigned data_entries = 0) {
  HartConfig c;
  parts.give_to(c, timing);
  c.translation = {{data_entries, std::max(1u, data_entries)}, {16, 16}, kSecondCycles, 0, {entries, entries}};
  return c;
}

/// In each page of the view, a jump to a0 in a line of its own, which page tables do not use either.
struct Pages : Paged {
  explicit Pages(const HartConfig& config) : Paged({}, config) {
    for (unsigned n = 0; n < 8; ++n) load_words({kJump}, frame(n) + offset(n));
  }
  static constexpr std::uint32_t kJump = 0x0005'0067;
  static constexpr std::uint64_t offset(unsigned page) { return (page + 1) * 64; }
  static constexpr std::uint64_t at(unsigned page) { return kView + page * kPage + offset(page); }
  /// Jumps from where the hart is to a page. Returns the slots of it.
  std::uint64_t go_to(unsigned page) {
    hart.state().pc = at(page);
    hart.state().x[kA0] = at(page);
    const std::uint64_t before = hart.state().slots;
    hart.step();
    return hart.state().slots - before;
  }
  std::uint64_t misses_of(unsigned page) {
    const std::uint64_t before = hart.counters().tlb_code_misses;
    go_to(page);
    return hart.counters().tlb_code_misses - before;
  }
};

}  // namespace

TEST_CASE("the first TLB of fetches has the pages that came last", "[iss]") {
  for (const Timing timing : {Timing::cached, Timing::interval}) {
    TimingParts parts;
    Pages m(with_code_tlb(parts, timing, 2));
    CHECK(m.misses_of(0) == 1);
    CHECK(m.misses_of(1) == 1);
    CHECK(m.misses_of(0) == 0);
    CHECK(m.misses_of(2) == 1);  // displaces 0, which came first
    CHECK(m.misses_of(1) == 0);
    CHECK(m.misses_of(0) == 1);
    CHECK(m.misses_of(2) == 0);
    CHECK(m.hart.counters().tlb_code_displaced == 2);
    CHECK(m.hart.counters().tlb_walks == 3);
    CHECK(m.hart.counters().tlb_misses == 0);
  }
}

TEST_CASE("a fetch waits for the second level, and for misses of its walk", "[iss]") {
  TimingParts parts;
  Pages m(with_code_tlb(parts, Timing::cached, 2));
  const std::uint64_t width = m.hart.config().privileged.issue_width;
  for (unsigned n = 0; n < 3; ++n) parts.l1i.fill(frame(n) + Pages::offset(n), base::LineState::kExclusive);
  const std::uint64_t first = m.go_to(0);
  const std::uint64_t again = m.go_to(0);
  CHECK(first - again == kSecondCycles * width + 3 * kMissSlots);
  CHECK(m.go_to(1) - again == kSecondCycles * width);  // the tables are in L1D
  CHECK(m.go_to(2) - again == kSecondCycles * width);
  CHECK(m.go_to(0) - again == kSecondCycles * width);  // the second level has the page
  CHECK(m.hart.counters().tlb_walks == 3);
  CHECK(m.hart.counters().tlb_reads == 9);
}

TEST_CASE("with a window, dispatch waits for the translation of a fetch", "[iss]") {
  TimingParts parts;
  Pages m(with_code_tlb(parts, Timing::interval, 2));
  const std::uint64_t width = m.hart.config().privileged.issue_width;
  for (unsigned n = 0; n < 3; ++n) parts.l1i.fill(frame(n) + Pages::offset(n), base::LineState::kExclusive);
  for (unsigned n = 0; n < 9; ++n) m.go_to(n % 3);  // the predictor knows them
  const std::uint64_t before = m.hart.state().slots;
  m.go_to(0);
  const std::uint64_t missing = m.hart.state().slots - before;
  CHECK(m.hart.counters().tlb_code_misses == 10);
  const std::uint64_t there = m.go_to(0);
  CHECK(missing - there >= (kSecondCycles - 1) * width);
  CHECK(missing - there <= (kSecondCycles + 1) * width);
}

TEST_CASE("code and data share the second level, not the first", "[iss]") {
  TimingParts parts;
  Pages m(with_code_tlb(parts, Timing::cached, 4, 4));
  m.load_words({ld(kA1, kS0)}, frame(7));
  m.hart.state().x[kS0] = kView;
  m.hart.state().pc = kView + 7 * kPage;
  m.hart.step();
  const HartCounters& c = m.hart.counters();
  CHECK(c.tlb_code_misses == 1);
  CHECK(c.tlb_misses == 1);
  CHECK(c.tlb_walks == 2);
  CHECK(m.misses_of(0) == 1);
  CHECK(c.tlb_walks == 2);
  m.hart.state().x[kS0] = kView + 7 * kPage;
  m.hart.state().pc = kView + 7 * kPage;
  m.hart.step();
  CHECK(c.tlb_misses == 2);
  CHECK(c.tlb_code_misses == 2);
  CHECK(c.tlb_walks == 2);
}

TEST_CASE("pages of code are of an address space, and sfence.vma drops them", "[iss]") {
  TimingParts parts;
  Pages m(with_code_tlb(parts, Timing::cached, 4));
  Privileged& privileged = m.hart.privileged();
  CHECK(m.misses_of(0) == 1);
  privileged.csr_poke(csr::kSatp, satp(kAsid + 1));
  CHECK(m.misses_of(0) == 1);
  privileged.csr_poke(csr::kSatp, satp(kAsid));
  CHECK(m.misses_of(0) == 0);
  m.load_words({fence_vma(0, kS2)}, frame(3));
  const auto fence = [&](std::uint64_t asid) {
    m.hart.state().x[kS2] = asid;
    m.hart.state().pc = kView + 3 * kPage;
    m.hart.step();
  };
  fence(kAsid + 1);
  CHECK(m.misses_of(0) == 0);
  fence(kAsid);
  CHECK(m.misses_of(0) == 1);
  privileged.csr_poke(csr::kSatp, satp(kAsid + 1));
  CHECK(m.misses_of(0) == 1);
}

TEST_CASE("a page of code that leaves the first TLB leaves for all who share it", "[iss]") {
  // A global page counts for every address space, so its leaving does, too.
  TimingParts parts;
  Pages m(with_code_tlb(parts, Timing::cached, 2));
  m.put(kLast, entry(frame(0), kAll | 0x20));
  Privileged& privileged = m.hart.privileged();
  CHECK(m.misses_of(0) == 1);
  privileged.csr_poke(csr::kSatp, satp(kAsid + 1));
  CHECK(m.misses_of(0) == 0);
  CHECK(m.misses_of(1) == 1);
  CHECK(m.misses_of(2) == 1);  // displaces the global page
  privileged.csr_poke(csr::kSatp, satp(kAsid));
  CHECK(m.misses_of(0) == 1);
}

TEST_CASE("a page of code leaves the space that it is of, whoever takes its place", "[iss]") {
  for (const bool global : {false, true}) {
    CAPTURE(global);
    TimingParts parts;
    Pages m(with_code_tlb(parts, Timing::cached, 2));
    if (global) m.put(kLast, entry(frame(0), kAll | 0x20));
    Privileged& privileged = m.hart.privileged();
    CHECK(m.misses_of(0) == 1);
    privileged.csr_poke(csr::kSatp, satp(kAsid + 1));
    if (global) CHECK(m.misses_of(0) == 0);
    CHECK(m.misses_of(1) == 1);
    CHECK(m.misses_of(2) == 1);
    if (global) CHECK(m.misses_of(0) == 1);
    if (global) CHECK(m.misses_of(1) == 1);
    if (global) CHECK(m.misses_of(2) == 1);
    privileged.csr_poke(csr::kSatp, satp(kAsid));
    CHECK(m.misses_of(0) == 1);
  }
}

TEST_CASE("a large page of code is one, and a page that the PMP divides is none", "[iss]") {
  TimingParts parts;
  Pages m(with_code_tlb(parts, Timing::cached, 2));
  for (const std::uint64_t pc : {frame(0) + 0x40, frame(5) + 0x40}) m.load_words({Pages::kJump}, pc);
  const auto misses_at = [&](std::uint64_t pc) {
    const std::uint64_t before = m.hart.counters().tlb_code_misses;
    m.hart.state().pc = m.hart.state().x[kA0] = pc;
    m.hart.step();
    return m.hart.counters().tlb_code_misses - before;
  };
  // All of the RAM is mapped to itself by one page.
  CHECK(misses_at(frame(0) + 0x40) == 1);
  CHECK(misses_at(frame(5) + 0x40) == 0);
  Privileged& privileged = m.hart.privileged();
  privileged.csr_poke(csr::kPmpaddr0, (frame(1) + 0x800) >> 2);
  privileged.csr_poke(csr::kPmpaddr0 + 1, ~std::uint64_t{0});
  privileged.csr_poke(csr::kPmpcfg0, 0x1f1f);
  CHECK(m.misses_of(1) == 0);
  CHECK(m.misses_of(1) == 0);
  CHECK(m.misses_of(0) == 1);
  // An instruction in a divided page and a whole one.
  const std::uint32_t word = addi(kA1, kA1, 1);
  m.ram.write(frame(1) + kPage - 2, &word, 4);
  CHECK(misses_at(kView + 2 * kPage - 2) == 1);
  CHECK(misses_at(kView + 2 * kPage - 2) == 0);
  CHECK(m.x(kA1) == 2);
}

TEST_CASE("fetches that are not translated, or are refused, ask no TLB", "[iss]") {
  TimingParts parts;
  Pages m(with_code_tlb(parts, Timing::cached, 2));
  m.put(kLast + 8, 0);
  m.hart.state().pc = kView + kPage;
  m.hart.step();
  CHECK(m.csr(csr::kMcause) == static_cast<std::uint64_t>(Cause::fetch_page));
  m.hart.step();  // the handler, in M mode
  CHECK(m.hart.counters().tlb_code_misses == 0);
}

TEST_CASE("an instruction in two pages needs both", "[iss]") {
  TimingParts parts;
  Pages m(with_code_tlb(parts, Timing::cached, 2));
  const std::uint32_t word = addi(kA1, kA1, 1);
  m.ram.write(frame(0) + kPage - 2, &word, 4);  // frames follow each other, too
  const auto run = [&] {
    const std::uint64_t before = m.hart.counters().tlb_code_misses;
    m.hart.state().pc = kView + kPage - 2;
    m.hart.step();
    return m.hart.counters().tlb_code_misses - before;
  };
  CHECK(run() == 2);
  CHECK(run() == 0);
  m.go_to(5);
  m.go_to(0);  // 5 and 0 are there, and 5 came first
  m.go_to(6);
  CHECK(run() == 2);  // 0 came before 6, makes room for 1, and comes again
  CHECK(run() == 0);
  CHECK(m.x(kA1) == 4);
}

namespace {

/// Code that goes from page to page in an order that it computes itself, each time through an instruction in two pages.
struct Hops : Pages {
  explicit Hops(const HartConfig& config) : Pages(config) {
    // a1 = a1 * 5 + 0x555; jump to s0 + (a1 >> 13 & 7) * 4096
    const std::vector<std::uint32_t> hop = {0x0025'9293, 0x0055'85b3, addi(kA1, kA1, 0x555), 0x00d5'd293,
                                            0x0072'f293, 0x00c2'9293, 0x0082'8533,           kJump};
    constexpr std::uint32_t kToHop = 0x03e0'006f;  // jal x0, 0x3e
    const std::uint32_t count = addi(kS2, kS2, 1);
    for (unsigned n = 0; n < 8; ++n) {
      load_words(hop, frame(n) + 0x40);
      ram.write(frame(n) + 0xffe, &count, 2);
      ram.write(frame(n), reinterpret_cast<const std::uint8_t*>(&count) + 2, 2);
      ram.write(frame(n) + 2, &kToHop, 4);
    }
    map(8, frame(0));  // behind the last page
    hart.state().x[kS0] = kView + 0xffe;
    hart.state().x[kA1] = 12'345;
    hart.state().pc = kView + 0x40;
  }
  void run_to(std::uint64_t slot) {
    limit = slot;
    hart.run();
  }
  std::string picture() {
    const HartState& s = hart.state();
    const HartCounters& c = hart.counters();
    std::string text;
    for (const std::uint64_t v : {s.pc, s.slots, s.instret, s.x[kA1], s.x[kS2], c.tlb_code_misses, c.tlb_code_displaced,
                                  c.tlb_walks, c.l1d_misses, c.l1i_misses, c.l1i_accesses})
      text += " " + std::to_string(v);
    return text;
  }
};

}  // namespace

TEST_CASE("where a run is cut changes nothing of what translations of code cost", "[iss]") {
  constexpr std::uint64_t kEnd = 60'000;
  for (const Timing timing : {Timing::cached, Timing::interval}) {
    for (const unsigned entries : {2, 3, 5, 9}) {
      CAPTURE(static_cast<int>(timing), entries);
      TimingParts of_whole, of_cut, of_single;
      Hops whole(with_code_tlb(of_whole, timing, entries)), cut(with_code_tlb(of_cut, timing, entries)),
          single(with_code_tlb(of_single, timing, entries));
      whole.run_to(kEnd);
      for (std::uint64_t slot = 0; slot <= kEnd; slot += 1 + slot % 7) cut.run_to(slot);
      cut.run_to(kEnd);
      CHECK(cut.picture() == whole.picture());
      while (single.hart.state().instret < whole.hart.state().instret) single.hart.step();
      single.run_to(kEnd);
      CHECK(single.picture() == whole.picture());
      CHECK(whole.x(kS2) > 400);
      const std::uint64_t misses = whole.hart.counters().tlb_code_misses;
      if (entries == 9) CHECK(misses == 9);
      if (entries == 5) CHECK((misses > 100 && misses < 2 * whole.x(kS2)));
    }
  }
}
