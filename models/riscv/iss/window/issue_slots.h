// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Which ports are taken in which cycle, and how many instructions wait in the scheduler.

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace sluice::riscv {

class IssueSlots {
 public:
  /// size: of the scheduler.
  explicit IssueSlots(unsigned size) : size_(size), room_(size) {}

  /// How many more instructions the scheduler has room for, for all that is known.
  unsigned room() const { return room_; }
  /// Whether the scheduler is full for all that is known. make_room() then says when it is not.
  bool full() const { return room_ == 0; }
  /// The first cycle, at `cycle` or later, in which the scheduler has room: what was issued in an earlier cycle no
  /// longer waits.
  std::uint64_t make_room(std::uint64_t cycle);
  /// An instruction takes a place in the scheduler in the cycle `dispatched`. Takes the lowest free one of its ports in
  /// the first cycle, at `ready` or later, that has one. Returns the cycle.
  std::uint64_t issue(std::uint64_t dispatched, std::uint64_t ready, std::uint16_t ports) {
    if (ready >= end_) [[unlikely]] {
      count_before(dispatched);
      if (ready >= end_) return issue_far(ready);
    }
    --room_;
    std::uint32_t free = ports & ~cycles_[ready % kCycles];
    if (free == 0) {
      ready = next_free(ready, ports);
      free = ports & ~cycles_[ready % kCycles];
    }
    std::uint32_t& entry = cycles_[ready % kCycles];
    entry = (entry | (free & (0 - free))) + kIssued;
    return ready;
  }
  /// No later instruction is dispatched before this cycle: what was issued before it need not be known any more.
  void forget(std::uint64_t cycle);

  /// What is issued in a cycle.
  struct Issued {
    std::uint16_t ports, count;  ///< taken; instructions
  };
  /// Whether some are issued so late that tell() does not know them.
  bool far() const { return !far_.empty(); }
  /// How many wait in the scheduler, from the cycle of the last forget() on.
  unsigned waiting() const { return size_ - room_; }
  /// After forget(cycle): tells function(n, issued) what is issued n cycles later, in this order, where anything is.
  template <typename Function>
  void tell(Function function) const {
    std::uint64_t cycle = counted_;
    for (unsigned left = waiting(); left != 0; ++cycle) {
      cycle = next_used(cycle);
      const std::uint32_t entry = cycles_[cycle % kCycles];
      left -= entry / kIssued;
      function(static_cast<unsigned>(cycle - counted_),
               Issued{static_cast<std::uint16_t>(entry), static_cast<std::uint16_t>(entry / kIssued)});
    }
  }
  /// Starts anew: nothing waits, and this cycle is the first that is known.
  void restart(std::uint64_t cycle);
  /// This is issued so many cycles after the one of restart().
  void put(unsigned after, Issued issued) {
    const std::uint64_t cycle = counted_ + after;
    cycles_[cycle % kCycles] = issued.ports | issued.count * kIssued;
    room_ -= issued.count;
  }

 private:
  static constexpr std::uint64_t kCycles = 4096;
  static constexpr std::uint64_t kMargin = 1024;  ///< at most so many instructions can be before one in its ports' way
  static constexpr std::uint32_t kIssued = 0x10000;

  /// The first cycle behind this one, in which all of these ports are taken, that has one free.
  std::uint64_t next_free(std::uint64_t cycle, std::uint16_t ports) {
    Taken& known = taken_[ports % taken_.size()];
    if (known.ports != ports || cycle < known.from || cycle >= known.to) known = {cycle, cycle + 1, ports};
    while ((ports & ~cycles_[known.to % kCycles]) == 0) ++known.to;
    return known.to;
  }
  /// An instruction that is ready so late that its cycle has no place yet finds its port free.
  std::uint64_t issue_far(std::uint64_t cycle);
  void count_before(std::uint64_t cycle);
  /// The first cycle from this one on in which something is issued. There is one.
  std::uint64_t next_used(std::uint64_t cycle) const {
    while (cycles_[cycle % kCycles] == 0) ++cycle;
    return cycle;
  }

  /// Cycles in which all of these ports are taken, and stay so.
  struct Taken {
    std::uint64_t from = 0, to = 0;
    std::uint16_t ports = 0;
  };

  const unsigned size_;
  unsigned room_;
  std::uint64_t counted_ = 0;  ///< the places of those issued in earlier cycles are free again
  std::uint64_t end_ = kCycles - kMargin;
  std::array<std::uint32_t, kCycles> cycles_{};  ///< from counted_ on: ports, and kIssued times their number
  std::array<Taken, 61> taken_;     ///< by ports, of which the sets in use have different remainders for the most part
  std::vector<std::uint64_t> far_;  ///< heap of the cycles of those that are issued very late
};

}  // namespace sluice::riscv
