// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace sluice::platform {

/// The warm-up that a first run of a board has found: the calls that its start-up disturbs.
struct WarmUp {
  std::uint64_t calls = 0;  ///< not counted; whole batches
  std::uint64_t batch = 0;  ///< calls of a batch: what `calls` is exact to
  bool too_short = false;   ///< the run was too short to tell where its start-up ends, and nothing is cut
};

}  // namespace sluice::platform
