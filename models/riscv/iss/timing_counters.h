// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace sluice::riscv {

/// What a hart's timing counts.
struct TimingCounters {
  std::uint64_t l1d_accesses = 0;  ///< lines accessed: an access that crosses lines counts twice
  std::uint64_t l1d_misses = 0;    ///< line accesses that L1D could not answer
  std::uint64_t l1i_accesses = 0;  ///< changes of the line that instructions come from
  std::uint64_t l1i_misses = 0;
  // timing = "interval" only
  std::uint64_t branches = 0;  ///< and jumps
  std::uint64_t mispredictions = 0;
  std::uint64_t forwarded = 0;  ///< loads that got their value from the store buffer
};

}  // namespace sluice::riscv
