// SPDX-License-Identifier: Apache-2.0
// Steps that recall() goes through although L1D does not answer all of their accesses at once. The time of such a step
// depends on how late the lines come, which depends on when they are asked for. The memo knows the latter, as an event,
// and what follows for each lateness that has been seen.

#include <algorithm>
#include <utility>

#include "models/riscv/iss/window/instruction_window.h"

namespace sluice::riscv {

using base::LineUse;

/// Whether L1I still has the lines that the step enters from its instruction `from` on.
bool InstructionWindow::keeps_lines(const Step& step, unsigned from) const {
  const TimedRun& run = step.run;
  for (unsigned n = 0; n < run.lines; ++n)
    if (run.starts[n] >= from && run.starts[n] < step.end && l1i_.state(run.addresses[n]) == base::LineState::kInvalid)
      return false;
  return true;
}

/// A load, store or prefetch asks for its line in the cycle `start`. Returns for how many cycles the line is late.
std::uint32_t InstructionWindow::meet(const TimingRecord& r, std::uint64_t address, std::uint64_t start) {
  const std::uint64_t accesses = counters_.l1d_accesses;  // the step counts them
  std::uint64_t at = start, ready = start;
  if (r.kind == TimingRecord::kLoad) {
    at = start + r.latency;
    ready = read_line(address, start, r.latency);
  } else if (r.kind == TimingRecord::kStore) {
    ready = own_line(address, start);
  } else {
    prefetch(address, static_cast<LineUse>(r.detail), start);
  }
  counters_.l1d_accesses = accesses;
  return static_cast<std::uint32_t>(std::max(ready, at) - at);
}

/// Executes a step that recall() has begun with. What it has touched and met stays so.
const std::uint64_t* InstructionWindow::execute_again(Step& step, const std::uint64_t* access) {
  again_.passed = 0;
  again_.next = again_.count != 0 ? again_.met[0].access : again_.end;
  again_.touched = std::exchange(touched_, true);
  again_.last_pending = std::exchange(last_pending_, 0);  // these accesses wait for nothing else
  access = execute_step(step, access);
  if (again_.next) last_pending_ = again_.last_pending;
  again_.end = again_.next = nullptr;
  again_.count = again_.passed = 0;
  return access;
}

/// An access that would ask for its line in the cycle `start` waits for its translation, for so many cycles.
std::uint32_t InstructionWindow::walk(std::uint64_t start) {
  const TranslationWalk& walk = *std::exchange(walk_, nullptr);
  again_.next = nullptr;
  std::uint64_t at = start + walk.cycles;
  for (unsigned n = 0; n < walk.count; ++n) at = read_line(walk.entries[n], at, shape_.of(CostClass::load).latency);
  return static_cast<std::uint32_t>(at - start);
}

/// As reach(), for an access that Again knows.
std::uint32_t InstructionWindow::reached(std::uint64_t cycle) {
  if (walk_) [[unlikely]]
    return walk(cycle);
  if (again_.passed != again_.count) {
    const std::uint32_t late = again_.met[again_.passed++].late;
    again_.next = again_.passed != again_.count ? again_.met[again_.passed].access : again_.end;
    return late;
  }
  touched_ = again_.touched;
  last_pending_ = again_.last_pending;
  again_.next = nullptr;
  again_.asked = cycle;
  return 0;
}

}  // namespace sluice::riscv
