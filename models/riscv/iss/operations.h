// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Defines what each operation of straight execution does, as a statement DO_NAME for engines written in C++. The
/// engine defines these operands as lvalues: RD, RS1, RS2 (x), FD, FS1, FS2, FS3 (f), FLAGS (fflags), and as values:
/// IMM (64 bits, sign-extended), op->imm (32 bits), PC. It also defines
///   LOAD(type, destination, expression)   reads `value` of the type at RS1 + IMM; destination = expression
///   STORE(type, source)                   writes the source's low bits to RS1 + IMM
///   BRANCH(condition)
///   ROUNDED(destination, expression)      with the rounding mode `rm`; a reserved one is an illegal instruction

#include <bit>
#include <cstdint>

#include "models/riscv/iss/fp/fp.h"
#include "models/riscv/iss/integer.h"

#define SIGNED(v) static_cast<std::uint64_t>(std::int64_t{v})

#define DO_lui RD = IMM
#define DO_auipc RD = PC + IMM
#define DO_addi RD = RS1 + IMM
#define DO_slti \
  RD = static_cast<std::int64_t>(RS1) < std::int64_t { op->imm }
#define DO_sltiu RD = RS1 < IMM
#define DO_xori RD = RS1 ^ IMM
#define DO_ori RD = RS1 | IMM
#define DO_andi RD = RS1 & IMM
#define DO_slli RD = RS1 << op->imm
#define DO_srli RD = RS1 >> op->imm
#define DO_srai RD = integer::sra(RS1, static_cast<unsigned>(op->imm))
#define DO_addiw RD = integer::word(RS1 + IMM)
#define DO_slliw RD = integer::word(RS1 << op->imm)
#define DO_srliw RD = integer::word(static_cast<std::uint32_t>(RS1) >> op->imm)
#define DO_sraiw RD = integer::sraw(RS1, static_cast<unsigned>(op->imm))
#define DO_add RD = RS1 + RS2
#define DO_sub RD = RS1 - RS2
#define DO_sll RD = RS1 << (RS2 & 63)
#define DO_slt RD = static_cast<std::int64_t>(RS1) < static_cast<std::int64_t>(RS2)
#define DO_sltu RD = RS1 < RS2
#define DO_xor_ RD = RS1 ^ RS2
#define DO_srl RD = RS1 >> (RS2 & 63)
#define DO_sra RD = integer::sra(RS1, RS2 & 63)
#define DO_or_ RD = RS1 | RS2
#define DO_and_ RD = RS1 & RS2
#define DO_addw RD = integer::word(RS1 + RS2)
#define DO_subw RD = integer::word(RS1 - RS2)
#define DO_sllw RD = integer::word(RS1 << (RS2 & 31))
#define DO_srlw RD = integer::word(static_cast<std::uint32_t>(RS1) >> (RS2 & 31))
#define DO_sraw RD = integer::sraw(RS1, RS2 & 31)
#define DO_mul RD = RS1 * RS2
#define DO_mulh RD = integer::mulh(RS1, RS2)
#define DO_mulhsu RD = integer::mulhsu(RS1, RS2)
#define DO_mulhu RD = integer::mulhu(RS1, RS2)
#define DO_mulw RD = integer::word(RS1 * RS2)
#define DO_div RD = integer::div(RS1, RS2)
#define DO_divu RD = integer::divu(RS1, RS2)
#define DO_rem RD = integer::rem(RS1, RS2)
#define DO_remu RD = integer::remu(RS1, RS2)
#define DO_divw RD = integer::divw(RS1, RS2)
#define DO_divuw RD = integer::divuw(RS1, RS2)
#define DO_remw RD = integer::remw(RS1, RS2)
#define DO_remuw RD = integer::remuw(RS1, RS2)
#define DO_add_uw RD = static_cast<std::uint32_t>(RS1) + RS2
#define DO_sh1add RD = (RS1 << 1) + RS2
#define DO_sh2add RD = (RS1 << 2) + RS2
#define DO_sh3add RD = (RS1 << 3) + RS2
#define DO_sh1add_uw RD = (std::uint64_t{static_cast<std::uint32_t>(RS1)} << 1) + RS2
#define DO_sh2add_uw RD = (std::uint64_t{static_cast<std::uint32_t>(RS1)} << 2) + RS2
#define DO_sh3add_uw RD = (std::uint64_t{static_cast<std::uint32_t>(RS1)} << 3) + RS2
#define DO_slli_uw RD = std::uint64_t{static_cast<std::uint32_t>(RS1)} << op->imm
#define DO_andn RD = RS1 & ~RS2
#define DO_orn RD = RS1 | ~RS2
#define DO_xnor RD = ~(RS1 ^ RS2)
#define DO_clz RD = static_cast<unsigned>(std::countl_zero(RS1))
#define DO_ctz RD = static_cast<unsigned>(std::countr_zero(RS1))
#define DO_cpop RD = static_cast<unsigned>(std::popcount(RS1))
#define DO_clzw RD = static_cast<unsigned>(std::countl_zero(static_cast<std::uint32_t>(RS1)))
#define DO_ctzw RD = static_cast<unsigned>(std::countr_zero(static_cast<std::uint32_t>(RS1)))
#define DO_cpopw RD = static_cast<unsigned>(std::popcount(static_cast<std::uint32_t>(RS1)))
#define DO_max RD = static_cast<std::int64_t>(RS1) > static_cast<std::int64_t>(RS2) ? RS1 : RS2
#define DO_maxu RD = RS1 > RS2 ? RS1 : RS2
#define DO_min RD = static_cast<std::int64_t>(RS1) < static_cast<std::int64_t>(RS2) ? RS1 : RS2
#define DO_minu RD = RS1 < RS2 ? RS1 : RS2
#define DO_sext_b RD = SIGNED(static_cast<std::int8_t>(RS1))
#define DO_sext_h RD = SIGNED(static_cast<std::int16_t>(RS1))
#define DO_zext_h RD = static_cast<std::uint16_t>(RS1)
#define DO_rol RD = std::rotl(RS1, static_cast<int>(RS2 & 63))
#define DO_ror RD = std::rotr(RS1, static_cast<int>(RS2 & 63))
#define DO_rori RD = std::rotr(RS1, op->imm)
#define DO_rolw RD = integer::word(std::rotl(static_cast<std::uint32_t>(RS1), static_cast<int>(RS2 & 31)))
#define DO_rorw RD = integer::word(std::rotr(static_cast<std::uint32_t>(RS1), static_cast<int>(RS2 & 31)))
#define DO_roriw RD = integer::word(std::rotr(static_cast<std::uint32_t>(RS1), op->imm))
#define DO_orc_b RD = integer::orc_b(RS1)
#define DO_rev8 RD = __builtin_bswap64(RS1)
#define DO_bclr RD = RS1 & ~(std::uint64_t{1} << (RS2 & 63))
#define DO_bext RD = RS1 >> (RS2 & 63) & 1
#define DO_binv RD = RS1 ^ std::uint64_t{1} << (RS2 & 63)
#define DO_bset RD = RS1 | std::uint64_t{1} << (RS2 & 63)
#define DO_bclri RD = RS1 & ~(std::uint64_t{1} << op->imm)
#define DO_bexti RD = RS1 >> op->imm & 1
#define DO_binvi RD = RS1 ^ std::uint64_t{1} << op->imm
#define DO_bseti RD = RS1 | std::uint64_t{1} << op->imm
// Memory is sequentially consistent.
#define DO_fence static_cast<void>(0)
#define DO_pause static_cast<void>(0)

