// SPDX-License-Identifier: Apache-2.0
#include "models/base/memory/line_state.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace sluice::base {
namespace {

/// Moves set[0 .. n) back by one entry, over set[n], and puts `entry` in front.
void put_in_front(std::uint64_t* set, unsigned n, std::uint64_t entry) {
  for (unsigned w = n; w > 0; --w) set[w] = set[w - 1];
  set[0] = entry;
}

}  // namespace

LineState::LineState(std::uint64_t size, unsigned ways, unsigned line)
    : ways_(ways),
      line_shift_(static_cast<unsigned>(std::countr_zero(line))),
      line_mask_(~std::uint64_t{line - 1}),
      sets_(size / ways / line),
      count_(size / line),
      entries_(static_cast<Entry*>(std::calloc(count_ + 1, sizeof(Entry)))) {
  if (!entries_) throw std::bad_alloc();
  const bool has_mask = std::has_single_bit(sets_);
  masked_sets_ = entries_.get() + (has_mask ? 0 : count_);
  if (has_mask) {
    set_mask_ = sets_ - 1;
    return;
  }
  // 2^shift < sets < 2^(shift + 1), so the reciprocal has 64 bits. By rounding, reciprocal x sets is more than
  // 2^(64 + shift) by less than 2^(shift + 1): too little to change the quotient of a number below 2^63.
  reciprocal_shift_ = static_cast<unsigned>(std::bit_width(sets_)) - 1;
  reciprocal_ = static_cast<std::uint64_t>((static_cast<unsigned __int128>(1) << (64 + reciprocal_shift_)) / sets_) + 1;
}

/// The set of a line is its number modulo the sets.
LineState::Entry* LineState::set_of(std::uint64_t address) const {
  const std::uint64_t number = address >> line_shift_;
  if (reciprocal_ == 0) return &entries_[(number & set_mask_) * ways_];
  const auto high = static_cast<std::uint64_t>(static_cast<unsigned __int128>(number) * reciprocal_ >> 64);
  return &entries_[(number - (high >> reciprocal_shift_) * sets_) * ways_];
}

/// The way that holds a line, from way `w` on; ways_ when none does.
unsigned LineState::find(const Entry* set, std::uint64_t line, unsigned w) const {
  while (w < ways_ && !holds(set[w], line)) ++w;
  return w;
}

bool LineState::hit_further(Entry* set, std::uint64_t line, bool write) {
  unsigned w = 1;
  if (reciprocal_ != 0) {
    set = set_of(line);
    w = 0;
  }
  for (; w < ways_; ++w) {
    if (!holds(set[w], line)) continue;
    put_in_front(set, w, set[w]);
    return touch(set[0], write);
  }
  return false;
}

LineState::State LineState::state(std::uint64_t address) const {
  const Entry* set = set_of(address);
  const unsigned w = find(set, line_of(address));
  return w < ways_ ? state_of(set[w]) : kInvalid;
}

LineState::Line LineState::fill(std::uint64_t address, State state, unsigned most) {
  Entry* set = set_of(address);
  const std::uint64_t line = line_of(address);
  if (most != 0) return fill_limited(set, line, state, most);
  // One pass: each entry moves one back, up to the line itself, an empty entry or the end.
  Entry entry = line | state;
#pragma GCC unroll 4
  for (unsigned w = 0; w < ways_; ++w) {
    const Entry was = std::exchange(set[w], entry);
    if (holds(was, line)) {
      set[0] |= was & kLimited;
      return {};
    }
    if (was == 0) return {};
    entry = was;
  }
  ++removals_;
  return {line_of(entry), state_of(entry)};
}

LineState::Line LineState::fill_limited(Entry* set, std::uint64_t line, State state, unsigned most) {
  const unsigned present = find(set, line);
  if (present < ways_) {
    put_in_front(set, present, line | state | (set[present] & kLimited));
    return {};
  }
  unsigned limited = 0, last = 0, w = 0;
  for (; w < ways_ && set[w] != 0; ++w)
    if (set[w] & kLimited) ++limited, last = w;
  if (limited < most) last = std::min(w, ways_ - 1);
  const Entry out = set[last];
  ++removals_;
  put_in_front(set, last, line | state | kLimited);
  return {line_of(out), state_of(out)};
}

LineState::State LineState::downgrade(std::uint64_t address, State to) {
  Entry* set = set_of(address);
  const unsigned w = find(set, line_of(address));
  if (w == ways_) return kInvalid;
  const State was = state_of(set[w]);
  if (was > to) ++removals_;
  if (to == kInvalid) {
    std::copy(set + w + 1, set + ways_, set + w);
    set[ways_ - 1] = 0;
  } else {
    set[w] = line_of(set[w]) | (set[w] & kLimited) | std::min(was, to);
  }
  return was;
}

void LineState::clear() {
  ++removals_;
  std::fill_n(entries_.get(), count_, Entry{0});
}

}  // namespace sluice::base
