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
    std::array<std::uint64_t, 4> words{};
    bool operator==(const Key& k) const {
      return ((words[0] ^ k.words[0]) | (words[1] ^ k.words[1]) | (words[2] ^ k.words[2]) | (words[3] ^ k.words[3])) ==
             0;
    }
  };
  using Lost = std::array<std::uint32_t, kLosses>;
  /// What a run does.
  struct Effect {
    Id next = kNone;              ///< state behind it
    std::uint32_t cycles = 0;     ///< from the next dispatch before it to the one behind it
    std::uint16_t stores = 0;     ///< the next state's
    std::uint16_t forwarded = 0;  ///< TimingCounters
    Id lost = kNone;              ///< see lost(); kNone: nothing
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
  const Lost& lost(Id id) const { return lost_[id]; }
  const Effect* find(Id state, const Key& key) const {
    for (Id id = first_[state]; id != kNone; id = transitions_[id].other)
      if (transitions_[id].key == key) return &transitions_[id].effect;
    return nullptr;
  }
  /// From `state`, `effect` with these lost slots follows. Sets effect.stores and effect.lost.
  void add(Id state, const Key&, Effect, const Lost&);
  /// Whether memory should be freed by clear(), which forgets everything.
  bool full() const;
  void clear();

 private:
  struct Transition {
    Key key;
    Effect effect;
    Id other;  ///< from the same state
  };
  void grow();

  std::vector<Known> states_;
  std::vector<Id> first_;  ///< of each state's transitions
  std::vector<std::uint16_t> numbers_;
  std::vector<Transition> transitions_;
  std::vector<Lost> lost_;
  std::vector<Id> table_;  ///< states by hash
};

}  // namespace sluice::riscv
