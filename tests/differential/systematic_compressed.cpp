// SPDX-License-Identifier: Apache-2.0
/// Systematic programs of compressed instructions.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/differential/encodings.h"
#include "tests/differential/operands.h"
#include "tests/differential/systematic_blocks.h"

namespace sluice::differential {

using namespace reg;

void write_compressed(Program& p, Draw& draw, unsigned part, unsigned parts) {
  Code& c = p.code;
  start_output(p);
  std::vector<std::uint16_t> halves;
  for (unsigned n = 0; n < kOpcodes; ++n) {
    const auto op = static_cast<Opcode>(n);
    if (!is_integer_op(op)) continue;
    for (const std::uint16_t h : Encodings::get().of(op).halves)
      if (riscv::decode(h).rd != t6) halves.push_back(h);
  }
  for (std::size_t n = part; n < halves.size(); n += parts) {
    const Instruction i = riscv::decode(halves[n]);
    const bool once_in_a_while = draw.one_in(4);
    if (once_in_a_while && i.rs1 != t6 && i.rs1 != 0) c.li(i.rs1, static_cast<std::int32_t>(draw()));
    c.half(halves[n]);
    // The operands are what earlier ones left; a running digest of the results keeps each visible.
    if (i.rd == t5) continue;
    c.word(0x6000'0000 | 0x1000 | 0x33 | t5 << 7 | t5 << 15 | 8u << 20);  // rol t5, t5, s0
    c.word(0x4033 | t5 << 7 | t5 << 15 | static_cast<std::uint32_t>(i.rd) << 20);
    if (n % 64 == part % 64) output_x(c, t5);
  }
  output_x(c, t5);
}

void write_compressed_memory(Program& p, Draw& draw) {
  Code& c = p.code;
  start_output(p);
  for (std::uint64_t at = p.data_size() - 2 * kPage; at < p.data_size(); at += 8) p.image().put(p.data() + at, draw());
  const auto area = static_cast<std::int64_t>(p.data_size() - 2 * kPage) + p.data_offset();
  std::vector<std::uint32_t> seen;
  for (unsigned n = 0; n < kOpcodes; ++n) {
    const auto op = static_cast<Opcode>(n);
    if (!is_load(op) && !is_store(op)) continue;
    for (const std::uint16_t h : Encodings::get().of(op).halves) {
      const Instruction i = riscv::decode(h);
      const std::uint32_t key = n << 16 | (i.rs1 == sp) << 15 | static_cast<std::uint32_t>(i.imm);
      const bool output_pointer = i.rd == t6 && is_load(op);
      if (i.rs1 == 0 || i.rd == i.rs1 || i.rs1 == i.rs2 || output_pointer || !draw.one_in(8)) continue;
      if (std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
      seen.push_back(key);
      c.address(i.rs1, area + static_cast<std::int64_t>(draw.below(64) * 8));
      c.half(h);
      if (is_store(op)) continue;
      riscv::uses_float(op) ? c.fstore(i.rd, t6, 0) : c.store(i.rd, t6, 0);
      c.addi(t6, t6, 8);
    }
  }
}

void write_compressed_jumps(Program& p, Draw& draw) {
  Code& c = p.code;
  start_output(p);
  for (const Opcode op : {Opcode::jal, Opcode::beq, Opcode::bne}) {
    for (unsigned n = 0; n < 150; ++n) {
      const std::uint16_t h = draw.from(Encodings::get().of(op).halves);
      const Instruction i = riscv::decode(h);
      const auto register1 = static_cast<unsigned>(i.rs1);
      const std::int64_t distance = i.imm < 0 ? -i.imm : i.imm;
      if (distance < 16 || distance > 600) continue;
      // A backward jump lies behind its target, and another jump leads over the target to it.
      if (op != Opcode::jal) c.li(register1, draw.one_in(2) ? 0 : 5);
      c.li(t4, static_cast<std::int64_t>(n));
      const std::uint64_t from = i.imm < 0 ? c.here() + 4 + static_cast<std::uint64_t>(distance) : c.here();
      const std::uint64_t to = i.imm < 0 ? c.here() + 4 : c.here() + static_cast<std::uint64_t>(distance);
      if (i.imm < 0) c.jump(static_cast<std::int64_t>(from));
      const std::uint64_t after = std::max(from, to) + 24;
      while (c.here() < after) {
        if (c.here() == from) {
          c.half(h);
        } else if (c.here() == to) {
          c.half(0x0001);
          c.half(0x0001);
          c.addi(t4, t4, 1000);
          c.jump(static_cast<std::int64_t>(after));
        } else {
          c.half(0x0001);
        }
      }
      output_x(c, t4);
    }
  }
}

}  // namespace sluice::differential
