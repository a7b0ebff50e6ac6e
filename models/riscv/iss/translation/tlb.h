// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One translation look-aside buffer as the model of timing sees it: which pages it holds, not where they are. Plain
/// C++.

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sluice::riscv {

/// Pages of a set leave it in the order in which they came, so that a hit changes nothing: fast paths need not tell the
/// buffer of their accesses.
class Tlb {
 public:
  struct Shape {
    unsigned entries = 0;  ///< a multiple of ways
    unsigned ways = 1;     ///< at least 1
  };
  struct Entry {
    std::uint64_t page = 0;  ///< virtual address of its first byte
    std::uint16_t asid = 0;
    std::uint8_t shift = 0;  ///< its size as a power of two; 0: none
    bool is_global = false;
    std::uint64_t came = 0;  ///< the greater, the later; fill() sets it
  };

  explicit Tlb(const Shape& shape) : ways_(shape.ways), sets_(shape.entries / shape.ways), entries_(shape.entries) {}

  std::size_t entries() const { return entries_.size(); }
  /// Whether a page of any size has the address.
  bool has(std::uint64_t address, std::uint16_t asid) const {
    return has(address, asid, 12) || has(address, asid, 21) || has(address, asid, 30);
  }
  /// Whether a page of this size has it.
  bool has(std::uint64_t address, std::uint16_t asid, std::uint8_t shift) const;
  /// Puts in a page that is not there. Returns what it displaced.
  Entry fill(const Entry&);
  template <class F>
  void remove_if(const F& f) {
    for (Entry& e : entries_)
      if (e.shift != 0 && f(e)) e = {};
  }

 private:
  std::size_t set_of(std::uint64_t address, std::uint8_t shift) const { return (address >> shift) % sets_ * ways_; }

  const std::size_t ways_, sets_;
  std::vector<Entry> entries_;  ///< by set
  std::uint64_t fills_ = 0;
};

}  // namespace sluice::riscv
