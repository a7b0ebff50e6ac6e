#pragma once
/// Which operations the interpreter runs in pairs, with one dispatch for both. A pair's handler stands at its first
/// operation; the second stays in place behind it, so that a block can be left and entered between the two.

#include <cstdint>

#include "models/riscv/iss/decode.h"

namespace sluice::riscv {

// clang-format off
/// Operations that have a body of their own in interpreter_loop.cpp.
#define SLUICE_RV_FUSIBLE(X) \
  X(addi) X(add) X(sub) X(addiw) X(addw) X(slli) X(srli) X(andi) X(and_) X(or_) X(xor_) X(lui) X(mulw) \
  X(sh3add) X(zext_h) X(lb) X(lh) X(lw) X(ld) X(lbu) X(lhu) X(lwu) X(flw) X(fld) X(sb) X(sh) X(sw) X(sd) X(fsw) \
  X(fsd) X(jal) X(jalr) X(beq) X(bne) X(blt) X(bge) X(bltu) X(bgeu)

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

/// Which of the kPairs two operations in a row are; kPairs: none.
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
