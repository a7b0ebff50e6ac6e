// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The circumstances in which harts meet: two or four harts, several quanta, with and without caches, with and without
/// calendar entries that do nothing.

#include <functional>

#include <catch2/catch.hpp>

#include "tests/multihart/machine.h"
#include "tests/unit/fresh_kernel.h"

namespace sluice::multihart {

constexpr std::uint64_t kFlag = Machine::kData;

/// Calls check(parameters, disturbed) for two and four harts, all quanta and timings, with and without other entries.
inline void everywhere(const std::function<void(const MachineParameters&, bool)>& check) {
  for (const unsigned harts : {2u, 4u}) {
    for (const Time quantum : {3_ns, 100_ns, 1_us}) {
      for (const Timing timing : {Timing::functional, Timing::cached, Timing::interval}) {
        for (const bool disturbed : {false, true}) {
          CAPTURE(harts, quantum.nanoseconds(), name_of(timing), disturbed);
          check({harts, quantum, timing}, disturbed);
        }
      }
    }
  }
}

/// Runs a machine whose harts are loaded by `load`, and calls `look` at its end. No entry may have been made for the
/// past.
inline void run(const MachineParameters& p, bool disturbed, Time until, const std::function<void(Machine&)>& load,
                const std::function<void(Machine&)>& look) {
  fresh_kernel();
  Machine m(p);
  if (disturbed) m.disturb(Time::ps(7'301), until);
  load(m);
  m.run(until);
  REQUIRE(base::calendar().late() == 0);
  look(m);
}

/// Waits in wrs until another writes to the line at s0; a0: the cycle at which it goes on.
inline Code waiter() {
  Code c;
  c.lr(3, t0, s0);
  c.wrs_nto();
  c.csrr(a0, kCycle);
  return c;
}

}  // namespace sluice::multihart
