// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Which harts may hold a line, so that a snoop need not search the caches of the others. It changes no result: it only
/// names too many where lines share a counter. Plain C++.

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace sluice::coherence {

class Holders {
 public:
  /// lines: that each hart's caches hold at most.
  Holders(std::size_t harts, std::uint64_t lines, unsigned line_bytes)
      : harts_(harts),
        shift_(static_cast<unsigned>(std::countr_zero(line_bytes))),
        // With four times as many counters as lines, few share one.
        mask_(std::bit_ceil(4 * lines) - 1),
        counts_(static_cast<std::uint8_t*>(std::calloc(harts * (mask_ + 1) + 1, 1))) {
    if (!counts_) throw std::bad_alloc();
  }

  /// A cache of the hart has got the line.
  void add(std::size_t hart, std::uint64_t line) {
    std::uint8_t& count = counts_[place(line) + hart];
    if (count != kMany) ++count;
  }
  /// A cache of the hart has lost the line. A counter that was full stays so.
  void remove(std::size_t hart, std::uint64_t line) {
    std::uint8_t& count = counts_[place(line) + hart];
    if (count != kMany) --count;
  }
  /// False: no cache of the hart has the line.
  bool may_hold(std::size_t hart, std::uint64_t line) const { return counts_[place(line) + hart] != 0; }

 private:
  static constexpr std::uint8_t kMany = 255;
  struct Free {
    void operator()(std::uint8_t* counts) const { std::free(counts); }
  };
  std::size_t place(std::uint64_t line) const { return (line >> shift_ & mask_) * harts_; }

  std::size_t harts_;
  unsigned shift_;
  std::uint64_t mask_;
  std::unique_ptr<std::uint8_t[], Free> counts_;  ///< by line and hart; those of no line take no memory
};

}  // namespace sluice::coherence
