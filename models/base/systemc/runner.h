// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What takes turns in executing ahead of the SystemC kernel: harts. scheduler.h says in which order.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <systemc>

#include "models/base/systemc/runner_set.h"
#include "models/base/time/calendar.h"
#include "models/base/time/callback.h"

namespace sluice::base {

class Event;
class Runner;
class Scheduler;

/// Runners that share memory: a system-on-chip's harts.
class RunnerGroup {
 public:
  /// quantum: how far one of them may run ahead of another; with one runner it changes nothing but speed. If there are
  /// other groups, the quantum of a group of several runners must not exceed the separation.
  RunnerGroup(Scheduler&, Time quantum);
  RunnerGroup(const RunnerGroup&) = delete;
  RunnerGroup& operator=(const RunnerGroup&) = delete;
  Time quantum() const { return quantum_; }
  std::size_t runners() const { return runners_.size(); }

 private:
  friend class Runner;
  friend class Scheduler;
  bool alone() const { return runners_.size() == 1; }
  /// The time up to which effects must have happened before an instruction at this time: its own time if its runner is
  /// alone in the group, else the start of its window.
  Time seen_from(Time instruction) const { return alone() ? instruction : window_of(instruction); }
  Time window_of(Time t) const { return quantum_ * (t / quantum_); }  ///< its start
  /// No ready runner has an instruction before this time; Time::max(): no runner is ready.
  Time earliest_ready() const;
  /// As earliest_ready(), but that next_turn() has just returned null. Does not ask where spinning runners are.
  Time earliest_later() const;
  Time earliest(const RunnerSet&) const;
  /// The first runner that has an instruction before `until`, the end of the window if there are several.
  Runner* next_turn(Time until);
  /// Opens the window that begins at `seen`, before the next effect. merges: windows in which all ready runners spin
  /// are one.
  void open_window(Time seen, Time effect, bool merges);
  bool pass_all(Time end);
  void note(const Runner&);

  Scheduler& scheduler_;
  Time quantum_;
  Time window_end_;
  std::vector<Runner*> runners_;
  RunnerSet working_, spinning_;  ///< those that are ready
  RunnerSet turns_;               ///< all that may have an instruction before the end of the window
};

/// Something that executes on its own SC_THREAD and runs ahead: a hart. Only its own thread calls its members, but for
/// those that say otherwise.
class Runner {
 public:
  /// Runners take their turns in order of construction. path must stay unchanged while the runner lives.
  Runner(RunnerGroup&, std::string path);
  /// Puts the runner into the scheduler's first group.
  Runner(Scheduler&, std::string path);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  const std::string& path() const { return path_; }
  Time time() const { return time_; }  ///< start of its next instruction
  /// Only for a runner that has the turn. Sets now() too.
  void advance_to(Time t) {
    time_ = t;
    calendar().set_now(t);
  }
  Time bound() const;  ///< it may start instructions before this; read it after every access
  /// How far a time is beyond the end of the present window; 0 for a runner that is alone in its group.
  Time ahead(Time t) const;
  /// Neither an instruction of the group nor an effect on it comes before this any more.
  Time earliest() const;
  void begin();        ///< first call on its thread: waits for its first turn
  bool alone() const;  ///< no other runner is on the board
  /// For one that is alone, at bound(): dispatches the entries that precede time(), on its own stack. False: it must
  /// yield().
  bool dispatch_due();
  void yield();  ///< call it when time() >= bound(): returns when the runner may go on
  /// Lets every effect before time() take place: before an access whose order with other components' effects matters.
  /// Costs next to nothing where there is one runner and no such effect.
  void synchronise();
  /// Call it before calling a target that may wait in the kernel. Lets everything before time() happen and brings
  /// kernel time to time(). leave_foreign() takes the turn back; time() is then at least the kernel's time.
  void enter_foreign();
  void leave_foreign();

  // A runner whose turns are arithmetic spins.

  /// holds: whether another turn would go as arithmetic has it; it must have no effect. pass: executes, by arithmetic,
  /// every instruction before `until` and calls set_time() with the time of the next one. It is called late, perhaps
  /// when holds() has ended, for turns in which holds() was true. Both are called on any thread.
  void on_spin(Callback<bool()> holds, Callback<void(Time until)> pass) {
    holds_ = std::move(holds);
    pass_ = std::move(pass);
  }
  bool may_spin() const;  ///< Scheduler::let_spin()
  bool spinning() const { return spinning_; }
  void set_spinning(bool spinning);  ///< not from false to true on another thread
  void set_time(Time t) { time_ = t; }
  /// Brings what is arithmetic up to date, time() included. On any thread.
  void settle() {
    if (!behind_) return;
    behind_ = false;
    pass_(time_);
  }

 private:
  friend class RunnerGroup;
  friend class Scheduler;
  friend class Event;
  friend void wait_for(Event&, const char*, const char*);

  void set_ready(bool ready);
  /// Whether the instructions before `until`, of which there is at least one, need not be executed by the thread.
  bool passes(Time until) {
    if (!spinning_) return false;
    if (holds_()) {
      pass_late(until);
      return true;
    }
    settle();
    return time_ >= until;
  }
  void pass_late(Time until) {
    time_ = until;
    behind_ = true;
  }

  Scheduler& scheduler_;
  RunnerGroup& group_;
  const std::size_t place_;  ///< in the group
  std::string path_;
  Time time_;  ///< while behind_, not later than what it stands for
  bool ready_ = true;
  bool spinning_ = false;
  bool behind_ = false;  ///< pass_(time_) is due
  Callback<bool()> holds_;
  Callback<void(Time until)> pass_;
  const void* process_ = nullptr;  ///< its SC_THREAD
  sc_core::sc_event turn_;
};

}  // namespace sluice::base
