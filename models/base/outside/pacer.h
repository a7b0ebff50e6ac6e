// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Simulated time at the pace of wall time, for programs and people outside. No host threads: the simulation sleeps in
/// poll().

#include <chrono>
#include <vector>

#include <poll.h>

#include "models/base/outside/inputs.h"
#include "models/base/systemc/scheduler.h"
#include "models/base/time/callback.h"

namespace sluice::base {

/// Holds simulated time back to wall time, and watches files for inputs. A simulation that is slower than wall time
/// runs as fast as it can and catches up when it has nothing to do. While something executes, the pacer looks for
/// inputs every `grain` of simulated time; while nothing can happen before a known time, the process sleeps until then.
/// An input gets the simulated time of the wall time at which it came, or, where the simulation is busy, of the next
/// look.
class Pacer {
 public:
  static constexpr Time kGrain = Time::us(20);
  /// Takes what a file has, at now(), inside an entry of key kInputKey; false when there will never be more.
  using Reader = Callback<bool()>;

  explicit Pacer(Scheduler& scheduler, Time grain = kGrain) : scheduler_(scheduler), grain_(grain) {}
  Pacer(const Pacer&) = delete;
  Pacer& operator=(const Pacer&) = delete;

  /// file: a descriptor that poll() accepts and that stays open.
  void watch(int file, Reader reader);
  /// Ties now() to this moment of wall time. Call it before run_until() or inside an entry.
  void start();
  /// Simulated time stood still for `pause` on purpose: the pacer does not catch up with it.
  void forgive(std::chrono::nanoseconds pause) { start_ += pause; }

 private:
  void look();
  void deliver();
  void sleep_until(Time simulated);
  Time wall() const;

  Scheduler& scheduler_;
  Time grain_;
  std::chrono::steady_clock::time_point start_;
  Time start_simulated_;
  std::vector<pollfd> files_;
  std::vector<Reader> readers_;
};

}  // namespace sluice::base
