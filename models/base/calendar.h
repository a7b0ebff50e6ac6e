#pragma once
/// The one ordered list of everything that models will do: entries, totally ordered by time, then by the stable key of
/// the component that made them, then by the order in which they were made. Plain C++.

#include <cstdint>
#include <vector>

#include "models/base/callback.h"
#include "models/base/time.h"

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

  /// Makes an entry. A time before now() is a program error: it is counted in late() and takes place now.
  Handle at(Time when, ComponentKey key, Action action);
  Handle after(Time delay, ComponentKey key, Action action) { return at(now_ + delay, key, std::move(action)); }
  /// Removes an entry that has not been dispatched; false when there is none. Clears the handle.
  bool cancel(Handle& handle);
  bool pending(const Handle& handle) const;

  /// Time of the first entry; Time::max() when there is none.
  Time next() const { return heap_.empty() ? Time::max() : heap_.front().when; }
  /// Dispatches the first entry, at its time.
  void dispatch();

  /// The time at which whoever runs now is: an entry's, or a core's own.
  Time now() const { return now_; }
  void set_now(Time t) { now_ = t; }

  std::uint64_t dispatched() const { return dispatched_; }
  std::uint64_t late() const { return late_; }
  void clear();

 private:
  struct Slot {
    Time when;
    ComponentKey key;
    std::uint64_t sequence;
    std::uint32_t node;
    bool before(const Slot& o) const {
      if (when != o.when) return when < o.when;
      if (key != o.key) return key < o.key;
      return sequence < o.sequence;
    }
  };
  struct Node {
    Action action;
    std::uint32_t generation = 0;
    std::uint32_t position = 0;  ///< in heap_
  };

  void place(std::size_t position, const Slot& slot) {
    heap_[position] = slot;
    nodes_[slot.node].position = static_cast<std::uint32_t>(position);
  }
  void sift_up(std::size_t position, Slot slot);
  void sift_down(std::size_t position, Slot slot);
  void remove(std::size_t position);
  void release(std::uint32_t node);

  std::vector<Slot> heap_;  ///< 4-ary
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> free_;
  Time now_;
  std::uint64_t sequence_ = 0;
  std::uint64_t dispatched_ = 0;
  std::uint64_t late_ = 0;
};

/// The simulation's calendar: one process is one simulation.
extern Calendar the_calendar;
inline Calendar& calendar() { return the_calendar; }
inline Time now() { return the_calendar.now(); }

}  // namespace sluice::base
