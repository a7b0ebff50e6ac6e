// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Which of a board's parameters a result hangs on: effects of parameters that are varied one at a time, each over
/// replications that are paired with the reference's.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "platform/report/sensitivity/variations.h"
#include "platform/statistics/estimate.h"

namespace sluice::report {

using statistics::Estimate;

/// A result that can be asked about.
struct AskedResult {
  const char* name;   ///< of the option: "p99"
  const char* title;  ///< "mean latency"
  const char* unit;   ///< "ns", "1/s"
  const char* table;  ///< its table in the result file; null: none
  const char* key;    ///< its key
  double value_in(const nlohmann::ordered_json& result) const;
};
/// The first is the default where a run has latencies, and the last where it has none.
inline constexpr std::array<AskedResult, 6> kAskedResults{
    {{"mean", "mean latency", "ns", "latency_ns", "mean"},
     {"p50", "median latency", "ns", "latency_ns", "p50"},
     {"p90", "90th percentile of latency", "ns", "latency_ns", "p90"},
     {"p99", "99th percentile of latency", "ns", "latency_ns", "p99"},
     {"throughput", "throughput", "1/s", nullptr, "throughput_per_s"},
     {"time", "simulated time", "ns", nullptr, "simulated_ns"}}};

/// The result with a parameter at one end of its uncertainty.
struct End {
  std::vector<double> results;  ///< by replication, from the first
  std::string why_none;         ///< why there are none
};
/// Less the reference's results, replication by replication. The end has results, at most as many as the reference.
Estimate effect_of(const std::vector<double>& reference, const End&);
/// Half the distance between the least and the greatest of the three results: at both ends and of the reference, each
/// the mean of its replications. Where one end has none, it is taken to be as far from the reference as the other, on
/// the other side.
Estimate half_range_of(const std::vector<double>& reference, const End& less, const End& more);

/// What one parameter does to the result.
struct Sensitivity {
  VariedParameter parameter;
  End less, more;
  Estimate half_range{};
  double share = 0;       ///< of the spread: the square of half its range, of the sum over all parameters
  double cumulated = 0;   ///< shares of this parameter and those before it
  bool carrying = false;  ///< among the fewest that carry 90 % of the spread
};
/// Fills in what follows from the ends, and sorts by half the range, the largest first. Those of equal ranges keep
/// their order.
void rank(std::vector<Sensitivity>&, const std::vector<double>& reference);
/// Parameters that carry this share of the spread in one replication are run in the others, too. The rest has no
/// intervals, and hardly matters.
inline constexpr double kReplicatedShare = 0.999;
/// How many of ranked parameters, from the first, carry this share of the spread; 0 where there is none.
std::size_t carriers(const std::vector<Sensitivity>& ranked, double share);
/// The result's standard uncertainty, if it is linear in the parameters, and each of these has an equal probability
/// everywhere in its interval and is independent of the others.
double combined_uncertainty(const std::vector<Sensitivity>&);

}  // namespace sluice::report
