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

  /// Whether the scheduler is full for all that is known. make_room() then says when it is not.
  bool full() const { return room_ == 0; }
  /// The first cycle, at `cycle` or later, in which the scheduler has room: what was issued in an earlier cycle no
  /// longer waits.
  std::uint64_t make_room(std::uint64_t cycle);
  /// An instruction takes a place in the scheduler in the cycle `dispatched`. Takes the lowest free one of its ports in
  /// the first cycle, at `ready` or later, that has one. Returns the cycle.
  std::uint64_t issue(std::uint64_t dispatched, std::uint64_t ready, std::uint16_t ports) {
    --room_;
    if (ready >= end_) [[unlikely]] {
      count_before(dispatched);
      if (ready >= end_) return issue_far(ready);
    }
    for (std::uint64_t cycle = ready;; ++cycle) {
      std::uint32_t& entry = cycles_[cycle % kCycles];
      const std::uint32_t free = ports & ~entry;
      if (free == 0) continue;
      entry = (entry | (free & (0 - free))) + kIssued;
      return cycle;
    }
  }
  /// No later instruction is dispatched before this cycle: what was issued before it need not be known any more.
  void forget(std::uint64_t cycle);

 private:
  static constexpr std::uint64_t kCycles = 4096;
  static constexpr std::uint64_t kMargin = 1024;  ///< at most so many instructions can be before one in its ports' way
  static constexpr std::uint32_t kIssued = 0x10000;

  /// An instruction that is ready so late that its cycle has no place yet finds its port free.
  std::uint64_t issue_far(std::uint64_t cycle);
  void count_before(std::uint64_t cycle) {
    while (counted_ < cycle && room_ != size_) count_next();
    if (counted_ >= cycle) return;
    counted_ = cycle;  // nothing waits
    end_ = counted_ + (kCycles - kMargin);
  }
  void count_next();

  const unsigned size_;
  unsigned room_;
  std::uint64_t counted_ = 0;  ///< the places of those issued in earlier cycles are free again
  std::uint64_t end_ = kCycles - kMargin;
  std::array<std::uint32_t, kCycles> cycles_{};  ///< from counted_ on: ports, and kIssued times their number
  std::vector<std::uint64_t> far_;               ///< heap of the cycles of those that are issued very late
};

}  // namespace sluice::riscv
