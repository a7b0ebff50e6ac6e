// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice::riscv {

/// Why nothing was dispatched in a slot (timing = "interval").
enum class Loss : std::uint8_t {
  fetch,           ///< fetch width, taken branches, or L1I
  misprediction,   ///< refill after a mispredicted branch
  reorder_buffer,  ///< full: the oldest instruction has not retired
  scheduler,       ///< full
  load_queue,      ///< full
  store_buffer,    ///< full
  drain,           ///< an instruction that is not for the window, a pause, or a wait
  count
};
inline constexpr std::size_t kLosses = static_cast<std::size_t>(Loss::count);

/// What a hart's timing counts.
struct TimingCounters {
  std::uint64_t l1d_accesses = 0;  ///< lines accessed: an access that crosses lines counts twice
  std::uint64_t l1d_misses = 0;    ///< line accesses that L1D could not answer
  std::uint64_t l1i_accesses = 0;  ///< changes of the line that instructions come from
  std::uint64_t l1i_misses = 0;
  // timing = "interval" only
  std::uint64_t branches = 0;  ///< and jumps
  std::uint64_t mispredictions = 0;
  std::uint64_t forwarded = 0;                ///< loads that got their value from the store buffer
  std::uint64_t l1d_prefetches = 0;           ///< lines that the L1D prefetcher or a prefetch instruction has asked for
  std::array<std::uint64_t, kLosses> lost{};  ///< dispatch slots in which no instruction was dispatched, by cause
};

}  // namespace sluice::riscv
