// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The last way of a hart from an interrupt to the software that serves it. A request that comes when this has begun
/// has no interrupt of its own: it waits for the rest of it. Plain C++.

#include <algorithm>

#include "models/base/measure/stages.h"
#include "models/base/time/time.h"

namespace sluice::riscv {

class WakeUp {
 public:
  using Time = base::Time;

  /// The hart begins to leave an idle state, and has left it.
  void begin_exit(Time t) {
    *this = {};
    exit_begins_ = t;
    works_ = Time::max();
  }
  void end_exit(Time t) { exit_ends_ = t; }
  /// The hart takes an interrupt. handler: when its handler begins.
  void take(Time t, Time handler) {
    if (works_ <= t) exit_begins_ = exit_ends_ = t;  // not what has woken it
    entry_begins_ = t;
    handler_begins_ = handler;
    works_ = Time::max();
  }
  /// Software has found a request, or does something else than interrupts: what comes from now on waits for a core.
  void work(Time t) { works_ = std::min(works_, t); }

  /// Whether the hart has left an idle state or taken an interrupt yet. Otherwise there is nothing to divide.
  bool has_parts() const { return works_ != Time{}; }
  /// Divides the wait of a request, from `from` to `until`, which is not in the future. Calls enter(stage, start) for
  /// each part that is something else than waiting for a core, and for what follows these.
  template <typename Enter>
  void divide(Time from, Time until, Enter enter) const {
    const bool traps = entry_begins_ != Time::max();
    const Time ends = std::min(works_, until);
    const auto part = [&](sluice_stage stage, Time begin, Time end) {
      begin = std::max(begin, from);
      end = std::min(end, ends);
      if (begin < end) enter(stage, begin);
      return begin < end;
    };
    bool any = part(SLUICE_STAGE_idle_exit, exit_begins_, exit_ends_);
    if (traps) {
      any |= part(SLUICE_STAGE_interrupt, exit_ends_, entry_begins_);
      any |= part(SLUICE_STAGE_trap_entry, entry_begins_, handler_begins_);
      any |= part(SLUICE_STAGE_interrupt, handler_begins_, Time::max());
    }
    const Time end = traps ? ends : std::min(exit_ends_, ends);
    if (any && end < until) enter(SLUICE_STAGE_wait_core, end);
  }

 private:
  Time exit_begins_ = Time::max(), exit_ends_ = Time::max();
  Time entry_begins_ = Time::max(), handler_begins_ = Time::max();
  Time works_;  ///< from when on software does something else
};

}  // namespace sluice::riscv
