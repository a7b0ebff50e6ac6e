// SPDX-License-Identifier: Apache-2.0
/// What an engine keeps of translations when a hart changes between address spaces, and what translations cost.
#include <algorithm>
#include <functional>

#include <catch2/catch.hpp>

#include "models/riscv/iss/translation/contexts.h"
#include "tests/unit/riscv/paged_machine.h"

using namespace sluice;
using namespace sluice::riscv;

namespace {

constexpr std::uint64_t kMissSlots = 40;
constexpr std::uint32_t kSwitch = 0x1804'9073;      // csrw satp, s1
constexpr std::uint32_t kSwitchBack = 0x1809'1073;  // csrw satp, s2
constexpr unsigned kS1 = 9;

/// In a page of its own, and in a set of L1D of its own, which page tables do not use either.
constexpr std::uint64_t offset(unsigned page) { return page * kPage + (page + 1) * 64; }

/// With TLBs of 4 pages, and 16 in the second level.
HartConfig with_tlbs(TimingParts& parts, Timing timing, unsigned entries = 4, unsigned walk_entries = 0) {
  HartConfig c;
  parts.give_to(c, timing);
  c.translation = {{entries, entries}, {16, 16}, 7, walk_entries, {}};
  return c;
}

struct Timed : Paged {
  explicit Timed(const HartConfig& config) : Paged({}, config) { hart.state().x[kS0] = kView; }
  /// Slots that instructions take, each by itself.
  std::uint64_t take(const std::vector<std::uint32_t>& words) {
    load_words(words, code);
    hart.state().pc = code;
    code += 0x400;
    const std::uint64_t before = hart.state().slots;
    for (std::size_t n = 0; n < words.size(); ++n) hart.step();
    return hart.state().slots - before;
  }
  std::uint64_t load_page(unsigned page) {
    hart.state().x[kS0] = kView + offset(page);
    return take({ld(kA0, kS0)});
  }
  std::uint64_t code = kRam;
};

}  // namespace

TEST_CASE("a hart that comes back to an address space finds its translations", "[iss]") {
  // Between the two loads from the view, the page table changes without an sfence.vma: the kept translation still
  // holds.
  for (const bool fences_other : {false, true}) {
    for (const bool fences_own : {false, true}) {
      CAPTURE(fences_other, fences_own);
      Paged m({ld(kA0, kS0), kSwitch, sd(kS3, kS4), fences_other ? fence_vma(0, 11) : addi(0, 0, 0),
               fences_own ? fence_vma(0, 12) : addi(0, 0, 0), kSwitchBack, ld(kA1 + 2, kS0), kLoop});
      m.put(frame(0), 11);
      m.put(frame(5), 22);
      m.hart.state().x[kS0] = kView;
      m.hart.state().x[kS1] = satp(kAsid + 1);
      m.hart.state().x[kS2] = satp(kAsid);
      m.hart.state().x[kS4] = kLast;
      m.hart.state().x[kS3] = entry(frame(5), kAll);
      m.hart.state().x[11] = kAsid + 1;
      m.hart.state().x[12] = kAsid;
      m.go(kRam);
      CHECK(m.x(kA0) == 11);
      CHECK(m.x(kA1 + 2) == (fences_own ? 22 : 11));
    }
  }
}

TEST_CASE("code of an address space is found again, and is that of the space", "[iss]") {
  // Two spaces have different frames at the view, and the same code elsewhere calls it in turn.
  constexpr std::uint64_t kOtherRoot = kRam + 0x30'0000, kOtherMiddle = kOtherRoot + kPage,
                          kOtherLast = kOtherRoot + 2 * kPage;
  Paged m({call(kS0), kSwitch, call(kS0), kSwitchBack, call(kS0), kSwitch, call(kS0), kLoop});
  m.load_words({addi(kA0, kA0, 1), kReturn}, frame(0));
  m.load_words({addi(kA0, kA0, 16), kReturn}, frame(5));
  m.put(kOtherRoot + (kView >> 30) * 8, entry(kOtherMiddle, kPointer));
  m.put(kOtherRoot + (kRam >> 30) * 8, entry(kRam, kAll));
  m.put(kOtherMiddle, entry(kOtherLast, kPointer));
  m.put(kOtherLast, entry(frame(5), kAll));
  m.hart.state().x[kS0] = kView;
  m.hart.state().x[kS1] = satp(kAsid + 1, kOtherRoot);
  m.hart.state().x[kS2] = satp(kAsid);
  m.go(kRam);
  CHECK(m.x(kA0) == 34);
}

