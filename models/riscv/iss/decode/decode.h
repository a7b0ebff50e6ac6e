// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Decodes instruction words to operations, for every engine. RV64GC, Zicsr, Zifencei, Zihintpause, Zicbom, Zicbop,
/// Zicboz, Zawrs, Zba, Zbb, Zbs and the hints of models/base/measure/hints.h.

#include <cstdint>

#include "models/riscv/iss/cost.h"
#include "models/riscv/iss/hart_state.h"

namespace sluice::riscv {

// clang-format off
/// X(name, cost class). Names are the mnemonics with dots as underscores; AMOs differ by Instruction::aux (funct5).
#define SLUICE_RV_INTEGER_OPS(X)                                                                                       \
  X(lui, alu) X(auipc, alu) X(addi, alu) X(slti, alu) X(sltiu, alu) X(xori, alu) X(ori, alu) X(andi, alu)              \
  X(slli, alu) X(srli, alu) X(srai, alu) X(addiw, alu) X(slliw, alu) X(srliw, alu) X(sraiw, alu)                       \
  X(add, alu) X(sub, alu) X(sll, alu) X(slt, alu) X(sltu, alu) X(xor_, alu) X(srl, alu) X(sra, alu) X(or_, alu)        \
  X(and_, alu) X(addw, alu) X(subw, alu) X(sllw, alu) X(srlw, alu) X(sraw, alu)                                        \
  X(mul, mul) X(mulh, mul) X(mulhsu, mul) X(mulhu, mul) X(mulw, mul)                                                   \
  X(div, div64) X(divu, div64) X(rem, div64) X(remu, div64)                                                            \
  X(divw, div32) X(divuw, div32) X(remw, div32) X(remuw, div32)                                                        \
  X(add_uw, alu) X(sh1add, alu) X(sh2add, alu) X(sh3add, alu) X(sh1add_uw, alu) X(sh2add_uw, alu) X(sh3add_uw, alu)    \
  X(slli_uw, alu) X(andn, alu) X(orn, alu) X(xnor, alu) X(clz, alu) X(ctz, alu) X(cpop, alu) X(clzw, alu)              \
  X(ctzw, alu) X(cpopw, alu) X(max, alu) X(maxu, alu) X(min, alu) X(minu, alu) X(sext_b, alu) X(sext_h, alu)           \
  X(zext_h, alu) X(rol, alu) X(ror, alu) X(rori, alu) X(rolw, alu) X(rorw, alu) X(roriw, alu) X(orc_b, alu)            \
  X(rev8, alu) X(bclr, alu) X(bext, alu) X(binv, alu) X(bset, alu) X(bclri, alu) X(bexti, alu) X(binvi, alu)           \
  X(bseti, alu) X(fence, fence) X(pause, pause)

#define SLUICE_RV_MEMORY_OPS(X)                                                                                        \
  X(lb, load) X(lh, load) X(lw, load) X(ld, load) X(lbu, load) X(lhu, load) X(lwu, load) X(flw, load) X(fld, load)     \
  X(sb, store) X(sh, store) X(sw, store) X(sd, store) X(fsw, store) X(fsd, store)                                      \
  X(lr_w, atomic) X(lr_d, atomic) X(sc_w, atomic) X(sc_d, atomic) X(amo_w, atomic) X(amo_d, atomic)                    \
  X(probe, alu) X(bind, alu) X(open, alu) X(account, alu) X(prefetch, load) X(cbo, store)

/// Operations that end a decoded block.
#define SLUICE_RV_CONTROL_OPS(X)                                                                                       \
  X(jal, jump) X(jalr, jump_indirect) X(beq, branch) X(bne, branch) X(blt, branch) X(bge, branch) X(bltu, branch)      \
  X(bgeu, branch) X(csrrw, csr) X(csrrs, csr) X(csrrc, csr) X(csrrwi, csr) X(csrrsi, csr) X(csrrci, csr)               \
  X(fence_i, fence) X(sfence_vma, fence) X(ecall, system) X(ebreak, system) X(mret, system) X(sret, system)            \
  X(wfi, system) X(wrs_nto, system) X(wrs_sto, system) X(illegal, system)

/// Single and double precision arithmetic, comparisons, conversions and moves.
#define SLUICE_RV_FLOAT_OPS(X)                                                                                         \
  X(fadd_s, fp_add) X(fsub_s, fp_add) X(fmul_s, fp_mul) X(fdiv_s, fp_div32) X(fsqrt_s, fp_sqrt32)                      \
  X(fadd_d, fp_add) X(fsub_d, fp_add) X(fmul_d, fp_mul) X(fdiv_d, fp_div64) X(fsqrt_d, fp_sqrt64)                      \
  X(fmadd_s, fp_mul) X(fmsub_s, fp_mul) X(fnmsub_s, fp_mul) X(fnmadd_s, fp_mul)                                        \
  X(fmadd_d, fp_mul) X(fmsub_d, fp_mul) X(fnmsub_d, fp_mul) X(fnmadd_d, fp_mul)                                        \
  X(fsgnj_s, fp_move) X(fsgnjn_s, fp_move) X(fsgnjx_s, fp_move) X(fmin_s, fp_move) X(fmax_s, fp_move)                  \
  X(fsgnj_d, fp_move) X(fsgnjn_d, fp_move) X(fsgnjx_d, fp_move) X(fmin_d, fp_move) X(fmax_d, fp_move)                  \
  X(feq_s, fp_move) X(flt_s, fp_move) X(fle_s, fp_move) X(feq_d, fp_move) X(flt_d, fp_move) X(fle_d, fp_move)          \
  X(fclass_s, fp_move) X(fclass_d, fp_move) X(fmv_x_w, fp_move) X(fmv_x_d, fp_move) X(fmv_w_x, fp_move)                \
  X(fmv_d_x, fp_move) X(fcvt_w_s, fp_add) X(fcvt_wu_s, fp_add) X(fcvt_l_s, fp_add) X(fcvt_lu_s, fp_add)                \
  X(fcvt_w_d, fp_add) X(fcvt_wu_d, fp_add) X(fcvt_l_d, fp_add) X(fcvt_lu_d, fp_add) X(fcvt_s_w, fp_add)                \
  X(fcvt_s_wu, fp_add) X(fcvt_s_l, fp_add) X(fcvt_s_lu, fp_add) X(fcvt_d_w, fp_add) X(fcvt_d_wu, fp_add)               \
  X(fcvt_d_l, fp_add) X(fcvt_d_lu, fp_add) X(fcvt_s_d, fp_add) X(fcvt_d_s, fp_add)
// clang-format on

#define SLUICE_RV_OPS(X) \
  SLUICE_RV_INTEGER_OPS(X) SLUICE_RV_MEMORY_OPS(X) SLUICE_RV_FLOAT_OPS(X) SLUICE_RV_CONTROL_OPS(X)

enum class Opcode : std::uint16_t {
#define SLUICE_OPCODE(name, cost) name,
  SLUICE_RV_OPS(SLUICE_OPCODE)
#undef SLUICE_OPCODE
      count
};

struct Instruction {
  Opcode op = Opcode::illegal;
  std::uint8_t rd = 0;   ///< register numbers 0 to 31 of whichever file the operation uses
  std::uint8_t rs1 = 0;  ///< csrr*i: the immediate
  std::uint8_t rs2 = 0;
  /// AMO: funct5; floating point: the rm field (7: dynamic); prefetch, cbo: its kind, kPrefetch*, kBlock*; fence:
  /// kOrdersStores if earlier writes or outputs come before it
  std::uint8_t aux = 0;
  std::uint8_t length = 4;  ///< bytes: 2 or 4
  std::int32_t imm = 0;     ///< immediate, shift amount, branch offset, CSR number, rs3 of fused multiply-adds
  std::uint32_t raw = 0;    ///< the bits fetched: 16 for a compressed instruction

