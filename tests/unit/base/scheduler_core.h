// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A synthetic core for the tests of run-ahead.

#include <cstdint>
#include <functional>
#include <utility>

#include "models/base/systemc/scheduler.h"
#include "models/base/time/who_waits.h"

namespace sluice::base {

/// A core of `instructions` instructions that take `cost` each. It calls step(core, n) at the start of instruction n.
class Core : public sc_core::sc_module {
 public:
  using Step = std::function<void(Core&, std::uint64_t)>;
  Core(sc_core::sc_module_name name, Scheduler& s, Time cost, std::uint64_t instructions, Step step)
      : Core(name, s.first_group(), cost, instructions, std::move(step)) {}
  Core(sc_core::sc_module_name name, RunnerGroup& group, Time cost, std::uint64_t instructions, Step step)
      : sc_module(name), runner(group, this->name()), cost_(cost), instructions_(instructions), step_(std::move(step)) {
    SC_HAS_PROCESS(Core);
    SC_THREAD(run);
  }
  void stall(Time t) { runner.advance_to(runner.time() + t); }
  std::uint64_t trace = 14695981039346656037u;  ///< hash of everything it has seen and when
  void see(std::uint64_t v) { trace = (trace ^ v ^ runner.time().femtoseconds()) * 1099511628211u; }

  Runner runner;
  Event wake;

 private:
  void run() {
    runner.begin();
    for (std::uint64_t n = 0; n < instructions_; ++n) {
      while (runner.time() >= runner.bound()) runner.yield();
      calendar().set_now(runner.time());
      step_(*this, n);
      runner.advance_to(runner.time() + cost_);
    }
    Event never;
    wait_for(never, "end of program", "nobody");
  }
  Time cost_;
  std::uint64_t instructions_;
  Step step_;
};

}  // namespace sluice::base
