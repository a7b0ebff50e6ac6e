// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Latency against load or size: what boards did at each rate of a load sweep, or with each size of a size sweep, over
/// replications.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "platform/statistics/estimate.h"

namespace sluice::report {

/// What a board did in one phase.
struct CurveCell {
  statistics::Estimate mean_ns;
  statistics::Estimate p99_ns;  ///< of the calls of all replications together
  statistics::Estimate achieved_per_s;
  double unanswered = 0;  ///< share of the calls, over all replications
  std::string busiest;    ///< resource of the first replication, with its share; empty: there is none
};
struct CurvePoint {
  double at = 0;         ///< calls per second, or bytes of a call
  bool is_size = false;  ///< bytes
  std::vector<CurveCell> boards;
};

/// Whether a result is of a sweep.
bool has_curve(const nlohmann::ordered_json& result);
/// Where a phase of a sweep is on its axis.
CurvePoint point_of(const nlohmann::ordered_json& phase);
/// Number of phases that every result has, of boards and replications; 0 where one has no sweep.
std::size_t common_phases(const std::vector<std::vector<nlohmann::ordered_json>>& by_board);
/// The points that all have. by_board: the results of each board, one a replication, all of sweeps of the same rates or
/// sizes.
std::vector<CurvePoint> curve_of(const std::vector<std::vector<nlohmann::ordered_json>>& by_board);

/// A table and a drawing. names: of the boards. capacity_per_s: the rate that counts as 100 %; 0: none does.
std::string curve_text(const std::vector<std::string>& names, const std::vector<CurvePoint>&, unsigned replications,
                       double capacity_per_s);
nlohmann::ordered_json to_json(const std::vector<CurvePoint>&);

}  // namespace sluice::report
