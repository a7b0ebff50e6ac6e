// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/window/window_memo.h"

#include <algorithm>
#include <cstring>

namespace sluice::riscv {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20;

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
  first_.push_back(kNone);
  return table_[at];
}

void WindowMemo::grow() {
  table_.assign(std::max<std::size_t>(1024, 4 * table_.size()), kNone);
  for (Id id = 0; id < states_.size(); ++id) {
    std::size_t at = states_[id].hash & (table_.size() - 1);
    while (table_[at] != kNone) at = (at + 1) & (table_.size() - 1);
    table_[at] = id;
  }
}

void WindowMemo::add(Id state, const Key& key, Effect effect, const Lost& lost) {
  effect.stores = states_[effect.next].stores;
  if (lost != Lost{}) {
    effect.lost = static_cast<Id>(lost_.size());
    lost_.push_back(lost);
  }
  // Behind the others: those that come first are the more frequent ones.
  Id* link = &first_[state];
  while (*link != kNone) link = &transitions_[*link].other;
  *link = static_cast<Id>(transitions_.size());
  transitions_.push_back({key, effect, kNone});
}

bool WindowMemo::full() const {
  return states_.size() * (sizeof(Known) + sizeof(Id)) + numbers_.size() * sizeof(numbers_[0]) +
             transitions_.size() * sizeof(Transition) + lost_.size() * sizeof(Lost) >
         kMostBytes;
}

void WindowMemo::clear() {
  states_.clear();
  first_.clear();
  numbers_.clear();
  transitions_.clear();
  lost_.clear();
  table_.clear();
}

}  // namespace sluice::riscv
