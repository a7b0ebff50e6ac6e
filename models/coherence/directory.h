// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Which harts may hold a line: what a directory beside the LLC knows. It changes no result: lines that share an entry
/// only make it name too many harts. Plain C++.

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace sluice::coherence {

/// An entry counts, for each hart, the lines that it has in its caches of those that share the entry.
class Directory {
 public:
  /// lines: that each hart's caches hold at most.
  Directory(std::size_t harts, std::uint64_t lines, unsigned line_bytes)
      : stride_(harts <= 1 ? harts : (harts + kWord - 1) / kWord * kWord),
        shift_(static_cast<unsigned>(std::countr_zero(line_bytes))),
        // With four times as many entries as lines, few share one.
        mask_(std::bit_ceil(4 * lines) - 1),
        counts_(static_cast<std::uint8_t*>(std::calloc(stride_ * (mask_ + 1) + kWord, 1))) {
    if (!counts_) throw std::bad_alloc();
  }

  /// A cache of the hart has got the line.
  void add(std::size_t hart, std::uint64_t line) {
    std::uint8_t& count = entry(line)[hart];
    if (count != kMany) ++count;
  }
  /// A cache of the hart has lost the line. A count that was full stays so.
  void remove(std::size_t hart, std::uint64_t line) {
    std::uint8_t& count = entry(line)[hart];
    if (count != kMany) --count;
  }
  /// Calls f with each hart that may hold the line, in their order, until f returns false. f may add and remove harts
  /// that have been named.
  template <class F>
  void for_each_holder(std::uint64_t line, const F& f) const {
    const std::uint8_t* const counts = entry(line);
    for (std::size_t first = 0; first < stride_; first += kWord) {
      // Of one hart, the word has the entries behind it, too.
      std::uint64_t word = 0;
      std::memcpy(&word, counts + first, stride_ == 1 ? 1 : kWord);
      for (; word != 0; word &= ~(std::uint64_t{0xff} << std::countr_zero(word) / 8 * 8))
        if (!f(first + static_cast<std::size_t>(std::countr_zero(word)) / 8)) return;
    }
  }

 private:
  static constexpr std::size_t kWord = sizeof(std::uint64_t);
  static constexpr std::uint8_t kMany = 255;
  static_assert(std::endian::native == std::endian::little, "the first hart's count is a word's lowest byte");
  struct Free {
    void operator()(std::uint8_t* counts) const { std::free(counts); }
  };
  std::uint8_t* entry(std::uint64_t line) const { return counts_.get() + (line >> shift_ & mask_) * stride_; }

  std::size_t stride_;  ///< bytes of an entry
  unsigned shift_;
  std::uint64_t mask_;
  std::unique_ptr<std::uint8_t[], Free> counts_;  ///< by line and hart; those of no line take no memory
};

}  // namespace sluice::coherence
