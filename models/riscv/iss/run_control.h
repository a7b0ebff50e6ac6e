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

  /// Engine::step() and Engine::run_one() by means of Engine::run().
  StopReason step(Engine& engine);
  StopReason run_one(Engine& engine);

  /// At the start of Engine::run().
  void begin() {
    if (hart_.state().pc != passed_) passed_ = kNowhere;
  }
  /// Slots at which run() ends: the bus's limit, a nearer one while a single instruction is to run.
  std::uint64_t slot_limit() { return stepping_ ? step_limit() : bus_.slot_limit(); }

  /// False: it changes nothing.
  bool set_breakpoint(std::uint64_t address) { return breakpoints_.insert(address).second; }
  bool clear_breakpoint(std::uint64_t address) { return breakpoints_.erase(address) != 0; }
  bool breakpoint_at(std::uint64_t pc) const { return breakpoints_.count(pc) != 0; }
  /// The hart has come to a breakpoint, at state.pc. False: it goes on, because run() has stopped here before.
  bool stops_here();
  /// Nothing of the instruction at state.pc has run, but its breakpoint is behind the hart.
  void pass() { passed_ = hart_.state().pc; }

 private:
  static constexpr std::uint64_t kNowhere = 1;  ///< no instruction has an odd address

  StopReason run_single(Engine& engine);
  std::uint64_t step_limit() { return beyond_limit_ ? step_limit_ : std::min(step_limit_, bus_.slot_limit()); }
  std::uint64_t events() const;

  Hart& hart_;
  Bus& bus_;
  std::set<std::uint64_t> breakpoints_;
  std::uint64_t passed_ = kNowhere;  ///< where run() stopped last
  bool stepping_ = false;
  bool beyond_limit_ = false;  ///< while stepping_: the bus's limit does not count
  std::uint64_t step_limit_ = 0;
};

}  // namespace sluice::riscv
