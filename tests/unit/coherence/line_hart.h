// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A hart whose loads and stores of lines with homes of their own a test scripts, and a link without latencies.

#include <functional>
#include <string>
#include <utility>

#include <systemc>

#include "models/base/systemc/scheduler.h"
#include "models/coherence/lines/homed_lines.h"

namespace sluice {

inline constexpr coherence::CoherentLatencies kNoLatencies{{}, {}, {}, {}, {}, {}, {}, 0, {}};

struct LineHart : sc_core::sc_module {
  base::Runner runner;
  coherence::HomedLines& lines;
  unsigned number;
  std::function<void(LineHart&)> script;
  SC_HAS_PROCESS(LineHart);
  LineHart(sc_core::sc_module_name name, base::Scheduler& s, coherence::HomedLines& l, unsigned n,
           std::function<void(LineHart&)> f)
      : sc_module(name), runner(s, this->name()), lines(l), number(n), script(std::move(f)) {
    SC_THREAD(run);
  }
  void run() {
    runner.begin();
    script(*this);
    base::Event never;
    base::wait_for(never, "end", "nobody");
  }
  void at(base::Time t) {
    runner.advance_to(t);
    while (runner.time() >= runner.bound()) runner.yield();
    runner.synchronise();
    base::calendar().set_now(runner.time());
  }
  /// The byte at an address; -1: refused.
  int load(std::uint64_t address) {
    const std::uint8_t* bytes = lines.hold(number, address, false);
    if (!bytes) return -1;
    const int value = *bytes;
    lines.let_go(number);
    return value;
  }
  bool store(std::uint64_t address, std::uint8_t value) {
    std::uint8_t* bytes = lines.hold(number, address, true);
    if (!bytes) return false;
    *bytes = value;
    lines.let_go(number);
    return true;
  }
};

}  // namespace sluice
