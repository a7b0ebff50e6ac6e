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
  Entry* const set = &entries_[set_of(entry.page, entry.shift)];
  // Empty ones have never come.
  Entry* const place =
      std::min_element(set, set + ways_, [](const Entry& x, const Entry& y) { return x.came < y.came; });
  const Entry displaced = std::exchange(*place, entry);
  place->came = ++fills_;
  return displaced;
}

}  // namespace sluice::riscv
