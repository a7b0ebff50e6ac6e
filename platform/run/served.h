// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Which hart answered how many requests, and how long they took.

#include <cstddef>
#include <vector>

#include "models/base/measure/histogram.h"
#include "platform/board/board.h"

namespace sluice::platform {

/// Listens to the ledger: a measured request that completes counts for the hart that had it last.
class Served {
 public:
  /// The ledger must not complete requests after this object's end.
  explicit Served(Board&);
  void clear();
  /// Latencies in fs. core: its number, in the order of the clusters.
  const base::Histogram& by(std::size_t core) const { return latencies_.at(core); }

 private:
  std::vector<std::size_t> core_of_;  ///< by component; all cores' number: the component is none
  std::vector<base::Histogram> latencies_;
};

}  // namespace sluice::platform
