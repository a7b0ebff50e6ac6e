// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Numbers drawn from a seed: the same on every host.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>

namespace sluice::differential {

/// SplitMix64. A generator per program, keyed by the batch's seed and the program's index.
class Draw {
 public:
  explicit Draw(std::uint64_t seed, std::uint64_t stream = 0) : state_(seed * 0xd134'2543'de82'ef95 + stream) {
    (*this)();
    state_ ^= stream << 32;
  }
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e37'79b9'7f4a'7c15;
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t n) { return (*this)() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  template <typename Range>
  const auto& from(const Range& range) {
    return *(std::begin(range) + static_cast<std::ptrdiff_t>(below(std::size(range))));
  }
  template <typename T>
  T from(std::initializer_list<T> list) {
    return list.begin()[below(list.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace sluice::differential