TEST_CASE("permissions of another privilege or of SUM are not those that were kept", "[iss]") {
  Paged m({ld(kA0, kS0), kLoop});
  m.put(kLast, entry(frame(0), kAll | 0x10));  // a user page
  m.put(frame(0), 5);
  m.hart.state().x[kS0] = kView;
  m.hart.privileged().csr_poke(csr::kMstatus, mstatus::kSum);
  m.go(kRam);
  CHECK(m.x(kA0) == 5);
  m.hart.state().x[kA0] = 0;
  m.hart.privileged().csr_poke(csr::kMstatus, 0);
  m.go(kRam);
  CHECK(m.csr(csr::kMcause) == static_cast<std::uint64_t>(Cause::load_page));
  m.hart.privileged().set_privilege(Privilege::supervisor);
  m.hart.privileged().csr_poke(csr::kMstatus, mstatus::kSum);
  m.go(kRam);
  CHECK(m.x(kA0) == 5);
}

TEST_CASE("more address spaces than are kept work", "[iss]") {
  Paged m({});
  for (unsigned round = 0; round < 3; ++round)
    for (std::uint64_t asid = 1; asid <= 2 * TranslationContexts::kMost; ++asid) {
      m.load_words({ld(kA0, kS0), kLoop});
      m.put(frame(0), asid);
      m.hart.state().x[kS0] = kView;
      m.hart.privileged().csr_poke(csr::kSatp, satp(asid));
      m.go(kRam);
      REQUIRE(m.x(kA0) == asid);
    }
}

TEST_CASE("a translation that the TLBs do not have waits for the page-table entries", "[iss]") {
  for (const Timing timing : {Timing::cached, Timing::interval}) {
    TimingParts parts;
    Timed m(with_tlbs(parts, timing));
    m.take({addi(0, 0, 0)});
    m.load_page(7);
    const HartCounters& c = m.hart.counters();
    CHECK(c.tlb_misses == 1);
    CHECK(c.tlb_walks == 1);
    CHECK(c.tlb_reads == 3);
    const std::uint64_t misses = m.misses;
    // The tables are in L1D now.
    m.load_page(6);
    CHECK(m.misses - misses <= 2);  // the page's line, and that of the instruction
    CHECK(c.tlb_reads == 6);
    m.load_page(6);
    CHECK(c.tlb_misses == 2);
  }
}

TEST_CASE("without a window, a hart waits for the second level, and for misses of its walk", "[iss]") {
  TimingParts parts;
  Timed m(with_tlbs(parts, Timing::cached));
  const std::uint64_t width = m.hart.config().privileged.issue_width;
  m.take({addi(0, 0, 0)});
  for (unsigned n = 0; n < 8; ++n) parts.l1d.fill(frame(0) + offset(n), base::LineState::kExclusive);
  const auto load = [&](unsigned page) {
    parts.l1i.fill(m.code, base::LineState::kExclusive);
    return m.load_page(page);
  };
  const std::uint64_t first = load(0);
  const std::uint64_t again = load(0);
  CHECK(first - again == 7 * width + 3 * kMissSlots);
  CHECK(load(1) - again == 7 * width);  // the tables are in L1D
  for (unsigned n = 2; n < 5; ++n) load(n);
  CHECK(load(4) == again);
  CHECK(load(0) - again == 7 * width);  // displaced from the first level, by the first in, first out
  CHECK(m.hart.counters().tlb_walks == 5);
}

TEST_CASE("a page that leaves the first level is looked up again, whatever made it fast", "[iss]") {
  for (const Timing timing : {Timing::cached, Timing::interval}) {
    for (const std::uint8_t shift : {12, 21}) {
      TimingParts parts;
      Timed m(with_tlbs(parts, timing, 2));
      if (shift == 21) {
        m.put(kMiddle, entry(kRam, kAll));
        for (unsigned n = 1; n < 8; ++n) m.put(kMiddle + n * 8, entry(kRam + n * (1 << 21), kAll));
      }
      const auto load = [&](std::uint64_t n) {
        m.hart.state().x[kS0] = kView + (n << shift);
        m.take({ld(kA0, kS0), ld(kA0, kS0)});
        return m.hart.counters().tlb_misses;
      };
      CHECK(load(0) == 1);
      CHECK(load(1) == 2);
      CHECK(load(0) == 2);
      CHECK(load(2) == 3);  // displaces 0
      CHECK(load(1) == 3);
      CHECK(load(0) == 4);
      CHECK(load(2) == 4);
    }
  }
}

