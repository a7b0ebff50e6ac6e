// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Quantities of boards less those of a reference, over paired replications.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "platform/statistics/estimate.h"

namespace sluice::report {

/// A quantity of one run.
struct Quantity {
  std::string name;  ///< "latency mean"
  std::string unit;  ///< "ns", "1/s"
  double value;
};
/// Those of a result file that are shown for each run. A board without a wire has its simulated time only.
std::vector<Quantity> quantities_of(const nlohmann::ordered_json& result);

/// One quantity of a board less that of the reference.
struct PairedRow {
  std::string board;
  std::string quantity;
  std::string unit;
  double reference = 0;  ///< of the reference, over its replications
  statistics::Estimate difference;
};
struct PairedTable {
  std::vector<PairedRow> rows;
  /// Of each interval, so that all of the table hold together with statistics::kLevel.
  double level = statistics::kLevel;
};

/// Mean, p99, p99.9 and throughput of each board but the first, which is the reference; without a wire the simulated
/// time. by_board: the results of each board, equally many, one a replication.
PairedTable paired(const std::vector<std::vector<nlohmann::ordered_json>>& by_board);

/// The rows, as lines of a report.
std::string paired_text(const PairedTable&);
/// A list of them.
nlohmann::ordered_json to_json(const PairedTable&);

}  // namespace sluice::report
