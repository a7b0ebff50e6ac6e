// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Detects a hart that takes the same exceptions again and again, from its state at the last few of them.

#include <array>
#include <cstdint>

#include "models/riscv/iss/hart_state.h"

namespace sluice::riscv {

class TrapHistory {
 public:
  /// Called when the hart takes an exception at state.pc. returns: how many mret and sret it has executed since reset.
  /// Returns true when the last four different exceptions include the same one with the same registers. If the hart has
  /// executed no mret or sret in between, sp may differ: a handler pushes registers before it traps itself.
  bool repeats(const HartState& state, Cause cause, std::uint64_t returns);
  /// Whether `pc` follows the instruction of the last exception, as it does on return from a service such as ecall.
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
