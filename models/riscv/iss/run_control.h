// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Where a run ends for a debugger: breakpoints and single steps, the same for every engine.

#include <algorithm>
#include <cstdint>
#include <set>

#include "models/riscv/iss/engine.h"
#include "models/riscv/iss/hart.h"

namespace sluice::riscv {

class RunControl {
 public:
  /// The hart must outlive this object.
  explicit RunControl(Hart& hart) : hart_(hart), bus_(hart.bus()) {}

  /// Implements Engine::step() and Engine::run_one() by Engine::run().
  StopReason step(Engine& engine);
  StopReason run_one(Engine& engine);

  /// Called at the start of Engine::run().
  void begin() {
    if (hart_.state().pc != passed_) passed_ = kNowhere;
  }
  /// Slots at which run() ends: the bus's limit, or an earlier one while a single instruction is to run.
  std::uint64_t slot_limit() { return stepping_ ? step_limit() : bus_.slot_limit(); }

  /// Whether a single instruction is to run, and whether it has.
  bool stepping() const { return stepping_; }
  bool step_is_over() const { return stepping_ && hart_.state().slots >= step_limit_; }
  /// The bus's limit; a step may ignore it.
  std::uint64_t bus_limit() { return stepping_ && beyond_limit_ ? ~std::uint64_t{0} : bus_.slot_limit(); }

  /// Returns false when the breakpoint was already set.
  bool set_breakpoint(std::uint64_t address) { return breakpoints_.insert(address).second; }
  bool clear_breakpoint(std::uint64_t address) { return breakpoints_.erase(address) != 0; }
  bool breakpoint_at(std::uint64_t pc) const { return breakpoints_.count(pc) != 0; }
  /// Called when the hart has come to a breakpoint, at state.pc. Returns false when it must go on, because run() has
  /// already stopped here.
  bool stops_here();
  /// The hart has passed the breakpoint at state.pc, but the instruction there has not run yet.
  void pass() { passed_ = hart_.state().pc; }

 private:
  static constexpr std::uint64_t kNowhere = 1;  ///< no instruction has an odd address

  StopReason run_single(Engine& engine);
  std::uint64_t step_limit() { return beyond_limit_ ? step_limit_ : std::min(step_limit_, bus_.slot_limit()); }
  std::uint64_t events() const;

  Hart& hart_;
  Bus& bus_;
  std::set<std::uint64_t> breakpoints_;
  std::uint64_t passed_ = kNowhere;  ///< the breakpoint here must not stop the hart again
  bool stepping_ = false;
  bool beyond_limit_ = false;  ///< while stepping_: the bus's limit does not count
  std::uint64_t step_limit_ = 0;
};

}  // namespace sluice::riscv
