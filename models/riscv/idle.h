// SPDX-License-Identifier: Apache-2.0
#pragma once
/// How deeply a hart sleeps in wfi, and what it costs to wake it.

#include <cstdint>
#include <optional>
#include <vector>

#include "models/base/parameters/schema.h"
#include "models/base/time/time.h"

namespace sluice::riscv {

/// The states follow each other in the time that a hart idles. Without states, or before the first one, wfi ends at
/// once.
struct IdleStates {
  std::vector<base::Time> exit_latency;
  std::vector<base::Time> enter_after;
  base::Time wrs_exit_latency;
  static void describe(base::Schema<IdleStates>&);
};

/// Where a hart's time in wfi went, in issue slots.
struct IdleUse {
  struct State {
    std::uint64_t entered = 0;
    std::uint64_t slots = 0;
  };
  std::uint64_t before = 0;   ///< before the first state
  std::vector<State> states;  ///< as IdleStates
  std::uint64_t leaving = 0;  ///< exit latencies
  /// What was used since `start`.
  IdleUse operator-(const IdleUse& start) const;
};

/// One hart's sleeps in wfi: at most one at a time.
class IdleLog {
 public:
  IdleLog(const IdleStates&, const base::Clock& slots);

  void fall_asleep(std::uint64_t slot) { asleep_since_ = slot; }
  /// Ends the sleep. Returns the exit latency of the state in force in this slot.
  base::Time wake(std::uint64_t slot);
  /// The hart leaves its state from this slot on, until left().
  void leave(std::uint64_t slot) { leaving_since_ = slot; }
  void left(std::uint64_t slot);
  IdleUse use(std::uint64_t until) const;

 private:
  void add_sleep(IdleUse&, std::uint64_t from, std::uint64_t until) const;

  std::vector<base::Time> exit_latency_;
  std::vector<std::uint64_t> enter_after_;  ///< slots
  IdleUse ended_;
  std::optional<std::uint64_t> asleep_since_, leaving_since_;
};

}  // namespace sluice::riscv
