// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The translation look-aside buffers of a hart for data, in two levels, and its page-walk cache: what a translation
/// costs, not what it gives. Plain C++.

#include <algorithm>
#include <cstdint>

#include "models/riscv/iss/translation/tlb.h"
#include "models/riscv/iss/translation/translation_walk.h"

namespace sluice::riscv {

class TranslationBuffers {
 public:
  struct Shape {
    Tlb::Shape first, second;  ///< first.entries 0: translations cost nothing
    unsigned second_cycles = 0;
    unsigned walk_entries = 0;  ///< page-table entries that point to tables
  };

  struct Counters {
    std::uint64_t tlb_misses = 0;  ///< of the first level
    std::uint64_t tlb_walks = 0;   ///< of these, pages that the second level did not have
    std::uint64_t tlb_reads = 0;   ///< of page-table entries
    // Pages that made room for others in the first and the second level, and entries in the page-walk cache.
    std::uint64_t tlb_displaced = 0;
    std::uint64_t tlb_second_displaced = 0;
    std::uint64_t tlb_walks_displaced = 0;
  };

  /// The counters must outlive this object.
  TranslationBuffers(const Shape& shape, Counters& counters)
      : first_(shape.first),
        second_(shape.second),
        walks_({shape.walk_entries, std::max(1u, shape.walk_entries)}),
        second_cycles_(shape.second_cycles),
        counters_(counters) {}

  /// Whether the first level has the page: then nothing changes.
  bool has(std::uint64_t address, std::uint16_t asid) const { return first_.has(address, asid); }
  /// The first level does not have this page, which `walk` has found. Returns what of the walk is to be done.
  /// displaced: what has left the first level.
  TranslationWalk bring(std::uint64_t address, const Tlb::Entry& page, const TranslationWalk& walk,
                        Tlb::Entry& displaced);

  /// As sfence.vma: has_address, has_asid: only of this address, or ASID.
  void forget(std::uint64_t address, bool has_address, std::uint16_t asid, bool has_asid);
  void forget_all() { forget(0, false, 0, false); }

 private:
  Tlb first_, second_, walks_;
  const unsigned second_cycles_;
  Counters& counters_;
};

}  // namespace sluice::riscv
