#include "models/base/line_state.h"

#include <algorithm>
#include <bit>

namespace sluice::base {

LineState::LineState(std::uint64_t size, unsigned ways, unsigned line)
    : ways_(ways),
      line_shift_(static_cast<unsigned>(std::countr_zero(line))),
      set_mask_(size / ways / line - 1),
      lines_(size / line) {}

bool LineState::hit_further(Line* set, std::uint64_t line, bool write) {
  for (unsigned w = 1; w < ways_; ++w) {
    if (set[w].address != line) continue;
    std::rotate(set, set + w, set + w + 1);
    return touch(set[0], write);
  }
  return false;
}

LineState::State LineState::state(std::uint64_t address) const {
  const Line* set = set_of(address);
  for (unsigned w = 0; w < ways_; ++w)
    if (set[w].address == line_of(address)) return set[w].state;
  return kInvalid;
}

LineState::Line LineState::fill(std::uint64_t address, State state, unsigned least_recent) {
  Line* set = set_of(address);
  const std::uint64_t line = line_of(address);
  unsigned w = 0;
  while (w < ways_ && set[w].address != line) ++w;
  if (w < ways_) {
    std::rotate(set, set + w, set + w + 1);
    set[0] = {line, state};
    return {};
  }
  const unsigned first = least_recent == 0 || least_recent > ways_ ? 0 : ways_ - least_recent;
  for (w = first; w + 1 < ways_ && set[w].state != kInvalid;) ++w;
  const Line out = set[w];
  std::rotate(set + first, set + w, set + w + 1);
  set[first] = {line, state};
  return out;
}

LineState::State LineState::downgrade(std::uint64_t address, State to) {
  Line* set = set_of(address);
  for (unsigned w = 0; w < ways_; ++w) {
    if (set[w].address != line_of(address)) continue;
    const State was = set[w].state;
    if (to == kInvalid) {
      std::rotate(set + w, set + w + 1, set + ways_);
      set[ways_ - 1] = Line{};
    } else {
      set[w].state = std::min(was, to);
    }
    return was;
  }
  return kInvalid;
}

void LineState::clear() { std::fill(lines_.begin(), lines_.end(), Line{}); }

}  // namespace sluice::base
