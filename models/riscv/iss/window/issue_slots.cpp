// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/window/issue_slots.h"

namespace sluice::riscv {

/// Those that are issued in the cycle counted_ do not wait in the next one.
void IssueSlots::count_next() {
  std::uint32_t& entry = cycles_[counted_ % kCycles];
  room_ += entry / kIssued;
  entry = 0;
  for (; !far_.empty() && far_.front() == counted_; far_.pop_back(), ++room_)
    std::pop_heap(far_.begin(), far_.end(), std::greater<>());
  ++counted_;
  end_ = counted_ + (kCycles - kMargin);
}

std::uint64_t IssueSlots::make_room(std::uint64_t cycle) {
  count_before(cycle);
  while (room_ == 0) count_next();
  return counted_;
}

std::uint64_t IssueSlots::issue_far(std::uint64_t cycle) {
  far_.push_back(cycle);
  std::push_heap(far_.begin(), far_.end(), std::greater<>());
  return cycle;
}

void IssueSlots::forget(std::uint64_t cycle) { count_before(cycle); }

}  // namespace sluice::riscv
