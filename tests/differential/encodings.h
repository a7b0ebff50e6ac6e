// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Every instruction word that the ISS's decoder accepts, by operation: the generator draws from it and the coverage
/// is counted against it, so that an instruction added to the decoder is generated and demanded without a word here.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/riscv/iss/decode/decode.h"
#include "tests/differential/draw.h"

namespace sluice::differential {

using riscv::Instruction;
using riscv::Opcode;

constexpr std::size_t kOpcodes = static_cast<std::size_t>(Opcode::count);

const char* opcode_name(Opcode op);

struct Encoding {
  std::vector<std::uint32_t> words;   ///< 32-bit, fields rd and rs1 zero
  std::vector<std::uint16_t> halves;  ///< 16-bit, complete
  bool rd_is_zero = false;            ///< the field is fixed
  bool rs1_is_zero = false;
  std::uint8_t rounding_modes = 0;       ///< values of rm it takes (bit 7: dynamic); 0: it has none
  std::int32_t least = 0, most = 0;      ///< immediates of its words
  std::vector<std::int32_t> immediates;  ///< all of them, ascending
};

/// What an operation's source registers hold, for floating point.
enum class Source : std::uint8_t { none, integer, single, full };  ///< full: double precision

class Encodings {
 public:
  static const Encodings& get();
  const Encoding& of(Opcode op) const { return table_[static_cast<std::size_t>(op)]; }
  /// Halves that decode to nothing, for traps.
  const std::vector<std::uint16_t>& illegal_halves() const { return illegal_halves_; }

  /// A word of this operation, any immediate, any rm it takes.
  std::uint32_t draw(Opcode op, Draw& draw, unsigned rd, unsigned rs1) const;
  /// A word of this operation with these source registers and this rm (7: dynamic).
  std::uint32_t word(Opcode op, unsigned rd, unsigned rs1, unsigned rs2 = 0, unsigned rm = 7, unsigned rs3 = 0) const;
  /// A word of this operation with an immediate.
  std::uint32_t with_immediate(Opcode op, unsigned rd, unsigned rs1, std::int32_t immediate) const;

 private:
  Encodings();
  std::array<Encoding, kOpcodes> table_;
  std::vector<std::uint16_t> illegal_halves_;
};

/// Whether the second register field is a source.
bool reads_rs2(Opcode op);
bool reads_rs3(Opcode op);
Source source_of(Opcode op);  ///< of rs1, and of rs2 and rs3 where read
bool is_integer_op(Opcode op);
bool is_memory_op(Opcode op);
bool is_float_op(Opcode op);  ///< without loads and stores
bool is_load(Opcode op);
unsigned access_bytes(Opcode op);

}  // namespace sluice::differential
