// SPDX-License-Identifier: Apache-2.0
// How the window goes through a log: what a step does is looked up in the memo, or executed and remembered.

#include <algorithm>
#include <bit>

#include "models/riscv/iss/window/instruction_window.h"

namespace sluice::riscv {

using base::LineUse;

namespace {

// WindowMemo::Key::step: 32 bits for the run, and 32 for the step. Key::loads: 16 bits for each load that a store in
// the store buffer may concern, in order: its index in the run, whether the store has only some of its bytes, and how
// many stores there have been since then.
constexpr unsigned kStepShift = 32, kEndShift = 8, kLinesShift = 19, kLoadBits = 16, kMostLoads = 12, kAgeShift = 7;
constexpr std::uint64_t kTransfers = 1u << 16, kTaken = 1u << 17, kRight = 1u << 18;
constexpr std::uint64_t kPartly = 1u << 6, kMostAge = 0x1ff;

// Each of kTrial steps that are executed to be remembered has to be looked up kWorth times, on average. Otherwise the
// memo rests for kRest steps.
constexpr std::uint32_t kTrial = 4096, kWorth = 4, kRest = 1u << 16;
constexpr std::uint32_t kWorthwhile = 100;  ///< steps that a capture should save
constexpr std::uint32_t kRetry = 256;       ///< one capture in so many is made where it has not paid before
constexpr int kMostWorth = 8;

}  // namespace

void InstructionWindow::consume(ExecutionLog& log, unsigned executed, std::uint64_t next_pc) {
  if (!is_behind_) slots_.forget(at_.cycle);
  const std::span<const std::uint64_t> runs = log.runs();
  const std::uint64_t* access = log.accesses();
  for (std::size_t n = 0; n < runs.size(); ++n) {
    const TimedRun& run = ExecutionLog::run_at(runs[n]);
    const bool is_last = n + 1 == runs.size();
    Step step{run, ExecutionLog::first_at(runs[n]), is_last ? executed : run.count,
              is_last ? next_pc : ExecutionLog::run_at(runs[n + 1]).pc};
    if (!recall(step, access)) [[unlikely]]
      access = perform(step, access);
  }
  if (is_behind_) {
    const WindowMemo::Known& known = memo_[state_];
    at_.dispatched = known.dispatched;
    at_.last_retired = at_.cycle + static_cast<std::uint64_t>(std::int64_t{known.retired});
  }
  log.clear();
}

/// Executes a step, and remembers it if recall() says so. Gets a copy, so that consume() can keep its own in registers.
[[gnu::noinline]] const std::uint64_t* InstructionWindow::perform(Step step, const std::uint64_t* access) {
  make_exact();
  access = execute_step(step, access);
  if (!step.is_foreseen) foresee(step);
  if (step.transfers) redirect(step);
  if (learns_)
    learn();
  else
    note_use(step.run);
  return access;
}

/// Whether the state before this run should be captured. It costs as much as it saves on some ten steps, and more where
/// the host's caches do not hold the memo, so it is seldom done where fewer than kWorthwhile steps followed.
inline bool InstructionWindow::may_capture(const TimedRun& run) {
  if (captured_at_) {
    std::int8_t& worth = captured_at_->worth;
    const bool paid = recalled_ - recalled_before_ >= kWorthwhile;
    worth = static_cast<std::int8_t>(std::clamp(worth + (paid ? 2 : -1), -2 * kMostWorth, kMostWorth));
    captured_at_ = nullptr;
  }
  if (run.worth < 0 && uses_ != 0 && ++skipped_ % kRetry != 0) return false;
  captured_at_ = &run;
  recalled_before_ = recalled_;
  return true;
}

/// A run has been executed and is not remembered.
void InstructionWindow::note_use(const TimedRun& run) {
  if (run.uses < kMostUses) ++run.uses;
  if (rest_ == 0 || --rest_ != 0) return;
  remember_after_ = uses_;
}

/// Predicts the branch or jump at the end of a step, and learns.
SLUICE_HOT void InstructionWindow::foresee(Step& step) {
  const TimedRun& run = step.run;
  step.is_foreseen = true;
  if (step.end != run.count || run.end == TimingRecord::kPlain) return;
  step.transfers = true;
  step.taken = step.next_pc != run.end_pc;
  step.right = run.end == TimingRecord::kBranch ? predictor_.conditional(run.last_pc, step.taken)
                                                : foresee_jump(run, step.next_pc);
  ++counters_.branches;
  counters_.mispredictions += step.right ? 0 : 1;
}

bool InstructionWindow::foresee_jump(const TimedRun& run, std::uint64_t next_pc) {
  bool right = true;
  if (run.end == TimingRecord::kReturn)
    right = predictor_.returns(next_pc);
  else if (run.end == TimingRecord::kIndirect || run.end == TimingRecord::kIndirectCall)
    right = predictor_.indirect(run.last_pc, next_pc);
  if (run.end == TimingRecord::kCall || run.end == TimingRecord::kIndirectCall) predictor_.calls(run.end_pc);
  return right;
}

/// Takes a step by what the memo knows. Returns false if it must be executed. A step whose accesses all hit, and that
/// the memo does not know, is to be remembered.
SLUICE_HOT bool InstructionWindow::recall(Step& step, const std::uint64_t*& accesses) {
  if (step.run.uses < remember_after_) return false;
  if (state_ == WindowMemo::kNone && (!may_capture(step.run) || !capture_before(step, accesses))) return false;
  const std::uint64_t first_store = forwarding_.next();
  const std::uint64_t* access = accesses;
  Touched touched;
  if (!touch(step, access, unwritten_, touched)) [[unlikely]] {
    forwarding_.take_back_to(first_store);
    return false;
  }
  foresee(step);
  touched.key.step =
      step.run.number | (step.first | step.end << kEndShift | (step.transfers ? kTransfers : 0) |
                         (step.taken ? kTaken : 0) | (step.right ? kRight : 0) | touched.lines << kLinesShift)
                            << kStepShift;
  if (touched.loads != 0) touched.key.step |= WindowMemo::Key::kHasLoads;
  const WindowMemo::Effect* const effect = memo_.find(state_, touched.key);
  if (!effect) [[unlikely]] {
    forwarding_.take_back_to(first_store);
    lesson_ = {state_, touched.key, at_.cycle, counters_};
    learns_ = true;
    return false;
  }
  at_.cycle += effect->cycles;
  state_ = effect->next;
  unwritten_ = effect->stores;
  is_behind_ = true;
  counters_.forwarded += effect->forwarded;
  memo_.count_lost(*effect, counters_.lost);
  ++recalled_;
  line_ = touched.line;
  counters_.l1i_accesses += touched.lines;
  counters_.l1d_accesses += touched.accesses;
  accesses = access;
  return true;
}

/// Sets state_ to what the window is in before this step, if its accesses hit. Gets a copy as perform().
[[gnu::noinline]] bool InstructionWindow::capture_before(Step step, const std::uint64_t* access) {
  const std::uint64_t first_store = forwarding_.next();
  Touched touched;
  const bool hits = touch(step, access, unwritten_stores(), touched);
  forwarding_.take_back_to(first_store);
  return hits && capture();
}

/// Touches the line of a step's access by instruction n. oldest: number of the first store that may not be written.
/// awaits: lines may be under way.
SLUICE_HOT bool InstructionWindow::touch_data(const TimingRecord& r, std::uint64_t address, unsigned n,
                                              std::uint64_t oldest, bool awaits, Touched& touched) {
  if (r.kind == TimingRecord::kPrefetch) [[unlikely]]
    return !brings(address, static_cast<LineUse>(r.detail));
  const unsigned bytes = bytes_of(address, r.detail);
  if (bytes > 0xff || !l1d_.hit(address, r.kind == TimingRecord::kStore) || (awaits && is_awaited(address)))
      [[unlikely]]
    return false;
  ++touched.accesses;
  if (r.kind == TimingRecord::kStore) {
    forwarding_.note(address / 8, bytes, 0, 0);
    return true;
  }
  const std::uint64_t number = forwarding_.find_number(address / 8, bytes, oldest);
  if (number == 0) return true;
  const std::uint64_t age = forwarding_.next() - number;
  const unsigned place = touched.loads++;
  if (age > kMostAge || place == kMostLoads) return false;
  if (place == 0) touched.key.loads = {};
  const bool partly = (bytes & ~unsigned{forwarding_[number].bytes}) != 0;
  touched.key.loads[place * kLoadBits / 64] |= (n | (partly ? kPartly : 0) | age << kAgeShift)
                                               << place * kLoadBits % 64;
  return true;
}

/// Touches lines in L1 as the step does, and says what its time depends on beside the window's state and its branch.
/// Returns false where it depends on more: on the time of a line, or on accesses that cross aligned 8 bytes.
SLUICE_HOT bool InstructionWindow::touch(const Step& step, const std::uint64_t*& access, unsigned unwritten,
                                         Touched& touched) {
  // A line that prefetch.i brings may displace one that the step enters later, and would be touched too early.
  if (step.run.prefetches_code || !touch_lines(step, touched)) [[unlikely]]
    return false;
  std::uint64_t left = step.run.accesses;
  if (left == 0) return true;
  if (step.first != 0 || step.end != step.run.count) [[unlikely]] {
    left = left >> step.first << step.first;
    if (step.end < TimedRun::kMost) left &= (std::uint64_t{1} << step.end) - 1;
  }
  const std::uint64_t oldest = forwarding_.next() - unwritten;
  const bool awaits = last_pending_ > at_.cycle + 1;
  for (; left != 0; left &= left - 1) {
    const unsigned n = static_cast<unsigned>(std::countr_zero(left));
    if (!touch_data(step.run.records[n], *access++, n, oldest, awaits, touched)) [[unlikely]]
      return false;
  }
  return true;
}

/// Whether an access to a line that L1D has may have to wait for it, or start a prefetch.
bool InstructionWindow::is_awaited(std::uint64_t address) {
  const Pending* const p = pending_of(l1d_.line_of(address));
  return p && (p->ahead || p->ready > at_.cycle + 1);
}

/// The lines of L1I that the step enters. Returns false if one is not there.
SLUICE_HOT bool InstructionWindow::touch_lines(const Step& step, Touched& touched) {
  const TimedRun& run = step.run;
  touched.line = line_;
  if (run.lines == 1 && run.addresses[0] == line_) [[likely]]
    return true;
  for (unsigned n = 0; n < run.lines; ++n) {
    if (run.starts[n] < step.first || run.starts[n] >= step.end || run.addresses[n] == touched.line) continue;
    touched.line = run.addresses[n];
    if (!l1i_.hit(touched.line, false)) return false;
    ++touched.lines;
  }
  return true;
}

/// The step that recall() has chosen has been executed.
void InstructionWindow::learn() {
  learns_ = false;
  if (++learnt_ == kTrial) {
    if (recalled_ - recalled_before_trial_ < kTrial * kWorth) {
      rest_ = kRest;
      remember_after_ = kNeverRemember;
    }
    learnt_ = 0;
    recalled_before_trial_ = recalled_;
  }
  if (!capture() || lesson_.state == WindowMemo::kNone) return;
  WindowMemo::Effect effect;
  effect.next = state_;
  effect.cycles = static_cast<std::uint32_t>(at_.cycle - lesson_.cycle);
  effect.forwarded = static_cast<std::uint16_t>(counters_.forwarded - lesson_.counters.forwarded);
  WindowMemo::Lost lost;
  for (std::size_t n = 0; n < kLosses; ++n)
    lost[n] = static_cast<std::uint32_t>(counters_.lost[n] - lesson_.counters.lost[n]);
  memo_.add(lesson_.state, lesson_.key, effect, lost);
}

}  // namespace sluice::riscv
