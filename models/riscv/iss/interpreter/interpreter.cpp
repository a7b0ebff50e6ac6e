// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/interpreter/interpreter.h"

#include <algorithm>
#include <cstring>

#include "models/riscv/iss/interpreter/interpreter_fusion.h"

namespace sluice::riscv {
namespace {

/// Makes an Op with fields as handlers use them: offsets are relative to the block's start.
Op make_op(const Instruction& instruction, const void* handler, std::uint64_t pc_offset) {
  const Instruction i = with_sink(instruction);
  Op op{handler, i.rd, i.rs1, i.rs2, i.aux, i.imm};
  if (i.op == Opcode::auipc) {
    op.rs2 = static_cast<std::uint8_t>(pc_offset);
    op.aux = static_cast<std::uint8_t>(pc_offset >> 8);
  }
  if (i.op == Opcode::jal || is_branch(i.op)) op.imm += static_cast<std::int32_t>(pc_offset);
  return op;
}

}  // namespace

std::unique_ptr<Engine> make_interpreter(Hart& hart) { return std::make_unique<Interpreter>(hart); }

Interpreter::Interpreter(Hart& hart)
    : hart_(hart),
      state_(hart.state()),
      privileged_(hart.privileged()),
      bus_(hart.bus()),
      l1d_(hart.config().l1d),
      l1i_(hart.config().l1i),
      slow_(hart),
      clock_(slow_.clock()),
      control_(hart) {
  loop(&handlers_);
  jumps_.fill(BlockCache::never());
}

Interpreter::~Interpreter() = default;

StopReason Interpreter::run() {
  control_.begin();
  bus_limit_ = 0;
  stopped_in_ = nullptr;
  return loop(nullptr);
}

void Interpreter::invalidate_code(std::uint64_t address, std::uint64_t length) {
  if (cache_.remove(address, length) != 0) slow_.call_attention();
}

void Interpreter::note_own_store(std::uint64_t address, std::uint64_t length) {
  if (cache_.has_decoded(address, length)) slow_.note_changed_code(address, length);
}

void Interpreter::set_breakpoint(std::uint64_t address) {
  if (control_.set_breakpoint(address)) forget_code();
}

void Interpreter::clear_breakpoint(std::uint64_t address) {
  if (control_.clear_breakpoint(address)) forget_code();
}

void Interpreter::forget_code() {
  cache_.remove_all();
  slow_.call_attention();
}

/// Fences are decoded anew when the hart begins to heed them, so that they cost nothing where it does not.
void Interpreter::heed_fences() {
  if (heeds_fences_ == slow_.heeds_fences()) [[likely]]
    return;
  heeds_fences_ = true;
  forget_code();
}

/// Any operation that always takes the slow path has the handler for a fence that is heeded.
const void* Interpreter::handler_of(unsigned opcode) const {
  const bool heeded = heeds_fences_ && opcode == static_cast<unsigned>(Opcode::fence);
  return handlers_[heeded ? static_cast<unsigned>(Opcode::fence_i) : opcode];
}

/// Decides what happens at state_.pc. True: frame_.block is to be run. False: run() returns stop_.
bool Interpreter::enter() {
  for (;;) {
    frame_.limit = control_.slot_limit();
    if (state_.slots >= frame_.limit) {
      stopped_in_ = nullptr;
      if (moves_limit()) continue;
      stop_ = StopReason::slot_limit;
      return false;
    }
    heed_fences();
    slow_.clear_attention();
    if (slow_.take_interrupt()) continue;
    slow_.refresh_context();
    if ((frame_.block = lookup(state_.pc)) == nullptr) continue;
    if (!slow_.attention()) return true;
    // A walk has taken time, moved the limit, or made an interrupt pending.
    frame_.limit = control_.slot_limit();
    slow_.clear_attention();
    if (state_.slots < frame_.limit && !privileged_.interrupt_takeable()) return true;
  }
}

/// As enter(). Between timing points only a single step ends the run.
bool Interpreter::enter_timed() {
  for (;;) {
    clock_->catch_up();
    if (control_.step_is_over()) {
      stop_ = StopReason::slot_limit;
      return false;
    }
    if (clock_->at_timing_point()) {
      clock_->forget_fills();
      bus_limit_ = control_.bus_limit();
      if (state_.slots >= bus_limit_) {
        if (moves_limit()) continue;
        stop_ = StopReason::slot_limit;
        return false;
      }
      if (slow_.take_interrupt()) continue;
    } else if (slow_.attention()) {
      bus_limit_ = 0;  // whatever it is about, the next timing point asks
    }
    heed_fences();
    slow_.clear_attention();
    slow_.refresh_context();
    if ((frame_.block = lookup(state_.pc)) == nullptr) {
      clock_->timing_point();
      continue;
    }
    frame_.limit = control_.stepping() ? clock_->since() + 1 : IntervalClock::kMostBatch;
    return true;
  }
}

/// The block at pc in the present context. Null: fetching it has trapped.
Block* Interpreter::lookup(std::uint64_t pc) {
  Block*& jump = jumps_[(pc >> 1) % kJumps];
  if (jump->pc == pc && jump->validated == slow_.generation()) return jump;
  if (cache_.full()) {  // the log is empty wherever this is called
    cache_.release();
    if (clock_) clock_->forget_runs();
    jumps_.fill(BlockCache::never());
    ++releases_;
  }
  SlowPath::Fetched fetched;
  if (!slow_.fetch(pc, fetched)) return nullptr;
  if (!fetched.cacheable) return decode_block(pc, fetched, true);
  const std::uint64_t physical = fetched.at.physical + (pc & 0xfff);
  Block* block = cache_.find(physical, pc);
  if (block && block->second_page != (fetched.crossing ? fetched.second.physical : Block::kNoPage)) {
    cache_.remove(physical, 1);
    block = nullptr;
  }
  if (!block) {
    block = decode_block(pc, fetched, false);
    cache_.insert(block);
  }
  block->validated = slow_.generation();
  jump = block;
  return block;
}

/// Works as lookup(), but from within the loop, where state_ is exact. Sets `link`, if not null, to the block. from:
/// the instruction that jumps to pc. Returns null when the loop must go through enter().
Block* Interpreter::resolve(std::uint64_t pc, Block** link, std::uint64_t from) {
  slow_.came_from(from);
  if ((!clock_ && state_.slots >= frame_.limit) || slow_.attention()) return nullptr;
  const std::uint64_t releases = releases_;
  Block* block = lookup(pc);
  if (!block && clock_) clock_->timing_point();
  if (block && link && releases == releases_) *link = block;
  return slow_.attention() ? nullptr : block;
}

/// Decodes from pc up to a control transfer, the end of the page, or kMaxInstructions; one instruction if `single` or
/// if it crosses into a second page.
Block* Interpreter::decode_block(std::uint64_t pc, const SlowPath::Fetched& fetched, bool single) {
  constexpr unsigned kMostOps = Block::kMaxInstructions * 3 + 4;
  std::array<Op, kMostOps> ops;
  std::array<Site, kMostOps> sites;
  const CostTable& costs = hart_.config().costs;
  unsigned n = 0;
  Block shape;
  std::uint64_t line = ~std::uint64_t{0};
  std::uint64_t offset = 0;
  bool float_used = false, float_written = false, ended = false;
  const SlowPath::FetchPage& at = fetched.at;
  const SlowPath::FetchPage* const second = fetched.crossing ? &fetched.second : nullptr;
  const std::uint64_t physical = at.physical + (pc & 0xfff);
  std::uint32_t raw = 0;  // of the instruction that is decoded
  std::vector<Instruction> instructions;
  const auto add = [&](Op op, unsigned opcode, unsigned cost, unsigned length) {
    op.handler = handler_of(opcode);
    ops[n] = op;
    sites[n++] = {shape.cost,
                  static_cast<std::uint16_t>(cost),
                  static_cast<std::uint16_t>(opcode),
                  static_cast<std::uint16_t>(offset),
                  static_cast<std::uint8_t>(shape.count),
                  static_cast<std::uint8_t>(length),
                  raw};
  };

  at.ram->set_watch(physical, base::GuestRam::kCode);
  if (second) second->ram->set_watch(second->physical, base::GuestRam::kCode);
  while (!ended && shape.count < (single ? 1 : Block::kMaxInstructions)) {
    const std::uint64_t in_page = (pc & 0xfff) + offset;
    if (in_page > 0xffe) break;
    std::uint16_t half[2] = {};
    std::memcpy(&half[0], at.ram->at(physical + offset), 2);
    if (!is_compressed(half[0])) {
      if (in_page == 0xffe) {
        if (!second) break;
        std::memcpy(&half[1], second->ram->at(second->physical), 2);
      } else {
        std::memcpy(&half[1], at.ram->at(physical + offset + 2), 2);
      }
    }
    const Instruction i = decode(half[0] | static_cast<std::uint32_t>(half[1]) << 16);
    raw = i.raw;
    // A breakpoint is before the fetch, so that a debugger's changes precede any effect of the instruction.
    if (control_.breakpoint_at(pc + offset)) add({}, kBreakpoint, 0, 0);
    if (l1i_ && !clock_) {
      // The line of the instruction's last byte counts, so that a cut in front of it cannot change what is fetched.
      const std::uint64_t last = second ? second->physical + 1 : physical + offset + i.length - 1;
      if (l1i_->line_of(last) != line) {
        line = l1i_->line_of(last);
        Op touch{};
        touch.imm = static_cast<std::int32_t>(static_cast<std::int64_t>(line - physical));
        add(touch, second ? kFetchSecondPage : kFetchLine, 0, 0);
        if (n == 1) shape.first_line = line;
      }
    }
    if (uses_float(i.op) && !float_used) add({}, kFloatUse, 0, 0), float_used = true;
    if (writes_float(i.op) && !float_written) add({}, kFloatWrite, 0, 0), float_written = true;
    const unsigned cost = costs.of(cost_class(i.op));
    ++hart_.counters().decoded[static_cast<std::size_t>(cost_class(i.op))];
    add(make_op(i, nullptr, offset), static_cast<unsigned>(i.op), cost, i.length);
    shape.last_start = shape.cost;
    shape.cost += clock_ ? 1 : cost;
    ++shape.count;
    if (clock_) instructions.push_back(i);
    offset += i.length;
    ended = ends_block(i.op) || (clock_ && i.op == Opcode::pause);
    if (second) {
      shape.second_page = second->physical;
      break;
    }
  }
  if (!ended) add({}, kFall, 0, 0);

  Block* block = cache_.allocate(n);
  std::copy_n(ops.begin(), n, block->ops);
  std::copy_n(sites.begin(), n, block->sites);
  block->last_start = shape.last_start;
  block->cost = shape.cost;
  block->count = shape.count;
  block->second_page = shape.second_page;
  block->first_line = shape.first_line;
  block->pc = pc;
  block->end_pc = pc + offset;
  block->physical = physical;
  if (clock_) block->timed = time_run(*block, instructions);
  fuse(block);
  slow_.check_stale(physical, physical + offset - 1);
  return block;
}

/// What the window needs to know of a block. An instruction that crosses L1I lines counts for the line of its last
/// byte.
TimedRun* Interpreter::time_run(const Block& block, const std::vector<Instruction>& instructions) {
  const CoreShape& shape = *hart_.config().shape;
  TimedRun* run = cache_.allocate_run(static_cast<unsigned>(instructions.size()));
  run->pc = block.pc;
  run->end_pc = block.end_pc;
  std::uint64_t at = block.physical;
  for (unsigned n = 0; n < instructions.size(); ++n) {
    const Instruction& i = instructions[n];
    run->records[n] = timing_record(with_sink(i), shape);
    const std::uint64_t last = block.second_page == Block::kNoPage ? at + i.length - 1 : block.second_page + 1;
    const std::uint64_t line = l1i_->line_of(last);
    if ((run->lines == 0 || run->addresses[run->lines - 1u] != line) && run->lines < TimedRun::kMostLines) {
      run->starts[run->lines] = static_cast<std::uint8_t>(n);
      run->addresses[run->lines++] = line;
    }
    run->last_pc = block.end_pc - i.length;
    at += i.length;
  }
  run->complete(++timed_runs_);
  return run;
}

/// Gives the first of two operations the handler that runs both.
void Interpreter::fuse(Block* block) {
  for (unsigned n = 0; n + 1 < block->ops_count; ++n) {
    const unsigned first = block->sites[n].opcode, second = block->sites[n + 1].opcode;
    if (first >= kFall || second >= kFall) continue;
    const unsigned pair = pair_of(static_cast<Opcode>(first), static_cast<Opcode>(second));
    if (pair == kPairs) continue;
    block->ops[n].handler = handlers_[kPseudoEnd + pair];
    ++n;
  }
}

/// Stops the block before its first instruction that may not start yet. The block must have one.
const Op* Interpreter::cut(Block* block, std::uint64_t slots, std::uint64_t limit) {
  unsigned n = 0;
  while (n + 1 < block->ops_count && slots + block->sites[n].cost_before < limit) ++n;
  cut_op_ = &block->ops[n];
  cut_handler_ = cut_op_->handler;
  cut_op_->handler = handlers_[kStop];
  if (n > 0) {  // the operation before may be fused with the one that must not start
    cut_before_handler_ = cut_op_[-1].handler;
    cut_op_[-1].handler = handler_of(block->sites[n - 1].opcode);
  } else {
    cut_before_handler_ = nullptr;
  }
  return block->ops;
}

void Interpreter::uncut() {
  if (!cut_op_) return;
  cut_op_->handler = cut_handler_;
  if (cut_before_handler_) cut_op_[-1].handler = cut_before_handler_;
  cut_op_ = nullptr;
}

/// Executes one operation with exact state. Returns how the loop goes on: within the block if possible.
Interpreter::Outcome Interpreter::slow(Block* block, const Op* op, std::uint64_t slots, std::uint64_t instret) {
  const Site& site = block->site(op);
  frame_.slots = slots;
  state_.pc = block->pc + site.pc_offset;
  state_.slots = slots + site.cost_before;
  state_.instret = instret + site.index;
  if (site.opcode < kFall) [[likely]] {
    const Instruction instruction{
        static_cast<Opcode>(site.opcode), op->rd, op->rs1, op->rs2, op->aux, site.length, op->imm, site.raw};
    const SlowPath::Outcome outcome = slow_.execute(instruction, site.cost);
    if (outcome != SlowPath::Outcome::next) return leave(outcome);
    if (!slow_.bus_called() && !slow_.attention()) return Outcome::next;
  } else if (site.opcode == kFetchLine || site.opcode == kFetchSecondPage) {
    slow_.miss_l1i();
  } else {
    return pseudo(site);
  }
  const std::uint64_t base = state_.slots - site.cost_before;
  const std::uint64_t limit = control_.slot_limit();
  const bool fits = cut_op_ ? base == frame_.slots && limit == frame_.limit : base + block->last_start < limit;
  if (!fits || slow_.attention() || privileged_.interrupt_takeable()) return leave_behind(site);
  frame_.slots = base;
  frame_.limit = limit;
  return Outcome::next;
}

/// As slow(), for timing = "interval". since: instructions from the last timing point to the start of the block.
Interpreter::Outcome Interpreter::slow_timed(Block* block, const Op* op, std::uint64_t since, std::uint64_t instret) {
  const Site& site = block->site(op);
  state_.pc = block->pc + site.pc_offset;
  state_.instret = instret + site.index;
  clock_->settle(site.index, state_.pc);
  clock_->executed(since + site.index, false);
  frame_.slots = since;
  if (site.opcode >= kFall) {
    const Outcome outcome = pseudo(site);
    if (outcome == Outcome::next)
      clock_->log().enter(*block->timed, site.index);
    else if (site.opcode != kBreakpoint)
      clock_->timing_point();
    return outcome;
  }
  const Instruction instruction{
      static_cast<Opcode>(site.opcode), op->rd, op->rs1, op->rs2, op->aux, site.length, op->imm, site.raw};
  clock_->enter_slowly(*block->timed, site.index);
  const SlowPath::Outcome outcome = slow_.execute(instruction, site.cost);
  const bool charged = clock_->charged();
  const bool plain = outcome == SlowPath::Outcome::next && !charged && !slow_.bus_called();
  if (plain && !slow_.attention()) return Outcome::next;
  if (plain)
    clock_->executed(since + site.index + 1, false);  // decoded code has been removed, which takes no time
  else
    clock_->timing_point();
  if (outcome != SlowPath::Outcome::next || charged) clock_->abandon();
  if (outcome != SlowPath::Outcome::next) return leave(outcome);
  const CostClass kind = cost_class(instruction.op);
  hart_.counters().drained_loads += charged && kind == CostClass::load;
  hart_.counters().drained_stores += charged && kind == CostClass::store;
  slow_.retire(site.length, charged ? site.cost : 0);
  if (!charged) clock_->settle(site.index + 1u, state_.pc);
  uncut();
  return Outcome::dispatch;
}

Interpreter::Outcome Interpreter::pseudo(const Site& site) {
  switch (site.opcode) {
    case kFloatUse:
      return leave(slow_.illegal(site.raw));
    case kBreakpoint:
      if (!control_.stops_here()) return Outcome::next;
      stop_ = StopReason::breakpoint;
      uncut();
      return Outcome::stop;
    default:
      return Outcome::next;
  }
}

/// The operation is done, and the block is left. Pseudo-operations cost nothing and do not count.
Interpreter::Outcome Interpreter::leave_behind(const Site& site) {
  if (site.opcode < kFall) {
    slow_.retire(site.length, site.cost);
  } else {
    slow_.came_from(state_.pc);
    // The miss has used up the slots, and the instruction has not run yet. Its breakpoint must not stop the hart again.
    if (control_.breakpoint_at(state_.pc)) control_.pass();
  }
  uncut();
  return Outcome::dispatch;
}

/// HartState is exact: the block is left.
Interpreter::Outcome Interpreter::leave(SlowPath::Outcome outcome) {
  uncut();
  if (outcome == SlowPath::Outcome::redirect) return Outcome::dispatch;
  stop_ = outcome == SlowPath::Outcome::wait_for_interrupt ? StopReason::wait_for_interrupt
                                                           : StopReason::wait_on_reservation;
  return Outcome::stop;
}

/// The limit is reached in front of this operation.
void Interpreter::stop_at(const Block* block, const Op* op, std::uint64_t slots, std::uint64_t instret) {
  const Site& site = block->site(op);
  state_.pc = block->pc + site.pc_offset;
  state_.instret = instret + site.index;
  if (clock_) {
    clock_->settle(site.index, state_.pc);
    clock_->executed(slots + site.index, false);
  } else {
    state_.slots = slots + site.cost_before;
  }
  slow_.came_from_nowhere();
  uncut();
  stopped_in_ = block;
  stopped_at_ = static_cast<unsigned>(op - block->ops);
}

}  // namespace sluice::riscv
