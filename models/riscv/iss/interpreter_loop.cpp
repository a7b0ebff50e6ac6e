// The handlers of straight execution. Each ends by jumping to the next operation's handler.

#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "models/riscv/iss/fp.h"
#include "models/riscv/iss/integer.h"
#include "models/riscv/iss/interpreter.h"
#include "models/riscv/iss/interpreter_fusion.h"

#define LIKELY(c) __builtin_expect(!!(c), 1)
#define UNLIKELY(c) __builtin_expect(!!(c), 0)

namespace sluice::riscv {
namespace {

// The soft TLB holds host addresses as numbers, so that one addition makes an address of a guest's.
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
#define SIGNED(v) static_cast<std::uint64_t>(std::int64_t{v})

#define GO goto * op->handler
#define NEXT \
  do {       \
    ++op;    \
    GO;      \
  } while (0)
#define ALU(name, expression) \
  name : {                    \
    RD = (expression);        \
    NEXT;                     \
  }
// A handler of one operation of interpreter_fusion.h, and of two in a row.
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
#define ENTER(target)                                                     \
  do {                                                                    \
    block = (target);                                                     \
    if (UNLIKELY(slots + block->last_start >= limit)) goto cut_the_block; \
    op = block->ops;                                                      \
    if constexpr (Cached) {                                               \
      if (UNLIKELY(block->first_line != slow_.fetch_line())) goto slow_path;     \
      ++op;                                                               \
    }                                                                     \
    GO;                                                                   \
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
#define BRANCH(condition)                                                    \
  do {                                                                       \
    if (condition) FOLLOW(taken, block->cost + taken_cost, block->pc + IMM); \
    FOLLOW(fall, block->cost, block->end_pc);                                \
  } while (0)

// The address of an access, and its TLB entry; without a shortcut to slow_path. In cached mode L1D must hold the line.
#define LOCATE(type, tag, write)                                                                       \
  address = RS1 + IMM;                                                                                 \
  const TlbEntry& entry = tlb[(address >> 12) % SoftTlb::kEntries];                                    \
  if (UNLIKELY((address & (~std::uint64_t{0xfff} | (sizeof(type) - 1))) != entry.tag)) goto slow_path; \
  if constexpr (Cached) {                                                                              \
    if (UNLIKELY(!l1d->hit(address + entry.physical, write))) goto slow_path;                          \
    ++counters.l1d_accesses;                                                                           \
  }
#define LOAD(type, destination, expression)                 \
  LOCATE(type, read_tag, false)                             \
  const type value = read_host<type>(address + entry.host); \
  destination = (expression)
#define STORE(type, source)     \
  LOCATE(type, write_tag, true) \
  write_host<type>(address + entry.host, static_cast<type>(source))

// The operations that are also fused.
#define DO_addi RD = RS1 + IMM
#define DO_add RD = RS1 + RS2
#define DO_sub RD = RS1 - RS2
#define DO_addiw RD = integer::word(RS1 + IMM)
#define DO_addw RD = integer::word(RS1 + RS2)
#define DO_slli RD = RS1 << op->imm
#define DO_srli RD = RS1 >> op->imm
#define DO_andi RD = RS1 & IMM
#define DO_and_ RD = RS1 & RS2
#define DO_or_ RD = RS1 | RS2
#define DO_xor_ RD = RS1 ^ RS2
#define DO_lui RD = IMM
#define DO_mulw RD = integer::word(RS1 * RS2)
#define DO_sh3add RD = (RS1 << 3) + RS2
#define DO_zext_h RD = static_cast<std::uint16_t>(RS1)
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
#define DO_jal        \
  RD = block->end_pc; \
  FOLLOW(taken, block->cost, block->pc + IMM)
#define DO_jalr                                                            \
  address = (RS1 + IMM) & ~std::uint64_t{1};                               \
  RD = block->end_pc;                                                      \
  slots += block->cost;                                                    \
  instret += block->count;                                                 \
  Block* const to = jumps_[(address >> 1) % kJumps];                       \
  if (LIKELY(to->pc == address && to->validated == generation)) ENTER(to); \
  link = nullptr;                                                          \
  goto resolve_link
#define DO_beq BRANCH(RS1 == RS2)
#define DO_bne BRANCH(RS1 != RS2)
#define DO_blt BRANCH(static_cast<std::int64_t>(RS1) < static_cast<std::int64_t>(RS2))
#define DO_bge BRANCH(static_cast<std::int64_t>(RS1) >= static_cast<std::int64_t>(RS2))
#define DO_bltu BRANCH(RS1 < RS2)
#define DO_bgeu BRANCH(RS1 >= RS2)

// Floating point: `rm` is the rounding mode; a reserved dynamic one is an illegal instruction.
#define ROUNDED(name, destination, expression)              \
  name : {                                                  \
    const unsigned rm = op->aux == 7 ? state.frm : op->aux; \
    if (UNLIKELY(rm > kRoundRmm)) goto slow_path;           \
    destination = (expression);                             \
    NEXT;                                                   \
  }
#define EXACT(name, destination, expression) \
  name : {                                   \
    destination = (expression);              \
    NEXT;                                    \
  }
#define FLAGS state.fflags

/// Runs from state_.pc until a stop reason. With `export_handlers`: only tells the handlers' addresses.
template <bool Cached>
StopReason Interpreter::loop(const void* const** export_handlers) {
#define LABEL(name, cost) &&op_##name,
#define PAIR_LABEL(first, second) &&pair_##first##_##second,
  static const void* const table[] = {SLUICE_RV_OPS(LABEL)  //
                                          && do_fall,
                                      &&do_fetch_line,
                                      &&slow_path,
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
  const std::uint64_t taken_cost = hart_.config().costs.branch_taken;
  const TlbEntry* tlb;
  const Op* op;
  Block* block;
  Block** link;
  std::uint64_t slots, instret, limit, generation, address = 0;

dispatch:
  if (!enter()) return stop_;
  slots = state.slots;
  instret = state.instret;
  limit = frame_.limit;
  generation = slow_.generation();
  tlb = slow_.shortcuts();
  ENTER(frame_.block);

cut_the_block:
  op = cut(block, slots, limit);
  GO;

resolve_link:
  state.pc = address;
  state.slots = slots;
  state.instret = instret;
  if (Block* found = resolve(address, link, block->pc + block->site(op).pc_offset)) ENTER(found);
  goto dispatch;

slow_path:
  switch (slow(block, op, slots, instret)) {
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
  if (slow_.attention()) goto dispatch;
  // Nothing has moved the limit since it was asked for.
  return stop_ = StopReason::slot_limit;
do_fall:
  FOLLOW(fall, block->cost, block->end_pc);
do_fetch_line:
  if (LIKELY(block->physical + IMM == slow_.fetch_line())) NEXT;
  goto slow_path;
do_float_use:
  if (LIKELY(privileged_.fp_enabled())) NEXT;
  goto slow_path;
do_float_write:
  privileged_.mark_fp_dirty();
  NEXT;

  SLUICE_RV_FUSIBLE(SINGLE)
  SLUICE_RV_PAIRS(PAIR)

op_fence:
op_pause:
  NEXT;

  ALU(op_auipc, block->pc + (op->rs2 | op->aux << 8) + IMM)
  ALU(op_slti, static_cast<std::int64_t>(RS1) < std::int64_t{op->imm})
  ALU(op_sltiu, RS1 < IMM)
  ALU(op_xori, RS1 ^ IMM)
  ALU(op_ori, RS1 | IMM)
  ALU(op_srai, integer::sra(RS1, static_cast<unsigned>(op->imm)))
  ALU(op_slliw, integer::word(RS1 << op->imm))
  ALU(op_srliw, integer::word(static_cast<std::uint32_t>(RS1) >> op->imm))
  ALU(op_sraiw, integer::sraw(RS1, static_cast<unsigned>(op->imm)))
  ALU(op_sll, RS1 << (RS2 & 63))
  ALU(op_slt, static_cast<std::int64_t>(RS1) < static_cast<std::int64_t>(RS2))
  ALU(op_sltu, RS1 < RS2)
  ALU(op_srl, RS1 >> (RS2 & 63))
  ALU(op_sra, integer::sra(RS1, RS2 & 63))
  ALU(op_subw, integer::word(RS1 - RS2))
  ALU(op_sllw, integer::word(RS1 << (RS2 & 31)))
  ALU(op_srlw, integer::word(static_cast<std::uint32_t>(RS1) >> (RS2 & 31)))
  ALU(op_sraw, integer::sraw(RS1, RS2 & 31))
  ALU(op_mul, RS1 * RS2)
  ALU(op_mulh, integer::mulh(RS1, RS2))
  ALU(op_mulhsu, integer::mulhsu(RS1, RS2))
  ALU(op_mulhu, integer::mulhu(RS1, RS2))
  ALU(op_div, integer::div(RS1, RS2))
  ALU(op_divu, integer::divu(RS1, RS2))
  ALU(op_rem, integer::rem(RS1, RS2))
  ALU(op_remu, integer::remu(RS1, RS2))
  ALU(op_divw, integer::divw(RS1, RS2))
  ALU(op_divuw, integer::divuw(RS1, RS2))
  ALU(op_remw, integer::remw(RS1, RS2))
  ALU(op_remuw, integer::remuw(RS1, RS2))

  ALU(op_add_uw, static_cast<std::uint32_t>(RS1) + RS2)
  ALU(op_sh1add, (RS1 << 1) + RS2)
  ALU(op_sh2add, (RS1 << 2) + RS2)
  ALU(op_sh1add_uw, (std::uint64_t{static_cast<std::uint32_t>(RS1)} << 1) + RS2)
  ALU(op_sh2add_uw, (std::uint64_t{static_cast<std::uint32_t>(RS1)} << 2) + RS2)
  ALU(op_sh3add_uw, (std::uint64_t{static_cast<std::uint32_t>(RS1)} << 3) + RS2)
  ALU(op_slli_uw, std::uint64_t{static_cast<std::uint32_t>(RS1)} << op->imm)
  ALU(op_andn, RS1 & ~RS2)
  ALU(op_orn, RS1 | ~RS2)
  ALU(op_xnor, ~(RS1 ^ RS2))
  ALU(op_clz, static_cast<unsigned>(std::countl_zero(RS1)))
  ALU(op_ctz, static_cast<unsigned>(std::countr_zero(RS1)))
  ALU(op_cpop, static_cast<unsigned>(std::popcount(RS1)))
  ALU(op_clzw, static_cast<unsigned>(std::countl_zero(static_cast<std::uint32_t>(RS1))))
  ALU(op_ctzw, static_cast<unsigned>(std::countr_zero(static_cast<std::uint32_t>(RS1))))
  ALU(op_cpopw, static_cast<unsigned>(std::popcount(static_cast<std::uint32_t>(RS1))))
  ALU(op_max, static_cast<std::int64_t>(RS1) > static_cast<std::int64_t>(RS2) ? RS1 : RS2)
  ALU(op_maxu, RS1 > RS2 ? RS1 : RS2)
  ALU(op_min, static_cast<std::int64_t>(RS1) < static_cast<std::int64_t>(RS2) ? RS1 : RS2)
  ALU(op_minu, RS1 < RS2 ? RS1 : RS2)
  ALU(op_sext_b, SIGNED(static_cast<std::int8_t>(RS1)))
  ALU(op_sext_h, SIGNED(static_cast<std::int16_t>(RS1)))
  ALU(op_rol, std::rotl(RS1, static_cast<int>(RS2 & 63)))
  ALU(op_ror, std::rotr(RS1, static_cast<int>(RS2 & 63)))
  ALU(op_rori, std::rotr(RS1, op->imm))
  ALU(op_rolw, integer::word(std::rotl(static_cast<std::uint32_t>(RS1), static_cast<int>(RS2 & 31))))
  ALU(op_rorw, integer::word(std::rotr(static_cast<std::uint32_t>(RS1), static_cast<int>(RS2 & 31))))
  ALU(op_roriw, integer::word(std::rotr(static_cast<std::uint32_t>(RS1), op->imm)))
  ALU(op_orc_b, integer::orc_b(RS1))
  ALU(op_rev8, __builtin_bswap64(RS1))
  ALU(op_bclr, RS1 & ~(std::uint64_t{1} << (RS2 & 63)))
  ALU(op_bext, RS1 >> (RS2 & 63) & 1)
  ALU(op_binv, RS1 ^ std::uint64_t{1} << (RS2 & 63))
  ALU(op_bset, RS1 | std::uint64_t{1} << (RS2 & 63))
  ALU(op_bclri, RS1 & ~(std::uint64_t{1} << op->imm))
  ALU(op_bexti, RS1 >> op->imm & 1)
  ALU(op_binvi, RS1 ^ std::uint64_t{1} << op->imm)
  ALU(op_bseti, RS1 | std::uint64_t{1} << op->imm)

#include "models/riscv/iss/interpreter_float.inc"

op_lr_w:
op_lr_d:
op_sc_w:
op_sc_d:
op_amo_w:
op_amo_d:
op_probe:
op_bind:
op_account:
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

template StopReason Interpreter::loop<false>(const void* const**);
template StopReason Interpreter::loop<true>(const void* const**);

}  // namespace sluice::riscv
