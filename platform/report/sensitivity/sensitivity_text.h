// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a sensitivity analysis has found, for people and as JSON.

#include <optional>
#include <string>
#include <vector>

#include "platform/report/sensitivity/sensitivity.h"

namespace sluice::report {

struct SensitivityReport {
  std::string board;
  std::string workload;  ///< "echo 64 B, closed loop, 8 outstanding"; empty: none
  AskedResult asked;
  std::vector<double> reference;    ///< by replication
  std::vector<Sensitivity> ranked;  ///< by rank()
  std::vector<FixedParameter> fixed;
  std::optional<std::uint64_t> requests;  ///< of each run
  unsigned replications = 1;              ///< of the reference, and of the parameters that have an interval
  bool random = true;                     ///< whether replications differ
  std::size_t runs = 0;
};

/// all: parameters without an effect, and those that are not varied, too.
std::string sensitivity_text(const SensitivityReport&, bool all);
nlohmann::ordered_json to_json(const SensitivityReport&);

}  // namespace sluice::report
