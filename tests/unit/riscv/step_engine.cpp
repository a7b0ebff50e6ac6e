// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/riscv/step_engine.h"

#include <cstring>

#include "models/riscv/iss/operations.h"

namespace sluice::riscv {

std::unique_ptr<Engine> make_step_engine(Hart& hart) { return std::make_unique<StepEngine>(hart); }

StopReason StepEngine::run() {
  control_.begin();
  for (;;) {
    if (!goes_on()) return StopReason::slot_limit;
    if ((!clock_ || clock_->at_timing_point()) && slow_.take_interrupt()) continue;
    slow_.refresh_context();
    slow_.clear_attention();
    Instruction i;
    std::uint64_t last = 0;
    if (!fetch(i, last)) {
      if (clock_) clock_->timing_point();
      continue;
    }
    // The walk has moved the limit, or made an interrupt pending.
    if (slow_.attention() && !clock_) continue;
    if (control_.breakpoint_at(state_.pc) && control_.stops_here()) return StopReason::breakpoint;
    if (!clock_ && !fetch_line(last)) continue;
    if (uses_float(i.op) && !hart_.privileged().fp_enabled()) {
      slow_.illegal(i.raw);
      if (clock_) clock_->timing_point();
      continue;
    }
    if (writes_float(i.op)) hart_.privileged().mark_fp_dirty();
    if (clock_) {
      const SlowPath::Outcome outcome = execute_timed(i, last);
      if (outcome == SlowPath::Outcome::wait_for_interrupt) return StopReason::wait_for_interrupt;
      if (outcome == SlowPath::Outcome::wait_on_reservation) return StopReason::wait_on_reservation;
      continue;
    }
    unsigned cost = hart_.config().costs.of(cost_class(i.op));
    std::uint64_t next = state_.pc + i.length;
    if (straight(&i, next, cost)) {
      slow_.retire(i.length, cost);
      state_.pc = next;
      continue;
    }
    switch (slow_.execute(i, cost)) {
      case SlowPath::Outcome::next:
        slow_.retire(i.length, cost);
        break;
      case SlowPath::Outcome::redirect:
        break;
      case SlowPath::Outcome::wait_for_interrupt:
        return StopReason::wait_for_interrupt;
      case SlowPath::Outcome::wait_on_reservation:
        return StopReason::wait_on_reservation;
    }
  }
}

/// False: the run ends here.
bool StepEngine::goes_on() {
  if (!clock_) return state_.slots < control_.slot_limit();
  clock_->catch_up();
  return !control_.step_is_over() && !(clock_->at_timing_point() && state_.slots >= control_.bus_limit());
}

/// Executes one instruction with timing = "interval": a run of its own.
SlowPath::Outcome StepEngine::execute_timed(const Instruction& i, std::uint64_t last) {
  TimingRecord record = timing_record(i, *hart_.config().shape);
  TimedRun run;
  run.records = &record;
  run.count = run.lines = 1;
  run.addresses[0] = hart_.config().l1i->line_of(last);
  run.pc = run.last_pc = state_.pc;
  run.end_pc = state_.pc + i.length;
  run.complete(0);  // too short-lived to be remembered
  std::uint64_t next = run.end_pc;
  unsigned cost = 0;
  clock_->enter_slowly(run, 0);
  const std::uint64_t since = clock_->since() + 1;
  if (straight(&i, next, cost)) {
    clock_->settle(1, next);
    state_.pc = next;
    ++state_.instret;
    if (i.op == Opcode::pause)
      clock_->timing_point();
    else
      clock_->executed(since, record.is_transfer());
    return SlowPath::Outcome::next;
  }
  const SlowPath::Outcome outcome = slow_.execute(i, hart_.config().costs.of(cost_class(i.op)));
  const bool charged = clock_->charged();
  if (outcome != SlowPath::Outcome::next || charged) clock_->abandon();
  if (outcome == SlowPath::Outcome::next && !charged) clock_->settle(1, next);
  if (outcome == SlowPath::Outcome::next)
    slow_.retire(i.length, charged ? hart_.config().costs.of(cost_class(i.op)) : 0);
  if (outcome == SlowPath::Outcome::next && !charged && !slow_.bus_called())
    clock_->executed(since, false);
  else
    clock_->timing_point();
  return outcome;
}

/// The instruction at state.pc, and the physical address of its last byte. False: fetching it has trapped.
bool StepEngine::fetch(Instruction& instruction, std::uint64_t& last) {
  SlowPath::Fetched fetched;
  if (!slow_.fetch(state_.pc, fetched)) return false;
  const std::uint64_t first = fetched.at.physical + (state_.pc & 0xfff);
  const std::uint64_t rest = fetched.crossing ? fetched.second.physical : first + 2;
  base::GuestRam& rest_ram = fetched.crossing ? *fetched.second.ram : *fetched.at.ram;
  std::uint16_t half[2] = {};
  std::memcpy(&half[0], fetched.at.ram->at(first), 2);
  const bool compressed = is_compressed(half[0]);
  if (!compressed) std::memcpy(&half[1], rest_ram.at(rest), 2);
  instruction = with_sink(decode(half[0] | static_cast<std::uint32_t>(half[1]) << 16));
  last = compressed ? first + 1 : rest + 1;
  keep(*fetched.at.ram, first, compressed || fetched.crossing ? 2 : 4);
  if (fetched.crossing) keep(rest_ram, rest, 2);
  return true;
}

void StepEngine::keep(base::GuestRam& ram, std::uint64_t physical, unsigned length) {
  bool fresh = false;
  for (unsigned n = 0; n < length; n += 2) fresh |= code_.insert(physical + n).second;
  if (!fresh) return;
  ram.set_watch(physical, base::GuestRam::kCode);
  slow_.check_stale(physical, physical + length - 1);
}

/// False: the line that the instruction ends in was missing, and time has passed.
bool StepEngine::fetch_line(std::uint64_t last) {
  const base::LineState* l1i = hart_.config().l1i;
  if (!l1i || l1i->line_of(last) == slow_.fetch_line() || slow_.fetch_from(l1i->line_of(last))) return true;
  slow_.miss_l1i();
  if (control_.breakpoint_at(state_.pc)) control_.pass();
  return false;
}

void StepEngine::invalidate_code(std::uint64_t address, std::uint64_t length) {
  code_.erase(code_.lower_bound(address - 1), code_.lower_bound(address + length));
}

bool StepEngine::has_decoded(std::uint64_t address, std::uint64_t length) const {
  const auto first = code_.lower_bound(address - 1);
  return first != code_.end() && *first < address + length;
}

void StepEngine::note_own_store(std::uint64_t address, std::uint64_t length) {
  if (has_decoded(address, length)) slow_.note_changed_code(address, length);
}

#define RD state_.x[op->rd]
#define RS1 state_.x[op->rs1]
#define RS2 state_.x[op->rs2]
#define FD state_.f[op->rd]
#define FS1 state_.f[op->rs1]
#define FS2 state_.f[op->rs2]
#define FS3 state_.f[op->imm]
#define FLAGS state_.fflags
#define IMM static_cast<std::uint64_t>(std::int64_t{op->imm})
#define PC state_.pc
#define BRANCH(condition) \
  if (condition) next = PC + IMM, cost += hart_.config().costs.branch_taken
#define ROUNDED(destination, expression)                   \
  const unsigned rm = op->aux == 7 ? state_.frm : op->aux; \
  if (rm > kRoundRmm) return false;                        \
  destination = (expression)

/// False: the slow path's business, as are all loads and stores here.
bool StepEngine::straight(const Instruction* op, std::uint64_t& next, unsigned& cost) {
  if (op->op == Opcode::fence && slow_.heeds_fences()) return false;
  switch (op->op) {
#define CASE(name, cost_class) \
  case Opcode::name: {         \
    DO_##name;                 \
    return true;               \
  }
    SLUICE_RV_INTEGER_OPS(CASE)  // NOLINT(bugprone-branch-clone): fence and pause
    SLUICE_RV_FLOAT_OPS(CASE)
    CASE(beq, branch)
    CASE(bne, branch)
    CASE(blt, branch)
    CASE(bge, branch)
    CASE(bltu, branch)
    CASE(bgeu, branch)
#undef CASE
    case Opcode::jal:
      RD = next;
      next = PC + IMM;
      return true;
    case Opcode::jalr: {
      const std::uint64_t target = (RS1 + IMM) & ~std::uint64_t{1};
      RD = next;
      next = target;
      return true;
    }
    default:
      return false;
  }
}

}  // namespace sluice::riscv
