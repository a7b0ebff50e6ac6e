// SPDX-License-Identifier: Apache-2.0
// Finds the loop in which a hart spins, by executing decoded blocks on a copy of its registers.

#include <algorithm>
#include <cstring>

#include "models/riscv/iss/interpreter/interpreter.h"
#include "models/riscv/iss/operations.h"
#include "models/riscv/iss/spin/spin_loop.h"

namespace sluice::riscv {

using base::LineUse;

namespace {

/// One in so many searches is made in a state of the instruction window in which no loop was found before.
constexpr unsigned kOtherStates = 8;

}  // namespace

/// A copy of the registers, and what is executed on it.
class Interpreter::SpinTrial {
 public:
  SpinTrial(const Interpreter& of, SpinLoop& loop)
      : start_(of.state_),
        bus_(of.bus_),
        tlb_(of.slow_.shortcuts()),
        l1d_(of.l1i_ ? of.l1d_ : nullptr),
        timed_(of.clock_ != nullptr),
        loop_(loop) {
    std::copy(std::begin(start_.x), std::end(start_.x), x_);
  }

  /// Executes one instruction. Returns false if it is none for a loop. pc: of the block's end, where it goes on if it
  /// is no branch and no jump.
  bool execute(const Block&, const Op*, Opcode, std::uint64_t pc);
  std::uint64_t next() const { return next_; }  ///< where the instruction goes on
  bool taken() const { return taken_; }         ///< it was a branch that is taken
  /// Whether the registers are those at the start. Gives up when they were not several times: a loop that counts has
  /// others at every turn.
  bool is_back() const { return std::equal(x_ + 1, x_ + 32, start_.x + 1); }
  bool gives_up() { return --tries_ == 0; }

