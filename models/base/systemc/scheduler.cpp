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

void Event::notify() {
  Scheduler& s = Scheduler::instance();
  s.woken_ |= !runners_.empty();
  for (Runner* r : runners_) {
    r->time_ = std::max(r->time_, now());
    r->set_ready(true);
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
    self->set_ready(false);
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

Runner* Scheduler::calling() const {
  return holder_ && holder_->process_ == sc_core::sc_get_current_process_b() ? holder_ : nullptr;
}

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
    if (Runner* next = g->next_turn(limit(*g))) return next;
    const Time instruction = g->earliest_later();
    if (instruction == Time::max()) continue;
    if (const Time seen = g->seen_from(instruction); seen < hindmost.seen) hindmost = {g, seen};
  }
  return nullptr;
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

Time Scheduler::next_activity() const { return std::min(next_effect(), earliest_ready()); }

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

bool Scheduler::dispatch_due(Runner& only) {
  while (!stop_ && alone()) {
    if (entry_precedes(only)) {
      dispatch();
      continue;
    }
    const Time effect = next_effect();
    if (only.time_ >= effect) return false;
    if (only.time_ >= only.group_.window_end_) only.group_.open_window(only.time_, effect, true);
    calendar().set_now(only.time_);
    return true;
  }
  if (stop_) stopped_at_ = now();
  return false;
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
    const Time effect = next_effect();
    if (hindmost.group && effect > hindmost.seen) {
      hindmost.group->open_window(hindmost.seen, effect, groups_.size() == 1);
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
  if (why == End::stopped && stopped_at_) calendar().set_now(*std::exchange(stopped_at_, std::nullopt));
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
