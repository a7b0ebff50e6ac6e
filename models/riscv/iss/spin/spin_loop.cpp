// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/spin/spin_loop.h"

#include <algorithm>
#include <cstring>

namespace sluice::riscv {
namespace {

std::uint64_t read_value(const std::uint8_t* host, unsigned size) {
  std::uint64_t value = 0;
  std::memcpy(&value, host, size);
  return value;
}

}  // namespace

void SpinLoop::begin(const HartState& state, base::LineState* l1d, base::LineState* l1i, std::uint64_t fetch_line) {
  l1d_ = l1d;
  l1i_ = l1i;
  fetch_line_ = fetch_line;
  std::copy_n(state.x, registers_.size(), registers_.begin());
  starts_.clear();
  pcs_.clear();
  loads_.clear();
  touches_.clear();
  results_.clear();
  slots_ = 0;
  phase_ = 0;
  executed_ = 0;
}

bool SpinLoop::instruction(std::uint64_t pc) {
  if (starts_.size() == kMost) return false;
  starts_.push_back(slots_);
  pcs_.push_back(pc);
  return true;
}

bool SpinLoop::end() {
  if (slots_ == 0) return false;  // it would take no time
  l1d_touches_.assign(starts_.size() + 1, 0);
  l1i_touches_.assign(starts_.size() + 1, 0);
  // A touch belongs to the instruction that has begun with it.
  for (const Touch& t : touches_) ++(t.fetch ? l1i_touches_ : l1d_touches_)[t.after];
  for (std::size_t n = 1; n <= starts_.size(); ++n) {
    l1d_touches_[n] += l1d_touches_[n - 1];
    l1i_touches_[n] += l1i_touches_[n - 1];
  }
  if (!l1d_) return true;
  l1d_removals_ = l1d_->removals();
  l1i_removals_ = l1i_->removals();
  return lines_there();
}

bool SpinLoop::lines_there() const {
  return std::all_of(touches_.begin(), touches_.end(), [&](const Touch& t) {
    return (t.fetch ? l1i_ : l1d_)->state(t.line) != base::LineState::kInvalid;
  });
}

bool SpinLoop::holds() {
  for (const Load& l : loads_)
    if (read_value(l.host, l.size) != l.value) return false;
  if (!l1d_) return true;
  if (l1d_->removals() == l1d_removals_ && l1i_->removals() == l1i_removals_) return true;
  l1d_removals_ = l1d_->removals();
  l1i_removals_ = l1i_->removals();
  return lines_there();
}

void SpinLoop::advance(HartState& state, TimingCounters& counters, std::uint64_t limit) {
  if (state.slots >= limit) return;
  const std::uint64_t begun = state.slots - starts_[phase_];
  const std::uint64_t turns = (limit - begun) / slots_;
  const auto rest = static_cast<std::uint32_t>((limit - begun) % slots_);
  const auto next = std::lower_bound(starts_.begin(), starts_.end(), rest);
  const auto phase = static_cast<std::uint32_t>(next - starts_.begin());
  const std::uint32_t count = instructions();
  const auto behind = [&](const std::vector<std::uint32_t>& touches) {
    return turns * touches[count] + touches[phase] - touches[phase_];
  };
  counters.l1d_accesses += behind(l1d_touches_);
  counters.l1i_accesses += behind(l1i_touches_);
  state.instret += turns * count + phase - phase_;
  executed_ += turns * count + phase - phase_;
  const bool wraps = phase == count;
  state.slots = begun + turns * slots_ + (wraps ? slots_ : starts_[phase]);
  phase_ = wraps ? 0 : phase;
  state.pc = pcs_[phase_];
}

std::uint64_t SpinLoop::leave(HartState& state) {
  std::copy(registers_.begin(), registers_.end(), state.x);
  for (const Result& r : results_)
    if (r.instruction < phase_) state.x[r.rd] = r.value;
  // The lines of the last turn, or of what has been executed of the first, in the order of their touches.
  std::uint64_t line = fetch_line_;
  const auto touch = [&](const Touch& t) {
    (t.fetch ? l1i_ : l1d_)->hit(t.line, false);
    if (t.fetch) line = t.line;
  };
  if (executed_ >= instructions())
    for (const Touch& t : touches_)
      if (t.after > phase_) touch(t);
  for (const Touch& t : touches_)
    if (t.after <= phase_) touch(t);
  return line;
}

}  // namespace sluice::riscv
