// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The translation look-aside buffers of a hart, in two levels, of which code and data have each a first one of their
/// own, and its page-walk cache: what a translation costs, not what it gives. Plain C++.

#include <algorithm>
#include <cstdint>

#include "models/riscv/iss/translation/tlb.h"
#include "models/riscv/iss/translation/translation_walk.h"

namespace sluice::riscv {

class TranslationBuffers {
 public:
  struct Shape {
    Tlb::Shape first;   ///< of data; no entries: translations of data cost nothing
    Tlb::Shape second;  ///< of both
    unsigned second_cycles = 0;
    unsigned walk_entries = 0;  ///< page-table entries that point to tables
    Tlb::Shape code;            ///< of fetches, with two ways at least; no entries: their translations cost nothing
    bool any() const { return first.entries != 0 || code.entries != 0; }
  };
  enum class First : std::uint8_t { data, code };

  struct Counters {
    // Pages that the first level did not have, of data and of code.
    std::uint64_t tlb_misses = 0;
    std::uint64_t tlb_code_misses = 0;
    std::uint64_t tlb_walks = 0;  ///< of these, pages that the second level did not have
    std::uint64_t tlb_reads = 0;  ///< of page-table entries
    // Pages that made room for others in the first levels and the second, and entries in the page-walk cache.
    std::uint64_t tlb_displaced = 0;
    std::uint64_t tlb_code_displaced = 0;
    std::uint64_t tlb_second_displaced = 0;
    std::uint64_t tlb_walks_displaced = 0;
  };

  /// The counters must outlive this object.
  TranslationBuffers(const Shape& shape, Counters& counters)
      : data_(shape.first),
        code_(shape.code),
        second_(shape.second),
        walks_({shape.walk_entries, std::max(1u, shape.walk_entries)}),
        second_cycles_(shape.second_cycles),
        counters_(counters) {}

  /// Whether translations of this kind cost anything.
  bool times(First f) const { return of(f).entries() != 0; }
  /// Whether the first level has the page: then nothing changes.
  bool has(First f, std::uint64_t address, std::uint16_t asid) const { return of(f).has(address, asid); }
  /// The first level does not have this page, which `walk` has found. Returns what of the walk is to be done.
  /// displaced: what has left the first level.
  TranslationWalk bring(First, std::uint64_t address, const Tlb::Entry& page, const TranslationWalk& walk,
                        Tlb::Entry& displaced);

  /// As sfence.vma: has_address, has_asid: only of this address, or ASID.
  void forget(std::uint64_t address, bool has_address, std::uint16_t asid, bool has_asid);
  void forget_all() { forget(0, false, 0, false); }

 private:
  const Tlb& of(First f) const { return f == First::data ? data_ : code_; }

  Tlb data_, code_, second_, walks_;
  const unsigned second_cycles_;
  Counters& counters_;
};

}  // namespace sluice::riscv