#define DO_lb LOAD(std::int8_t, RD, SIGNED(value))
#define DO_lh LOAD(std::int16_t, RD, SIGNED(value))
#define DO_lw LOAD(std::int32_t, RD, SIGNED(value))
#define DO_ld LOAD(std::uint64_t, RD, value)
#define DO_lbu LOAD(std::uint8_t, RD, value)
#define DO_lhu LOAD(std::uint16_t, RD, value)
#define DO_lwu LOAD(std::uint32_t, RD, value)
#define DO_flw LOAD(std::uint32_t, FD, fp_box(value))
#define DO_fld LOAD(std::uint64_t, FD, value)
#define DO_sb STORE(std::uint8_t, RS2)
#define DO_sh STORE(std::uint16_t, RS2)
#define DO_sw STORE(std::uint32_t, RS2)
#define DO_sd STORE(std::uint64_t, RS2)
#define DO_fsw STORE(std::uint32_t, FS2)
#define DO_fsd STORE(std::uint64_t, FS2)

#define DO_beq BRANCH(RS1 == RS2)
#define DO_bne BRANCH(RS1 != RS2)
#define DO_blt BRANCH(static_cast<std::int64_t>(RS1) < static_cast<std::int64_t>(RS2))
#define DO_bge BRANCH(static_cast<std::int64_t>(RS1) >= static_cast<std::int64_t>(RS2))
#define DO_bltu BRANCH(RS1 < RS2)
#define DO_bgeu BRANCH(RS1 >= RS2)