 private:
  const HartState& start_;
  Bus& bus_;
  const TlbEntry* const tlb_;
  base::LineState* const l1d_;
  const bool timed_;
  SpinLoop& loop_;
  std::uint64_t x_[HartState::kSink + 1];
  std::uint64_t next_ = 0;
  bool taken_ = false;
  unsigned tries_ = 2;
};

// What operations.h needs, on the copy. LOAD and STORE give up where the engine would not access memory directly.
#define RD x_[op->rd]
#define RS1 x_[op->rs1]
#define RS2 x_[op->rs2]
#define IMM static_cast<std::uint64_t>(std::int64_t{op->imm})
#define PC (block.pc + (op->rs2 | op->aux << 8))
// Sets `value` to what memory has at the address of a load or store.
#define ACCESS(type, tag, use)                                                                       \
  const std::uint64_t address = RS1 + IMM;                                                           \
  const TlbEntry& entry = tlb_[(address >> 12) % SoftTlb::kEntries];                                 \
  if ((address & (~std::uint64_t{0xfff} | (sizeof(type) - 1))) != entry.tag) return false;           \
  const auto* const host = reinterpret_cast<const std::uint8_t*>(address + entry.host); /* NOLINT */ \
  type value;                                                                                        \
  std::memcpy(&value, host, sizeof value);                                                           \
  loop_.load(host, sizeof value);                                                                    \
  if (l1d_) loop_.touch(l1d_->line_of(address + entry.physical), LineUse::use)
#define LOAD(type, destination, expression) \
  ACCESS(type, read_tag, load);             \
  destination = (expression)
// The instruction window has stores under way, so it is in no steady state.
#define STORE(type, source)       \
  if (timed_) return false;       \
  ACCESS(type, write_tag, store); \
  if (value != static_cast<type>(source)) return false
#define BRANCH(condition) taken_ = (condition)
#define CASE(name, cost) \
  case Opcode::name: {   \
    DO_##name;           \
    break;               \
  }
#define LOADED(name) CASE(name, load)
#define STORED(name) CASE(name, store)
#define CONDITION(name) CASE(name, branch)

bool Interpreter::SpinTrial::execute(const Block& block, const Op* op, Opcode opcode, std::uint64_t pc) {
  taken_ = false;
  next_ = pc;
  switch (opcode) {
    case Opcode::jal:
      next_ = block.pc + IMM;
      RD = pc;
      break;
    case Opcode::jalr:
      next_ = (RS1 + IMM) & ~std::uint64_t{1};
      RD = pc;
      break;
    case Opcode::account:
      return bus_.in_account(RS1 + IMM);
    default:
      return false;
      // clang-format off
    SLUICE_RV_INTEGER_OPS(CASE)  // NOLINT(bugprone-branch-clone): fence and pause do nothing
    STORED(sb) STORED(sh) STORED(sw) STORED(sd)
    LOADED(lb) LOADED(lh) LOADED(lw) LOADED(ld) LOADED(lbu) LOADED(lhu) LOADED(lwu)
    CONDITION(beq) CONDITION(bne) CONDITION(blt) CONDITION(bge) CONDITION(bltu) CONDITION(bgeu)
      // clang-format on
  }
  if (taken_) next_ = block.pc + IMM;
  if (!is_branch(opcode) && op->rd < HartState::kSink) loop_.result(op->rd, RD);
  return true;
}

/// The block at pc if it may be entered as it is. known: where it may be, or null.
const Block* Interpreter::decoded(std::uint64_t pc, const Block* known) const {
  if (known && known->validated == slow_.generation()) return known;
  const Block* const block = jumps_[(pc >> 1) % kJumps];
  return block->pc == pc && block->validated == slow_.generation() ? block : nullptr;
}

/// The block that follows on this one when its last instruction has been executed.
const Block* Interpreter::decoded_behind(const Block& block, Opcode last, const SpinTrial& trial) const {
  if (last == Opcode::jalr) return decoded(trial.next(), nullptr);
  return decoded(trial.next(), last == Opcode::jal || trial.taken() ? block.taken : block.fall);
}

Spin Interpreter::find_spin(SpinLoop& loop) {
  shortcuts_stand_ = true;
  if (slow_.attention() || !slow_.context_is_fresh() || privileged_.interrupt_takeable()) return Spin::none;
  if (slow_.is_combining()) return Spin::none;  // a fence would write what is combined
  if (clock_) return find_timed_spin(loop);
  return find_untimed_spin(loop) ? Spin::found : Spin::none;
}

/// With timings other than "interval" a hart may be cut at any instruction.
bool Interpreter::find_untimed_spin(SpinLoop& loop) {
  // Where the last run was cut, unless it has gone on since.
  const bool cut = stopped_in_ && stopped_in_->validated == slow_.generation() &&
                   stopped_in_->pc + stopped_in_->sites[stopped_at_].pc_offset == state_.pc;
  const Block* block = cut ? stopped_in_ : decoded(state_.pc, nullptr);
  unsigned at = cut ? stopped_at_ : 0;
  const bool cached = l1d_ && l1i_;
  const std::uint64_t first_line = slow_.fetch_line();
  std::uint64_t line = first_line, fetch = first_line;  // of the last instruction, and of the next one
  const std::uint32_t taken_cost = hart_.config().costs.branch_taken;
  std::uint32_t slots = 0;
  loop.begin(state_, cached ? l1d_ : nullptr, cached ? l1i_ : nullptr);
  SpinTrial trial(*this, loop);
  while (block) {
    const Site& site = block->sites[at];
    if (site.opcode == kFall) {
      block = decoded(block->end_pc, block->fall);
      at = 0;
      continue;
    }
    if (site.opcode == kFetchLine) {
      fetch = block->physical + static_cast<std::uint64_t>(std::int64_t{block->ops[at++].imm});
      continue;
    }
    if (site.opcode > kFall) return false;
    const std::uint64_t pc = block->pc + site.pc_offset;
    loop.stop(pc, slots);
    if (pc == state_.pc && loop.instructions() != 0) {
      if (trial.is_back() && line == first_line) return loop.end(line);
      if (trial.gives_up()) return false;
    }
    if (!loop.instruction()) return false;
    if (fetch != line) loop.touch(fetch, LineUse::fetch);
    line = fetch;
    const auto opcode = static_cast<Opcode>(site.opcode);
    if (!trial.execute(*block, &block->ops[at], opcode, block->end_pc)) return false;
    slots += site.cost + (trial.taken() ? taken_cost : 0);
    ++at;
    if (opcode == Opcode::jal || opcode == Opcode::jalr || is_branch(opcode)) {
      block = decoded_behind(*block, opcode, trial);
      at = 0;
    }
  }
  return false;
}

/// With timing = "interval" a hart is cut at timing points, and the instruction window knows the time of whole blocks.
Spin Interpreter::find_timed_spin(SpinLoop& loop) {
  IntervalClock::Outlook first;
  if (!clock_->at_timing_point() || !clock_->look_ahead(first)) return Spin::later;
  Steady& steady = steady_[(state_.pc >> 1) % steady_.size()];
  const bool known = steady.pc == state_.pc;
  // A loop mostly comes to the same steady state.
  if (known && !first.is_like(steady.window) && ++steady.others % kOtherStates != 0) return Spin::later;
  if (!try_timed_spin(loop, first)) return Spin::none;
  steady = {state_.pc, first, 0};
  return Spin::found;
}

bool Interpreter::try_timed_spin(SpinLoop& loop, const IntervalClock::Outlook& first) {
  const Block* block = decoded(state_.pc, nullptr);
  IntervalClock::Outlook ahead = first;
  loop.begin(state_, l1d_, l1i_);
  const auto stop = [&](std::uint64_t pc) {
    const auto slots = static_cast<std::uint32_t>(clock_->slots(ahead) - clock_->slots(first));
    loop.stop(pc, slots, clock_->retired(ahead), ahead);
  };
  stop(state_.pc);
  SpinTrial trial(*this, loop);
  std::uint64_t since = 0;  // instructions since the last timing point
  while (block) {
    if (since + block->last_start >= IntervalClock::kMostBatch) return false;
    Opcode opcode{};
    if (!try_block(*block, trial, loop, ahead, opcode)) return false;
    since += block->count;
    const bool transfers = block->timed->end != TimingRecord::kPlain;
    if (opcode == Opcode::pause || (transfers && since >= IntervalClock::kBatch)) {
      since = 0;
      stop(trial.next());
      if (trial.next() == state_.pc) {
        const bool back = trial.is_back();
        if (back && ahead.is_like(first)) return loop.end(ahead.line);
        if (!back && trial.gives_up()) return false;
      }
    }
    block = decoded_behind(*block, opcode, trial);
  }
  return false;
}

/// Executes a whole block, and moves the outlook over it. Sets `last` to the last instruction.
bool Interpreter::try_block(const Block& block, SpinTrial& trial, SpinLoop& loop, InstructionWindow::Outlook& ahead,
                            Opcode& last) {
  const TimedRun& run = *block.timed;
  std::uint64_t line = ahead.line;
  unsigned first = 0, next_line = 0;
  for (unsigned at = 0; at < block.ops_count && block.sites[at].opcode != kFall; ++at) {
    const Site& site = block.sites[at];
    if (site.opcode > kFall || !loop.instruction()) return false;
    if (next_line < run.lines && run.starts[next_line] == site.index) {
      if (run.addresses[next_line] != line) loop.touch(line = run.addresses[next_line], LineUse::fetch);
      ++next_line;
    }
    last = static_cast<Opcode>(site.opcode);
    if (!trial.execute(block, &block.ops[at], last, block.end_pc)) return false;
    // The engine enters the run again at a hint: see slow_timed().
    if (last == Opcode::account && site.index > first) {
      if (!clock_->look_behind(ahead, run, first, site.index, block.pc + site.pc_offset)) return false;
      first = site.index;
    }
  }
  return clock_->look_behind(ahead, run, first, run.count, trial.next());
}

bool Interpreter::spins(SpinLoop& loop) {
  return shortcuts_stand_ && !slow_.attention() && !privileged_.interrupt_takeable() && loop.holds();
}

void Interpreter::leave_spin(SpinLoop& loop) {
  loop.leave(state_);
  if (clock_)
    clock_->go_to(loop.window(), loop.late_cycles(), loop.runs());
  else
    slow_.set_fetch_line(loop.fetch_line());
  slow_.came_from_nowhere();
}

}  // namespace sluice::riscv
