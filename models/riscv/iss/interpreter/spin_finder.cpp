// SPDX-License-Identifier: Apache-2.0
// Finds the loop in which a hart spins, by executing decoded blocks on a copy of its registers.

#include <algorithm>
#include <bit>
#include <cstring>

#include "models/riscv/iss/interpreter/interpreter.h"
#include "models/riscv/iss/operations.h"
#include "models/riscv/iss/spin/spin_loop.h"

// clang-format off
/// What a loop may have beside jumps, fences and pause.
#define SLUICE_SPIN_OPS(X) \
  X(lui) X(auipc) X(addi) X(slti) X(sltiu) X(xori) X(ori) X(andi) X(slli) X(srli) X(srai) X(addiw) X(slliw) X(srliw) \
  X(sraiw) X(add) X(sub) X(sll) X(slt) X(sltu) X(xor_) X(srl) X(sra) X(or_) X(and_) X(addw) X(subw) X(sllw) X(srlw) \
  X(sraw) X(mul) X(mulw) X(add_uw) X(sh1add) X(sh2add) X(sh3add) X(slli_uw) X(andn) X(orn) X(sext_b) X(sext_h) \
  X(zext_h) X(max) X(maxu) X(min) X(minu) X(bext) X(bexti) X(lb) X(lh) X(lw) X(ld) X(lbu) X(lhu) X(lwu)
#define SLUICE_SPIN_BRANCHES(X) X(beq) X(bne) X(blt) X(bge) X(bltu) X(bgeu)
// clang-format on

namespace sluice::riscv {
namespace {

/// How often a trial may come back to where it began with other registers: a loop that counts does so at every turn.
constexpr unsigned kTurns = 2;

}  // namespace

/// The copy, and where it is.
struct Interpreter::SpinTrial {
  std::uint64_t x[33];
  const Block* block;
  unsigned at;  ///< operation of the block
};

/// The block at pc if it may be entered as it is.
const Block* Interpreter::decoded(std::uint64_t pc) const {
  const Block* const block = jumps_[(pc >> 1) % kJumps];
  return block->pc == pc && block->validated == slow_.generation() ? block : nullptr;
}

bool Interpreter::find_spin(SpinLoop& loop) {
  if (clock_ || slow_.attention() || !slow_.context_is_fresh() || privileged_.interrupt_takeable()) return false;
  SpinTrial t;
  std::copy(std::begin(state_.x), std::end(state_.x), t.x);
  std::uint64_t* const x = t.x;
  t.block = stopped_in_;
  t.at = stopped_at_;
  if (!t.block) {
    t.at = 0;
    if (!(t.block = decoded(state_.pc))) return false;
  }
  const TlbEntry* const tlb = slow_.shortcuts();
  const bool cached = l1d_ && l1i_;
  const std::uint64_t first_line = slow_.fetch_line();
  const std::uint32_t taken_cost = hart_.config().costs.branch_taken;
  loop.begin(state_, cached ? l1d_ : nullptr, cached ? l1i_ : nullptr, first_line);
  unsigned tries = kTurns;
  std::uint64_t fetch = ~std::uint64_t{0};  // the line that the next instruction comes from, where it may be another

  const auto follow = [&](std::uint64_t pc, const Block* successor) {
    const bool known = successor && successor->validated == slow_.generation();
    t.block = known ? successor : decoded(pc);
    t.at = 0;
    return t.block != nullptr;
  };

#define RD x[op->rd]
#define RS1 x[op->rs1]
#define RS2 x[op->rs2]
#define IMM static_cast<std::uint64_t>(std::int64_t{op->imm})
#define PC (t.block->pc + (op->rs2 | op->aux << 8))
#define LOAD(type, destination, expression)                                                          \
  const std::uint64_t address = RS1 + IMM;                                                           \
  const TlbEntry& entry = tlb[(address >> 12) % SoftTlb::kEntries];                                  \
  if ((address & (~std::uint64_t{0xfff} | (sizeof(type) - 1))) != entry.read_tag) return false;      \
  const auto* const host = reinterpret_cast<const std::uint8_t*>(address + entry.host); /* NOLINT */ \
  type value;                                                                                        \
  std::memcpy(&value, host, sizeof value);                                                           \
  std::uint64_t bytes = 0;                                                                           \
  std::memcpy(&bytes, host, sizeof value);                                                           \
  loop.load({host, bytes, sizeof value});                                                            \
  if (cached) loop.touch(l1d_->line_of(address + entry.physical), false);                            \
  destination = (expression)
#define BRANCH(condition) taken = (condition)
#define CASE(name)     \
  case Opcode::name: { \
    DO_##name;         \
    break;             \
  }
#define CONDITION(name) \
  case Opcode::name: {  \
    DO_##name;          \
    writes = false;     \
    break;              \
  }

  for (;;) {
    const Op* const op = &t.block->ops[t.at];
    const Site& site = t.block->sites[t.at];
    if (site.opcode == kFall) {
      if (!follow(t.block->end_pc, t.block->fall)) return false;
      continue;
    }
    if (site.opcode == kFetchLine) {
      fetch = t.block->physical + IMM;
      ++t.at;
      continue;
    }
    if (site.opcode > kFall) return false;
    const std::uint64_t pc = t.block->pc + site.pc_offset;
    if (pc == state_.pc && loop.instructions() != 0) {
      if (std::equal(x + 1, x + 32, state_.x + 1) && loop.fetch_line() == first_line) return loop.end();
      if (--tries == 0) return false;
    }
    if (!loop.instruction(pc)) return false;
    if (fetch != ~std::uint64_t{0} && fetch != loop.fetch_line()) {
      loop.touch(fetch, true);
      loop.set_fetch_line(fetch);
    }
    fetch = ~std::uint64_t{0};
    bool taken = false, writes = true;
    std::uint64_t next = t.block->end_pc;
    const auto opcode = static_cast<Opcode>(site.opcode);
    switch (opcode) {
      case Opcode::fence:
      case Opcode::pause:
        writes = false;
        break;
        // clang-format off
      SLUICE_SPIN_OPS(CASE)
      SLUICE_SPIN_BRANCHES(CONDITION)
      // clang-format on
      case Opcode::jal:
        next = t.block->pc + IMM;
        RD = t.block->end_pc;
        break;
      case Opcode::jalr:
        next = (RS1 + IMM) & ~std::uint64_t{1};
        RD = t.block->end_pc;
        break;
      default:
        return false;
    }
    loop.spend(site.cost + (taken ? taken_cost : 0));
    if (writes && op->rd < HartState::kSink && op->rd != 0) loop.result(op->rd, RD);
    const bool jumps = opcode == Opcode::jal || opcode == Opcode::jalr;
    if (jumps || is_branch(opcode)) {
      if (taken) next = t.block->pc + IMM;
      const Block* const known = opcode == Opcode::jalr ? nullptr : jumps || taken ? t.block->taken : t.block->fall;
      if (!follow(next, known)) return false;
      continue;
    }
    ++t.at;
  }
}

bool Interpreter::spins(SpinLoop& loop) {
  return !slow_.attention() && !privileged_.interrupt_takeable() && loop.holds();
}

void Interpreter::leave_spin(SpinLoop& loop) {
  slow_.set_fetch_line(loop.leave(state_));
  slow_.came_from_nowhere();
}

}  // namespace sluice::riscv
