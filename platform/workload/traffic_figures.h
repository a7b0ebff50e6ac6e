// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What reports on a terminal read from the result of `traffic`.

#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "models/workload/workload.h"

namespace sluice::platform {

/// "echo 64 B, closed loop, 16 outstanding"
std::string traffic_text(const workload::Json& result);
/// Sum over all reasons.
std::uint64_t dropped_calls(const workload::Json& requests);

/// Mean per request and share of one stage, over all components.
struct StageRow {
  double mean_ns = 0;
  double share = 0;
};
/// By number of the stage; `unattributed` is always among them.
std::map<int, StageRow> stage_rows(const workload::Json& result);

}  // namespace sluice::platform
