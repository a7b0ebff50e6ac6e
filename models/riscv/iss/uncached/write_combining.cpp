// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/uncached/write_combining.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sluice::riscv {

std::size_t WriteCombining::find(std::uint64_t block) const {
  const auto found = std::find_if(open_.begin(), open_.end(), [&](const Buffer& b) { return b.block == block; });
  return static_cast<std::size_t>(found - open_.begin());
}

WriteCombining::Outlook WriteCombining::look_ahead(std::uint64_t address, unsigned size) const {
  const std::size_t index = find(block_of(address));
  const Buffer* const b = index < open_.size() ? &open_[index] : nullptr;
  std::size_t written = b ? b->written.count() : 0;
  const auto offset = static_cast<unsigned>(address - block_of(address));
  for (unsigned n = offset; n < offset + size; ++n) written += !(b && b->written[n]);
  return {b != nullptr, shape_.buffers == 0 || written == shape_.bytes};
}

std::uint64_t WriteCombining::free_from(std::uint64_t slot) const {
  std::vector<std::uint64_t> busy;
  for (const std::uint64_t free : draining_)
    if (free > slot) busy.push_back(free);
  const std::size_t places = shape_.buffers - open_.size();
  if (busy.size() < places) return slot;
  // All but `places` - 1 of them must be free.
  const auto nth = busy.begin() + static_cast<std::ptrdiff_t>(busy.size() - places);
  std::nth_element(busy.begin(), nth, busy.end());
  return *nth;
}

void WriteCombining::store(std::uint64_t address, base::GuestRam* ram, const void* data, unsigned size) {
  const std::uint64_t block = block_of(address);
  const std::size_t index = find(block);
  if (index == open_.size()) open_.push_back({block, ram, {}, {}});
  Buffer& b = open_[index];
  const auto offset = static_cast<unsigned>(address - block);
  std::memcpy(b.bytes.data() + offset, data, size);
  for (unsigned n = offset; n < offset + size; ++n) b.written.set(n);
}

WriteCombining::Buffer WriteCombining::take_at(std::size_t index) {
  const Buffer b = open_[index];
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(index));
  return b;
}

void WriteCombining::drained(std::uint64_t slot) {
  if (shape_.buffers == 0) return;
  // The list has one entry for each buffer; the earliest is the one that has been reused.
  if (draining_.size() < shape_.buffers) return draining_.push_back(slot);
  *std::min_element(draining_.begin(), draining_.end()) = slot;
}

WriteCombining::Run WriteCombining::next_run(const Buffer& b, unsigned from) const {
  while (from < shape_.bytes && !b.written[from]) ++from;
  unsigned end = from;
  while (end < shape_.bytes && b.written[end]) ++end;
  return {from, end - from};
}

}  // namespace sluice::riscv
