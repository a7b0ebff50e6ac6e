// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One program while it is built: code, data, page tables and initial state, and where they lie.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/differential/draw.h"
#include "tests/differential/image.h"

namespace sluice::differential {

namespace reg {
constexpr unsigned zero = 0, ra = 1, sp = 2, t0 = 5, t1 = 6, t2 = 7, a0 = 10, a1 = 11, a2 = 12, a3 = 13, a4 = 14;
constexpr unsigned t3 = 28, t4 = 29, t5 = 30, t6 = 31;
}  // namespace reg

/// Code that grows. Addresses are offsets from the start of the code.
class Code {
 public:
  std::uint64_t here() const { return bytes_.size(); }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  void half(std::uint16_t h);
  void word(std::uint32_t w);
  void instruction(std::uint32_t w) { (w & 3) == 3 ? word(w) : half(static_cast<std::uint16_t>(w)); }
  void patch(std::uint64_t at, std::uint32_t w);
  std::uint32_t word_at(std::uint64_t at) const;
  void align(std::uint64_t to);  ///< with nops

  // What every step needs; registers are numbers.
  void addi(unsigned rd, unsigned rs1, std::int32_t imm);
  void li(unsigned rd, std::int64_t value);                   ///< up to 8 instructions
  void address(unsigned rd, std::int64_t offset);             ///< of the program's byte `offset` from the code's start
  void load(unsigned rd, unsigned base, std::int32_t imm);    ///< ld
  void store(unsigned rs2, unsigned base, std::int32_t imm);  ///< sd
  void fload(unsigned fd, unsigned base, std::int32_t imm);   ///< fld
  void fstore(unsigned fs2, unsigned base, std::int32_t imm);
  void jump(std::int64_t to, unsigned rd = reg::zero);  ///< jal to an offset
  void branch(unsigned funct3, unsigned rs1, unsigned rs2, std::int64_t to);
  void csr(unsigned funct3, unsigned rd, unsigned number, unsigned rs1);
  void csrr(unsigned rd, unsigned number) { csr(2, rd, number, 0); }
  void csrw(unsigned number, unsigned rs1) { csr(1, 0, number, rs1); }
  void ecall() { word(0x73); }

 private:
  std::vector<std::uint8_t> bytes_;
};

std::uint32_t jal_word(unsigned rd, std::int64_t offset);
std::uint32_t branch_word(unsigned funct3, unsigned rs1, unsigned rs2, std::int64_t offset);

/// What a program asks for before its code is written.
struct Shape {
  std::string kind;
  std::uint64_t code_bytes = 0;  ///< at most; the data start behind these, on a whole page
  std::uint64_t data_bytes = 0;
  std::uint64_t step = 64;
  std::uint64_t log_entries = 160;
  unsigned tables = 0;  ///< pages for page tables
  unsigned skew = 0;    ///< bytes from the start of a page to the code, even
};

class Program {
 public:
  Program(Image& image, const Shape& shape, std::uint64_t seed, std::uint64_t index);

  Descriptor d;
  Code code;
  /// Offset of the data from the code's start.
  std::int64_t data_offset() const { return static_cast<std::int64_t>(data_ - d.code_at); }
  std::uint64_t data() const { return data_; }
  std::uint64_t data_size() const { return shape_.data_bytes; }
  /// The pages of code and data: what is mapped together.
  std::uint64_t region() const { return d.code_at - shape_.skew; }
  std::uint64_t region_size() const { return data_ + shape_.data_bytes - region(); }
  unsigned skew() const { return shape_.skew; }
  /// Loads a constant from behind the code (8 bytes).
  void literal(unsigned rd, std::uint64_t value);
  void fliteral(unsigned fd, unsigned scratch, std::uint64_t value);  ///< 12 bytes
  std::uint64_t table(unsigned n) const { return tables_ + n * kPage; }
  std::uint64_t supervisor() const { return supervisor_; }
  std::uint64_t logs_end() const { return d.supervisor_log + (shape_.log_entries << L_SHIFT); }
  Image& image() { return image_; }

  void draw_state(Draw& draw);  ///< x, f and fcsr
  /// Writes code and descriptor to the image. Returns the descriptor's address.
  std::uint64_t finish();

 private:
  Image& image_;
  std::int64_t add_literal(std::uint64_t value);
  Shape shape_;
  std::uint64_t literals_ = 0;
  std::uint64_t descriptor_, supervisor_, data_, tables_;
};

}  // namespace sluice::differential
