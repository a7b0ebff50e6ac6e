#pragma once
/// Whether a hart's exceptions lead it on: what it was like when it took the last few of them.

#include <array>
#include <cstdint>

#include "models/riscv/iss/hart_state.h"

namespace sluice::riscv {

class TrapHistory {
 public:
  /// The hart takes an exception at state.pc; returns: how often it has returned from one since reset. True: it took
  /// the same one with the same registers not long ago, as one of the last four that differ. Where no return lies
  /// between the two, sp may differ: a handler that traps pushes before it does.
  bool repeats(const HartState& state, Cause cause, std::uint64_t returns);
  /// Whether a return to `pc` leads right behind the instruction of the last exception, as that of a service does.
  bool serves(std::uint64_t pc) const { return pc == last_pc_ + 2 || pc == last_pc_ + 4; }
  void clear() { *this = {}; }

 private:
  static constexpr std::uint64_t kNowhere = 1;  ///< no instruction has an odd address
  struct Trap {
    std::uint64_t pc = kNowhere;
    std::uint64_t registers = 0;
    std::uint64_t sp = 0;
    std::uint64_t returns = 0;
    Cause cause = Cause::none;
  };
  std::array<Trap, 4> traps_;
  unsigned oldest_ = 0;
  std::uint64_t last_pc_ = kNowhere;
};

}  // namespace sluice::riscv
