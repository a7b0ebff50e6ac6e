// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace sluice::riscv {

/// What a translation has to read and wait for.
struct TranslationWalk {
  static constexpr unsigned kMost = 3;
  std::array<std::uint64_t, kMost> entries{};  ///< physical addresses of page-table entries, in order
  unsigned count = 0;
  unsigned cycles = 0;  ///< before the first of them
};

}  // namespace sluice::riscv
