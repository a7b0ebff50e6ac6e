// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Several boards under one workload, side by side.

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "models/workload/workload.h"
#include "platform/report/curve.h"

namespace sluice::report {

/// One quantity of a board less that of the reference, over paired replications.
struct PairedRow {
  std::string board;
  std::string quantity;   ///< "latency mean"
  std::string unit;       ///< "ns", "1/s"
  double reference = 0;   ///< mean of the reference board
  double difference = 0;  ///< mean
  double half_width = 0;  ///< of the 95 % confidence interval
  bool constant = false;  ///< every replication gave the same: there is no interval
};

struct Comparison {
  std::vector<nlohmann::ordered_json> results;       ///< the first is the reference's
  std::vector<nlohmann::ordered_json> half_quantum;  ///< the same at half the quantum; null where it has no meaning
  std::vector<std::string> differences;              ///< parameters in which boards differ, as sentences
  std::vector<std::string> same;                     ///< boards that differ from the reference, and did all alike
  unsigned replications = 1;                         ///< `results` are those of the first one
  std::vector<PairedRow> paired;                     ///< where there are several replications
  std::vector<CurvePoint> curves;                    ///< of load sweeps; empty: the boards had none
  double capacity_per_s = 0;                         ///< rate of the curves that counts as 100 %; 0: none does
  std::optional<workload::Comparable> shown;         ///< of a workload other than calls
};

/// The quantities of a result file that replications compare: name, unit, value.
struct Quantity {
  std::string name;
  std::string unit;
  double value;
};
std::vector<Quantity> quantities_of(const nlohmann::ordered_json& result);

/// Whether two boards did the same: equal results, but for the board itself and what depends on the host.
bool did_the_same(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b);

std::string compare_report(const Comparison&);

}  // namespace sluice::report
