#include "models/riscv/iss/interpreter.h"

#include <algorithm>
#include <cstring>

#include "models/riscv/iss/interpreter_fusion.h"

namespace sluice::riscv {
namespace {

constexpr std::uint64_t kPageMask = ~std::uint64_t{0xfff};

/// Fields as the handlers want them: x0 as a destination becomes the sink, offsets count from the block's start.
Op make_op(const Instruction& i, const void* handler, std::uint64_t pc_offset) {
  Op op{handler, i.rd, i.rs1, i.rs2, i.aux, i.imm};
  const bool integer_rd = !writes_float(i.op) || float_to_integer(i.op);
  if (integer_rd && i.rd == 0) op.rd = HartState::kSink;
  if (i.op == Opcode::auipc) {
    op.rs2 = static_cast<std::uint8_t>(pc_offset);
    op.aux = static_cast<std::uint8_t>(pc_offset >> 8);
  }
  if (i.op == Opcode::jal || is_branch(i.op)) op.imm += static_cast<std::int32_t>(pc_offset);
  return op;
}

}  // namespace

Interpreter::Interpreter(Hart& hart)
    : hart_(hart),
      state_(hart.state()),
      privileged_(hart.privileged()),
      bus_(hart.bus()),
      l1d_(hart.config().l1d),
      l1i_(hart.config().l1i),
      costs_(hart.config().costs) {
  for (std::uint16_t& slots : costs_.slots) slots = std::clamp<std::uint16_t>(slots, 1, 1023);
  costs_.trap = std::max<std::uint16_t>(costs_.trap, 1);  // a guest that only traps must reach its limit
  if (l1d_ && l1i_)
    loop<true>(&handlers_);
  else
    loop<false>(&handlers_);
  jumps_.fill(BlockCache::never());
  tlb_epochs_.fill(~std::uint64_t{0});
}

Interpreter::~Interpreter() = default;

StopReason Interpreter::run() {
  hart_.end_wait();
  if (state_.pc != passed_breakpoint_) passed_breakpoint_ = kNowhere;
  return l1d_ && l1i_ ? loop<true>(nullptr) : loop<false>(nullptr);
}

/// Grows with every instruction, exception and interrupt.
std::uint64_t Interpreter::events() const {
  const HartCounters& c = hart_.counters();
  return state_.instret + c.traps + c.interrupts;
}

StopReason Interpreter::step() {
  beyond_limit_ = true;
  const StopReason reason = run_single();
  beyond_limit_ = false;
  passed_breakpoint_ = kNowhere;
  return reason;
}

StopReason Interpreter::run_one() { return run_single(); }

StopReason Interpreter::run_single() {
  const std::uint64_t before = events();
  StopReason reason = StopReason::slot_limit;
  stepping_ = true;
  // A miss in the instruction cache can use up the allowance before the instruction starts.
  do {
    step_limit_ = state_.slots + 1;
    reason = run();
  } while (reason == StopReason::slot_limit && events() == before &&
           (beyond_limit_ || state_.slots < bus_.slot_limit()));
  stepping_ = false;
  return reason == StopReason::slot_limit && events() != before ? StopReason::stepped : reason;
}

void Interpreter::invalidate_code(std::uint64_t address, std::uint64_t length) {
  if (cache_.remove(address, length) != 0) attention_ = true;
}

void Interpreter::flush_translations() {
  for (Context& c : contexts_) c.epoch = ~std::uint64_t{0};
  tlb_epochs_.fill(~std::uint64_t{0});
  fetch_line_ = ~std::uint64_t{0};
  attention_ = true;
}

void Interpreter::reset() {
  flush_translations();
  stale_.clear();
  traps_.clear();
  from_ = kNowhere;
}

void Interpreter::drop_write_shortcuts(std::uint64_t page) {
  for (auto& tlb : tlbs_)
    if (tlb) tlb->drop_writes(page);
}

void Interpreter::drop_read_shortcuts(std::uint64_t page) {
  for (auto& tlb : tlbs_)
    if (tlb) tlb->drop_reads(page);
}

void Interpreter::set_breakpoint(std::uint64_t address) {
  if (!breakpoints_.insert(address).second) return;
  cache_.remove_all();
  attention_ = true;
}

void Interpreter::clear_breakpoint(std::uint64_t address) {
  if (breakpoints_.erase(address) == 0) return;
  cache_.remove_all();
  attention_ = true;
}

/// Decides what happens at state_.pc. True: frame_.block is to be run. False: run() returns stop_.
bool Interpreter::enter() {
  for (;;) {
    frame_.limit = slot_limit();
    if (state_.slots >= frame_.limit) {
      stop_ = StopReason::slot_limit;
      return false;
    }
    attention_ = false;
    if (privileged_.interrupt_takeable() && privileged_.take_interrupt()) {
      state_.slots += costs_.trap;
      ++hart_.counters().interrupts;
      from_ = kNowhere;
      continue;
    }
    refresh_context();
    if ((frame_.block = lookup(state_.pc)) == nullptr) continue;
    if (!attention_) return true;
    // The walk has moved the limit, or made an interrupt pending.
    frame_.limit = slot_limit();
    attention_ = false;
    if (state_.slots < frame_.limit && !privileged_.interrupt_takeable()) return true;
  }
}

void Interpreter::refresh_context() {
  const std::uint64_t epoch = privileged_.epoch();
  Context& context = contexts_[static_cast<unsigned>(state_.privilege)];
  if (context.epoch != epoch) {
    context.epoch = epoch;
    context.generation = ++last_generation_;
  }
  frame_.generation = context.generation;
  const auto data = static_cast<unsigned>(privileged_.effective_data_privilege());
  if (!tlbs_[data]) tlbs_[data] = std::make_unique<SoftTlb>();
  if (tlb_epochs_[data] != epoch) {
    tlb_epochs_[data] = epoch;
    tlbs_[data]->flush();
  }
  tlb_ = tlbs_[data].get();
  frame_.tlb = tlb_->entries();
}

/// The block at pc in the present context. Null: fetching it has trapped.
Block* Interpreter::lookup(std::uint64_t pc) {
  Block*& jump = jumps_[(pc >> 1) % kJumps];
  if (jump->pc == pc && jump->validated == frame_.generation) return jump;
  if (cache_.full()) {
    cache_.release();
    jumps_.fill(BlockCache::never());
    ++releases_;
  }
  bool cacheable = true;
  FetchPage at;
  if (!fetch_place(pc, pc, at, cacheable)) return nullptr;
  const std::uint64_t physical = at.physical + (pc & 0xfff);
  std::uint16_t first_half;
  std::memcpy(&first_half, at.ram->at(physical), 2);
  FetchPage second;
  const bool crossing = (pc & 0xfff) == 0xffe && !is_compressed(first_half);
  if (crossing && !fetch_place(pc + 2, pc + 2, second, cacheable)) return nullptr;
  if (!cacheable) {
    FetchPage rest;
    bool ignored = true;
    if (!crossing && !is_compressed(first_half) && !fetch_place(pc + 2, pc + 2, rest, ignored)) return nullptr;
    return decode_block(pc, at, crossing ? &second : nullptr, true);
  }
  Block* block = cache_.find(physical, pc);
  if (block && block->second_page != (crossing ? second.physical : Block::kNoPage)) {
    cache_.remove(physical, 1);
    block = nullptr;
  }
  if (!block) {
    block = decode_block(pc, at, crossing ? &second : nullptr, false);
    cache_.insert(block);
  }
  block->validated = frame_.generation;
  jump = block;
  return block;
}

/// As lookup(), from within the loop: state_ is exact. `link`, which may be null, is made to point to the block. from:
/// the instruction that goes to pc. Null: go through enter().
Block* Interpreter::resolve(std::uint64_t pc, Block** link, std::uint64_t from) {
  from_ = from;
  if (state_.slots >= frame_.limit || attention_) return nullptr;
  const std::uint64_t releases = releases_;
  Block* block = lookup(pc);
  if (block && link && releases == releases_) *link = block;
  return attention_ ? nullptr : block;
}

/// Where the 2 bytes at pc lie: physical page and RAM. False: trapped, with this tval.
bool Interpreter::fetch_place(std::uint64_t pc, std::uint64_t tval, FetchPage& at, bool& cacheable) {
  const std::uint64_t page = pc & kPageMask;
  FetchPage& cached = fetch_pages_[(pc >> 12) % kFetchPages];
  if (cached.page == page && cached.generation == frame_.generation) {
    at = cached;
    return true;
  }
  Privileged::Translation t;
  const std::uint64_t walks = privileged_.synchronised_walks();
  Cause cause = privileged_.translate(pc, 2, Access::fetch, t);
  attention_ |= privileged_.synchronised_walks() != walks;
  at.ram = cause == Cause::none ? hart_.ram_at(t.physical) : nullptr;
  const std::uint64_t by = from_ == kNowhere ? state_.pc : from_;
  if (cause == Cause::fetch_access) bus_.refused(Refusal::protection, by, pc, 2);
  if (cause == Cause::none && !at.ram) {
    bus_.refused(Refusal::fetch, by, t.physical, 2);
    cause = Cause::fetch_access;
  }
  if (cause != Cause::none) {
    trap(cause, tval);
    return false;
  }
  at.page = page;
  at.generation = frame_.generation;
  at.physical = t.physical & kPageMask;
  if (t.region_size >= base::GuestRam::kPage)
    cached = at;
  else
    cacheable = false;
  return true;
}

/// Decodes from pc up to a control transfer, the end of the page, or kMaxInstructions; one instruction if `single` or
/// if it crosses into `second`.
Block* Interpreter::decode_block(std::uint64_t pc, const FetchPage& at, const FetchPage* second, bool single) {
  constexpr unsigned kMostOps = Block::kMaxInstructions * 3 + 4;
  std::array<Op, kMostOps> ops;
  std::array<Site, kMostOps> sites;
  unsigned n = 0;
  Block shape;
  std::uint64_t line = ~std::uint64_t{0};
  std::uint64_t offset = 0;
  bool float_used = false, float_written = false, ended = false;
  const std::uint64_t physical = at.physical + (pc & 0xfff);
  const auto add = [&](Op op, unsigned opcode, unsigned cost, unsigned length) {
    op.handler = handlers_[opcode];
    ops[n] = op;
    sites[n++] = {shape.cost,
                  static_cast<std::uint16_t>(cost),
                  static_cast<std::uint16_t>(opcode),
                  static_cast<std::uint16_t>(offset),
                  static_cast<std::uint8_t>(shape.count),
                  static_cast<std::uint8_t>(length)};
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
    // In front of the fetch: what a debugger changes here is there before the instruction has any effect.
    if (breakpoints_.count(pc + offset) != 0) add({}, kBreakpoint, 0, 0);
    if (l1i_) {
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
    const unsigned cost = costs_.of(cost_class(i.op));
    add(make_op(i, nullptr, offset), static_cast<unsigned>(i.op), cost, i.length);
    shape.last_start = shape.cost;
    shape.cost += cost;
    ++shape.count;
    offset += i.length;
    ended = ends_block(i.op);
    if (second) {
      shape.second_page = second->physical;
      shape.crossing_raw = i.raw;
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
  block->crossing_raw = shape.crossing_raw;
  block->first_line = shape.first_line;
  block->pc = pc;
  block->end_pc = pc + offset;
  block->physical = physical;
  fuse(block);
  if (!stale_.empty()) check_stale(*block);
  return block;
}

void Interpreter::note_own_store(std::uint64_t address, std::uint64_t length) {
  if (!cache_.has_decoded(address, length)) return;
  if (stale_.size() < kMostStale) stale_.push_back({address, address + length - 1});
}

/// The block is about to run for the first time since its bytes have changed. Each change is told once.
void Interpreter::check_stale(const Block& block) {
  const std::uint64_t last = block.physical + (block.end_pc - block.pc) - 1;
  const auto told = std::erase_if(stale_, [&](const Stale& s) { return s.first <= last && block.physical <= s.last; });
  if (told != 0) bus_.stale_code();
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

/// Makes the block stop in front of its first instruction that may not start. At least one may not.
const Op* Interpreter::cut(Block* block, std::uint64_t slots, std::uint64_t limit) {
  unsigned n = 0;
  while (n + 1 < block->ops_count && slots + block->sites[n].cost_before < limit) ++n;
  cut_op_ = &block->ops[n];
  cut_handler_ = cut_op_->handler;
  cut_op_->handler = handlers_[kStop];
  if (n > 0) {  // which may be fused with the operation that must not start
    cut_before_handler_ = cut_op_[-1].handler;
    cut_op_[-1].handler = handlers_[block->sites[n - 1].opcode];
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

}  // namespace sluice::riscv
