// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Run-ahead: harts execute ahead of the SystemC kernel; the thread that has the turn dispatches the calendar on its
/// own stack. docs/models/base-time.md has the reasoning. At one time, calendar entries come first, then foreign kernel
/// activity with all its delta cycles, then instructions.
///
/// With one runner, an instruction that starts at t runs only if t is before the calendar's next entry and the next
/// foreign kernel activity. The result is the same at any quantum.
///
/// With several runners, time is a grid of windows of one quantum. In a window each runner runs to the window's end, in
/// order of construction. Then the window's effects (entries, foreign activity) take place in time order. A runner that
/// an effect wakes runs from that time to the window's end before the next effect. So what runners do after
/// synchronise() (device accesses, atomics, stores that wake another runner) happens in time order, at its time. A
/// runner may see another's store, a DMA write or an interrupt late, or another's store early, always by less than a
/// quantum. Entries that wake no runner do not change when runners run.

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <systemc>

#include "models/base/systemc/runner.h"
#include "models/base/time/calendar.h"
#include "models/base/time/callback.h"

namespace sluice::base {

/// What wait_for() waits for. It has no memory: waiters test their condition in a loop.
class Event {
 public:
  /// Wakes everyone who waits, at now(). A hart that is executing must call synchronise() first.
  void notify();
  bool awaited() const { return !runners_.empty() || foreign_waits_ > 0; }

 private:
  friend void wait_for(Event&, const char*, const char*);
  std::vector<Runner*> runners_;
  unsigned foreign_waits_ = 0;
  sc_core::sc_event foreign_;
};

/// Blocks the calling thread, a runner's or a foreign SC_THREAD, until the event is notified. reason and holder (the
/// path of the component that will notify) are what the stall diagnosis prints.
void wait_for(Event& event, const char* reason, const char* holder);

class Scheduler : public sc_core::sc_module {
 public:
  enum class End {
    limit,      ///< run_until()'s limit was reached
    stopped,    ///< stop() was called
    exhausted,  ///< nothing can ever happen again: every runner is blocked and no entry is left
    sc_stop,    ///< a component has called sc_stop(), which ends the kernel for good
  };

  /// quantum: of the first group.
  Scheduler(const sc_core::sc_module_name&, Time quantum);
  ~Scheduler() override;

  /// Lets everything before `limit` happen. Call it from outside the kernel (sc_main); it may be called again, except
  /// after a process has thrown. Throws ComponentError, at now(), when an entry's action or a process has thrown. An
  /// exception of an elaboration callback passes through unchanged.
  End run_until(Time limit);
  /// Number of kernel steps between two looks. A step is an advance in time or a delta cycle.
  static constexpr std::uint64_t kLookInterval = 1 << 16;
  /// Calls `look` after every kLookInterval steps of foreign processes, whether simulated time advances or not.
  void on_look(Callback<void()> look) { look_ = std::move(look); }
  /// Names of the foreign processes: those that are neither a runner's nor the scheduler's.
  std::vector<std::string> foreign_processes() const;
  /// Keeps the exception that is leaving the calling process, because the kernel passes on only its text. Call it in a
  /// catch block.
  void keep_exception() { thrown_ = std::current_exception(); }
  /// Whether runners may leave turns to arithmetic (Runner::on_spin()); they may, unless this says no. Results are the
  /// same.
  void let_spin(bool may) { may_spin_ = may; }
  /// Makes run_until() return as soon as the caller's entry or instruction is over.
  void stop() { stop_ = true; }

  /// The simulation's scheduler; there is exactly one.
  static Scheduler& instance();
  /// The group of runners that are built without a group.
  RunnerGroup& first_group() { return first_group_; }
  /// Sets the least time until a hart of another group can see what a hart does; at least 1 ns, the default.
  void set_separation(Time);
  Time separation() const { return separation_; }
  /// Time of the next known activity: an entry, foreign kernel activity, an instruction, or the end of run_until(). To
  /// be called from entries.
  Time next_activity() const;
  /// Whether only entries can go on: every runner waits and the kernel has nothing to do. To be called from entries.
  bool only_entries() const;
  /// The runner that calls this. Null inside an entry's action and in a foreign process, even if a runner has the turn.
  Runner* running() const { return dispatching_ ? nullptr : calling(); }

