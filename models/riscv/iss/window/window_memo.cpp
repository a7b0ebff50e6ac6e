// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/window/window_memo.h"

#include <algorithm>
#include <cstring>

namespace sluice::riscv {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;

std::uint64_t hash_of(std::span<const std::uint16_t> numbers) {
  constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;
  // Two sums that a processor can work on at once.
  std::uint64_t hash = numbers.size(), other = kOdd;
  std::size_t n = 0;
  for (; n + 8 <= numbers.size(); n += 8) {
    std::array<std::uint64_t, 2> words;
    std::memcpy(words.data(), &numbers[n], 16);
    hash = (hash ^ words[0]) * kOdd;
    other = (other ^ words[1]) * kOdd;
    hash ^= hash >> 32;
    other ^= other >> 32;
  }
  for (; n < numbers.size(); ++n) hash = (hash ^ numbers[n]) * kOdd;
  hash = (hash ^ other >> 1) * kOdd;
  return hash ^ hash >> 32;
}

}  // namespace

WindowMemo::Id WindowMemo::intern(std::span<const std::uint16_t> numbers, Known known) {
  if (table_.size() < 2 * (states_.size() + 1)) grow();
  known.hash = hash_of(numbers);
  std::size_t at = known.hash & (table_.size() - 1);
  for (; table_[at] != kNone; at = (at + 1) & (table_.size() - 1)) {
    const Known& k = states_[table_[at]];
    if (k.hash == known.hash && k.size == numbers.size() &&
        std::equal(numbers.begin(), numbers.end(), numbers_.begin() + k.begin))
      return table_[at];
  }
  known.begin = static_cast<std::uint32_t>(numbers_.size());
  known.size = static_cast<std::uint32_t>(numbers.size());
  numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
  table_[at] = static_cast<Id>(states_.size());
  states_.push_back(known);
  first_.emplace_back();
  return table_[at];
}

void WindowMemo::grow() {
  table_.assign(std::max<std::size_t>(1024, 4 * table_.size()), kNone);
  for (Id id = 0; id < states_.size(); ++id) {
    if (states_[id].size == 0) continue;  // an event
    std::size_t at = states_[id].hash & (table_.size() - 1);
    while (table_[at] != kNone) at = (at + 1) & (table_.size() - 1);
    table_[at] = id;
  }
}

bool WindowMemo::differ_further(const Key::Loads& a, const Key::Loads& b) { return a[1] != b[1] || a[2] != b[2]; }

void WindowMemo::add(Id state, const Key& key, Effect effect, unsigned forwarded, const Lost& lost) {
  effect.stores = states_[effect.next].stores;
  const auto causes = static_cast<std::size_t>(std::count_if(lost.begin(), lost.end(), [](auto n) { return n != 0; }));
  const auto* const most = std::max_element(lost.begin(), lost.end());
  if (causes <= 1 && *most >> kNumberBits == 0) {
    effect.counts = static_cast<std::uint32_t>(most - lost.begin()) << kCauseShift | *most << kNumberShift;
  } else {
    effect.counts = kSeveral << kCauseShift | static_cast<std::uint32_t>(lost_.size()) << kNumberShift;
    lost_.push_back(lost);
  }
  effect.counts |= forwarded;
  add(state, key, effect);
}

void WindowMemo::add_event(Id state, const Key& key, std::uint32_t cycles) {
  Effect effect;
  effect.next = static_cast<Id>(states_.size());
  effect.cycles = cycles;
  states_.push_back({});
  first_.emplace_back();
  states_[effect.next].begin = add(state, key, effect);
}

/// Returns its place.
std::uint32_t WindowMemo::add(Id state, const Key& key, const Effect& effect) {
  Transition added{key.step, effect, kNone, kNone};
  if ((key.step & Key::kHasLoads) != 0) {
    added.loads = static_cast<Id>(loads_.size());
    loads_.push_back(key.loads);
  }
  Known& known = states_[state];
  if (known.size == 0 && ++known.followers == kMostFollowers) transition(known.begin).effect.counts = 1;
  if (first_[state].step == kNoStep) {
    first_[state] = added;
    return kFirst | state;
  }
  // Behind the others: those that come first are the more frequent ones.
  Transition* last = &first_[state];
  while (last->other != kNone) last = &others_[last->other];
  last->other = static_cast<Id>(others_.size());
  others_.push_back(added);
  return static_cast<std::uint32_t>(others_.size() - 1);
}

bool WindowMemo::full() const {
  return states_.size() * (sizeof(Known) + sizeof(Transition)) + numbers_.size() * sizeof(numbers_[0]) +
             others_.size() * sizeof(Transition) + loads_.size() * sizeof(Key::Loads) + lost_.size() * sizeof(Lost) >
         kMostBytes;
}

void WindowMemo::clear() {
  states_.clear();
  numbers_.clear();
  first_.clear();
  others_.clear();
  loads_.clear();
  lost_.clear();
  table_.clear();
}

}  // namespace sluice::riscv
