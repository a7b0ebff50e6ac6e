// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "models/riscv/wake_up.h"

using namespace sluice;
using namespace sluice::riscv;
using namespace sluice::base::literals;

namespace {

using Parts = std::vector<std::pair<sluice_stage, base::Time>>;

Parts parts(const WakeUp& w, base::Time from, base::Time until) {
  Parts list;
  w.divide(from, until, [&](sluice_stage stage, base::Time begin) { list.emplace_back(stage, begin); });
  return list;
}

/// The exit takes from 100 to 300 ns, software without interrupts to 310, the entry of the trap to 370.
WakeUp woken() {
  WakeUp w;
  w.begin_exit(100_ns);
  w.end_exit(300_ns);
  w.take(310_ns, 370_ns);
  return w;
}

}  // namespace

TEST_CASE("a hart that nothing has woken makes nobody wait", "[core]") { REQUIRE(parts({}, 0_ns, 1000_ns).empty()); }

TEST_CASE("a request that comes during the exit waits for the rest of it and for what follows", "[core]") {
  const Parts all = {{SLUICE_STAGE_idle_exit, 150_ns},
                     {SLUICE_STAGE_interrupt, 300_ns},
                     {SLUICE_STAGE_trap_entry, 310_ns},
                     {SLUICE_STAGE_interrupt, 370_ns}};
  REQUIRE(parts(woken(), 150_ns, 400_ns) == all);
  // Before the hart began to wake, the request waited for a core.
  REQUIRE(parts(woken(), 50_ns, 400_ns).front() == std::pair(SLUICE_STAGE_idle_exit, 100_ns));
}

TEST_CASE("a request that comes later waits for less", "[core]") {
  REQUIRE(parts(woken(), 305_ns, 400_ns) ==
          Parts{{SLUICE_STAGE_interrupt, 305_ns}, {SLUICE_STAGE_trap_entry, 310_ns}, {SLUICE_STAGE_interrupt, 370_ns}});
  REQUIRE(parts(woken(), 350_ns, 400_ns) == Parts{{SLUICE_STAGE_trap_entry, 350_ns}, {SLUICE_STAGE_interrupt, 370_ns}});
  REQUIRE(parts(woken(), 390_ns, 400_ns) == Parts{{SLUICE_STAGE_interrupt, 390_ns}});
}

TEST_CASE("behind the first request that software finds, the others wait for a core", "[core]") {
  WakeUp w = woken();
  w.work(400_ns);
  w.work(450_ns);
  const Parts all = parts(w, 350_ns, 500_ns);
  REQUIRE(all.back() == std::pair(SLUICE_STAGE_wait_core, 400_ns));
  REQUIRE(all.size() == 3);
  REQUIRE(parts(w, 400_ns, 500_ns).empty());
  REQUIRE(parts(w, 420_ns, 500_ns).empty());
}

TEST_CASE("a hart that takes no trap is at work when it has left its idle state", "[core]") {
  WakeUp w;
  w.begin_exit(100_ns);
  w.end_exit(300_ns);
  REQUIRE(parts(w, 150_ns, 400_ns) == Parts{{SLUICE_STAGE_idle_exit, 150_ns}, {SLUICE_STAGE_wait_core, 300_ns}});
  REQUIRE(parts(w, 300_ns, 400_ns).empty());
}

TEST_CASE("an interrupt of a hart at work has nothing to do with its last exit", "[core]") {
  WakeUp w = woken();
  w.work(400_ns);
  w.take(700_ns, 760_ns);
  REQUIRE(parts(w, 150_ns, 800_ns) == Parts{{SLUICE_STAGE_trap_entry, 700_ns}, {SLUICE_STAGE_interrupt, 760_ns}});
}
