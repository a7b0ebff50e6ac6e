// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Tails of latency over replications, from the histograms of result files.

#include <span>
#include <vector>

#include <nlohmann/json.hpp>

#include "platform/statistics/tails.h"

namespace sluice::report {

/// A quantile that result files have.
struct Tail {
  const char* key;   ///< "p999"
  const char* name;  ///< "p99.9"
  statistics::Share share;
};
inline constexpr Tail kQuantiles[] = {{"p50", "p50", {1, 2}},
                                      {"p90", "p90", {9, 10}},
                                      {"p99", "p99", statistics::kP99},
                                      {"p999", "p99.9", statistics::kP999}};
/// Those that comparisons show.
inline constexpr std::span<const Tail> kTails = std::span(kQuantiles).last<2>();

/// The tables `latency_ns` of one board, one a replication.
using Latencies = std::vector<nlohmann::ordered_json>;

/// Whether all have their histogram, which those of a plug-in's workload may not.
bool has_histograms(const Latencies&);

/// Of all calls together, in ns; of one replication what its file says. Without histograms the mean of what the
/// files say, and no interval.
statistics::Estimate merged_tail(const Latencies&, const Tail&);

/// Of b less a, whose replications are paired, in ns. All have histograms.
statistics::Estimate tail_difference(const Latencies& a, const Latencies& b, const Tail&, double level);

}  // namespace sluice::report
