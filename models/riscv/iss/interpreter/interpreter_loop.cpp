// SPDX-License-Identifier: Apache-2.0
// The handlers of straight execution. Each ends by jumping to the next operation's handler.

#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "models/riscv/iss/interpreter/interpreter.h"
#include "models/riscv/iss/interpreter/interpreter_fusion.h"
#include "models/riscv/iss/operations.h"

#define LIKELY(c) __builtin_expect(!!(c), 1)
#define UNLIKELY(c) __builtin_expect(!!(c), 0)

namespace sluice::riscv {
namespace {

// The soft TLB holds host addresses as numbers, so that one addition turns a guest address into a host address.
// NOLINTBEGIN(performance-no-int-to-ptr)
template <typename T>
T read_host(std::uint64_t host) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(host), sizeof(T));
  return value;
}
template <typename T>
void write_host(std::uint64_t host, T value) {
  std::memcpy(reinterpret_cast<void*>(host), &value, sizeof(T));
}
// NOLINTEND(performance-no-int-to-ptr)

/// Whether a misaligned access lies in one line of a page that the TLB has.
bool is_within_line(std::uint64_t address, unsigned size, std::uint64_t tag, std::uint64_t line_bytes) {
  return (address & ~std::uint64_t{0xfff}) == tag && (address & (line_bytes - 1)) + size <= line_bytes;
}

static_assert(std::is_standard_layout_v<HartState> && offsetof(HartState, x) == 0);
constexpr std::size_t kFloat = offsetof(HartState, f) / sizeof(std::uint64_t);

}  // namespace

// Operands of the present operation. The f registers follow the x registers in HartState.
#define RD x[op->rd]
#define RS1 x[op->rs1]
#define RS2 x[op->rs2]
#define FD x[kFloat + op->rd]
#define FS1 x[kFloat + op->rs1]
#define FS2 x[kFloat + op->rs2]
#define FS3 x[kFloat + op->imm]
#define IMM static_cast<std::uint64_t>(std::int64_t{op->imm})
#define PC (block->pc + (op->rs2 | op->aux << 8))
#define FLAGS state.fflags

#define GO goto * op->handler
#define NEXT \
  do {       \
    ++op;    \
    GO;      \
  } while (0)
// A handler of one operation, and of two in a row.
#define SINGLE(name) \
  op_##name : {      \
    DO_##name;       \
    NEXT;            \
  }
