// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What an instruction costs in issue slots, by class. A cycle has PrivilegedConfig::issue_width slots.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace sluice::riscv {

enum class CostClass : std::uint8_t {
  alu,            ///< integer, bit manipulation, hints, fences that order nothing
  branch,         ///< conditional branch
  jump,           ///< jal
  jump_indirect,  ///< jalr
  load,           ///< integer and floating point; a miss or a device adds its stall
  store,
  mul,
  div32,
  div64,
  fp_move,  ///< sign injection, moves, comparisons, classification
  fp_add,   ///< also conversions
  fp_mul,   ///< also fused multiply-add
  fp_div32,
  fp_div64,
  fp_sqrt32,
  fp_sqrt64,
  atomic,  ///< AMO, LR, SC
  fence,   ///< fence, fence.i, sfence.vma
  csr,
  system,  ///< wfi, wrs
  pause,
  count
};

/// As in boards, in the order of CostClass.
inline constexpr std::array<const char*, static_cast<std::size_t>(CostClass::count)> kCostClassNames = {
    "alu",       "branch",    "jump",    "jump_indirect", "load",   "store",    "mul",
    "div32",     "div64",     "fp_move", "fp_add",        "fp_mul", "fp_div32", "fp_div64",
    "fp_sqrt32", "fp_sqrt64", "atomic",  "fence",         "csr",    "system",   "pause"};
/// Name of the level of a hart's decoded instructions of a class.
inline std::string decoded_counter(CostClass c) {
  return std::string("decoded_") + kCostClassNames[static_cast<std::size_t>(c)];
}

/// Slots per class, and slots added by events. The defaults are assumptions: the throughput of an out-of-order core of
/// width 4 on code that hits its L1.
struct CostTable {
  std::array<std::uint16_t, static_cast<std::size_t>(CostClass::count)> slots = {
      1,    // alu
      1,    // branch
      2,    // jump
      4,    // jump_indirect
      2,    // load
      2,    // store
      2,    // mul
      24,   // div32
      40,   // div64
      2,    // fp_move
      2,    // fp_add
      2,    // fp_mul
      16,   // fp_div32
      20,   // fp_div64
      16,   // fp_sqrt32
      24,   // fp_sqrt64
      72,   // atomic
      16,   // fence
      40,   // csr
      80,   // system
      160,  // pause
  };
  std::uint16_t branch_taken = 2;  ///< added to a conditional branch that is taken
  // Instead of an instruction's cost. They may be above the limit for instructions, which decoded code keeps.
  std::uint32_t exception = 160;   ///< entry of an exception
  std::uint32_t interrupt = 160;   ///< entry of an interrupt
  std::uint32_t trap_return = 80;  ///< mret, sret

  std::uint16_t of(CostClass c) const { return slots[static_cast<std::size_t>(c)]; }
  /// Limits the costs to what engines need: 1 to 1023 slots for an instruction, and at least 1 for a trap, so that a
  /// guest that does nothing but trap still reaches its slot limit.
  void clamp() {
    for (std::uint16_t& cost : slots) cost = std::clamp<std::uint16_t>(cost, 1, 1023);
    for (std::uint32_t* cost : {&exception, &interrupt, &trap_return}) *cost = std::max<std::uint32_t>(*cost, 1);
  }
  std::uint16_t& of(CostClass c) { return slots[static_cast<std::size_t>(c)]; }
};

}  // namespace sluice::riscv
