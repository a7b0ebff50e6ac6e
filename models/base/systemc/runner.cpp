// SPDX-License-Identifier: Apache-2.0
#include "models/base/systemc/runner.h"

#include <algorithm>

#include "models/base/systemc/scheduler.h"

namespace sluice::base {
namespace {

/// Entries of harts that synchronise come after all others at the same time, as instructions do.
constexpr ComponentKey kAfterAll = ~ComponentKey{0};

/// The longest window: where no effect is in sight, one has to end.
constexpr Time kLongest = Time::ms(1);

}  // namespace

RunnerGroup::RunnerGroup(Scheduler& scheduler, Time quantum) : scheduler_(scheduler), quantum_(quantum) {
  scheduler.groups_.push_back(this);
}

Time RunnerGroup::earliest(const RunnerSet& set) const {
  Time earliest = Time::max();
  set.all([&](std::size_t place) {
    earliest = std::min(earliest, runners_[place]->time_);
    return true;
  });
  return earliest;
}

Time RunnerGroup::earliest_ready() const { return std::min(earliest(working_), earliest(spinning_)); }

Time RunnerGroup::earliest_later() const {
  if (alone()) return earliest_ready();
  return std::min(earliest(working_), spinning_.empty() ? Time::max() : window_end_);
}

Runner* RunnerGroup::next_turn(Time until) {
  if (alone()) turns_.put(0, true);
  for (std::size_t place = turns_.first(); place != RunnerSet::kNone; place = turns_.first()) {
    Runner& r = *runners_[place];
    if (r.ready_ && r.time_ < until && !r.passes(until)) return &r;
    turns_.put(place, false);
  }
  return nullptr;
}

void RunnerGroup::open_window(Time seen, Time effect, bool merges) {
  window_end_ = window_of(seen) + quantum_;
  turns_.assign_union(working_, spinning_);
  if (!merges || (spinning_.empty() && !alone())) return;
  Time end = window_of(std::min(effect, seen + kLongest) - Time::fs(1)) + quantum_;
  if (alone()) {  // it meets each effect at its time
    window_end_ = end;
    return;
  }
  // Until somebody works or an effect comes, nothing can end the loops of those that spin.
  if (!working_.empty()) end = std::min(end, window_of(earliest(working_)));
  if (end > window_end_ && pass_all(end)) window_end_ = end;
}

/// Returns false, and does nothing, if one of the runners that spin would have to be executed.
bool RunnerGroup::pass_all(Time end) {
  if (!spinning_.all([this](std::size_t place) { return runners_[place]->holds_(); })) return false;
  return spinning_.all([&](std::size_t place) {
    runners_[place]->pass_late(end);
    return true;
  });
}

/// Whether a runner is ready, or spins, has changed.
void RunnerGroup::note(const Runner& r) {
  working_.put(r.place_, r.ready_ && !r.spinning_);
  spinning_.put(r.place_, r.ready_ && r.spinning_);
  if (r.ready_) turns_.put(r.place_, true);
}

Runner::Runner(RunnerGroup& group, std::string path)
    : scheduler_(group.scheduler_), group_(group), place_(group.runners_.size()), path_(std::move(path)) {
  scheduler_.runners_.push_back(this);
  group.runners_.push_back(this);
  for (RunnerSet* set : {&group.working_, &group.spinning_, &group.turns_}) set->grow(group.runners_.size());
  group.note(*this);
}

Runner::Runner(Scheduler& scheduler, std::string path) : Runner(scheduler.first_group(), std::move(path)) {}

void Runner::begin() {
  process_ = sc_core::sc_get_current_process_b();
  if (scheduler_.holder_ != this) sc_core::wait(turn_);
  calendar().set_now(time_);
}

void Runner::set_ready(bool ready) {
  ready_ = ready;
  group_.note(*this);
}

void Runner::set_spinning(bool spinning) {
  if (spinning == spinning_) return;
  spinning_ = spinning;
  group_.note(*this);
}

Time Runner::ahead(Time t) const { return group_.alone() || t <= group_.window_end_ ? Time{} : t - group_.window_end_; }

Time Runner::earliest() const {
  return group_.alone() ? time_ : std::min(time_, group_.window_end_ - std::min(group_.quantum_, group_.window_end_));
}

bool Runner::dispatch_due() { return scheduler_.dispatch_due(*this); }

void Runner::yield() { scheduler_.hand_over(this); }

void Runner::synchronise() {
  calendar().set_now(time_);
  // A single runner is ahead of an effect only within a batch of instructions.
  if (scheduler_.alone() && calendar().next() > time_ && scheduler_.kernel_next_ > time_) {
    scheduler_.effect_ = time_;
    return;
  }
  do {
    set_ready(false);
    calendar().at(time_, kAfterAll, [this] {
      scheduler_.woken_ = true;
      set_ready(true);
    });
    scheduler_.hand_over(this);
    // Foreign activity of the same instant comes before instructions, too.
    if (scheduler_.kernel_next_ > time_) break;
    scheduler_.run_kernel_until(time_);
  } while (calendar().next() <= time_);
  calendar().set_now(time_);
}

void Runner::enter_foreign() {
  synchronise();
  set_ready(false);
  scheduler_.holder_ = nullptr;
  const Time kernel = from_sc_time(sc_core::sc_time_stamp());
  if (time_ > kernel) sc_core::wait(to_sc_time(time_ - kernel));
  scheduler_.pump_turn_.notify();
}

void Runner::leave_foreign() {
  time_ = std::max(time_, from_sc_time(sc_core::sc_time_stamp()));
  set_ready(true);
  sc_core::wait(turn_);
  calendar().set_now(time_);
}

}  // namespace sluice::base