 private:
  friend class Runner;
  friend class RunnerGroup;
  friend class Event;
  friend void wait_for(Event&, const char*, const char*);

  void pump();
  Runner* calling() const;
  void dispatch() {
    dispatching_ = true;
    effect_ = calendar().next();
    try {
      calendar().dispatch();
    } catch (...) {
      // If the exception passed through the kernel, only its text would remain.
      thrown_ = std::current_exception();
      stop_ = true;
    }
    dispatching_ = false;
  }
  /// Dispatches the calendar's first entry, and then those that come up to time `last`, before the end of run_until()
  /// and no later than the kernel's next activity. Returns early when an entry has woken a runner or stopped the run.
  void dispatch_until_woken(Time last);
  /// Whether the calendar's first entry is the next thing to happen on a board with this one runner.
  bool entry_precedes(const Runner& only) const {
    const Time t = calendar().next();
    return t < end_ && t <= kernel_next_ && (t <= only.time_ || !only.ready_);
  }
  bool dispatch_due(Runner& only);
  void hand_over(Runner* self);
  void give_turn(Runner* from, Runner* to);
  /// When no runner may run: the group whose next instruction must wait for the fewest effects.
  struct Hindmost {
    RunnerGroup* group = nullptr;  ///< null: none has an instruction ready
    Time seen = Time::max();       ///< effects up to this time come before that instruction
  };
  /// Returns the first runner of the groups that may run. If there is none, returns null and sets the hindmost group.
  Runner* pick(Hindmost&);
  Time earliest_ready() const;
  void pause(End why);
  void rethrow(const std::string& path);
  void run_kernel_until(Time t);
  void count_step() {
    if (++kernel_steps_ % kLookInterval == 0 && look_) [[unlikely]]
      look_();
  }
  void refresh_kernel_bound();
  /// When the next entry, foreign kernel activity or end of run_until() is due.
  Time next_effect() const { return std::min(std::min(calendar().next(), kernel_next_), end_); }
  /// The time before which the runners of a group may start instructions.
  Time limit(const RunnerGroup& group) const {
    if (stop_) return Time{};
    if (!group.alone()) return group.window_end_;
    const Time effects = std::min(group.window_end_, next_effect());
    return alone() ? effects : std::min(effects, reach(group));
  }
  /// Until this time no hart of another group can affect this group.
  Time reach(const RunnerGroup&) const;
  bool alone() const { return runners_.size() == 1; }

  std::vector<RunnerGroup*> groups_;
  RunnerGroup first_group_;
  Time separation_ = Time::ns(1);
  Time end_;
  Time effect_;                     ///< when the last entry, kernel activity or synchronised access took place
  Time kernel_next_ = Time::max();  ///< time of the next foreign kernel activity
  Runner* holder_ = nullptr;        ///< has the turn; null: the pump
  bool dispatching_ = false;
  bool stop_ = false;
  std::optional<Time> stopped_at_;  ///< by an entry, while a hart that may be ahead of it was in its engine
  bool may_spin_ = true;
  bool started_ = false;
  bool woken_ = false;  ///< an entry has made a runner ready
  End why_ = End::exhausted;
  std::exception_ptr thrown_;  ///< by an entry, or by a process that has kept it
  std::uint64_t kernel_steps_ = 0;
  Callback<void()> look_;
  std::vector<Runner*> runners_;
  sc_core::sc_event pump_turn_;
  sc_core::sc_event resume_;
};

inline Time Runner::bound() const { return scheduler_.limit(group_); }
inline bool Runner::alone() const { return scheduler_.alone(); }
inline bool Runner::may_spin() const { return scheduler_.may_spin_; }

/// Sets the resolution to 1 fs. Call it before any sc_time exists; more than one call is safe.
void set_time_resolution();
sc_core::sc_time to_sc_time(Time t);
Time from_sc_time(const sc_core::sc_time& t);

}  // namespace sluice::base
