// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Puts RISC-V instructions together, for programs of a few lines.

#include <cstdint>
#include <vector>

namespace sluice::multihart {

/// Registers by their ABI names, those that the tests use.
enum Register : unsigned {
  zero = 0,
  ra = 1,
  sp = 2,
  t0 = 5,
  t1 = 6,
  t2 = 7,
  s0 = 8,
  s1 = 9,
  a0 = 10,
  a1 = 11,
  a2 = 12,
  a3 = 13,
  a4 = 14,
  a5 = 15,
  s2 = 18,
  s3 = 19,
  s4 = 20,
  s5 = 21,
  s6 = 22,
  s7 = 23
};

/// Ordering bits of atomics.
enum Order : std::uint32_t { relaxed = 0, release = 1, acquire = 2, both = 3 };

/// Sets of predecessors and successors of a fence.
enum Accesses : std::uint32_t { writes = 1, reads = 2, all = 3 };

constexpr unsigned kCycle = 0xb00, kTime = 0xc01, kMcause = 0x342, kMie = 0x304, kStimecmp = 0x14d, kMtvec = 0x305,
                   kMstatus = 0x300;

/// Code of one hart. Branch targets are positions, in instructions from its start.
class Code {
 public:
  std::vector<std::uint32_t> words;

  int here() const { return static_cast<int>(words.size()); }
  int add(std::uint32_t word) {
    words.push_back(word);
    return here() - 1;
  }

  int addi(unsigned rd, unsigned rs1, int imm) { return add(field(imm, 20) | rs1 << 15 | rd << 7 | 0x13); }
  int slli(unsigned rd, unsigned rs1, unsigned by) { return add(by << 20 | rs1 << 15 | 1 << 12 | rd << 7 | 0x13); }
  int xor_(unsigned rd, unsigned rs1, unsigned rs2) { return add(rs2 << 20 | rs1 << 15 | 4 << 12 | rd << 7 | 0x33); }
  int add_(unsigned rd, unsigned rs1, unsigned rs2) { return add(rs2 << 20 | rs1 << 15 | rd << 7 | 0x33); }
  int mul(unsigned rd, unsigned rs1, unsigned rs2) { return add(1 << 25 | rs2 << 20 | rs1 << 15 | rd << 7 | 0x33); }
  int div(unsigned rd, unsigned rs1, unsigned rs2) {
    return add(1 << 25 | rs2 << 20 | rs1 << 15 | 4 << 12 | rd << 7 | 0x33);
  }
  void nops(unsigned n) {
    while (n-- > 0) addi(zero, zero, 0);
  }

  /// Aligned, of 1 << log2_bytes bytes.
  int load(unsigned log2_bytes, unsigned rd, unsigned rs1, int imm = 0) {
    return add(field(imm, 20) | rs1 << 15 | log2_bytes << 12 | rd << 7 | 0x03);
  }
  int store(unsigned log2_bytes, unsigned rs2, unsigned rs1, int imm = 0) {
    const auto i = static_cast<std::uint32_t>(imm);
    return add((i >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | log2_bytes << 12 | (i & 0x1f) << 7 | 0x23);
  }
  int ld(unsigned rd, unsigned rs1, int imm = 0) { return load(3, rd, rs1, imm); }
  int sd(unsigned rs2, unsigned rs1, int imm = 0) { return store(3, rs2, rs1, imm); }
  int sw(unsigned rs2, unsigned rs1, int imm = 0) { return store(2, rs2, rs1, imm); }
  int lr(unsigned log2_bytes, unsigned rd, unsigned rs1, Order order = relaxed) {
    return atomic(0x02, log2_bytes, rd, 0, rs1, order);
  }
  int sc(unsigned log2_bytes, unsigned rd, unsigned rs2, unsigned rs1, Order order = relaxed) {
    return atomic(0x03, log2_bytes, rd, rs2, rs1, order);
  }
  int amoadd(unsigned log2_bytes, unsigned rd, unsigned rs2, unsigned rs1, Order order = relaxed) {
    return atomic(0x00, log2_bytes, rd, rs2, rs1, order);
  }
  int amoswap(unsigned log2_bytes, unsigned rd, unsigned rs2, unsigned rs1, Order order = relaxed) {
    return atomic(0x01, log2_bytes, rd, rs2, rs1, order);
  }
  int fence(Accesses before, Accesses after) { return add(before << 24 | after << 20 | 0x0f); }

  int csrr(unsigned rd, unsigned number) { return add(number << 20 | 2 << 12 | rd << 7 | 0x73); }
  int csrw(unsigned number, unsigned rs1) { return add(number << 20 | rs1 << 15 | 1 << 12 | 0x73); }
  int wfi() { return add(0x10500073); }
  int wrs_nto() { return add(0x00d00073); }
  int wrs_sto() { return add(0x01d00073); }
  int mret() { return add(0x30200073); }

  int beq(unsigned rs1, unsigned rs2, int target) { return branch(0, rs1, rs2, target); }
  int blt(unsigned rs1, unsigned rs2, int target) { return branch(4, rs1, rs2, target); }
  int bne(unsigned rs1, unsigned rs2, int target) { return branch(1, rs1, rs2, target); }
  /// Ends the code: the hart stays here.
  int stay() { return add(0x0000006f); }

 private:
  static std::uint32_t field(int value, unsigned at) { return static_cast<std::uint32_t>(value) << at; }
  int atomic(std::uint32_t function, unsigned log2_bytes, unsigned rd, unsigned rs2, unsigned rs1, Order order) {
    return add(function << 27 | order << 25 | rs2 << 20 | rs1 << 15 | log2_bytes << 12 | rd << 7 | 0x2f);
  }
  int branch(unsigned function, unsigned rs1, unsigned rs2, int target) {
    const auto o = static_cast<std::uint32_t>((target - here()) * 4);
    return add((o >> 12 & 1) << 31 | (o >> 5 & 0x3f) << 25 | rs2 << 20 | rs1 << 15 | function << 12 |
               (o >> 1 & 0xf) << 8 | (o >> 11 & 1) << 7 | 0x63);
  }
};

}  // namespace sluice::multihart
