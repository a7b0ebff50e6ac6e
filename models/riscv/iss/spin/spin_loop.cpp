// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/spin/spin_loop.h"

#include <algorithm>
#include <cstring>

namespace sluice::riscv {
namespace {

std::uint64_t word_at(const std::uint8_t* host) {
  std::uint64_t word;
  std::memcpy(&word, host, sizeof word);
  return word;
}

}  // namespace

void SpinLoop::begin(const HartState& state, base::LineState* l1d, base::LineState* l1i) {
  l1d_ = l1d;
  l1i_ = l1i;
  std::copy_n(state.x, registers_.size(), registers_.begin());
  instructions_ = 0;
  stops_.clear();
  timed_.clear();
  words_.clear();
  touches_.clear();
  results_.clear();
  l1d_touches_.clear();
  l1i_touches_.clear();
  phase_ = 0;
  turns_ = 0;
}

void SpinLoop::load(const std::uint8_t* host, unsigned size) {
  const unsigned first = reinterpret_cast<std::uintptr_t>(host) % 8;
  const std::uint64_t mask = (~std::uint64_t{0} >> (64 - 8 * size)) << 8 * first;
  host -= first;
  auto word = std::find_if(words_.begin(), words_.end(), [&](const Word& w) { return w.host == host; });
  if (word == words_.end()) word = words_.insert(word, {host, 0, 0});
  word->mask |= mask;
  word->value = word_at(host) & word->mask;
}

bool SpinLoop::end(std::uint64_t fetch_line) {
  fetch_line_ = fetch_line;
  if (stops_.back().slots == 0) return false;  // it would take no time
  if (timed_.empty()) count_touches();
  if (!l1d_) return true;
  l1d_removals_ = l1d_->removals();
  l1i_removals_ = l1i_->removals();
  return lines_there();
}

/// Every instruction is a stop. A touch belongs to the instruction that has begun with it.
void SpinLoop::count_touches() {
  l1d_touches_.assign(stops_.size(), 0);
  l1i_touches_.assign(stops_.size(), 0);
  for (const Touch& t : touches_) ++(t.use == base::LineUse::fetch ? l1i_touches_ : l1d_touches_)[t.after];
  for (std::size_t n = 1; n < stops_.size(); ++n) {
    l1d_touches_[n] += l1d_touches_[n - 1];
    l1i_touches_[n] += l1i_touches_[n - 1];
  }
}

bool SpinLoop::lines_there() const {
  return std::all_of(touches_.begin(), touches_.end(), [&](const Touch& t) {
    return cache(t).state(t.line) >= (base::writes(t.use) ? base::LineState::kModified : base::LineState::kShared);
  });
}

bool SpinLoop::holds() {
  for (const Word& w : words_)
    if ((word_at(w.host) & w.mask) != w.value) return false;
  if (!l1d_) return true;
  if (l1d_->removals() == l1d_removals_ && l1i_->removals() == l1i_removals_) return true;
  if (!lines_there()) return false;
  l1d_removals_ = l1d_->removals();
  l1i_removals_ = l1i_->removals();
  return true;
}

void SpinLoop::advance(HartState& state, TimingCounters& counters, std::uint64_t limit) {
  if (state.slots >= limit) return;
  const Stop& whole = stops_.back();
  const std::uint64_t begun = state.slots - stops_[phase_].slots;
  const std::uint64_t turns = (limit - begun) / whole.slots;
  const std::uint64_t rest = (limit - begun) % whole.slots;
  const auto next =
      std::lower_bound(stops_.begin(), stops_.end(), rest, [](const Stop& s, std::uint64_t t) { return s.slots < t; });
  const auto phase = static_cast<std::size_t>(next - stops_.begin());
  count(counters, turns, phase_, phase);
  state.instret += turns * whole.instructions + next->instructions - stops_[phase_].instructions;
  state.slots = begun + turns * whole.slots + next->slots;
  const bool wraps = phase + 1 == stops_.size();
  turns_ += turns + (wraps ? 1 : 0);
  phase_ = wraps ? 0 : phase;
  state.pc = stops_[phase_].pc;
  if (!timed_.empty()) state.retired = timed_[phase_].retired + turns_ * whole.slots;
}

/// Counts so many turns and what is between two stops.
void SpinLoop::count(TimingCounters& counters, std::uint64_t turns, std::size_t from, std::size_t to) const {
  if (timed_.empty()) {
    counters.l1d_accesses += turns * l1d_touches_.back() + l1d_touches_[to] - l1d_touches_[from];
    counters.l1i_accesses += turns * l1i_touches_.back() + l1i_touches_[to] - l1i_touches_[from];
    return;
  }
  const TimingCounters &whole = timed_.back().window.counters, &before = timed_[from].window.counters,
                       &behind = timed_[to].window.counters;
  counters.l1d_accesses += turns * whole.l1d_accesses + behind.l1d_accesses - before.l1d_accesses;
  counters.l1i_accesses += turns * whole.l1i_accesses + behind.l1i_accesses - before.l1i_accesses;
  counters.branches += turns * whole.branches + behind.branches - before.branches;
  for (std::size_t n = 0; n < kLosses; ++n) counters.lost[n] += turns * whole.lost[n] + behind.lost[n] - before.lost[n];
}

void SpinLoop::show(HartState& state) const {
  std::copy(registers_.begin(), registers_.end(), state.x);
  for (const Result& r : results_)
    if (r.instruction < stops_[phase_].instructions) state.x[r.rd] = r.value;
}

void SpinLoop::leave(HartState& state) {
  show(state);
  const std::uint32_t executed = stops_[phase_].instructions;
  // The lines of the last turn, or of what has been executed of the first, in the order of their touches.
  const auto touch = [&](const Touch& t) {
    cache(t).hit(t.line, base::writes(t.use));
    if (t.use == base::LineUse::fetch) fetch_line_ = t.line;
  };
  if (turns_ != 0)
    for (const Touch& t : touches_)
      if (t.after > executed) touch(t);
  for (const Touch& t : touches_)
    if (t.after <= executed) touch(t);
}

}  // namespace sluice::riscv
