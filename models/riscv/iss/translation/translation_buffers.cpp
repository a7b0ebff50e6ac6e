// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/translation/translation_buffers.h"

#include <array>

namespace sluice::riscv {

TranslationWalk TranslationBuffers::bring(First f, std::uint64_t address, const Tlb::Entry& page,
                                          const TranslationWalk& walk, Tlb::Entry& displaced) {
  constexpr std::array<std::uint8_t, TranslationWalk::kMost> kShifts{30, 21, 12};  // what an entry is for, by level
  const bool data = f == First::data;
  ++(data ? counters_.tlb_misses : counters_.tlb_code_misses);
  displaced = (data ? data_ : code_).fill(page);
  (data ? counters_.tlb_displaced : counters_.tlb_code_displaced) += displaced.shift != 0;
  TranslationWalk left{{}, 0, second_cycles_};
  if (second_.has(address, page.asid)) return left;
  ++counters_.tlb_walks;
  counters_.tlb_second_displaced += second_.fill(page).shift != 0;
  // The walk begins behind the last table that the cache has the place of.
  unsigned from = walk.count - 1;
  while (from != 0 && !walks_.has(address, page.asid, kShifts[from - 1])) --from;
  for (unsigned n = from; n < walk.count; ++n) {
    left.entries[left.count++] = walk.entries[n];
    const std::uint8_t shift = kShifts[n];
    if (n + 1 == walk.count) continue;
    const Tlb::Entry table{address >> shift << shift, page.asid, shift, false};
    counters_.tlb_walks_displaced += walks_.fill(table).shift != 0;
  }
  counters_.tlb_reads += left.count;
  return left;
}

void TranslationBuffers::forget(std::uint64_t address, bool has_address, std::uint16_t asid, bool has_asid) {
  const auto is_meant = [&](const Tlb::Entry& e) {
    return (!has_address || address >> e.shift << e.shift == e.page) && (!has_asid || (!e.is_global && e.asid == asid));
  };
  for (Tlb* tlb : {&data_, &code_, &second_, &walks_}) tlb->remove_if(is_meant);
}

}  // namespace sluice::riscv