TEST_CASE("pages of two address spaces share the TLBs, and sfence.vma empties them", "[iss]") {
  TimingParts parts;
  Timed m(with_tlbs(parts, Timing::cached));
  m.load_page(0);
  m.hart.privileged().csr_poke(csr::kSatp, satp(kAsid + 1));
  m.load_page(0);
  CHECK(m.hart.counters().tlb_walks == 2);
  m.hart.privileged().csr_poke(csr::kSatp, satp(kAsid));
  m.load_page(0);
  CHECK(m.hart.counters().tlb_misses == 2);
  m.hart.state().x[kS1] = kAsid + 1;
  m.take({fence_vma(0, kS1)});
  m.load_page(0);
  CHECK(m.hart.counters().tlb_misses == 2);
  m.hart.state().x[kS1] = kAsid;
  m.take({fence_vma(0, kS1)});
  m.load_page(0);
  CHECK(m.hart.counters().tlb_walks == 3);
  m.take({fence_vma(0, 0)});
  m.load_page(0);
  CHECK(m.hart.counters().tlb_walks == 4);
}

TEST_CASE("with a window, only what needs the value waits for its translation", "[iss]") {
  TimingParts parts;
  Timed m(with_tlbs(parts, Timing::interval, 4, 0));
  for (unsigned n = 0; n < 8; ++n) parts.l1d.fill(frame(0) + offset(n), base::LineState::kExclusive);
  for (std::uint64_t table : {kRoot + (kView >> 30) * 8, kMiddle, kLast})
    parts.l1d.fill(table, base::LineState::kExclusive);
  for (std::uint64_t line = kRam; line < kRam + 0x1400; line += 0x400)
    parts.l1i.fill(line, base::LineState::kExclusive);
  // Four loads of other pages beside each other, or each at an address that the one before has loaded.
  for (unsigned n = 0; n < 4; ++n) m.put(frame(0) + offset(n), kView + offset(n + 1));
  for (unsigned n = 0; n < 4; ++n) m.hart.state().x[20 + n] = kView + offset(n);
  const auto run = [&](const std::vector<std::uint32_t>& words) {
    m.load_words(words, m.code);
    const std::uint64_t before = m.hart.state().slots;
    m.limit = ~std::uint64_t{0};
    m.hart.state().pc = m.code;
    m.code += 0x400;
    for (std::size_t n = 0; n < words.size(); ++n) m.hart.step();
    return m.hart.state().slots - before;
  };
  const std::uint64_t load = m.hart.config().shape->of(CostClass::load).latency;
  const std::uint64_t width = m.hart.config().privileged.issue_width;
  const std::uint32_t kReadCounter = 0xc000'2573;  // rdcycle a0, which drains
  m.hart.privileged().csr_poke(csr::kMcounteren, 7);
  const std::uint64_t idle = run({kReadCounter, kReadCounter});
  const std::uint64_t beside = run({ld(20, 20), ld(21, 21), ld(22, 22), ld(23, 23), kReadCounter, kReadCounter}) - idle;
  m.take({fence_vma(0, 0)});
  m.hart.state().x[20] = kView + offset(0);
  m.hart.privileged().sfence_vma(0, false, 0, false);
  const std::uint64_t chained =
      run({ld(20, 20), ld(20, 20), ld(20, 20), ld(20, 20), kReadCounter, kReadCounter}) - idle;
  const std::uint64_t one = 7 + 3 * load + load;  // cycles: second level, walk, and the load
  CHECK(chained >= 4 * one * width);
  CHECK(chained < (4 * one + 8) * width);
  CHECK(beside >= one * width);
  CHECK(beside < (one + 12) * width);
}

