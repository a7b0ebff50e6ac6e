// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/decode/decode.h"

namespace sluice::riscv {
namespace {

constexpr std::uint32_t bits(std::uint32_t w, unsigned high, unsigned low) {
  return (w >> low) & ((1u << (high - low + 1)) - 1);
}

std::int32_t imm_i(std::uint32_t w) { return static_cast<std::int32_t>(w) >> 20; }
std::int32_t imm_s(std::uint32_t w) {
  return (static_cast<std::int32_t>(w) >> 25) * 32 + static_cast<std::int32_t>(bits(w, 11, 7));
}
std::int32_t imm_b(std::uint32_t w) {
  const std::uint32_t low = bits(w, 11, 8) << 1 | bits(w, 30, 25) << 5 | bits(w, 7, 7) << 11;
  return (static_cast<std::int32_t>(w) >> 31) * 4096 + static_cast<std::int32_t>(low);
}
std::int32_t imm_u(std::uint32_t w) { return static_cast<std::int32_t>(w & 0xffff'f000u); }
std::int32_t imm_j(std::uint32_t w) {
  const std::uint32_t low = bits(w, 30, 21) << 1 | bits(w, 20, 20) << 11 | bits(w, 19, 12) << 12;
  return (static_cast<std::int32_t>(w) >> 31) * (1 << 20) + static_cast<std::int32_t>(low);
}

using enum Opcode;

void op_imm(Instruction& i, std::uint32_t w) {
  const std::uint32_t funct3 = bits(w, 14, 12);
  const std::uint32_t upper = bits(w, 31, 26);  // above a 6-bit shift amount
  const auto shamt = static_cast<std::int32_t>(bits(w, 25, 20));
  i.imm = imm_i(w);
  switch (funct3) {
    case 0:
      i.op = addi;
      return;
    case 2:
      i.op = i.rd == 0 ? probe : slti;
      return;
    case 3:
      i.op = i.rd == 0 ? account : sltiu;
      return;
    case 4:
      i.op = xori;
      return;
    case 6:
      i.op = ori;
      // Zicbop: the low five bits of the immediate, which the offset does not need, say what is prefetched.
      i.aux = static_cast<std::uint8_t>(bits(w, 24, 20));
      if (i.rd != 0 ||
          (i.aux != Instruction::kPrefetchI && i.aux != Instruction::kPrefetchR && i.aux != Instruction::kPrefetchW))
        return;
      i.op = prefetch;
      i.imm &= ~0x1f;
      return;
    case 7:
      i.op = andi;
      return;
    default:
      break;
  }
  i.imm = shamt;
  if (funct3 == 1) {
    switch (upper) {
      case 0x00:
        i.op = slli;
        return;
      case 0x0a:
        i.op = bseti;
        return;
      case 0x12:
        i.op = bclri;
        return;
      case 0x1a:
        i.op = binvi;
        return;
      case 0x18: {
        constexpr Opcode unary[] = {clz, ctz, cpop, illegal, sext_b, sext_h};
        if (shamt < 6) i.op = unary[shamt];
        return;
      }
      default:
        return;
    }
  }
  switch (upper) {
    case 0x00:
      i.op = srli;
      return;
    case 0x10:
      i.op = srai;
      return;
    case 0x18:
      i.op = rori;
      return;
    case 0x12:
      i.op = bexti;
      return;
    case 0x0a:
      if (shamt == 7) i.op = orc_b;
      return;
    case 0x1a:
      if (shamt == 0x38) i.op = rev8;
      return;
    default:
      return;
  }
}

void op_imm_32(Instruction& i, std::uint32_t w) {
  const std::uint32_t funct3 = bits(w, 14, 12);
  const std::uint32_t funct7 = bits(w, 31, 25);
  i.imm = static_cast<std::int32_t>(bits(w, 24, 20));
  if (funct3 == 0) {
    i.op = addiw;
    i.imm = imm_i(w);
  } else if (funct3 == 1) {
    if (funct7 == 0) i.op = slliw;
    if (funct7 >> 1 == 0x02) {
      i.op = slli_uw;
      i.imm = static_cast<std::int32_t>(bits(w, 25, 20));
    }
    constexpr Opcode unary[] = {clzw, ctzw, cpopw};
    if (funct7 == 0x30 && i.imm < 3) i.op = unary[i.imm];
  } else if (funct3 == 5) {
    if (funct7 == 0x00) i.op = srliw;
    if (funct7 == 0x20) i.op = sraiw;
    if (funct7 == 0x30) i.op = roriw;
  }
}

void op_register(Instruction& i, std::uint32_t w) {
  const std::uint32_t funct3 = bits(w, 14, 12);
  constexpr Opcode base[8] = {add, sll, slt, sltu, xor_, srl, or_, and_};
  constexpr Opcode muldiv[8] = {mul, mulh, mulhsu, mulhu, div, divu, rem, remu};
  constexpr Opcode f20[8] = {sub, illegal, illegal, illegal, xnor, sra, orn, andn};
  constexpr Opcode f10[8] = {illegal, illegal, sh1add, illegal, sh2add, illegal, sh3add, illegal};
  constexpr Opcode f05[8] = {illegal, illegal, illegal, illegal, min, minu, max, maxu};
  constexpr Opcode f30[8] = {illegal, rol, illegal, illegal, illegal, ror, illegal, illegal};
  constexpr Opcode f24[8] = {illegal, bclr, illegal, illegal, illegal, bext, illegal, illegal};
  switch (bits(w, 31, 25)) {
    case 0x00:
      i.op = base[funct3];
      break;
    case 0x01:
      i.op = muldiv[funct3];
      break;
    case 0x20:
      i.op = f20[funct3];
      break;
    case 0x10:
      i.op = f10[funct3];
      break;
    case 0x05:
      i.op = f05[funct3];
      break;
    case 0x30:
      i.op = f30[funct3];
      break;
    case 0x24:
      i.op = f24[funct3];
      break;
    case 0x34:
      i.op = funct3 == 1 ? binv : illegal;
      break;
    case 0x14:
      i.op = funct3 == 1 ? bset : illegal;
      break;
    default:
      break;
  }
  if (i.op == slt && i.rd == 0) i.op = bind;
  if (i.op == sltu && i.rd == 0) i.op = open;
}

void op_register_32(Instruction& i, std::uint32_t w) {
  const std::uint32_t funct3 = bits(w, 14, 12);
  switch (bits(w, 31, 25)) {
    case 0x00:
      i.op = funct3 == 0 ? addw : funct3 == 1 ? sllw : funct3 == 5 ? srlw : illegal;
      break;
    case 0x20:
      i.op = funct3 == 0 ? subw : funct3 == 5 ? sraw : illegal;
      break;
    case 0x01: {
      constexpr Opcode ops[8] = {mulw, illegal, illegal, illegal, divw, divuw, remw, remuw};
      i.op = ops[funct3];
      break;
    }
    case 0x04:
      i.op = funct3 == 0 ? add_uw : funct3 == 4 && i.rs2 == 0 ? zext_h : illegal;
      break;
    case 0x10:
      i.op = funct3 == 2 ? sh1add_uw : funct3 == 4 ? sh2add_uw : funct3 == 6 ? sh3add_uw : illegal;
      break;
    case 0x30:
      i.op = funct3 == 1 ? rolw : funct3 == 5 ? rorw : illegal;
      break;
    default:
      break;
  }
}

void op_amo(Instruction& i, std::uint32_t w) {
  const std::uint32_t width = bits(w, 14, 12);
  if (width != 2 && width != 3) return;
  const bool word = width == 2;
  i.aux = static_cast<std::uint8_t>(bits(w, 31, 27));
  switch (i.aux) {
    case 0x02:
      if (i.rs2 == 0) i.op = word ? lr_w : lr_d;
      return;
    case 0x03:
      i.op = word ? sc_w : sc_d;
      return;
    case 0x00:
    case 0x01:
    case 0x04:
    case 0x08:
    case 0x0c:
    case 0x10:
    case 0x14:
    case 0x18:
    case 0x1c:
      i.op = word ? amo_w : amo_d;
      return;
    default:
      return;
  }
}

void op_system(Instruction& i, std::uint32_t w) {
  constexpr Opcode csr_ops[8] = {illegal, csrrw, csrrs, csrrc, illegal, csrrwi, csrrsi, csrrci};
  const std::uint32_t funct3 = bits(w, 14, 12);
  i.imm = static_cast<std::int32_t>(bits(w, 31, 20));
  if (funct3 != 0) {
    i.op = csr_ops[funct3];
    return;
  }
  if (bits(w, 31, 25) == 0x09 && i.rd == 0) {
    i.op = sfence_vma;
    return;
  }
  switch (w) {
    case 0x0000'0073:
      i.op = ecall;
      return;
    case 0x0010'0073:
      i.op = ebreak;
      return;
    case 0x3020'0073:
      i.op = mret;
      return;
    case 0x1020'0073:
      i.op = sret;
      return;
    case 0x1050'0073:
      i.op = wfi;
      return;
    case 0x00d0'0073:
      i.op = wrs_nto;
      return;
    case 0x01d0'0073:
      i.op = wrs_sto;
      return;
    default:
      return;
  }
}

void op_float(Instruction& i, std::uint32_t w) {
  const std::uint32_t funct7 = bits(w, 31, 25);
  const bool d = funct7 & 1;
  const unsigned rm = i.aux = static_cast<std::uint8_t>(bits(w, 14, 12));
  const unsigned sub = i.rs2;
  const bool good_rm = rm <= 4 || rm == 7;
  const auto rounded = [&](Opcode s, Opcode dd) {
    if (good_rm) i.op = d ? dd : s;
  };
  switch (funct7 & 0x7e) {
    case 0x00:
      rounded(fadd_s, fadd_d);
      return;
    case 0x04:
      rounded(fsub_s, fsub_d);
      return;
    case 0x08:
      rounded(fmul_s, fmul_d);
      return;
    case 0x0c:
      rounded(fdiv_s, fdiv_d);
      return;
    case 0x2c:
      if (sub == 0) rounded(fsqrt_s, fsqrt_d);
      return;
    case 0x10: {
      constexpr Opcode ops[2][3] = {{fsgnj_s, fsgnjn_s, fsgnjx_s}, {fsgnj_d, fsgnjn_d, fsgnjx_d}};
      if (rm < 3) i.op = ops[d][rm];
      return;
    }
    case 0x14:
      if (rm < 2) i.op = d ? (rm ? fmax_d : fmin_d) : (rm ? fmax_s : fmin_s);
      return;
    case 0x20:
      if (d && sub == 0 && good_rm) i.op = fcvt_d_s;
      if (!d && sub == 1 && good_rm) i.op = fcvt_s_d;
      return;
    case 0x50: {
      constexpr Opcode ops[2][3] = {{fle_s, flt_s, feq_s}, {fle_d, flt_d, feq_d}};
      if (rm < 3) i.op = ops[d][rm];
      return;
    }
    case 0x60: {
      constexpr Opcode ops[2][4] = {{fcvt_w_s, fcvt_wu_s, fcvt_l_s, fcvt_lu_s},
                                    {fcvt_w_d, fcvt_wu_d, fcvt_l_d, fcvt_lu_d}};
      if (sub < 4 && good_rm) i.op = ops[d][sub];
      return;
    }
    case 0x68: {
      constexpr Opcode ops[2][4] = {{fcvt_s_w, fcvt_s_wu, fcvt_s_l, fcvt_s_lu},
                                    {fcvt_d_w, fcvt_d_wu, fcvt_d_l, fcvt_d_lu}};
      if (sub < 4 && good_rm) i.op = ops[d][sub];
      return;
    }
    case 0x70:
      if (sub != 0) return;
      if (rm == 0) i.op = d ? fmv_x_d : fmv_x_w;
      if (rm == 1) i.op = d ? fclass_d : fclass_s;
      return;
    case 0x78:
      if (sub == 0 && rm == 0) i.op = d ? fmv_d_x : fmv_w_x;
      return;
    default:
      return;
  }
}

void op_fused(Instruction& i, std::uint32_t w) {
  constexpr Opcode ops[2][4] = {{fmadd_s, fmsub_s, fnmsub_s, fnmadd_s}, {fmadd_d, fmsub_d, fnmsub_d, fnmadd_d}};
  const unsigned format = bits(w, 26, 25);
  i.aux = static_cast<std::uint8_t>(bits(w, 14, 12));
  i.imm = static_cast<std::int32_t>(bits(w, 31, 27));
  if (format < 2 && (i.aux <= 4 || i.aux == 7)) i.op = ops[format][bits(w, 3, 2)];
}

/// Zicbom and Zicboz.
void op_cache_block(Instruction& i, std::uint32_t w) {
  const std::uint32_t kind = bits(w, 31, 20);
  if (i.rd != 0 || (kind > Instruction::kBlockFlush && kind != Instruction::kBlockZero)) return;
  i.op = cbo;
  i.aux = static_cast<std::uint8_t>(kind);
}

Instruction decode_full(std::uint32_t w) {
  Instruction i;
  i.raw = w;
  i.rd = static_cast<std::uint8_t>(bits(w, 11, 7));
  i.rs1 = static_cast<std::uint8_t>(bits(w, 19, 15));
  i.rs2 = static_cast<std::uint8_t>(bits(w, 24, 20));
  const std::uint32_t funct3 = bits(w, 14, 12);
  switch (bits(w, 6, 2)) {
    case 0x00: {
      constexpr Opcode ops[8] = {lb, lh, lw, ld, lbu, lhu, lwu, illegal};
      i.op = ops[funct3];
      i.imm = imm_i(w);
      break;
    }
    case 0x01:
      i.op = funct3 == 2 ? flw : funct3 == 3 ? fld : illegal;
      i.imm = imm_i(w);
      break;
    case 0x03:
      // All of fm, pred and succ are accepted.
      i.op = funct3 == 0 ? (w == 0x0100'000f ? pause : fence) : funct3 == 1 ? fence_i : illegal;
      if (funct3 == 2) op_cache_block(i, w);
      if (i.op == fence) i.aux = (bits(w, 27, 24) & 0b0101) != 0 ? Instruction::kOrdersStores : 0;
      break;
    case 0x04:
      op_imm(i, w);
      break;
    case 0x05:
      i.op = auipc, i.imm = imm_u(w);
      break;
    case 0x06:
      op_imm_32(i, w);
      break;
    case 0x08: {
      constexpr Opcode ops[8] = {sb, sh, sw, sd, illegal, illegal, illegal, illegal};
      i.op = ops[funct3];
      i.imm = imm_s(w);
      break;
    }
    case 0x09:
      i.op = funct3 == 2 ? fsw : funct3 == 3 ? fsd : illegal;
      i.imm = imm_s(w);
      break;
    case 0x0b:
      op_amo(i, w);
      break;
    case 0x0c:
      op_register(i, w);
      break;
    case 0x0d:
      i.op = lui, i.imm = imm_u(w);
      break;
    case 0x0e:
      op_register_32(i, w);
      break;
    case 0x10:
    case 0x11:
    case 0x12:
    case 0x13:
      op_fused(i, w);
      break;
    case 0x14:
      op_float(i, w);
      break;
    case 0x18: {
      constexpr Opcode ops[8] = {beq, bne, illegal, illegal, blt, bge, bltu, bgeu};
      i.op = ops[funct3];
      i.imm = imm_b(w);
      break;
    }
    case 0x19:
      i.op = funct3 == 0 ? jalr : illegal;
      i.imm = imm_i(w);
      break;
    case 0x1b:
      i.op = jal, i.imm = imm_j(w);
      break;
    case 0x1c:
      op_system(i, w);
      break;
    default:
      break;
  }
  return i;
}

}  // namespace

Instruction decode(std::uint32_t word) {
  if (!is_compressed(word)) return decode_full(word);
  const auto half = static_cast<std::uint16_t>(word);
  const std::uint32_t full = expand_compressed(half);
  Instruction i;
  if (full != 0) i = decode_full(full);
  i.length = 2;
  i.raw = half;
  return i;
}

CostClass cost_class(Opcode op) {
  static constexpr CostClass classes[] = {
#define SLUICE_COST(name, cost) CostClass::cost,
      SLUICE_RV_OPS(SLUICE_COST)
#undef SLUICE_COST
  };
  return classes[static_cast<unsigned>(op)];
}

}  // namespace sluice::riscv
