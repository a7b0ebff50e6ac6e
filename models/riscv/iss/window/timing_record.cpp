// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/window/timing_record.h"

#include "models/base/memory/line_state.h"

namespace sluice::riscv {
namespace {

using enum Opcode;

constexpr bool within(Opcode op, Opcode first, Opcode last) { return op >= first && op <= last; }

/// Whether the operation reads rs1, and rs2, as x registers or as f registers.
constexpr bool reads_rs1(Opcode op) {
  return op != lui && op != auipc && op != jal && op != fence && op != pause && op != fence_i &&
         !within(op, csrrwi, csrrci) && !within(op, ecall, illegal);
}

constexpr bool is_unary(Opcode op) {
  return within(op, addi, sraiw) || op == slli_uw || within(op, clz, cpopw) || within(op, sext_b, zext_h) ||
         op == rori || within(op, roriw, rev8) || within(op, bclri, bseti) || op == jalr || within(op, csrrw, csrrc) ||
         within(op, lb, fld) || op == lr_w || op == lr_d || op == probe || op == account || within(op, prefetch, cbo) ||
         op == fsqrt_s || op == fsqrt_d || within(op, fclass_s, fcvt_d_s);
}

constexpr bool reads_rs2(Opcode op) { return reads_rs1(op) && !is_unary(op); }

/// Whether rs1 is an x register of a floating-point operation.
constexpr bool integer_rs1(Opcode op) {
  return !uses_float(op) || within(op, flw, fsd) || op == fmv_w_x || op == fmv_d_x || within(op, fcvt_s_w, fcvt_d_lu);
}

constexpr bool writes_rd(Opcode op) {
  return !is_store(op) && !is_branch(op) && op != fence && op != pause && !within(op, fence_i, illegal) &&
         !within(op, probe, cbo);
}

constexpr bool is_link(unsigned x) { return x == 1 || x == 5; }

TimingRecord::Kind jump_kind(const Instruction& i) {
  if (i.op == jal) return is_link(i.rd) ? TimingRecord::kCall : TimingRecord::kJump;
  if (is_link(i.rd)) return TimingRecord::kIndirectCall;
  return is_link(i.rs1) ? TimingRecord::kReturn : TimingRecord::kIndirect;
}

/// Whether a fence orders earlier writes or output before later reads or input. A core that keeps all other orders
/// anyway, as x86 cores do, treats other fences as nothing.
bool orders_stores_before_loads(const Instruction& i) {
  constexpr std::uint32_t kOutputWrite = 0b0101, kInputRead = 0b1010;
  return (i.raw >> 24 & kOutputWrite) != 0 && (i.raw >> 20 & kInputRead) != 0;
}

TimingRecord::Kind kind_of(const Instruction& i, const ExecutionClass& c) {
  if (within(i.op, lb, fld) || i.op == lr_w || i.op == lr_d) return TimingRecord::kLoad;
  if (is_store(i.op)) return TimingRecord::kStore;
  if (i.op == prefetch) return TimingRecord::kPrefetch;
  if (is_branch(i.op)) return TimingRecord::kBranch;
  if (i.op == jal || i.op == jalr) return jump_kind(i);
  if (i.op == fence) return orders_stores_before_loads(i) ? TimingRecord::kFence : TimingRecord::kPlain;
  if (i.op == pause) return TimingRecord::kPause;
  if (within(i.op, fmadd_s, fnmadd_d)) return TimingRecord::kThree;
  return c.interval > 1 ? TimingRecord::kUnpipelined : TimingRecord::kPlain;
}

base::LineUse use_of_prefetch(std::uint8_t kind) {
  if (kind == Instruction::kPrefetchI) return base::LineUse::fetch;
  return kind == Instruction::kPrefetchW ? base::LineUse::store : base::LineUse::prefetch;
}

}  // namespace

TimingRecord timing_record(const Instruction& i, const CoreShape& shape) {
  const ExecutionClass& c = shape.of(cost_class(i.op));
  const auto x_or_f = [](unsigned number, bool integer) {
    return static_cast<std::uint8_t>(integer ? number : TimingRecord::kFloat + number);
  };
  TimingRecord r{};
  r.rd = HartState::kSink;
  if (writes_rd(i.op)) r.rd = x_or_f(i.rd, !writes_float(i.op) || float_to_integer(i.op));
  if (reads_rs1(i.op)) r.rs1 = x_or_f(i.rs1, integer_rs1(i.op));
  if (reads_rs2(i.op)) r.rs2 = x_or_f(i.rs2, !uses_float(i.op));
  r.kind = kind_of(i, c);
  r.latency = r.kind == TimingRecord::kPrefetch ? 1 : c.latency;
  if (r.kind == TimingRecord::kUnpipelined) r.detail = c.interval;
  if (r.kind == TimingRecord::kThree) r.detail = x_or_f(static_cast<unsigned>(i.imm), false);
  if (r.kind == TimingRecord::kLoad || r.kind == TimingRecord::kStore)
    r.detail = static_cast<std::uint8_t>(access_size(i.op));
  if (r.kind == TimingRecord::kPrefetch) r.detail = static_cast<std::uint8_t>(use_of_prefetch(i.aux));
  r.ports = c.ports;
  return r;
}

}  // namespace sluice::riscv
