// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What runs of one case say of a quantity together.

#include <string>
#include <vector>

#include "platform/report/merged_tails.h"
#include "platform/statistics/estimate.h"

namespace sluice::sweep {

/// The mean, or of a quantile of the latency that of all calls together. values: one of each run, at least one.
/// latencies: the tables `latency_ns` of the same runs; where there are fewer, the mean is all that can be said.
statistics::Estimate estimate_of(const std::string& quantity, const std::vector<double>& values,
                                 const report::Latencies& latencies);

}  // namespace sluice::sweep
