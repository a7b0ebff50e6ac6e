// SPDX-License-Identifier: Apache-2.0
// What the window would do, looked up in the memo without doing it.

#include <bit>

#include "models/riscv/iss/window/instruction_window.h"

namespace sluice::riscv {

bool InstructionWindow::look_ahead(Outlook& ahead) const {
  if (state_ == WindowMemo::kNone || refetches_ || unwritten_ != 0 || last_pending_ > at_.cycle + 1) return false;
  ahead = {at_.cycle, state_, predictor_.path(), line_, 0, {}};
  return true;
}

bool InstructionWindow::look_behind(Outlook& ahead, const TimedRun& run, unsigned first, unsigned end,
                                    std::uint64_t next_pc) const {
  using Key = WindowMemo::Key;
  const bool transfers = end == run.count && run.end != TimingRecord::kPlain;
  std::uint64_t step = Key::step_of(static_cast<std::uint32_t>(run.whole), first, end, transfers);
  for (unsigned n = 0; n < run.lines; ++n) {
    if (run.starts[n] < first || run.starts[n] >= end || run.addresses[n] == ahead.line) continue;
    ahead.line = run.addresses[n];
    ++ahead.counters.l1i_accesses;
    step += std::uint64_t{1} << Key::kLinesShift;
  }
  if (transfers) {
    if (!foresees(ahead, run, next_pc)) return false;
    step += Key::outcome(next_pc != run.end_pc ? 1 : 0, 1);
    ++ahead.counters.branches;
  }
  const WindowMemo::Effect* const effect = memo_.find(ahead.state, step, {});
  if (!effect || effect->stores != 0) return false;
  ahead.cycle += effect->cycles;
  ahead.state = effect->next;
  ++ahead.runs;
  ahead.counters.l1d_accesses += static_cast<std::uint64_t>(std::popcount(run.accesses_of(first, end)));
  if (effect->counts != 0) memo_.count(*effect, ahead.counters);
  return true;
}

/// As foresee(): whether the branch or jump at the end of a run would be predicted rightly, and nothing learnt of it.
bool InstructionWindow::foresees(Outlook& ahead, const TimedRun& run, std::uint64_t next_pc) const {
  if (run.end == TimingRecord::kBranch)
    return predictor_.knows_conditional(ahead.path, run.last_pc, next_pc != run.end_pc);
  bool right = true;
  if (run.end == TimingRecord::kReturn)
    right = predictor_.knows_return(ahead.path, next_pc);
  else if (run.end == TimingRecord::kIndirect || run.end == TimingRecord::kIndirectCall)
    right = predictor_.knows_indirect(ahead.path, run.last_pc, next_pc);
  if (run.end == TimingRecord::kCall || run.end == TimingRecord::kIndirectCall)
    right &= predictor_.knows_call(ahead.path, run.end_pc);
  return right;
}

void InstructionWindow::go_to(const Outlook& outlook, std::uint64_t late, std::uint64_t runs) {
  at_.cycle = outlook.cycle + late;
  line_ = outlook.line;
  state_ = outlook.state;
  follow_state();
  unwritten_ = 0;
  is_behind_ = true;
  predictor_.follow(outlook.path);
  recalled_ += runs;
}

}  // namespace sluice::riscv
