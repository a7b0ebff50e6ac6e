// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/translation/tlb.h"

#include <utility>

namespace sluice::riscv {

bool Tlb::has(std::uint64_t address, std::uint16_t asid, std::uint8_t shift) const {
  if (sets_ == 0) return false;
  const Entry* const set = &entries_[set_of(address, shift)];
  return std::any_of(set, set + ways_, [&](const Entry& e) {
    return e.shift == shift && e.page == address >> shift << shift && (e.is_global || e.asid == asid);
  });
}

Tlb::Entry Tlb::fill(const Entry& entry) {
  if (sets_ == 0) return {};
  const std::size_t first = set_of(entry.page, entry.shift);
  Entry* const set = &entries_[first];
  Entry* place = std::find_if(set, set + ways_, [](const Entry& e) { return e.shift == 0; });
  if (place == set + ways_) {
    std::size_t& next = next_[first / ways_];
    place = set + next;
    next = (next + 1) % ways_;
  }
  return std::exchange(*place, entry);
}

}  // namespace sluice::riscv
