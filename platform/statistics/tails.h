// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Quantiles over replications: p99 or p99.9 of all samples together, from one histogram a replication.
///
/// The interval is Woodruff's (Journal of the American Statistical Association 47, 1952): how many samples of each
/// replication are beyond the merged quantile gives an interval of the share beyond it, by Student's t, which the
/// merged histogram turns into one of the quantile. Sectioning and batch means rest on quantiles of single
/// replications, which are biased where one has few samples in the tail, and the jackknife is not consistent for
/// quantiles: of p99.9 of an exponential distribution, from 20 replications of 2,000 samples, they hold the truth in
/// 98, 77 and 72 % of the trials, the bootstrap over replications in 93 %, and this in 96 %.
///
/// There is no interval where fewer than 30 samples are beyond the quantile, or fewer than 10 bursts of them where they
/// come in bursts, as those of a queue do, or from fewer than 5 replications: what has hardly been seen cannot be
/// judged. Of independent calls 93 to 97 % of the intervals hold the truth, of a queue with 50 bursts (M/M/1, 70 %
/// load) 95 %, with 20 of them 90 %. Where there truly are fewer than 10, most experiments have no interval, and the
/// others' hold in half to four fifths of the cases: more calls are needed than a p99 of so few bursts suggests.
///
/// A quantile is interpolated within its bucket. Where the whole interval lies in one bucket, it becomes that bucket.

#include <cstdint>
#include <vector>

#include "models/base/measure/histogram.h"
#include "platform/statistics/estimate.h"

namespace sluice::statistics {

/// A quantile as base::Histogram has it: 99 of 100.
struct Share {
  std::uint64_t numerator, denominator;  ///< 0 < numerator < denominator
};
inline constexpr Share kP99{99, 100};
inline constexpr Share kP999{999, 1000};

/// In the unit of the histograms: one a replication, at least one.
Estimate quantile_of(const std::vector<base::Histogram>&, Share, double level = kLevel);

/// Of b less that of a, whose replications are paired: what moves both boards' tails in a replication cancels. Where
/// a board's distribution has a gap at the quantile, it is not known to a straight line, and the interval reaches from
/// the least to the greatest difference of the two boards' own.
/// a, b: equally many, at least one.
Estimate quantile_difference(const std::vector<base::Histogram>& a, const std::vector<base::Histogram>& b, Share,
                             double level = kLevel);

}  // namespace sluice::statistics
