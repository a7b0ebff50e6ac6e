// SPDX-License-Identifier: Apache-2.0
#pragma once
/// States of an instruction window that have been seen, and what runs made of them. A run whose accesses all hit takes
/// the same time whenever the window is in the same state: it is then looked up and not executed again (memoisation as
/// in Schnarr and Larus, "Fast Out-Of-Order Processor Simulation Using Memoization", ASPLOS 1998). Results are the same
/// with and without.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/riscv/iss/timing_counters.h"

namespace sluice::riscv {

class WindowMemo {
 public:
  using Id = std::uint32_t;
  static constexpr Id kNone = ~Id{0};

  /// What the time of a run depends on beside the state that it begins in: see window_recall.cpp.
  struct Key {
    using Loads = std::array<std::uint64_t, 3>;
    static constexpr std::uint64_t kHasLoads = std::uint64_t{1} << 63;  ///< in `step`: `loads` matters
    std::uint64_t step;
    Loads loads;
  };
  using Lost = std::array<std::uint32_t, kLosses>;
  /// What a run does.
  struct Effect {
    Id next = kNone;              ///< state behind it
    std::uint32_t cycles = 0;     ///< from the next dispatch before it to the one behind it
    std::uint32_t lost = 0;       ///< see count_lost()
    std::uint16_t stores = 0;     ///< the next state's
    std::uint16_t forwarded = 0;  ///< TimingCounters
  };
  /// A state. Cycles in it count from the one of the next dispatch.
  struct Known {
    std::uint64_t hash;
    std::uint32_t begin, size;  ///< of its numbers
    std::int32_t retired;       ///< cycle in which the last instruction retires
    std::uint16_t stores;       ///< entries of StoreForwarding that are not written
    std::uint16_t dispatched;
  };

  /// The state with these numbers, which may be new. `known`: its other members.
  Id intern(std::span<const std::uint16_t> numbers, Known known);
  const Known& operator[](Id id) const { return states_[id]; }
  const std::uint16_t* numbers(Id id) const { return numbers_.data() + states_[id].begin; }
  const Effect* find(Id state, const Key& key) const {
    const Transition* t = &first_[state];
    while (t->step != key.step || (t->loads != kNone && differ(loads_[t->loads], key.loads))) {
      if (t->other == kNone) return nullptr;
      t = &others_[t->other];
    }
    return &t->effect;
  }
  /// From `state`, `effect` with these lost slots follows. Sets effect.stores and effect.lost.
  void add(Id state, const Key&, Effect, const Lost&);
  /// Adds the slots that were lost.
  void count_lost(const Effect& effect, std::array<std::uint64_t, kLosses>& lost) const {
    if (effect.lost == 0) return;
    const std::uint32_t cause = effect.lost >> kCauseShift, number = effect.lost & ((1u << kCauseShift) - 1);
    if (cause < kLosses) [[likely]]
      lost[cause] += number;
    else
      for (std::size_t n = 0; n < kLosses; ++n) lost[n] += lost_[number][n];
  }
  /// Whether memory should be freed by clear(), which forgets everything.
  bool full() const;
  void clear();

 private:
  /// Effect::lost: the cause, and how many slots; or kSeveral, and the index in lost_.
  static constexpr unsigned kCauseShift = 28, kSeveral = 15;
  static_assert(kLosses <= kSeveral);
  static constexpr std::uint64_t kNoStep = 0;  ///< no run has this number
  struct Transition {
    std::uint64_t step = kNoStep;
    Effect effect;
    Id other = kNone;  ///< from the same state
    Id loads = kNone;  ///< Key::loads, if they matter
  };
  static_assert(sizeof(Transition) == 32);
  static bool differ(const Key::Loads& a, const Key::Loads& b) {
    return ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2])) != 0;
  }
  void grow();

  std::vector<Known> states_;
  std::vector<std::uint16_t> numbers_;
  std::vector<Transition> first_;   ///< of each state
  std::vector<Transition> others_;  ///< further ones
  std::vector<Key::Loads> loads_;
  std::vector<Lost> lost_;
  std::vector<Id> table_;  ///< states by hash
};

}  // namespace sluice::riscv
