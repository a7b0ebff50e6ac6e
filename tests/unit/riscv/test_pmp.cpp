// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "models/base/parameters/random.h"
#include "models/riscv/iss/privileged/pmp.h"
#include "tests/unit/riscv/privileged_bench.h"

using namespace sluice::riscv;

namespace {

constexpr auto kM = Privilege::machine, kS = Privilege::supervisor, kU = Privilege::user;
constexpr std::uint64_t kLock = 0x80, kTor = 1 << 3, kNa4 = 2 << 3, kNapot = 3 << 3;
constexpr std::uint64_t kR = 1, kW = 2, kX = 4;

std::uint64_t napot(std::uint64_t base, std::uint64_t size) { return base >> 2 | (size / 8 - 1); }

}  // namespace

TEST_CASE("without a matching entry machine mode may do everything and the others nothing", "[pmp]") {
  Pmp pmp(16);
  CHECK(pmp.permissions(0x8000'0000, 8, kM) == Pmp::kAll);
  CHECK(pmp.permissions(0x8000'0000, 8, kS) == 0);
  CHECK(pmp.permissions(0x8000'0000, 8, kU) == 0);
}

TEST_CASE("a hart without PMP entries allows everything", "[pmp]") {
  Pmp pmp(0);
  CHECK(pmp.permissions(0x8000'0000, 8, kU) == Pmp::kAll);
  CHECK_FALSE(pmp.set_config(0, 0x1f));
}

TEST_CASE("TOR covers from the previous address up to, not including, its own", "[pmp]") {
  Pmp pmp(16);
  pmp.set_address(0, 0x1000 >> 2);
  pmp.set_address(1, 0x2000 >> 2);
  pmp.set_config(0, (kTor | kR | kX) << 8);
  CHECK(pmp.permissions(0x0fff, 1, kS) == 0);
  CHECK(pmp.permissions(0x1000, 1, kS) == (kR | kX));
  CHECK(pmp.permissions(0x1fff, 1, kS) == (kR | kX));
  CHECK(pmp.permissions(0x2000, 1, kS) == 0);

  pmp.set_address(1, 0x1000 >> 2);  // empty
  CHECK(pmp.permissions(0x1000, 1, kS) == 0);
}

TEST_CASE("TOR in entry 0 starts at address 0", "[pmp]") {
  Pmp pmp(16);
  pmp.set_address(0, 0x1000 >> 2);
  pmp.set_config(0, kTor | kR);
  CHECK(pmp.permissions(0, 8, kU) == kR);
  CHECK(pmp.permissions(0xff8, 8, kU) == kR);
  CHECK(pmp.permissions(0x1000, 8, kU) == 0);
  pmp.set_address(0, 0);  // empty, not everything
  CHECK(pmp.permissions(0x1000, 8, kU) == 0);
}

TEST_CASE("NA4 and NAPOT sizes", "[pmp]") {
  Pmp pmp(16);
  pmp.set_address(0, 0x1004 >> 2);
  pmp.set_config(0, kNa4 | kR);
  CHECK(pmp.permissions(0x1004, 4, kU) == kR);
  CHECK(pmp.permissions(0x1008, 4, kU) == 0);
  CHECK(pmp.permissions(0x1000, 4, kU) == 0);

  for (std::uint64_t size : {8u, 64u, 4096u, 1u << 21}) {
    Pmp p(16);
    p.set_address(0, napot(0x4000'0000, size));
    p.set_config(0, kNapot | kW | kR);
    CHECK(p.permissions(0x4000'0000, 8, kU) == (kR | kW));
    CHECK(p.permissions(0x4000'0000 + size - 4, 4, kU) == (kR | kW));
    CHECK(p.permissions(0x4000'0000 + size, 4, kU) == 0);
    CHECK(p.permissions(0x4000'0000 - 4, 4, kU) == 0);
  }
}

TEST_CASE("NAPOT with all address bits set covers the address space", "[pmp]") {
  Pmp pmp(16);
  pmp.set_address(0, ~std::uint64_t{0});
  pmp.set_config(0, kNapot | kX);
  CHECK(pmp.permissions(0, 8, kU) == kX);
  CHECK(pmp.permissions((std::uint64_t{1} << 56) - 8, 8, kU) == kX);
}

TEST_CASE("an access that matches an entry in part fails, in machine mode too", "[pmp]") {
  Pmp pmp(16);
  pmp.set_address(0, 0x1004 >> 2);
  pmp.set_address(1, ~std::uint64_t{0});
  pmp.set_config(0, kNa4 | kR | kW | kX | (kNapot | kR | kW | kX) << 8);
  CHECK(pmp.permissions(0x1000, 8, kS) == 0);
  CHECK(pmp.permissions(0x1004, 8, kS) == 0);
  CHECK(pmp.permissions(0x1000, 8, kM) == 0);
  CHECK(pmp.permissions(0x1000, 4, kS) == (kR | kW | kX));
}

TEST_CASE("an entry that lies within an access matches it in part", "[pmp]") {
  Pmp pmp(16);
  pmp.set_address(0, 0x1004 >> 2);
  pmp.set_address(1, ~std::uint64_t{0});
  pmp.set_config(0, kNa4 | kR | kW | kX | (kNapot | kR | kW | kX) << 8);
  for (const std::uint64_t address : {0x1001u, 0x1002u, 0x1003u}) CHECK(pmp.permissions(address, 8, kS) == 0);
  CHECK(pmp.permissions(0x1008, 8, kS) == (kR | kW | kX));
}

TEST_CASE("the address below a TOR entry moves its lower bound", "[pmp]") {
  Pmp pmp(16);
  pmp.set_address(0, 0x1000 >> 2);
  pmp.set_address(1, 0x3000 >> 2);
  pmp.set_config(0, (kTor | kR) << 8);
  CHECK(pmp.permissions(0x1000, 8, kS) == kR);
  pmp.set_address(0, 0x2000 >> 2);
  CHECK(pmp.permissions(0x1000, 8, kS) == 0);
  CHECK(pmp.permissions(0x2000, 8, kS) == kR);
  pmp.set_address(0, 0x4000 >> 2);  // nothing is between the bounds now
  CHECK(pmp.permissions(0x2000, 8, kS) == 0);
}

TEST_CASE("the lowest entry that matches decides", "[pmp]") {
  Pmp pmp(16);
  pmp.set_address(0, napot(0x1000, 0x1000));
  pmp.set_address(1, ~std::uint64_t{0});
  pmp.set_config(0, kNapot | (kNapot | kR | kW) << 8);
  CHECK(pmp.permissions(0x1800, 8, kS) == 0);
  CHECK(pmp.permissions(0x2000, 8, kS) == (kR | kW));
}

TEST_CASE("only locked entries bind machine mode, and their registers stay as they are", "[pmp]") {
  Pmp pmp(16);
  pmp.set_address(0, napot(0x1000, 0x1000));
  pmp.set_config(0, kNapot | kR);
  CHECK(pmp.permissions(0x1000, 8, kM) == Pmp::kAll);
  pmp.set_config(0, kLock | kNapot | kR);
  CHECK(pmp.permissions(0x1000, 8, kM) == kR);

  CHECK_FALSE(pmp.set_config(0, 0));
  CHECK_FALSE(pmp.set_address(0, 0));
  CHECK(pmp.config(0) == (kLock | kNapot | kR));
  CHECK(pmp.address(0) == napot(0x1000, 0x1000));
  pmp.reset();
  CHECK(pmp.config(0) == 0);
}

TEST_CASE("a locked TOR entry locks the address below it too", "[pmp]") {
  Pmp pmp(16);
  pmp.set_address(1, 0x400);
  pmp.set_address(2, 0x800);
  pmp.set_config(0, (kLock | kTor | kR) << 16);
  CHECK_FALSE(pmp.set_address(1, 0));
  CHECK(pmp.address(1) == 0x400);
  CHECK(pmp.set_address(0, 1));
}

TEST_CASE("PMP fields are WARL", "[pmp]") {
  Pmp pmp(4);
  pmp.set_config(0, 0x60 | kW | kX);  // reserved bits, W without R
  CHECK(pmp.config(0) == kX);
  pmp.set_config(0, 0x0707'0707'0707'0707);
  CHECK(pmp.config(0) == 0x0707'0707);  // four entries exist
  pmp.set_address(0, ~std::uint64_t{0});
  CHECK(pmp.address(0) == (std::uint64_t{1} << 54) - 1);
  CHECK_FALSE(pmp.set_address(4, 1));
  CHECK(pmp.address(4) == 0);
}

TEST_CASE("a region is uniform when no boundary of a rule that counts lies in it", "[pmp]") {
  constexpr std::uint64_t kPage = 0x1000, kMega = 0x20'0000, kGiga = 0x4000'0000;
  Pmp pmp(16);
  CHECK(pmp.uniform_region(0x1808, kGiga, kPage) == kGiga);
  pmp.set_address(0, napot(0x1000, 0x1000));
  pmp.set_address(1, napot(0x1800, 8));
  pmp.set_config(0, kNapot | kR | (kNapot | kW | kR) << 8);
  CHECK(pmp.uniform_region(0x1808, kGiga, kPage) == kPage);  // entry 1 is hidden behind entry 0
  CHECK(pmp.uniform_region(0x1808, kMega, kMega) == 0);
  CHECK(pmp.uniform_region(0x2000, kMega, kPage) == kPage);
  CHECK(pmp.uniform_region(kMega, kGiga, kPage) == kMega);
  CHECK(pmp.uniform_region(kGiga, kGiga, kPage) == kGiga);
  pmp.set_config(0, (kNapot | kW | kR) << 8);  // entry 0 is off
  CHECK(pmp.uniform_region(0x1800, kGiga, kPage) == 0);
  CHECK(pmp.uniform_region(0x1808, kPage, 8) == 8);
}

TEST_CASE("every word of a uniform region has the same permissions", "[pmp]") {
  constexpr std::uint64_t kLargest = 1 << 18, kSmallest = 1 << 9;
  sluice::base::RandomStream random({1, 0}, "test", "pmp");
  unsigned whole = 0, split = 0;
  for (unsigned n = 0; n < 400; ++n) {
    Pmp pmp(8);
    const std::uint64_t address = random.next() % (2 * kLargest);
    std::uint64_t config = 0;
    for (unsigned i = 0; i < 8; ++i) {
      // Half of the boundaries are near.
      const std::uint64_t at = i % 2 == 0 ? random.next() % (2 * kLargest) : address ^ random.next() % (2 * kSmallest);
      pmp.set_address(i, at >> 2);
      config |= (random.next() % 32) << (8 * i);
    }
    pmp.set_config(0, config);
    const std::uint64_t size = pmp.uniform_region(address, kLargest, kSmallest);
    REQUIRE((size == 0 || size == kSmallest || size == kLargest));
    ++(size == 0 ? split : whole);
    const std::uint64_t first = size == 0 ? 0 : address & ~(size - 1);
    const auto verdict = pmp.permissions(first, 4, kU);
    bool same = true;
    for (std::uint64_t at = first; at < first + size; at += 4) same &= pmp.permissions(at, 4, kU) == verdict;
    CHECK(same);
  }
  CHECK(whole > 50);
  CHECK(split > 50);
}

TEST_CASE("PMP CSRs: 16 entries have registers, odd pmpcfg do not exist on RV64", "[pmp]") {
  PrivilegedBench bench({.pmp_regions = 8});
  CHECK(bench.written(csr::kPmpaddr0 + 7, 5) == 5);
  CHECK(bench.written(csr::kPmpaddr0 + 8, 5) == 0);
  CHECK(bench.written(csr::kPmpcfg0 + 2, 0x1f) == 0);
  CHECK_FALSE(bench.legal(csr::kPmpcfg0 + 1));
  CHECK_FALSE(bench.legal(csr::kPmpcfg0 + 4));
  CHECK_FALSE(bench.legal(csr::kPmpaddr0 + 16));
  const auto epoch = bench.hart.epoch();
  bench.hart.csr_write(csr::kPmpaddr0 + 7, 6);
  CHECK(bench.hart.epoch() != epoch);

  PrivilegedBench none({.pmp_regions = 0});
  CHECK_FALSE(none.legal(csr::kPmpcfg0));
}