#define PAIR(first, second)   \
  pair_##first##_##second : { \
    { DO_##first; }           \
    ++op;                     \
    { DO_##second; }          \
    NEXT;                     \
  }

// Enters a block that is known to be valid.
#define ENTER(target)                                                              \
  do {                                                                             \
    block = (target);                                                              \
    if constexpr (kTiming == Timing::interval) log->enter_touching(*block->timed); \
    if (UNLIKELY(slots + block->last_start >= limit)) goto cut_the_block;          \
    op = block->ops;                                                               \
    if constexpr (kTiming == Timing::cached) {                                     \
      if (LIKELY(block->first_line == slow_.fetch_line())) ++op;                   \
    }                                                                              \
    GO;                                                                            \
  } while (0)
// The block is done and has cost `spent`: goes on with a successor, which starts at `target`.
#define FOLLOW(successor, spent, target)                  \
  do {                                                    \
    slots += (spent);                                     \
    instret += block->count;                              \
    Block* const to_ = block->successor;                  \
    if (LIKELY(to_->validated == generation)) ENTER(to_); \
    link = &block->successor;                             \
    address = (target);                                   \
    goto resolve_link;                                    \
  } while (0)
// As FOLLOW, after a branch or jump.
#define TRANSFER(successor, spent, target) \
  do {                                     \
    TIMING_POINT(block->cost, target);     \
    FOLLOW(successor, spent, target);      \
  } while (0)
#define TIMING_POINT(spent, target)                           \
  if constexpr (kTiming == Timing::interval) {                \
    if (UNLIKELY(slots + (spent) >= IntervalClock::kBatch)) { \
      address = (target);                                     \
      goto timing_point;                                      \
    }                                                         \
  }
#define BRANCH(condition)                                                      \
  do {                                                                         \
    if (condition) TRANSFER(taken, block->cost + taken_cost, block->pc + IMM); \
    TRANSFER(fall, block->cost, block->end_pc);                                \
  } while (0)

// Gets the address of an access and its TLB entry. Goes to slow_path if the TLB has no entry, if the access
// crosses lines or, in cached mode, if L1D does not hold the line.
#define LOCATE(type, tag, write)                                                                           \
  address = RS1 + IMM;                                                                                     \
  const TlbEntry& entry = tlb[(address >> 12) % SoftTlb::kEntries];                                        \
  const bool aligned = (address & (~std::uint64_t{0xfff} | (sizeof(type) - 1))) == entry.tag;              \
  if (UNLIKELY(!aligned) && !is_within_line(address, sizeof(type), entry.tag, line_bytes)) goto slow_path; \
  if constexpr (kTiming == Timing::cached) {                                                               \
    if (UNLIKELY(!l1d->hit(address + entry.physical, write))) goto slow_path;                              \
    ++counters.l1d_accesses;                                                                               \
  }                                                                                                        \
  if constexpr (kTiming == Timing::interval) {                                                             \
    if (LIKELY(aligned))                                                                                   \
      log->access_touching(address + entry.physical, std::countr_zero(sizeof(type)), write);               \
    else                                                                                                   \
      log->access_misaligned(address + entry.physical, std::countr_zero(sizeof(type)), write);             \
  }
#define LOAD(type, destination, expression)                 \
  LOCATE(type, read_tag, false)                             \
  const type value = read_host<type>(address + entry.host); \
  destination = (expression)
#define STORE(type, source)     \
  LOCATE(type, write_tag, true) \
  write_host<type>(address + entry.host, static_cast<type>(source))

#define DO_jal        \
  RD = block->end_pc; \
  TRANSFER(taken, block->cost, block->pc + IMM)
#define DO_jalr                                                            \
  address = (RS1 + IMM) & ~std::uint64_t{1};                               \
  RD = block->end_pc;                                                      \
  TIMING_POINT(block->cost, address)                                       \
  slots += block->cost;                                                    \
  instret += block->count;                                                 \
  Block* const to = jumps_[(address >> 1) % kJumps];                       \
  if (LIKELY(to->pc == address && to->validated == generation)) ENTER(to); \
  link = nullptr;                                                          \
  goto resolve_link

// `rm` is the rounding mode; a reserved dynamic one is an illegal instruction.
#define ROUNDED(destination, expression)                  \
  const unsigned rm = op->aux == 7 ? state.frm : op->aux; \
  if (UNLIKELY(rm > kRoundRmm)) goto slow_path;           \
  destination = (expression)

/// Runs from state_.pc until a stop reason. With `export_handlers`: only returns the handlers' addresses in it.
template <Interpreter::Timing kTiming>
StopReason Interpreter::loop(const void* const** export_handlers) {
#define LABEL(name, cost) &&op_##name,
#define PAIR_LABEL(first, second) &&pair_##first##_##second,
  static const void* const table[] = {SLUICE_RV_OPS(LABEL)  //
                                          && do_fall,
                                      &&do_fetch_line,
                                      &&do_fetch_second_page,
                                      &&do_float_use,
                                      &&do_float_write,
                                      &&slow_path,
                                      &&do_stop,
                                      SLUICE_RV_PAIRS(PAIR_LABEL)};
#undef LABEL
#undef PAIR_LABEL
  static_assert(sizeof(table) / sizeof(table[0]) == kPseudoEnd + kPairs);
  if (export_handlers) {
    *export_handlers = table;
    return StopReason::slot_limit;
  }

  HartState& state = state_;
  HartCounters& counters = hart_.counters();
  std::uint64_t* const x = reinterpret_cast<std::uint64_t*>(&state);
  base::LineState* const l1d = l1d_;
  const std::uint64_t line_bytes = l1d ? l1d->line_bytes() : base::GuestRam::kPage;
  // With timing = "interval", `slots` counts instructions since the last timing point.
  const std::uint64_t taken_cost = kTiming == Timing::interval ? 0 : hart_.config().costs.branch_taken;
  ExecutionLog* const log = kTiming == Timing::interval ? &clock_->log() : nullptr;
  const TlbEntry* tlb;
  const Op* op;
  Block* block;
  Block** link;
  std::uint64_t slots, instret, limit, generation, address = 0;

dispatch:
  if (!(kTiming == Timing::interval ? enter_timed() : enter())) return stop_;
  slots = kTiming == Timing::interval ? clock_->since() : state.slots;
  instret = state.instret;
  limit = frame_.limit;
  generation = slow_.generation();
  tlb = slow_.shortcuts();
  ENTER(frame_.block);

cut_the_block:
  op = cut(block, slots, limit);
  GO;

  [[maybe_unused]] timing_point : state.pc = address;
  instret += block->count;
  state.instret = instret;
  clock_->settle(block->count, address);
  clock_->timing_point();
  slow_.came_from(block->pc + block->site(op).pc_offset);
  if (LIKELY(goes_on())) {
    Block* const next = jumps_[(address >> 1) % kJumps];
    slots = 0;
    if (LIKELY(next->pc == address && next->validated == generation)) ENTER(next);
  }
  goto dispatch;

resolve_link:
  state.pc = address;
  state.instret = instret;
  if constexpr (kTiming == Timing::interval) {
    clock_->settle(block->count, address);
    clock_->executed(slots, true);
  } else {
    state.slots = slots;
  }
  if (Block* found = resolve(address, link, block->pc + block->site(op).pc_offset)) ENTER(found);
  goto dispatch;

slow_path:
  switch (kTiming == Timing::interval ? slow_timed(block, op, slots, instret) : slow(block, op, slots, instret)) {
    case Outcome::next:
      slots = frame_.slots;
      limit = frame_.limit;
      NEXT;
    case Outcome::dispatch:
      goto dispatch;
    case Outcome::stop:
      return stop_;
  }
  __builtin_unreachable();

do_stop:
  stop_at(block, op, slots, instret);
  if (kTiming == Timing::interval || slow_.attention()) goto dispatch;
  if (moves_limit()) {
    stopped_in_ = nullptr;
    if (slow_.attention() || privileged_.interrupt_takeable()) goto dispatch;
    limit = frame_.limit = control_.slot_limit();
    if (slots + block->site(op).cost_before >= limit) goto dispatch;
    if (slots + block->last_start >= limit) cut(block, slots, limit);
    GO;
  }
  return stop_ = StopReason::slot_limit;
do_fall:
  FOLLOW(fall, block->cost, block->end_pc);
do_fetch_line:
  address = block->physical + IMM;
  if (LIKELY(address == slow_.fetch_line()) || LIKELY(slow_.fetch_from(address))) NEXT;
  goto slow_path;
do_fetch_second_page:
  address = block->second_page;
  if (address == slow_.fetch_line() || slow_.fetch_from(address)) NEXT;
  goto slow_path;
do_float_use:
  if (LIKELY(privileged_.fp_enabled())) NEXT;
  goto slow_path;
do_float_write:
  privileged_.mark_fp_dirty();
  NEXT;

  SLUICE_RV_FUSIBLE(SINGLE)
  SLUICE_RV_PAIRS(PAIR)

op_pause:
  if constexpr (kTiming == Timing::interval) {
    address = block->end_pc;
    goto timing_point;
  }
op_fence:
  NEXT;

op_prefetch:
  if constexpr (kTiming == Timing::functional) {
    if (!privileged_.config().write_through) NEXT;
  }
  if constexpr (kTiming == Timing::interval) {
    address = RS1 + IMM;
    const TlbEntry& entry = tlb[(address >> 12) % SoftTlb::kEntries];
    if (LIKELY((address & ~std::uint64_t{0xfff}) == entry.read_tag && hart_.config().prefetch_hints)) {
      log->access(address + entry.physical);
      NEXT;
    }
  }
  goto slow_path;

  SLUICE_RV_UNFUSED(SINGLE)

op_lr_w:
op_lr_d:
op_sc_w:
op_sc_d:
op_amo_w:
op_amo_d:
op_probe:
op_bind:
op_open:
op_account:
op_cbo:
op_csrrw:
op_csrrs:
op_csrrc:
op_csrrwi:
op_csrrsi:
op_csrrci:
op_fence_i:
op_sfence_vma:
op_ecall:
op_ebreak:
op_mret:
op_sret:
op_wfi:
op_wrs_nto:
op_wrs_sto:
op_illegal:
  goto slow_path;
}

StopReason Interpreter::loop(const void* const** export_handlers) {
  if (clock_) return loop<Timing::interval>(export_handlers);
  if (l1d_ && l1i_) return loop<Timing::cached>(export_handlers);
  return loop<Timing::functional>(export_handlers);
}

}  // namespace sluice::riscv
