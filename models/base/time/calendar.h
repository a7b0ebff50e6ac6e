// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The one ordered list of everything that models will do: entries, totally ordered by time, then by the stable key of
/// the component that made them, then by the order in which they were made. Plain C++.

#include <array>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "models/base/time/callback.h"
#include "models/base/time/time.h"

namespace sluice::base {

/// Orders simultaneous entries: path_key(instance path), so that adding a component changes no other's order.
using ComponentKey = std::uint64_t;

class Calendar {
 public:
  using Action = Callback<void()>;
  /// Names one entry, to cancel it. A default-made handle names none.
  struct Handle {
    std::uint32_t node = ~0u;
    std::uint32_t generation = 0;
  };

  /// Makes an entry; an Action must be constructible from `action`. A time before now() is a program error: the entry
  /// is counted in late() and takes place now.
  template <class F>
  Handle at(Time when, ComponentKey key, F&& action) {
    const std::uint32_t n = take_node();
    node(n).action.emplace(std::forward<F>(action));
    return insert(when, key, n);
  }
  template <class F>
  Handle after(Time delay, ComponentKey key, F&& action) {
    return at(now_ + delay, key, std::forward<F>(action));
  }
  /// Removes an entry that has not been dispatched; false when there is none. Clears the handle.
  bool cancel(Handle& handle);
  bool pending(const Handle& handle) const {
    return handle.node < made_ && node(handle.node).generation == handle.generation;
  }

  std::size_t size() const { return near_count_ + far_.size(); }
  /// Time of the first entry; Time::max() when there is none.
  Time next() const { return next_; }
  /// Dispatches the first entry, at its time.
  void dispatch();

  /// Time of the calendar entry that runs, or the local time of the hart that runs. Builds without NDEBUG abort when
  /// now() is read while a hart executes without having set it: the hart's local time has moved on.
  Time now() const {
#ifndef NDEBUG
    if (stale_) stale();
#endif
    return now_;
  }
  void set_now(Time t) {
    now_ = t;
    stale_ = false;
  }
  /// From here on a hart executes without setting now(): read now() again only after the next set_now().
  void leave_now() { stale_ = true; }

  /// Entries between two looks.
  static constexpr std::uint64_t kLookInterval = 1 << 20;
  /// Calls `look` with the key of the last entry after every kLookInterval entries, whether simulated time advances or
  /// not.
  void on_look(Callback<void(ComponentKey)> look) { look_ = std::move(look); }
  /// Key of the last entry whose action threw an exception.
  ComponentKey failed() const { return failed_; }

  std::uint64_t dispatched() const { return dispatched_; }
  std::uint64_t late() const { return late_; }
  /// The first entry that was made for a time in the past; valid where late() is not 0. A time that overflows 64 bits
  /// is past, too.
  struct Late {
    ComponentKey key = 0;
    Time when;
    Time made;
  };
  const Late& first_late() const { return first_late_; }
  void clear();

 private:
  static constexpr std::uint32_t kNear = 64;
  static constexpr std::uint32_t kChunk = 64;
  static constexpr std::uint32_t kNone = ~0u;
  static constexpr std::uint32_t kInNear = ~0u;

  struct Slot {
    Time when;
    ComponentKey key = 0;
    std::uint64_t sequence = 0;
    std::uint32_t node = 0;
    bool before(const Slot& o) const {
      if (when != o.when) return when < o.when;
      if (key != o.key) return key < o.key;
      return sequence < o.sequence;
    }
  };
  /// Does not move while its action runs, because the action may make entries.
  struct Node {
    Action action;
    std::uint32_t generation = 0;
    std::uint32_t place = 0;  ///< in far_, or kInNear; of a free node, the next free one
  };

  Node& node(std::uint32_t n) { return chunks_[n / kChunk][n % kChunk]; }
  const Node& node(std::uint32_t n) const { return chunks_[n / kChunk][n % kChunk]; }
  std::uint32_t take_node() {
    if (free_ == kNone) grow();
    const std::uint32_t n = free_;
    free_ = node(n).place;
    return n;
  }
  void release(std::uint32_t n) {
    node(n).place = free_;
    free_ = n;
  }
  [[noreturn]] static void stale();
  void grow();
  Handle insert(Time when, ComponentKey key, std::uint32_t n);
  void spill();
  void refill();
  void update_next() {
    if (near_count_ == 0 && !far_.empty()) refill();
    next_ = near_count_ == 0 ? Time::max() : near_[near_count_ - 1].when;
  }

  void far_place(std::size_t position, const Slot& slot) {
    far_[position] = slot;
    node(slot.node).place = static_cast<std::uint32_t>(position);
  }
  void far_push(const Slot& slot);
  void far_remove(std::size_t position);
  void sift_up(std::size_t position, Slot slot);
  void sift_down(std::size_t position, Slot slot);

  // near_ holds the earliest entries in descending order: its last one is next. A board has about a dozen, for which
  // sorted insertion is cheaper than a heap. All later entries are in a 4-ary heap.
  std::array<Slot, kNear> near_;
  std::uint32_t near_count_ = 0;  ///< 0 only while far_ is empty
  std::vector<Slot> far_;
  std::vector<std::unique_ptr<Node[]>> chunks_;
  std::uint32_t made_ = 0;
  std::uint32_t free_ = kNone;
  Time next_ = Time::max();
  Time now_;
  bool stale_ = false;
  std::uint64_t sequence_ = 0;
  std::uint64_t dispatched_ = 0;
  std::uint64_t late_ = 0;
  Late first_late_;
  Callback<void(ComponentKey)> look_;
  ComponentKey failed_ = 0;
};

/// The simulation's calendar: one process is one simulation.
extern Calendar the_calendar;
inline Calendar& calendar() { return the_calendar; }
inline Time now() { return the_calendar.now(); }

}  // namespace sluice::base
