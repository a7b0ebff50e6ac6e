// SPDX-License-Identifier: Apache-2.0
#include "models/coherence/lines/hart_lines.h"

namespace sluice::coherence {

HartLines::Line& HartLines::add(std::uint64_t address) {
  Line& line = lines_[address];
  line.address = address;
  line.used = ++uses_;
  ++held_;
  return line;
}

HartLines::Line* HartLines::to_evict() {
  Line* oldest = nullptr;
  for (auto& [address, line] : lines_)
    if (line.state.may_evict() && (!oldest || line.used < oldest->used)) oldest = &line;
  return oldest;
}

void HartLines::move_out(Line& line) {
  line.is_leaving = true;
  --held_;
}

void HartLines::remove(const Line& line) {
  Line*& recent = recent_[(line.address >> shift_) % kRecent];
  if (recent == &line) recent = nullptr;
  if (!line.is_leaving) --held_;
  lines_.erase(lines_.find(line.address));
}

void HartLines::clear() {
  lines_.clear();
  recent_ = {};
  held_ = 0;
}

}  // namespace sluice::coherence
