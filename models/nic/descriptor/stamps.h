// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Time stamps of sent frames: DESC_TX_STAMP_*.

#include <array>
#include <cstdint>

#include "models/base/time/calendar.h"
#include "models/nic/descriptor/descriptor_regs.h"

namespace sluice::nic {

class Stamps {
 public:
  explicit Stamps(base::ComponentKey key) : key_(key) {}

  /// Stamps an entry at `when`, which is not before now(): the time at which the frame's first bit after the SFD
  /// leaves.
  void take(unsigned entry, base::Time when);
  /// Bit n: entry n holds a stamp that software has not cleared.
  std::uint64_t ready() const { return ready_; }
  void clear(std::uint64_t entries) { ready_ &= ~entries; }
  /// The stamp of an entry; 0 while the entry is not ready.
  std::uint64_t nanoseconds(unsigned entry) const { return ready_ >> entry & 1 ? entries_[entry] : 0; }
  /// Cancels all pending stamps.
  void carrier_lost() { ++generation_; }
  /// Clears all stamps, and cancels the pending ones.
  void reset();

 private:
  base::ComponentKey key_;
  std::array<std::uint64_t, DESC_TX_STAMPS> entries_{};
  std::uint64_t ready_ = 0;
  std::uint32_t generation_ = 0;
};

}  // namespace sluice::nic
