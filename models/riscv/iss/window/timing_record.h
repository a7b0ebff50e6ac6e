// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the timing of an instruction needs, in eight bytes beside the decoded instruction.

#include <cstdint>

#include "models/riscv/iss/decode/decode.h"
#include "models/riscv/iss/window/core_shape.h"

namespace sluice::riscv {

struct TimingRecord {
  enum Kind : std::uint8_t {
    kPlain,
    kBranch,        ///< conditional branch
    kJump,          ///< direct jump
    kIndirect,      ///< indirect jump
    kCall,          ///< direct jump that leaves a return address
    kIndirectCall,  ///< as kCall
    kReturn,        ///< indirect jump to a return address
    kThree,         ///< has a third operand
    kUnpipelined,   ///< keeps its unit for `interval` cycles
    kFence,         ///< orders earlier stores before later loads
    kPause,         ///< dispatch stops for its latency
    kLoad,
    kStore,
    kPrefetch,  ///< brings a line to L1D, and waits for nothing
  };
  /// The f registers follow the x registers, of which the last takes what is written to x0. An operand that is not
  /// there is x0, which is always ready.
  static constexpr unsigned kSink = 32, kFloat = 33, kRegisters = 65;

  std::uint8_t rd, rs1, rs2;
  Kind kind;
  std::uint8_t latency;  ///< cycles; loads: after an L1D hit
  std::uint8_t detail;   ///< kUnpipelined: cycles for which it keeps its unit; loads, stores: bytes; kThree: register;
                         ///< kPrefetch: a base::LineUse
  std::uint16_t ports;   ///< bit n: port n may issue it

  bool is_transfer() const { return kind >= kBranch && kind <= kReturn; }  ///< a branch or jump
};
static_assert(sizeof(TimingRecord) == 8);

/// The record of an instruction as with_sink() returns it.
TimingRecord timing_record(const Instruction&, const CoreShape&);

}  // namespace sluice::riscv
