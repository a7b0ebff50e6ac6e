// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Ranges of a study: { from = 1, to = 64, factor = 2 }, { from = "1 us", to = "2 us", step = "250 ns" }.

#include <vector>

#include "models/base/parameters/parameter.h"

namespace sluice::study {

struct Range {
  base::Value from;
  base::Value to;
  base::Value by;
  bool is_factor = false;  ///< `by` is a factor; else a step
};

/// The values from `from` up to at most `to`. Whole numbers stay whole, by a factor that is none the
/// nearest ones; texts with a unit keep it. Throws
/// base::ValueError, the end of a sentence about the range, for one that rises never or to more than kMostPoints
/// values, and for values that are no numbers of one unit.
std::vector<base::Value> values_of(const Range&);

}  // namespace sluice::study
