// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a board says about an out-of-order core (timing = "interval").

#include <vector>

#include "models/base/parameters/schema.h"
#include "models/base/time/time.h"
#include "models/riscv/iss/window/core_shape.h"

namespace sluice::riscv {

/// Why a parameter of a class of instructions did not act.
inline constexpr const char* kNotExecuted = "no hart has executed such an instruction";

/// How a class of instructions is executed whose units take an instruction in each cycle.
struct PipelinedClass {
  unsigned latency = 1;
  std::vector<unsigned> ports = {0};
  ExecutionClass shape() const;
  static void describe(base::Schema<PipelinedClass>&);
};

/// How a class is executed that has one unit, which is busy for some cycles.
struct UnpipelinedClass {
  unsigned latency = 1;
  unsigned interval = 1;
  unsigned port = 0;
  ExecutionClass shape() const;
  static void describe(base::Schema<UnpipelinedClass>&);
};

/// The defaults are those of a Skylake server core.
struct CoreParameters {
  unsigned fetch_width = 6;
  unsigned fetch_queue = 64;
  unsigned retire_width = 4;
  unsigned reorder_buffer = 224;
  unsigned scheduler = 97;
  unsigned load_queue = 72;
  unsigned store_buffer = 56;
  unsigned refill = 16;
  bool l1d_prefetch = true;
  bool prefetch_hints = true;
  unsigned history = 12;
  unsigned return_stack = 16;
  unsigned pause = 140;
  base::Time posted_store = base::Time::ns(40);
  PipelinedClass alu{1, {0, 1, 5, 6}}, branch{1, {0, 6}}, jump{1, {6}}, load{5, {2, 3}}, store{1, {4}}, mul{3, {1}},
      fp_move{1, {0, 1, 5}}, fp_add{4, {0, 1}}, fp_mul{4, {0, 1}};
  UnpipelinedClass div32{26, 6, 0}, div64{42, 24, 0}, fp_div32{11, 3, 0}, fp_div64{14, 4, 0}, fp_sqrt32{12, 3, 0},
      fp_sqrt64{18, 6, 0};

  /// dispatch_width: instructions dispatched in a cycle.
  CoreShape shape(unsigned dispatch_width) const;
  static void describe(base::Schema<CoreParameters>&);
};

}  // namespace sluice::riscv
