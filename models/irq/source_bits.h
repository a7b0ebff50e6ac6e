// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A bit for each interrupt source, in the words in which registers show them.

#include <cstdint>
#include <vector>

namespace sluice::irq {

inline bool test(const std::vector<std::uint32_t>& words, unsigned source) {
  return (words[source / 32] >> (source % 32) & 1) != 0;
}

inline void assign(std::vector<std::uint32_t>& words, unsigned source, bool value) {
  const std::uint32_t bit = std::uint32_t{1} << (source % 32);
  words[source / 32] = value ? words[source / 32] | bit : words[source / 32] & ~bit;
}

}  // namespace sluice::irq
