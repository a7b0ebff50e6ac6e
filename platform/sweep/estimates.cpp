// SPDX-License-Identifier: Apache-2.0
#include "platform/sweep/estimates.h"

#include "platform/statistics/means.h"

namespace sluice::sweep {

statistics::Estimate estimate_of(const std::string& quantity, const std::vector<double>& values,
                                 const report::Latencies& latencies) {
  for (const report::Tail& t : report::kQuantiles)
    if (quantity == std::string("latency_ns.") + t.key && latencies.size() == values.size())
      return report::merged_tail(latencies, t);
  return statistics::mean_of(values);
}

}  // namespace sluice::sweep
