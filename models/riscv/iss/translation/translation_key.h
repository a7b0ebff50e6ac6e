// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What tells one way in which a hart translates addresses from another.

#include <cstdint>

#include "models/riscv/iss/hart_state.h"

namespace sluice::riscv {

/// What decides how addresses of one kind of access translate.
struct TranslationKey {
  std::uint64_t satp = 0;  ///< 0: they do not
  Privilege privilege = Privilege::machine;
  std::uint8_t rules = 0;  ///< of data accesses: bit 0 is SUM, bit 1 is MXR

  std::uint16_t asid() const { return static_cast<std::uint16_t>(satp >> 44); }
  bool translates() const { return satp >> 60 != 0; }
  bool operator==(const TranslationKey&) const = default;
};

}  // namespace sluice::riscv
