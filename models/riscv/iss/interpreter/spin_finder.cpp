// SPDX-License-Identifier: Apache-2.0
// Finds the loop in which a hart spins, by executing decoded blocks on a copy of its registers.

#include <algorithm>
#include <cstring>

#include "models/riscv/iss/interpreter/interpreter.h"
#include "models/riscv/iss/operations.h"
#include "models/riscv/iss/spin/spin_loop.h"

namespace sluice::riscv {
namespace {

/// How often a trial may come back to where it began with other registers: a loop that counts does so at every turn.
constexpr unsigned kTurns = 2;

}  // namespace

/// The block at pc if it may be entered as it is.
const Block* Interpreter::decoded(std::uint64_t pc) const {
  const Block* const block = jumps_[(pc >> 1) % kJumps];
  return block->pc == pc && block->validated == slow_.generation() ? block : nullptr;
}

bool Interpreter::find_spin(SpinLoop& loop) {
  if (clock_ || slow_.attention() || !slow_.context_is_fresh() || privileged_.interrupt_takeable()) return false;
  // Where the last run was cut, unless it has gone on since.
  const bool cut = stopped_in_ && stopped_in_->pc + stopped_in_->sites[stopped_at_].pc_offset == state_.pc;
  const Block* block = cut ? stopped_in_ : decoded(state_.pc);
  if (!block) return false;
  unsigned at = cut ? stopped_at_ : 0;
  std::uint64_t x[HartState::kSink + 1];
  std::copy(std::begin(state_.x), std::end(state_.x), x);
  const TlbEntry* const tlb = slow_.shortcuts();
  const bool cached = l1d_ && l1i_;
  const std::uint64_t first_line = slow_.fetch_line();
  const std::uint32_t taken_cost = hart_.config().costs.branch_taken;
  loop.begin(state_, cached ? l1d_ : nullptr, cached ? l1i_ : nullptr, first_line);
  unsigned tries = kTurns;
  std::uint64_t fetch = ~std::uint64_t{0};  // the line that the next instruction comes from, where it may be another

  const auto follow = [&](std::uint64_t pc, const Block* successor) {
    const bool known = successor && successor->validated == slow_.generation();
    block = known ? successor : decoded(pc);
    at = 0;
    return block != nullptr;
  };

#define RD x[op->rd]
#define RS1 x[op->rs1]
#define RS2 x[op->rs2]
#define IMM static_cast<std::uint64_t>(std::int64_t{op->imm})
#define PC (block->pc + (op->rs2 | op->aux << 8))
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
#define CASE(name, cost) \
  case Opcode::name: {   \
    DO_##name;           \
    break;               \
  }
#define LOADED(name) CASE(name, load)
#define CONDITION(name) CASE(name, branch)

  for (;;) {
    const Op* const op = &block->ops[at];
    const Site& site = block->sites[at];
    if (site.opcode == kFall) {
      if (!follow(block->end_pc, block->fall)) return false;
      continue;
    }
    if (site.opcode == kFetchLine) {
      fetch = block->physical + IMM;
      ++at;
      continue;
    }
    if (site.opcode > kFall) return false;
    const std::uint64_t pc = block->pc + site.pc_offset;
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
    bool taken = false;
    std::uint64_t next = block->end_pc;
    const auto opcode = static_cast<Opcode>(site.opcode);
    switch (opcode) {
      case Opcode::jal:
        next = block->pc + IMM;
        RD = block->end_pc;
        break;
      case Opcode::jalr:
        next = (RS1 + IMM) & ~std::uint64_t{1};
        RD = block->end_pc;
        break;
      default:
        return false;
        // clang-format off
      SLUICE_RV_INTEGER_OPS(CASE)  // NOLINT(bugprone-branch-clone): fence and pause do nothing
      LOADED(lb) LOADED(lh) LOADED(lw) LOADED(ld) LOADED(lbu) LOADED(lhu) LOADED(lwu)
      CONDITION(beq) CONDITION(bne) CONDITION(blt) CONDITION(bge) CONDITION(bltu) CONDITION(bgeu)
        // clang-format on
    }
    loop.spend(site.cost + (taken ? taken_cost : 0));
    const bool jumps = opcode == Opcode::jal || opcode == Opcode::jalr;
    if (!is_branch(opcode) && op->rd < HartState::kSink) loop.result(op->rd, RD);
    if (jumps || is_branch(opcode)) {
      if (taken) next = block->pc + IMM;
      const Block* const known = opcode == Opcode::jalr ? nullptr : jumps || taken ? block->taken : block->fall;
      if (!follow(next, known)) return false;
      continue;
    }
    ++at;
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
