// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Several boards under one workload, side by side.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "models/workload/workload.h"
#include "platform/report/curve.h"
#include "platform/report/paired.h"

namespace sluice::report {

struct Comparison {
  std::vector<nlohmann::ordered_json> results;       ///< the first is the reference's
  std::vector<nlohmann::ordered_json> half_quantum;  ///< the same at half the quantum; null where it has no meaning
  std::vector<std::string> differences;              ///< parameters in which boards differ, as sentences
  std::vector<std::string> same;                     ///< boards that differ from the reference, and did all alike
  unsigned replications = 1;                         ///< `results` are those of the first one
  PairedTable paired;                                ///< of several replications; empty where there is one
  std::vector<CurvePoint> curves;                    ///< of sweeps; empty: the boards had none
  double capacity_per_s = 0;                         ///< rate of the curves that counts as 100 %; 0: none does
  /// Of each board, where its workload is none of calls.
  std::vector<workload::Comparable> shown;
};

/// Whether two boards did the same: equal results, but for the board itself and what depends on the host.
bool did_the_same(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b);

std::string compare_report(const Comparison&);

}  // namespace sluice::report