#define DO_fadd_s ROUNDED(FD, fp_add_s(FS1, FS2, rm, FLAGS))
#define DO_fadd_d ROUNDED(FD, fp_add_d(FS1, FS2, rm, FLAGS))
#define DO_fsub_s ROUNDED(FD, fp_sub_s(FS1, FS2, rm, FLAGS))
#define DO_fsub_d ROUNDED(FD, fp_sub_d(FS1, FS2, rm, FLAGS))
#define DO_fmul_s ROUNDED(FD, fp_mul_s(FS1, FS2, rm, FLAGS))
#define DO_fmul_d ROUNDED(FD, fp_mul_d(FS1, FS2, rm, FLAGS))
#define DO_fdiv_s ROUNDED(FD, fp_div_s(FS1, FS2, rm, FLAGS))
#define DO_fdiv_d ROUNDED(FD, fp_div_d(FS1, FS2, rm, FLAGS))
#define DO_fsqrt_s ROUNDED(FD, fp_sqrt_s(FS1, rm, FLAGS))
#define DO_fsqrt_d ROUNDED(FD, fp_sqrt_d(FS1, rm, FLAGS))
#define DO_fmadd_s ROUNDED(FD, fp_fmadd_s(FS1, FS2, FS3, rm, FLAGS))
#define DO_fmadd_d ROUNDED(FD, fp_fmadd_d(FS1, FS2, FS3, rm, FLAGS))
#define DO_fmsub_s ROUNDED(FD, fp_fmsub_s(FS1, FS2, FS3, rm, FLAGS))
#define DO_fmsub_d ROUNDED(FD, fp_fmsub_d(FS1, FS2, FS3, rm, FLAGS))
#define DO_fnmsub_s ROUNDED(FD, fp_fnmsub_s(FS1, FS2, FS3, rm, FLAGS))
#define DO_fnmsub_d ROUNDED(FD, fp_fnmsub_d(FS1, FS2, FS3, rm, FLAGS))
#define DO_fnmadd_s ROUNDED(FD, fp_fnmadd_s(FS1, FS2, FS3, rm, FLAGS))
#define DO_fnmadd_d ROUNDED(FD, fp_fnmadd_d(FS1, FS2, FS3, rm, FLAGS))
#define DO_fsgnj_s FD = fp_sgnj_s(FS1, FS2)
#define DO_fsgnj_d FD = fp_sgnj_d(FS1, FS2)
#define DO_fsgnjn_s FD = fp_sgnjn_s(FS1, FS2)
#define DO_fsgnjn_d FD = fp_sgnjn_d(FS1, FS2)
#define DO_fsgnjx_s FD = fp_sgnjx_s(FS1, FS2)
#define DO_fsgnjx_d FD = fp_sgnjx_d(FS1, FS2)
#define DO_fmin_s FD = fp_min_s(FS1, FS2, FLAGS)
#define DO_fmin_d FD = fp_min_d(FS1, FS2, FLAGS)
#define DO_fmax_s FD = fp_max_s(FS1, FS2, FLAGS)
#define DO_fmax_d FD = fp_max_d(FS1, FS2, FLAGS)
#define DO_feq_s RD = fp_eq_s(FS1, FS2, FLAGS)
#define DO_feq_d RD = fp_eq_d(FS1, FS2, FLAGS)
#define DO_flt_s RD = fp_lt_s(FS1, FS2, FLAGS)
#define DO_flt_d RD = fp_lt_d(FS1, FS2, FLAGS)
#define DO_fle_s RD = fp_le_s(FS1, FS2, FLAGS)
#define DO_fle_d RD = fp_le_d(FS1, FS2, FLAGS)
#define DO_fclass_s RD = fp_class_s(FS1)
#define DO_fclass_d RD = fp_class_d(FS1)
#define DO_fmv_x_w RD = fp_mv_x_w(FS1)
#define DO_fmv_x_d RD = fp_mv_x_d(FS1)
#define DO_fmv_w_x FD = fp_mv_w_x(RS1)
#define DO_fmv_d_x FD = fp_mv_d_x(RS1)
#define DO_fcvt_w_s ROUNDED(RD, fp_cvt_w_s(FS1, rm, FLAGS))
#define DO_fcvt_wu_s ROUNDED(RD, fp_cvt_wu_s(FS1, rm, FLAGS))
#define DO_fcvt_l_s ROUNDED(RD, fp_cvt_l_s(FS1, rm, FLAGS))
#define DO_fcvt_lu_s ROUNDED(RD, fp_cvt_lu_s(FS1, rm, FLAGS))
#define DO_fcvt_w_d ROUNDED(RD, fp_cvt_w_d(FS1, rm, FLAGS))
#define DO_fcvt_wu_d ROUNDED(RD, fp_cvt_wu_d(FS1, rm, FLAGS))
#define DO_fcvt_l_d ROUNDED(RD, fp_cvt_l_d(FS1, rm, FLAGS))
#define DO_fcvt_lu_d ROUNDED(RD, fp_cvt_lu_d(FS1, rm, FLAGS))
#define DO_fcvt_s_w ROUNDED(FD, fp_cvt_s_w(RS1, rm, FLAGS))
#define DO_fcvt_s_wu ROUNDED(FD, fp_cvt_s_wu(RS1, rm, FLAGS))
#define DO_fcvt_s_l ROUNDED(FD, fp_cvt_s_l(RS1, rm, FLAGS))
#define DO_fcvt_s_lu ROUNDED(FD, fp_cvt_s_lu(RS1, rm, FLAGS))
// Exact conversions ignore the rounding mode, but a reserved rounding mode is still illegal.
#define DO_fcvt_d_w ROUNDED(FD, fp_cvt_d_w(RS1))
#define DO_fcvt_d_wu ROUNDED(FD, fp_cvt_d_wu(RS1))
#define DO_fcvt_d_l ROUNDED(FD, fp_cvt_d_l(RS1, rm, FLAGS))
#define DO_fcvt_d_lu ROUNDED(FD, fp_cvt_d_lu(RS1, rm, FLAGS))
#define DO_fcvt_s_d ROUNDED(FD, fp_cvt_s_d(FS1, rm, FLAGS))
#define DO_fcvt_d_s ROUNDED(FD, fp_cvt_d_s(FS1, FLAGS))
