// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/window/issue_slots.h"

#include <utility>

namespace sluice::riscv {

void IssueSlots::count_before(std::uint64_t cycle) {
  if (cycle <= counted_) return;
  for (; !far_.empty() && far_.front() < cycle; far_.pop_back(), ++room_)
    std::pop_heap(far_.begin(), far_.end(), std::greater<>());
  // Those that are issued in a cycle do not wait in the next one.
  const unsigned all = size_ - static_cast<unsigned>(far_.size());
  for (std::uint64_t c = counted_; room_ != all && c < cycle; ++c)
    room_ += std::exchange(cycles_[c % kCycles], 0) / kIssued;
  counted_ = cycle;
  end_ = counted_ + (kCycles - kMargin);
}

std::uint64_t IssueSlots::make_room(std::uint64_t cycle) {
  count_before(cycle);
  if (room_ != 0) return counted_;
  std::uint64_t first = far_.empty() ? ~std::uint64_t{0} : far_.front();
  if (waiting() > far_.size()) first = std::min(first, next_used(counted_));
  count_before(first + 1);
  return counted_;
}

std::uint64_t IssueSlots::issue_far(std::uint64_t cycle) {
  --room_;
  far_.push_back(cycle);
  std::push_heap(far_.begin(), far_.end(), std::greater<>());
  return cycle;
}

void IssueSlots::forget(std::uint64_t cycle) { count_before(cycle); }

void IssueSlots::restart(std::uint64_t cycle) {
  room_ += static_cast<unsigned>(far_.size());
  far_.clear();
  for (std::uint64_t c = counted_; room_ != size_; ++c) room_ += std::exchange(cycles_[c % kCycles], 0) / kIssued;
  counted_ = cycle;
  end_ = counted_ + (kCycles - kMargin);
  taken_.fill({});
}

}  // namespace sluice::riscv