TEST_CASE("what changes for all address spaces changes what was kept of each", "[iss]") {
  struct Case {
    const char* what;
    std::function<void(Paged&)> change;
    bool faults;
  };
  const std::vector<Case> cases = {
      {"nothing", [](Paged&) {}, false},
      {"MXR", [](Paged& m) { m.hart.privileged().csr_poke(csr::kMstatus, 0); }, true},
      {"PMP", [](Paged& m) { m.hart.privileged().csr_poke(csr::kPmpcfg0, 0x1c); }, true},
      {"privilege", [](Paged& m) { m.hart.privileged().set_privilege(Privilege::user); }, true},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    // The page may be executed alone, and read under MXR. Between the loads the hart was elsewhere.
    Paged m({ld(kA0, kS0), kLoop});
    m.put(kLast, entry(frame(0), 0x49));
    m.put(frame(0), 5);
    m.hart.state().x[kS0] = kView;
    m.hart.privileged().csr_poke(csr::kMstatus, mstatus::kMxr);
    m.go(kRam);
    REQUIRE(m.x(kA0) == 5);
    m.hart.privileged().csr_poke(csr::kSatp, satp(kAsid + 1));
    m.go(kRam);
    m.hart.privileged().csr_poke(csr::kSatp, satp(kAsid));
    c.change(m);
    m.hart.state().x[kA0] = 0;
    m.go(kRam);
    CHECK((m.hart.counters().traps != 0) == c.faults);
    CHECK(m.x(kA0) == (c.faults ? 0 : 5));
  }
}

TEST_CASE("a watch of a page holds in address spaces that the hart comes back to", "[iss]") {
  Paged m({sd(kA0, kS0), ld(kA1, kS0), kLoop});
  m.hart.state().x[kS0] = kView;
  m.hart.state().x[kA0] = 3;
  m.go(kRam);  // both are fast now
  m.go(kRam);
  m.hart.privileged().csr_poke(csr::kSatp, satp(kAsid + 1));
  m.go(kRam);
  unsigned reads = 0;
  m.hart.on_watched_read([&](std::uint64_t, unsigned) { ++reads; });
  struct Writes : base::RamWatcher {
    unsigned count = 0;
    void ram_written(std::uint64_t, std::uint64_t) override { ++count; }
    void page_watched(std::uint64_t) override {}
    bool awaits(std::uint64_t, std::uint64_t) const override { return false; }
  } writes;
  m.ram.add_watcher(&writes);
  m.ram.set_watch(frame(0), base::GuestRam::kWatchpoint);
  m.ram.set_watch(frame(0), base::GuestRam::kReadWatch);
  m.hart.privileged().csr_poke(csr::kSatp, satp(kAsid));
  m.go(kRam);
  CHECK(reads == 1);
  CHECK(writes.count == 1);
}

TEST_CASE("a walk is the time of its own access, also of one that faults", "[iss]") {
  // A load across two pages, of which the second is not there, traps to a handler with a slow access of its own.
  for (const Timing timing : {Timing::cached, Timing::interval}) {
    TimingParts parts;
    Timed m(with_tlbs(parts, timing));
    m.put(kLast + 8, 0);
    m.load_words({ld(kA1, 20), kLoop}, kHandler);
    m.hart.state().x[20] = kFrames + 64;
    m.take({addi(0, 0, 0)});
    m.hart.state().x[kS0] = kView + kPage - 4;
    const std::uint64_t access = m.take({ld(kA0, kS0)});
    REQUIRE(m.csr(csr::kMcause) == static_cast<std::uint64_t>(Cause::load_page));
    CHECK(m.hart.counters().tlb_walks == 1);
    CHECK(access >= 3 * kMissSlots);
    parts.l1d.fill(kFrames + 64, base::LineState::kExclusive);
    parts.l1i.fill(kHandler, base::LineState::kExclusive);
    const std::uint64_t before = m.hart.state().slots;
    m.hart.step();
    CHECK(m.hart.state().slots - before < kMissSlots);
  }
}

TEST_CASE("a reset empties the TLBs", "[iss]") {
  TimingParts parts;
  Timed m(with_tlbs(parts, Timing::cached));
  m.load_page(0);
  m.hart.reset();
  m.hart.privileged().csr_poke(csr::kPmpaddr0, ~std::uint64_t{0});
  m.hart.privileged().csr_poke(csr::kPmpcfg0, 0x1f);
  m.hart.privileged().csr_poke(csr::kSatp, satp(kAsid));
  m.hart.privileged().set_privilege(Privilege::supervisor);
  m.load_page(0);
  CHECK(m.hart.counters().tlb_walks == 2);
}

TEST_CASE("a page whose table has changed without a fence is not fast while the TLB does not have it", "[iss]") {
  TimingParts parts;
  Timed m(with_tlbs(parts, Timing::cached, 1));
  m.load_page(0);
  m.load_page(1);  // displaces it
  m.put(kLast, 0);
  m.load_page(0);  // what is kept of its translation may still be used
  m.put(kLast, entry(frame(0), kAll));
  m.load_page(0);
  CHECK(m.hart.counters().tlb_misses == 3);
}