  static constexpr std::uint8_t kPrefetchI = 0, kPrefetchR = 1, kPrefetchW = 3;
  static constexpr std::uint8_t kBlockInval = 0, kBlockClean = 1, kBlockFlush = 2, kBlockZero = 4;
  static constexpr std::uint8_t kOrdersStores = 1;
};

/// Every word decodes: a word that is no instruction becomes Opcode::illegal. The upper half is ignored when the lower
/// half is a compressed instruction.
Instruction decode(std::uint32_t word);

/// The 32-bit instruction that a compressed one stands for; 0: illegal.
std::uint32_t expand_compressed(std::uint16_t half);

constexpr bool is_compressed(std::uint32_t word) { return (word & 3) != 3; }

CostClass cost_class(Opcode op);
constexpr bool ends_block(Opcode op) { return op >= Opcode::jal; }
constexpr bool is_branch(Opcode op) { return op >= Opcode::beq && op <= Opcode::bgeu; }
constexpr bool is_store(Opcode op) { return op >= Opcode::sb && op <= Opcode::fsd; }
/// Whether the operation is illegal while mstatus.FS is off.
constexpr bool uses_float(Opcode op) {
  return (op >= Opcode::fadd_s && op <= Opcode::fcvt_d_s) || op == Opcode::flw || op == Opcode::fld ||
         op == Opcode::fsw || op == Opcode::fsd;
}
/// Whether the operation changes an f register or fflags.
constexpr bool writes_float(Opcode op) {
  return uses_float(op) && op != Opcode::fsw && op != Opcode::fsd && op != Opcode::fclass_s && op != Opcode::fclass_d &&
         op != Opcode::fmv_x_w && op != Opcode::fmv_x_d;
}

/// Bytes that a load, store or atomic operation moves.
constexpr unsigned access_size(Opcode op) {
  switch (op) {
    case Opcode::lb:
    case Opcode::lbu:
    case Opcode::sb:
      return 1;
    case Opcode::lh:
    case Opcode::lhu:
    case Opcode::sh:
      return 2;
    case Opcode::lw:
    case Opcode::lwu:
    case Opcode::flw:
    case Opcode::sw:
    case Opcode::fsw:
    case Opcode::lr_w:
    case Opcode::sc_w:
    case Opcode::amo_w:
      return 4;
    default:
      return 8;
  }
}

/// Whether this is a floating-point operation whose rd is an x register.
constexpr bool float_to_integer(Opcode op) {
  return (op >= Opcode::feq_s && op <= Opcode::fmv_x_d) || (op >= Opcode::fcvt_w_s && op <= Opcode::fcvt_lu_d);
}

/// The instruction as engines execute it: x0 as a destination is replaced by HartState::kSink.
constexpr Instruction with_sink(Instruction i) {
  const bool integer_rd = !writes_float(i.op) || float_to_integer(i.op);
  if (integer_rd && i.rd == 0) i.rd = HartState::kSink;
  return i;
}

}  // namespace sluice::riscv
