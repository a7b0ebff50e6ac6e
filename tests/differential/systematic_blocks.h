// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Shared by the files that write the blocks of systematic programs (systematic.cpp).

#include <cstdint>

#include "tests/differential/draw.h"
#include "tests/differential/program.h"

namespace sluice::differential {

/// The table of operands comes first in the data. Behind it the code appends its results, through t6.
constexpr std::uint64_t kTableBytes = 1024;
inline void start_output(Program& p) { p.code.address(reg::t6, p.data_offset() + kTableBytes); }
inline void output_x(Code& c, unsigned from) {
  c.store(from, reg::t6, 0);
  c.addi(reg::t6, reg::t6, 8);
}

/// Every compressed instruction that neither jumps nor uses memory, each once.
void write_compressed(Program& p, Draw& draw, unsigned part, unsigned parts);
/// Compressed loads and stores with every offset; sp or a register of the short set is the base.
void write_compressed_memory(Program& p, Draw& draw);
/// Compressed jumps and branches: one of each offset that fits, taken or not, landing on an addi.
void write_compressed_jumps(Program& p, Draw& draw);

}  // namespace sluice::differential
