// SPDX-License-Identifier: Apache-2.0
#include "models/base/systemc/scheduler.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "models/base/systemc/asan_stack.h"
#include "models/base/systemc/model.h"
#include "models/base/time/who_waits.h"

namespace sluice::base {
namespace {
Scheduler* the_scheduler = nullptr;

/// Entries of harts that synchronise come after all others at the same time, as instructions do.
constexpr ComponentKey kAfterAll = ~ComponentKey{0};

/// Identifies the process that runs.
const void* current_process() { return sc_core::sc_get_current_process_b(); }
}  // namespace

void set_time_resolution() {
  static sc_core::sc_simcontext* done = nullptr;
  if (done == sc_core::sc_get_curr_simcontext()) return;
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  done = sc_core::sc_get_curr_simcontext();
}

std::string path_of_key(ComponentKey key) {
  const auto below = [key](const auto& self, const std::vector<sc_core::sc_object*>& objects) -> std::string {
    for (sc_core::sc_object* object : objects) {
      const auto* model = dynamic_cast<const Model*>(object);
      if (model && model->key() == key) return model->path();
      if (std::string path = self(self, object->get_child_objects()); !path.empty()) return path;
    }
    return {};
  };
  std::string path = below(below, sc_core::sc_get_top_level_objects());
  for (Ledger::Component c = 0; path.empty() && c < ledger().components(); ++c)
    if (path_key(ledger().path(c)) == key) path = ledger().path(c);
  return path;
}

sc_core::sc_time to_sc_time(Time t) { return sc_core::sc_time::from_value(t.femtoseconds()); }
Time from_sc_time(const sc_core::sc_time& t) { return Time::fs(t.value()); }

RunnerGroup::RunnerGroup(Scheduler& scheduler, Time quantum) : scheduler_(scheduler), quantum_(quantum) {
  scheduler.groups_.push_back(this);
}

Time RunnerGroup::earliest_ready() const {
  Time earliest = Time::max();
  for (const Runner* r : runners_)
    if (r->ready_) earliest = std::min(earliest, r->time_);
  return earliest;
}

Runner::Runner(RunnerGroup& group, std::string path)
    : scheduler_(group.scheduler_), group_(group), path_(std::move(path)) {
  scheduler_.runners_.push_back(this);
  group.runners_.push_back(this);
}

Runner::Runner(Scheduler& scheduler, std::string path) : Runner(scheduler.first_group(), std::move(path)) {}

void Runner::begin() {
  process_ = current_process();
  if (scheduler_.holder_ != this) sc_core::wait(turn_);
  calendar().set_now(time_);
}

Time Runner::ahead(Time t) const { return group_.alone() || t <= group_.window_end_ ? Time{} : t - group_.window_end_; }

Time Runner::earliest() const {
  return group_.alone() ? time_ : std::min(time_, group_.window_end_ - std::min(group_.quantum_, group_.window_end_));
}

void Runner::yield() { scheduler_.hand_over(this); }

void Runner::synchronise() {
  calendar().set_now(time_);
  // A single runner is ahead of an effect only within a batch of instructions.
  if (scheduler_.alone() && calendar().next() > time_ && scheduler_.kernel_next_ > time_) {
    scheduler_.effect_ = time_;
    return;
  }
  do {
    ready_ = false;
    calendar().at(time_, kAfterAll, [this] { ready_ = scheduler_.woken_ = true; });
    scheduler_.hand_over(this);
    // Foreign activity of the same instant comes before instructions, too.
    if (scheduler_.kernel_next_ > time_) break;
    scheduler_.run_kernel_until(time_);
  } while (calendar().next() <= time_);
  calendar().set_now(time_);
}

void Runner::enter_foreign() {
  synchronise();
  ready_ = false;
  scheduler_.holder_ = nullptr;
  const Time kernel = from_sc_time(sc_core::sc_time_stamp());
  if (time_ > kernel) sc_core::wait(to_sc_time(time_ - kernel));
  scheduler_.pump_turn_.notify();
}

void Runner::leave_foreign() {
  time_ = std::max(time_, from_sc_time(sc_core::sc_time_stamp()));
  ready_ = true;
  sc_core::wait(turn_);
  calendar().set_now(time_);
}

void Event::notify() {
  Scheduler& s = Scheduler::instance();
  s.woken_ |= !runners_.empty();
  for (Runner* r : runners_) {
    r->ready_ = true;
    r->time_ = std::max(r->time_, now());
  }
  runners_.clear();
  if (foreign_waits_ == 0) return;
  const Time kernel = from_sc_time(sc_core::sc_time_stamp());
  foreign_.notify(to_sc_time(std::max(now(), kernel) - kernel));
  s.kernel_next_ = std::min(s.kernel_next_, std::max(now(), kernel));
}

void wait_for(Event& event, const char* reason, const char* holder) {
  Scheduler& s = Scheduler::instance();
  if (s.dispatching_) throw std::logic_error(std::string("wait_for inside a calendar entry: ") + reason);
  if (Runner* self = s.calling()) {
    const Waiting listed(self->path_.c_str(), reason, holder);
    event.runners_.push_back(self);
    self->ready_ = false;
    s.hand_over(self);
    return;
  }
  const Waiting listed(sc_core::sc_get_current_process_handle().name(), reason, holder);
  ++event.foreign_waits_;
  sc_core::wait(event.foreign_);
  --event.foreign_waits_;
}

Scheduler::Scheduler(const sc_core::sc_module_name& name, Time quantum)
    : sc_module(name), first_group_(*this, quantum) {
  if (the_scheduler) throw std::logic_error("a simulation has one scheduler");
  the_scheduler = this;
  take_kernel_reports();
  SC_HAS_PROCESS(Scheduler);
  SC_THREAD(pump);
}

Scheduler::~Scheduler() { the_scheduler = nullptr; }

void Scheduler::set_separation(Time t) { separation_ = std::max(t, Time::ns(1)); }

Scheduler& Scheduler::instance() { return *the_scheduler; }

Runner* Scheduler::calling() const { return holder_ && holder_->process_ == current_process() ? holder_ : nullptr; }

Scheduler::End Scheduler::run_until(Time limit) {
  end_ = limit;
  stop_ = false;
  if (started_) resume_.notify(sc_core::SC_ZERO_TIME);
  started_ = true;
  try {
    const AsanStack ours;
    sc_core::sc_start();
  } catch (const sc_core::sc_report& e) {
    // The kernel passes on an exception of a process as a report. now() may be later than the exception, because harts
    // run ahead.
    if (!holder_) calendar().set_now(from_sc_time(sc_core::sc_time_stamp()));
    const std::string path = path_of_process(e.get_process_name());
    if (thrown_) rethrow(path);
    // A report of elaboration comes from no process, and the caller knows what is being elaborated.
    if (path.empty()) throw std::runtime_error(text_of(e));
    throw ComponentError(path, text_of(e));
  }
  if (thrown_) rethrow(path_of_key(calendar().failed()));
  if (sc_core::sc_get_status() == sc_core::SC_STOPPED) return End::sc_stop;
  return why_;
}

/// path: of the component that threw, unless the exception names one.
void Scheduler::rethrow(const std::string& path) {
  name_what_is_thrown(path, [this] { std::rethrow_exception(std::exchange(thrown_, nullptr)); });
}

void Scheduler::pump() {
  // Every runner's thread must have reached begin() before it can be given the turn.
  sc_core::wait(sc_core::SC_ZERO_TIME);
  refresh_kernel_bound();
  hand_over(nullptr);
}

Runner* Scheduler::pick(Hindmost& hindmost) {
  for (RunnerGroup* g : groups_) {
    const Time until = limit(*g);
    Time instruction = Time::max();
    for (Runner* r : g->runners_) {
      if (!r->ready_) continue;
      if (r->time_ < until && !r->passes(until)) return r;
      instruction = std::min(instruction, r->time_);
    }
    if (instruction == Time::max()) continue;
    if (const Time seen = g->seen_from(instruction); seen < hindmost.seen) hindmost = {g, seen};
  }
  return nullptr;
}

/// End of the group's next window, which begins at `seen`, before the next effect. Where every ready runner spins,
/// nothing can happen until then, and the windows up to the effect are one.
Time Scheduler::window_end(const RunnerGroup& group, Time seen, Time effect) const {
  const auto passes = [](Runner* r) { return !r->ready_ || r->passes(r->time_); };
  const bool merge = groups_.size() == 1 && std::all_of(group.runners_.begin(), group.runners_.end(), passes);
  return group.quantum_ * ((merge ? effect - Time::fs(1) : seen) / group.quantum_ + 1);
}

Time Scheduler::earliest_ready() const {
  Time earliest = Time::max();
  for (const RunnerGroup* g : groups_) earliest = std::min(earliest, g->earliest_ready());
  return earliest;
}

Time Scheduler::reach(const RunnerGroup& group) const {
  Time earliest = Time::max();
  for (const RunnerGroup* g : groups_)
    if (g != &group) earliest = std::min(earliest, g->earliest_ready());
  return earliest == Time::max() ? earliest : earliest + separation_;
}

Time Scheduler::next_activity() const {
  return std::min(std::min(calendar().next(), kernel_next_), std::min(earliest_ready(), end_));
}

bool Scheduler::only_entries() const { return earliest_ready() == Time::max() && kernel_next_ == Time::max(); }

void Scheduler::give_turn(Runner* from, Runner* to) {
  holder_ = to;
  to->turn_.notify();
  sc_core::wait(from ? from->turn_ : pump_turn_);
  // Whoever ran in between may have notified kernel events.
  refresh_kernel_bound();
}

void Scheduler::dispatch_until_woken(Time last) {
  // The runners' times, and so `last`, stay valid: no entry changes the time of a ready runner.
  woken_ = false;
  Time next;
  do {
    dispatch();
    next = calendar().next();
  } while (!woken_ && !stop_ && next < end_ && next <= last && next <= kernel_next_);
}

/// Returns when `self` may run, with now() at its time. For the pump (null) it never returns.
void Scheduler::hand_over(Runner* self) {
  for (;;) {
    if (stop_) {
      pause(End::stopped);
      continue;
    }
    // Fast path for a single runner: dispatch the entry that precedes its next instruction, or let it run.
    if (self && alone()) {
      if (entry_precedes(*self)) {
        dispatch();
        continue;
      }
      if (const Time until = limit(self->group_); self->ready_ && self->time_ < until) {
        if (self->passes(until)) continue;
        holder_ = self;
        calendar().set_now(self->time_);
        return;
      }
    }
    Hindmost hindmost;
    if (Runner* next = pick(hindmost)) {
      if (next == self)
        holder_ = self;
      else
        give_turn(self, next);
      if (!self || holder_ != self) continue;
      calendar().set_now(self->time_);
      return;
    }
    const Time effect = std::min(std::min(calendar().next(), kernel_next_), end_);
    if (hindmost.group && effect > hindmost.seen) {
      RunnerGroup& group = *hindmost.group;
      group.window_end_ = window_end(group, hindmost.seen, effect);
    } else if (effect == Time::max()) {
      pause(End::exhausted);
    } else if (effect == end_) {
      pause(End::limit);
    } else if (calendar().next() == effect) {
      dispatch_until_woken(hindmost.seen);
    } else {
      run_kernel_until(effect);
    }
  }
}

void Scheduler::pause(End why) {
  why_ = why;
  if (why == End::limit) calendar().set_now(end_);
  sc_core::sc_pause();
  sc_core::wait(resume_);
  refresh_kernel_bound();
}

void Scheduler::run_kernel_until(Time t) {
  // t may be before the last effect: kernel time lags, and an access of a hart may have notified a SystemC event.
  effect_ = std::max(effect_, t);
  calendar().set_now(effect_);
  Runner* const self = holder_;
  holder_ = nullptr;
  const Time kernel = from_sc_time(sc_core::sc_time_stamp());
  sc_core::wait(to_sc_time(t > kernel ? t - kernel : Time{}));
  count_step();
  while (sc_core::sc_pending_activity_at_current_time() && !stop_) {
    sc_core::wait(sc_core::SC_ZERO_TIME);
    count_step();
  }
  holder_ = self;
  refresh_kernel_bound();
}

std::vector<std::string> Scheduler::foreign_processes() const {
  std::vector<std::string> own;
  for (const Runner* r : runners_) own.push_back(r->path());
  return other_processes(own);
}

void Scheduler::refresh_kernel_bound() {
  kernel_next_ = sc_core::sc_pending_activity()
                     ? from_sc_time(sc_core::sc_time_stamp() + sc_core::sc_time_to_pending_activity())
                     : Time::max();
}

}  // namespace sluice::base
