// SPDX-License-Identifier: Apache-2.0
// The execution engine under Sv39: translations that it keeps, and instructions across pages.

#include <catch2/catch.hpp>

#include "tests/unit/riscv/paged_machine.h"

using namespace sluice;
using namespace sluice::riscv;

TEST_CASE("every form of sfence.vma drops the translation of a page that was loaded from", "[iss]") {
  for (const unsigned rs1 : {0u, kS0})
    for (const unsigned rs2 : {0u, kS4}) {
      CAPTURE(rs1, rs2);
      Paged m({ld(kA0, kS0), sd(kS3, kS2), fence_vma(rs1, rs2), ld(kA1, kS0), kLoop});
      m.put(frame(0), 11);
      m.put(frame(5), 22);
      m.hart.state().x[kS0] = kView;
      m.hart.state().x[kS2] = kLast;
      m.hart.state().x[kS3] = entry(frame(5), kAll);
      m.hart.state().x[kS4] = kAsid;
      m.go(kRam);
      CHECK(m.x(kA0) == 11);
      CHECK(m.x(kA1) == 22);
    }
}

TEST_CASE("every form of sfence.vma drops the translation of a page that was fetched from", "[iss]") {
  for (const unsigned rs1 : {0u, kS0})
    for (const unsigned rs2 : {0u, kS4}) {
      CAPTURE(rs1, rs2);
      Paged m({call(kS0), sd(kS3, kS2), fence_vma(rs1, rs2), call(kS0), kLoop});
      m.load_words({addi(kA0, kA0, 1), kReturn}, frame(0));
      m.load_words({addi(kA0, kA0, 16), kReturn}, frame(5));
      m.hart.state().x[kS0] = kView;
      m.hart.state().x[kS2] = kLast;
      m.hart.state().x[kS3] = entry(frame(5), kAll);
      m.hart.state().x[kS4] = kAsid;
      m.go(kRam);
      CHECK(m.x(kA0) == 17);
    }
}

TEST_CASE("an instruction across pages follows the second page's translation", "[iss]") {
  Paged m({});
  const std::uint16_t first = 0x0513, second = 0x0070, other = 0x0090;  // addi a0, x0, 7; or 9
  m.ram.write(frame(0) + kPage - 2, &first, 2);
  m.ram.write(frame(1), &other, 2);  // the physically next frame
  m.ram.write(frame(5), &second, 2);
  for (const unsigned n : {1u, 5u}) m.load_words({0x0000'a001}, frame(n) + 2);  // c.j .
  m.map(1, frame(5));
  m.go(kView + kPage - 2);
  CHECK(m.x(kA0) == 7);
}

TEST_CASE("an instruction whose second page is not mapped faults there", "[iss]") {
  Paged m({});
  const std::uint16_t first = 0x0513;
  m.ram.write(frame(0) + kPage - 2, &first, 2);
  m.put(kLast + 8, 0);
  m.go(kView + kPage - 2);
  CHECK(m.csr(csr::kMcause) == 12);
  CHECK(m.csr(csr::kMepc) == kView + kPage - 2);
  CHECK(m.csr(csr::kMtval) == kView + kPage);
}

namespace {
/// Another hart that waits for a write to a page: a walk that sets A bits there synchronises.
struct Waiter : base::RamWatcher {
  Waiter(base::GuestRam& ram, std::uint64_t page) {
    ram.add_watcher(this);
    ram.set_watch(page, base::GuestRam::kReservation);
  }
  void ram_written(std::uint64_t, std::uint64_t) override {}
  void page_watched(std::uint64_t) override {}
  bool awaits(std::uint64_t, std::uint64_t) const override { return true; }
};
}  // namespace

TEST_CASE("a fetch whose walk synchronises runs up to the limit that it finds then", "[iss]") {
  // Page 1 of the view jumps to page 2, whose entry has no A bit yet. The walk for page 2 moves the limit, which was
  // 1000 slots.
  constexpr std::uint64_t kJump = 2;  // slots of a taken jump
  for (const std::uint64_t moved : {20u, 900u, 1010u}) {
    for (const bool first : {false, true}) {  // whether the run starts with that walk
      CAPTURE(moved, first);
      Paged m({});
      m.load_words({0x0000'106f}, frame(1));  // j . + 4096
      m.load_words(std::vector<std::uint32_t>(1024, addi(kA0, kA0, 1)), frame(2));
      m.put(kLast + 2 * 8, entry(frame(2), kAll & ~0x40));
      const Waiter waiter(m.ram, kLast);
      m.on_synchronise = [&] { m.limit = moved; };
      m.go(kView + (first ? 2 : 1) * kPage);
      CHECK(m.synchronised == 1);
      CHECK(m.hart.state().slots == moved);
      CHECK(m.x(kA0) == moved - (first ? 0 : kJump));
    }
  }
}

TEST_CASE("an interrupt that a fetch's walk makes pending comes before the instruction", "[iss]") {
  for (const bool first : {false, true}) {
    CAPTURE(first);
    Paged m({});
    m.load_words({0x0000'106f}, frame(1));
    m.load_words({addi(kA0, kA0, 1), 0xffdf'f06f}, frame(2));
    m.put(kLast + 2 * 8, entry(frame(2), kAll & ~0x40));
    Privileged& privileged = m.hart.privileged();
    const Waiter waiter(m.ram, kLast);
    privileged.csr_poke(csr::kMie, 1 << 7);
    m.on_synchronise = [&] { privileged.set_mip(7, true); };
    m.go(kView + (first ? 2 : 1) * kPage);
    CHECK(m.hart.counters().interrupts == 1);
    CHECK(m.csr(csr::kMepc) == kView + 2 * kPage);
    CHECK(m.x(kA0) == 0);
  }
}

TEST_CASE("with a window, what a fetch's walk changes counts at the next timing point", "[iss]") {
  // As before, but page 2 has a loop that L1I holds: nothing misses, so nothing else makes the hart ask again.
  for (const bool interrupts : {false, true}) {
    CAPTURE(interrupts);
    TimingParts parts;
    HartConfig config;
    parts.give_to(config, Timing::interval);
    Paged m({}, config);
    m.load_words({0x0000'106f}, frame(1));
    m.load_words({addi(kA0, kA0, 1), 0xffdf'f06f}, frame(2));
    m.put(kLast + 2 * 8, entry(frame(2), kAll & ~0x40));
    for (const unsigned n : {1u, 2u}) parts.l1i.fill(frame(n), base::LineState::kExclusive);
    Privileged& privileged = m.hart.privileged();
    const Waiter waiter(m.ram, kLast);
    privileged.csr_poke(csr::kMie, 1 << 7);
    m.on_synchronise = [&] {
      if (interrupts)
        privileged.set_mip(7, true);
      else
        m.limit = 20;
    };
    m.hart.state().pc = kView + kPage;
    m.limit = 10'000;
    m.hart.run();
    // The first branch behind 48 instructions.
    CHECK(m.hart.counters().interrupts == (interrupts ? 1 : 0));
    CHECK(m.x(kA0) == 24);
  }
}
