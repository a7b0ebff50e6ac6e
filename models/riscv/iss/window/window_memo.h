// SPDX-License-Identifier: Apache-2.0
#pragma once
/// States of an instruction window that have been seen, and what runs made of them. A run whose accesses all hit takes
/// the same time whenever the window is in the same state: it is then looked up and not executed again (memoisation as
/// in Schnarr and Larus, "Fast Out-Of-Order Processor Simulation Using Memoization", ASPLOS 1998). An access that does
/// not hit is an event of the run: the time at which it asks for its line is the same, too, and what follows is
/// remembered for each time that the line takes. Results are the same with and without.

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
    // In `step`: the run's number, the first instruction, and the rest.
    static constexpr unsigned kFirstShift = 32, kEndShift = 40, kLinesShift = 51, kEventShift = 55;
    static constexpr std::uint64_t kTransfers = std::uint64_t{1} << 48, kTaken = kTransfers << 1, kRight = kTaken << 1;
    // Whether the first of `loads` matters, and whether the others may.
    static constexpr std::uint64_t kHasLoads = std::uint64_t{1} << 63, kHasManyLoads = std::uint64_t{1} << 62;
    /// The run goes on only to the instruction that kEventShift has.
    static constexpr std::uint64_t kEvent = std::uint64_t{1} << 61;
    static std::uint64_t step_of(std::uint32_t number, unsigned first, unsigned end, bool transfers) {
      return number | std::uint64_t{first} << kFirstShift | std::uint64_t{end} << kEndShift |
             (transfers ? kTransfers : 0);
    }
    /// taken, right: 0 or 1.
    static std::uint64_t outcome(std::uint64_t taken, std::uint64_t right) { return (taken + 2 * right) * kTaken; }
    std::uint64_t step;
    Loads loads;
  };
  using Lost = std::array<std::uint32_t, kLosses>;
  static constexpr unsigned kMostForwarded = 15;  ///< loads of a step
  /// What a run does.
  struct Effect {
    Id next = kNone;           ///< state behind it
    std::uint32_t cycles = 0;  ///< from the next dispatch before it to the one behind it
    std::uint32_t counts = 0;  ///< see count(), or of an event varies(); 0: nothing
    std::uint16_t stores = 0;  ///< the next state's
  };
  /// A state, whose cycles count from the one of the next dispatch; or an event, which has `followers` alone.
  struct Known {
    std::uint64_t hash;
    std::uint32_t begin, size;  ///< of its numbers. Of an event: the place of its transition, and 0
    std::int32_t retired;       ///< cycle in which the last instruction retires
    std::uint16_t stores;       ///< entries of StoreForwarding that are not written
    std::uint16_t dispatched;
    std::uint16_t followers;  ///< if this is an event: what is known to follow
  };

  /// The state with these numbers, which may be new. `known`: its other members.
  Id intern(std::span<const std::uint16_t> numbers, Known known);
  const Known& operator[](Id id) const { return states_[id]; }
  const std::uint16_t* numbers(Id id) const { return numbers_.data() + states_[id].begin; }
  const Effect* find(Id state, std::uint64_t step, const Key::Loads& loads) const {
    const Transition* t = &first_[state];
    while (t->step != step || (t->loads != kNone && differ(step, loads_[t->loads], loads))) {
      if (t->other == kNone) return nullptr;
      t = &others_[t->other];
    }
    return &t->effect;
  }
  /// From `state`, this effect follows, with so many forwarded loads and these lost slots. Sets effect.stores and
  /// effect.counts.
  void add(Id state, const Key&, Effect, unsigned forwarded, const Lost&);
  /// From `state`, the event that the key has begins so many cycles later. What follows depends on how long it takes,
  /// which the key that finds it has in place of the run's number. Events have no numbers.
  void add_event(Id state, const Key&, std::uint32_t cycles);
  /// Whether so much has followed on the event that something else is likely to be the next.
  static bool varies(const Effect& event) { return event.counts != 0; }
  /// Adds what the effect counts.
  void count(const Effect& effect, TimingCounters& counters) const {
    counters.forwarded += effect.counts & kMostForwarded;
    const std::uint32_t cause = effect.counts >> kCauseShift,
                        number = effect.counts >> kNumberShift & ((1u << kNumberBits) - 1);
    if (cause < kLosses) [[likely]]
      counters.lost[cause] += number;
    else
      for (std::size_t n = 0; n < kLosses; ++n) counters.lost[n] += lost_[number][n];
  }
  /// Whether memory should be freed by clear(), which forgets everything.
  bool full() const;
  void clear();

 private:
  // Effect::counts: 4 bits of the cause of lost slots, 24 of their number, and 4 of forwarded loads. The cause
  // kSeveral: the number is an index in lost_.
  static constexpr unsigned kCauseShift = 28, kNumberShift = 4, kNumberBits = 24, kSeveral = 15;
  static_assert(kLosses <= kSeveral);
  static constexpr std::uint64_t kNoStep = 0;     ///< no run has this number
  static constexpr unsigned kMostFollowers = 64;  ///< of an event. With as many it varies until clear()
  struct Transition {
    std::uint64_t step = kNoStep;
    Effect effect;
    Id other = kNone;  ///< from the same state
    Id loads = kNone;  ///< Key::loads, if they matter
  };
  static_assert(sizeof(Transition) == 32);
  static bool differ(std::uint64_t step, const Key::Loads& a, const Key::Loads& b) {
    return a[0] != b[0] || ((step & Key::kHasManyLoads) != 0 && differ_further(a, b));
  }
  static bool differ_further(const Key::Loads& a, const Key::Loads& b);
  // Places of transitions: in others_, or a state's first one.
  static constexpr std::uint32_t kFirst = 1u << 31;
  Transition& transition(std::uint32_t place) {
    return (place & kFirst) != 0 ? first_[place & ~kFirst] : others_[place];
  }
  std::uint32_t add(Id state, const Key&, const Effect&);
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
