// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a board says about a cluster of harts.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/parameters/quantity.h"
#include "models/base/parameters/schema.h"
#include "models/riscv/core_parameters.h"
#include "models/riscv/idle.h"
#include "models/riscv/iss/cost.h"
#include "models/riscv/tlb_parameters.h"
#include "models/riscv/uncached.h"

namespace sluice::riscv {

using namespace base::literals;

enum class Interrupts { plic, aia };

/// Issue slots per instruction class: the core's execution model without its memory. With an instruction window, only
/// what waits until that is empty has such a cost.
struct InstructionCosts {
  unsigned alu = 1, branch = 1, branch_taken = 2, jump = 2, jump_indirect = 4, load = 2, store = 2, mul = 2, div32 = 24,
           div64 = 40, fp_move = 2, fp_add = 2, fp_mul = 2, fp_div32 = 16, fp_div64 = 20, fp_sqrt32 = 16,
           fp_sqrt64 = 24, atomic = 72, fence = 16, csr = 40, system = 80, pause = 160, exception = 160,
           interrupt = 160, trap_return = 80;
  CostTable table() const;
  /// What an instruction window says in core.* instead.
  static constexpr std::array<const char*, 16> kWithoutWindow = {
      "alu",     "branch", "branch_taken", "jump",     "jump_indirect", "mul",       "div32",     "div64",
      "fp_move", "fp_add", "fp_mul",       "fp_div32", "fp_div64",      "fp_sqrt32", "fp_sqrt64", "pause"};
  static void describe(base::Schema<InstructionCosts>&);
};

struct ClusterParameters {
  unsigned harts = 1;
  base::Frequency clock = 3'100'000'000_Hz;
  unsigned clock_tolerance = 0;  ///< ppm, of the clock that all harts of the cluster share
  unsigned issue_width = 4;
  base::Frequency timebase = 10_MHz;
  base::Time quantum = 0_ns;       ///< 0: the board chooses
  base::Time bus_timeout = 50_ms;  ///< of an access to a line whose home is a device
  Interrupts interrupts = Interrupts::aia;
  std::string firmware;
  std::vector<std::string> images;
  std::string initrd;
  std::string device_tree;
  std::string bootargs;
  std::vector<std::string> services;  ///< programs that the firmware serves, NAME or NAME*PROCESSES; empty: all
  unsigned batch_threads = 0;         ///< that have work beside the services
  base::Time time_slice = 1_ms;       ///< of a thread while others wait for its hart
  unsigned idle_polls = 0;            ///< until a process that polls gives its turn up; 0: it does not
  base::Time local_delivery = 20_ns;  ///< from CLINT or stimecmp to a hart's pipeline
  IdleStates idle;
  TlbParameters tlb;
  UncachedParameters uncached;
  InstructionCosts costs;
  CoreParameters core;
  static void describe(base::Schema<ClusterParameters>&);
  /// The clock of issue slots as this machine has it (base::spread()). path: of the cluster.
  base::Clock slot_clock(std::string_view path) const;
};

}  // namespace sluice::riscv
