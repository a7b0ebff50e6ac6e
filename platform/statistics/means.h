// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Means over replications, with intervals by Student's t.

#include <vector>

#include "platform/statistics/estimate.h"

namespace sluice::statistics {

/// Of the mean. values: one a replication, at least one.
Estimate mean_of(const std::vector<double>& values, double level = kLevel);

/// Of the mean of b - a. The same replication of two boards sees the same random numbers (common random numbers), so
/// what they share cancels. a, b: equally many, at least one.
Estimate mean_difference(const std::vector<double>& a, const std::vector<double>& b, double level = kLevel);

}  // namespace sluice::statistics
