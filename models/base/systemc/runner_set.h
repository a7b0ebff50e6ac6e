// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A set of a group's runners, by their places.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::base {

class RunnerSet {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  /// Makes room for one more place. All sets that are united must have the same room.
  void grow(std::size_t places) { words_.resize((places + 63) / 64); }
  void put(std::size_t place, bool in) {
    const std::uint64_t bit = std::uint64_t{1} << place % 64;
    words_[place / 64] = in ? words_[place / 64] | bit : words_[place / 64] & ~bit;
  }
  /// The lowest place; kNone: the set is empty.
  std::size_t first() const {
    for (std::size_t n = 0; n < words_.size(); ++n)
      if (words_[n] != 0) return 64 * n + static_cast<std::size_t>(std::countr_zero(words_[n]));
    return kNone;
  }
  bool empty() const { return first() == kNone; }
  void assign_union(const RunnerSet& a, const RunnerSet& b) {
    for (std::size_t n = 0; n < words_.size(); ++n) words_[n] = a.words_[n] | b.words_[n];
  }
  /// Calls f(place) in ascending order until it returns false. Returns whether it never has.
  template <class F>
  bool all(F&& f) const {
    for (std::size_t n = 0; n < words_.size(); ++n)
      for (std::uint64_t word = words_[n]; word != 0; word &= word - 1)
        if (!f(64 * n + static_cast<std::size_t>(std::countr_zero(word)))) return false;
    return true;
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace sluice::base
