// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/uncached/write_through.h"

#include <algorithm>

namespace sluice::riscv {

std::uint8_t* WriteThroughLines::find(std::uint64_t address) {
  const auto found = places_.find(line_of(address));
  if (found == places_.end()) return nullptr;
  lines_.splice(lines_.begin(), lines_, found->second);
  return &found->second->bytes[address - found->first];
}

std::uint8_t* WriteThroughLines::put(std::uint64_t line, const std::uint8_t* bytes) {
  if (lines_.size() == shape_.lines) {
    places_.erase(lines_.back().address);
    lines_.pop_back();
  }
  Line& added = lines_.emplace_front();
  added.address = line;
  std::copy_n(bytes, line_bytes_, added.bytes.begin());
  places_[line] = lines_.begin();
  return added.bytes.data();
}

void WriteThroughLines::drop(std::uint64_t line) {
  if (const auto coming = coming_.find(line); coming != coming_.end()) coming->second = true;
  const auto found = places_.find(line);
  if (found == places_.end()) return;
  lines_.erase(found->second);
  places_.erase(found);
}

void WriteThroughLines::clear() {
  for (auto& [line, is_stale] : coming_) is_stale = true;
  lines_.clear();
  places_.clear();
}

void WriteThroughLines::arrived(std::uint64_t line, const std::uint8_t* bytes) {
  const auto coming = coming_.extract(line);
  if (bytes && !coming.mapped() && !find(line)) put(line, bytes);
}

}  // namespace sluice::riscv
