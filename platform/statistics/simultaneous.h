// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Several comparisons in one table: with twenty intervals of 95 %, one would be expected to miss.

#include "platform/statistics/estimate.h"

namespace sluice::statistics {

/// The level of each of `comparisons` intervals (at least 1) that hold all together with the given level, by
/// Bonferroni's inequality: it holds however the quantities of a table depend on each other, and those of one run do.
constexpr double simultaneous_level(unsigned comparisons, double level = kLevel) {
  return 1 - (1 - level) / comparisons;
}

}  // namespace sluice::statistics
