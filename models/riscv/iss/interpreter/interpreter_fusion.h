// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Which operations the interpreter runs in pairs, with one dispatch for both. The pair's handler is in the first
/// operation. The second operation stays in place after it, so a block can be left and entered between the two.

#include <cstdint>

#include "models/riscv/iss/decode/decode.h"

namespace sluice::riscv {

// clang-format off
/// Operations that may be part of a pair; xor_ and zext_h are in none.
#define SLUICE_RV_FUSIBLE(X) \
  X(addi) X(add) X(sub) X(addiw) X(addw) X(slli) X(srli) X(andi) X(and_) X(or_) X(xor_) X(lui) X(mulw) \
  X(sh3add) X(zext_h) X(lb) X(lh) X(lw) X(ld) X(lbu) X(lhu) X(lwu) X(flw) X(fld) X(sb) X(sh) X(sw) X(sd) X(fsw) \
  X(fsd) X(jal) X(jalr) X(beq) X(bne) X(blt) X(bge) X(bltu) X(bgeu)

/// The other operations of straight execution, never part of a pair. fence and pause do nothing and are not listed.
#define SLUICE_RV_UNFUSED(X) \
  X(auipc) X(slti) X(sltiu) X(xori) X(ori) X(srai) X(slliw) X(srliw) X(sraiw) X(sll) X(slt) X(sltu) X(srl) X(sra) \
  X(subw) X(sllw) X(srlw) X(sraw) X(mul) X(mulh) X(mulhsu) X(mulhu) X(div) X(divu) X(rem) X(remu) X(divw) X(divuw) \
  X(remw) X(remuw) X(add_uw) X(sh1add) X(sh2add) X(sh1add_uw) X(sh2add_uw) X(sh3add_uw) X(slli_uw) X(andn) X(orn) \
  X(xnor) X(clz) X(ctz) X(cpop) X(clzw) X(ctzw) X(cpopw) X(max) X(maxu) X(min) X(minu) X(sext_b) X(sext_h) X(rol) \
  X(ror) X(rori) X(rolw) X(rorw) X(roriw) X(orc_b) X(rev8) X(bclr) X(bext) X(binv) X(bset) X(bclri) X(bexti) \
  X(binvi) X(bseti) X(fadd_s) X(fadd_d) X(fsub_s) X(fsub_d) X(fmul_s) X(fmul_d) X(fdiv_s) X(fdiv_d) X(fsqrt_s) \
  X(fsqrt_d) X(fmadd_s) X(fmadd_d) X(fmsub_s) X(fmsub_d) X(fnmsub_s) X(fnmsub_d) X(fnmadd_s) X(fnmadd_d) X(fsgnj_s) \
  X(fsgnj_d) X(fsgnjn_s) X(fsgnjn_d) X(fsgnjx_s) X(fsgnjx_d) X(fmin_s) X(fmin_d) X(fmax_s) X(fmax_d) X(feq_s) \
  X(feq_d) X(flt_s) X(flt_d) X(fle_s) X(fle_d) X(fclass_s) X(fclass_d) X(fmv_x_w) X(fmv_x_d) X(fmv_w_x) X(fmv_d_x) \
  X(fcvt_w_s) X(fcvt_wu_s) X(fcvt_l_s) X(fcvt_lu_s) X(fcvt_w_d) X(fcvt_wu_d) X(fcvt_l_d) X(fcvt_lu_d) X(fcvt_s_w) \
  X(fcvt_s_wu) X(fcvt_s_l) X(fcvt_s_lu) X(fcvt_d_w) X(fcvt_d_wu) X(fcvt_d_l) X(fcvt_d_lu) X(fcvt_s_d) X(fcvt_d_s)

/// P(first, second) for every second operation.
#define SLUICE_RV_SECONDS(P, first) \
  P(first, addi) P(first, add) P(first, addiw) P(first, addw) P(first, slli) P(first, srli) P(first, andi) \
  P(first, lh) P(first, lw) P(first, ld) P(first, lbu) P(first, lhu) P(first, lwu) P(first, sb) P(first, sw) \
  P(first, sd) P(first, flw) P(first, fld) P(first, fsd) P(first, jal) P(first, jalr) P(first, beq) \
  P(first, bne) P(first, blt) P(first, bge) P(first, bltu) P(first, bgeu)
#define SLUICE_RV_FIRST_OPS(X) \
  X(addi) X(add) X(sub) X(addiw) X(addw) X(slli) X(srli) X(andi) X(and_) X(or_) X(lui) X(mulw) X(sh3add) X(lb) \
  X(lh) X(lw) X(ld) X(lbu) X(lhu) X(lwu) X(sb) X(sh) X(sw) X(sd) X(flw) X(fld) X(fsw) X(fsd)
#define SLUICE_RV_SECOND_OPS(X) \
  X(addi) X(add) X(addiw) X(addw) X(slli) X(srli) X(andi) X(lh) X(lw) X(ld) X(lbu) X(lhu) X(lwu) X(sb) X(sw) \
  X(sd) X(flw) X(fld) X(fsd) X(jal) X(jalr) X(beq) X(bne) X(blt) X(bge) X(bltu) X(bgeu)
#define SLUICE_RV_PAIRS(P) \
  SLUICE_RV_SECONDS(P, addi) SLUICE_RV_SECONDS(P, add) SLUICE_RV_SECONDS(P, sub) SLUICE_RV_SECONDS(P, addiw) \
  SLUICE_RV_SECONDS(P, addw) SLUICE_RV_SECONDS(P, slli) SLUICE_RV_SECONDS(P, srli) SLUICE_RV_SECONDS(P, andi) \
  SLUICE_RV_SECONDS(P, and_) SLUICE_RV_SECONDS(P, or_) SLUICE_RV_SECONDS(P, lui) SLUICE_RV_SECONDS(P, mulw) \
  SLUICE_RV_SECONDS(P, sh3add) SLUICE_RV_SECONDS(P, lb) SLUICE_RV_SECONDS(P, lh) SLUICE_RV_SECONDS(P, lw) \
  SLUICE_RV_SECONDS(P, ld) SLUICE_RV_SECONDS(P, lbu) SLUICE_RV_SECONDS(P, lhu) SLUICE_RV_SECONDS(P, lwu) \
  SLUICE_RV_SECONDS(P, sb) SLUICE_RV_SECONDS(P, sh) SLUICE_RV_SECONDS(P, sw) SLUICE_RV_SECONDS(P, sd) \
  SLUICE_RV_SECONDS(P, flw) SLUICE_RV_SECONDS(P, fld) SLUICE_RV_SECONDS(P, fsw) SLUICE_RV_SECONDS(P, fsd)
// clang-format on

#define SLUICE_ONE(name) +1
constexpr unsigned kSeconds = 0 SLUICE_RV_SECOND_OPS(SLUICE_ONE);
constexpr unsigned kPairs = (0 SLUICE_RV_FIRST_OPS(SLUICE_ONE)) * kSeconds;
#undef SLUICE_ONE

/// Number of the pair that two successive operations form; kPairs: they form none.
constexpr unsigned pair_of(Opcode first, Opcode second) {
  unsigned index = 0, row = kPairs, column = kPairs;
#define SLUICE_MATCH(name)                \
  if (first == Opcode::name) row = index; \
  ++index;
  SLUICE_RV_FIRST_OPS(SLUICE_MATCH)
#undef SLUICE_MATCH
  index = 0;
#define SLUICE_MATCH(name)                    \
  if (second == Opcode::name) column = index; \
  ++index;
  SLUICE_RV_SECOND_OPS(SLUICE_MATCH)
#undef SLUICE_MATCH
  return row == kPairs || column == kPairs ? kPairs : row * kSeconds + column;
}

}  // namespace sluice::riscv
