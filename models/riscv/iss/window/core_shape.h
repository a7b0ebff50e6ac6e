// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The sizes, widths and latencies of an out-of-order core, for timing = "interval". Plain C++, no SystemC.

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/riscv/iss/cost.h"

namespace sluice::riscv {

/// How the instructions of one class are executed.
struct ExecutionClass {
  std::uint8_t latency = 1;   ///< cycles from issue until a dependent instruction may issue; loads: L1D hit
  std::uint8_t interval = 1;  ///< cycles until the unit takes the next one; above 1: one unit, not pipelined
  std::uint16_t ports = 1;    ///< bit n: port n may issue it
};

/// The defaults are Skylake-SP's, from Intel's optimisation reference manual (248966), sections on the Skylake client
/// and server microarchitectures: widths, buffers, ports and latencies. refill and the predictor are assumed: Intel
/// states neither.
struct CoreShape {
  static constexpr unsigned kPorts = 16;
  static constexpr unsigned kMostInFlight = 1024;

  /// Instructions that fetch delivers in a cycle, at most up to a taken branch; at least dispatch_width.
  unsigned fetch_width = 6;
  unsigned fetch_queue = 64;      ///< instructions between fetch and dispatch; at least dispatch_width
  unsigned dispatch_width = 4;    ///< instructions that enter the window in a cycle: 1 to 16
  unsigned retire_width = 4;      ///< instructions that leave it in a cycle: 1 to 16
  unsigned reorder_buffer = 224;  ///< dispatch_width to kMostInFlight
  unsigned scheduler = 97;        ///< instructions dispatched and not yet issued
  unsigned load_queue = 72;       ///< loads dispatched and not yet retired
  unsigned store_buffer = 56;     ///< stores dispatched and not yet written to L1D
  unsigned refill = 16;           ///< cycles from the end of a mispredicted branch to the dispatch of the right path
  bool l1d_prefetch = true;       ///< a load miss behind one of the line before brings the next line to L1D
  unsigned history = 12;          ///< branches in the predictor's global history; it has 2^history counters
  unsigned return_stack = 16;     ///< return addresses
  std::array<ExecutionClass, static_cast<std::size_t>(CostClass::count)> classes = {{
      {1, 1, 0b0110'0011},    // alu
      {1, 1, 0b0100'0001},    // branch
      {1, 1, 0b0100'0000},    // jump
      {1, 1, 0b0100'0000},    // jump_indirect
      {5, 1, 0b0000'1100},    // load
      {1, 1, 0b0001'0000},    // store
      {3, 1, 0b0000'0010},    // mul
      {26, 6, 0b0000'0001},   // div32
      {42, 24, 0b0000'0001},  // div64
      {1, 1, 0b0010'0011},    // fp_move
      {4, 1, 0b0000'0011},    // fp_add
      {4, 1, 0b0000'0011},    // fp_mul
      {11, 3, 0b0000'0001},   // fp_div32
      {14, 4, 0b0000'0001},   // fp_div64
      {12, 3, 0b0000'0001},   // fp_sqrt32
      {18, 6, 0b0000'0001},   // fp_sqrt64
      {1, 1, 0b0110'0011},    // atomic
      {1, 1, 0b0110'0011},    // fence
      {1, 1, 0b0110'0011},    // csr
      {1, 1, 0b0110'0011},    // system
      {140, 1, 0b0110'0011},  // pause
  }};

  /// Cycles by which fetch may be ahead of dispatch.
  unsigned fetch_lead() const { return fetch_queue / dispatch_width; }
  const ExecutionClass& of(CostClass c) const { return classes[static_cast<std::size_t>(c)]; }
  ExecutionClass& of(CostClass c) { return classes[static_cast<std::size_t>(c)]; }
};

}  // namespace sluice::riscv
