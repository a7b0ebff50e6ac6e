// SPDX-License-Identifier: Apache-2.0
// Drawn instruction words: whatever a guest runs, the engine does not crash, and the results do not depend on where a
// run is cut.

#include <catch2/catch.hpp>

#include "tests/unit/riscv/random_guest.h"

using namespace sluice;
using namespace sluice::riscv;

TEST_CASE("drawn instructions give the same whole, cut and stepped", "[iss]") {
  constexpr std::uint64_t kEnd = 30'000;
  const Timing timing = GENERATE(Timing::functional, Timing::cached, Timing::interval);
  std::uint64_t instructions = 0, breakpoints = 0;
  for (std::uint32_t seed = 1; seed <= 120; ++seed) {
    CAPTURE(seed, static_cast<int>(timing));
    RandomMachine whole(seed, timing), cut(seed, timing), single(seed, timing);
    whole.run_to(kEnd);
    for (std::uint64_t limit = 0; limit < kEnd; limit += 1 + seed % 5) cut.run_to(limit);
    cut.run_to(kEnd);
    REQUIRE(cut.picture() == whole.picture());
    single.machine.hart.engine().set_breakpoint(kHandlerAt);
    for (std::uint64_t limit = 0; limit < kEnd; limit += 100 + seed % 50) single.run_one_by_one_to(limit);
    single.run_one_by_one_to(kEnd);
    REQUIRE(single.picture() == whole.picture());
    breakpoints += single.breakpoints;
    instructions += whole.machine.hart.state().instret;
  }
  REQUIRE(instructions > 100'000);  // not only traps
  REQUIRE(breakpoints > 1000);
}
