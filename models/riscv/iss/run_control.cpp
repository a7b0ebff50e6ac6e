// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/run_control.h"

namespace sluice::riscv {

/// Grows with every instruction, exception and interrupt.
std::uint64_t RunControl::events() const {
  const HartCounters& c = hart_.counters();
  return hart_.state().instret + c.traps + c.interrupts;
}

StopReason RunControl::step(Engine& engine) {
  beyond_limit_ = true;
  const StopReason reason = run_single(engine);
  beyond_limit_ = false;
  passed_ = kNowhere;
  return reason;
}

StopReason RunControl::run_one(Engine& engine) { return run_single(engine); }

StopReason RunControl::run_single(Engine& engine) {
  const HartState& state = hart_.state();
  const std::uint64_t before = events();
  StopReason reason = StopReason::slot_limit;
  stepping_ = true;
  // A miss in the instruction cache can use up the allowance before the instruction starts.
  do {
    step_limit_ = state.slots + 1;
    reason = engine.run();
  } while (reason == StopReason::slot_limit && events() == before &&
           (beyond_limit_ || state.slots < bus_.slot_limit()));
  stepping_ = false;
  return reason == StopReason::slot_limit && events() != before ? StopReason::stepped : reason;
}

bool RunControl::stops_here() {
  const bool passes = beyond_limit_ || passed_ == hart_.state().pc;
  passed_ = passes ? kNowhere : hart_.state().pc;
  return !passes;
}

}  // namespace sluice::riscv
