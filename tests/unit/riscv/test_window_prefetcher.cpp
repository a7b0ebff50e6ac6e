// SPDX-License-Identifier: Apache-2.0
/// Which lines the L1D prefetcher of the instruction window asks for, and in which cycle.

#include <catch2/catch.hpp>

#include "tests/unit/riscv/window_bench.h"

using namespace sluice;
using namespace sluice::riscv;
using base::LineUse;

namespace {

constexpr std::uint64_t kFill = 100;
constexpr unsigned kPage = 64;  // lines

CoreShape with_prefetcher() {
  CoreShape s = shape_for_tests();
  s.l1d_prefetch = true;
  return s;
}

/// Loads that wait for each other, or do not.
std::vector<Executed> loads(const CoreShape& s, bool chain, std::initializer_list<unsigned> lines) {
  std::vector<Executed> program;
  for (const unsigned n : lines) program.push_back(make(s, Opcode::ld, 5, chain ? 5 : 0, 0, line(n)));
  return program;
}

std::vector<Asked> asked(const std::vector<Executed>& program) {
  return run_windowed(with_prefetcher(), kFill, program).asked;
}

Asked load(unsigned n, std::uint64_t cycle) { return {line(n), LineUse::load, cycle}; }
Asked ahead(unsigned n, std::uint64_t cycle) { return {line(n), LineUse::prefetch, cycle}; }

using All = std::vector<Asked>;

}  // namespace

TEST_CASE("a load miss behind one of the line before asks for the next line in the cycle of its issue", "[window]") {
  const CoreShape s = with_prefetcher();
  // A line is there 100 cycles after its load has been issued, in cycle 1, and the next load is issued then. Lines 2
  // and 4 are there as soon as 1 and 3, so their loads take the 5 cycles of L1D.
  CHECK(asked(loads(s, true, {0, 1, 2, 3, 4, 5})) ==
        All{load(0, 1), load(1, 101), ahead(2, 101), load(3, 206), ahead(4, 206), load(5, 311), ahead(6, 311)});
  // Neither downwards nor with a line between.
  CHECK(asked(loads(s, true, {2, 1, 0})) == All{load(2, 1), load(1, 101), load(0, 201)});
  CHECK(asked(loads(s, true, {0, 2, 4})) == All{load(0, 1), load(2, 101), load(4, 201)});
  // Other misses may come between.
  CHECK(asked(loads(s, true, {0, 20, 1})) == All{load(0, 1), load(20, 101), load(1, 201), ahead(2, 201)});
}

TEST_CASE("the first load of a prefetched line that is under way asks for the next one", "[window]") {
  const CoreShape s = with_prefetcher();
  // Two loads are issued in each cycle.
  CHECK(asked(loads(s, false, {0, 1, 2, 3, 3, 3, 4})) ==
        All{load(0, 1), load(1, 1), ahead(2, 1), ahead(3, 2), ahead(4, 2), ahead(5, 4)});
  // A line that was loaded itself is no prefetched one.
  CHECK(asked(loads(s, false, {0, 0, 0})) == All{load(0, 1)});
}

TEST_CASE("a page's end stops the prefetcher", "[window]") {
  static_assert(CycleCore::kWarm % (kPage * 64) == 0);
  const CoreShape s = with_prefetcher();
  CHECK(asked(loads(s, true, {kPage - 2, kPage - 1})) == All{load(kPage - 2, 1), load(kPage - 1, 101)});
  CHECK(asked(loads(s, false, {kPage - 3, kPage - 2, kPage - 1})) ==
        All{load(kPage - 3, 1), load(kPage - 2, 1), ahead(kPage - 1, 1)});
  // A miss in the next page goes on.
  CHECK(asked(loads(s, true, {kPage - 1, kPage})) == All{load(kPage - 1, 1), load(kPage, 101), ahead(kPage + 1, 101)});
}

TEST_CASE("what L1D has, and what stores miss, is not prefetched", "[window]") {
  const CoreShape s = with_prefetcher();
  CHECK(asked(loads(s, true, {2, 0, 1})) == All{load(2, 1), load(0, 101), load(1, 201)});
  std::vector<Executed> stores;
  for (unsigned n = 0; n < 3; ++n) stores.push_back(make(s, Opcode::sd, 0, 0, 6, line(n)));
  // Stores are issued one in a cycle, retire in the next one, and ask in the one after that.
  CHECK(asked(stores) == All{{line(0), LineUse::store, 3}, {line(1), LineUse::store, 4}, {line(2), LineUse::store, 5}});
}
