// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The stages of a workload's requests, as result files and reports have them.

#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "models/base/measure/histogram.h"
#include "models/base/measure/ledger.h"

namespace sluice::workload {

/// The stages of requests that completed between two readings of the ledger, in the order in which a request meets
/// them, then by component.
nlohmann::ordered_json stages_between(const base::Ledger::Totals& from, const base::Ledger::Totals& to);
/// Adds `stages` and `ledger` to a result. The stages are those of the whole run.
void add_stages(nlohmann::ordered_json& result);

/// Whether the stages of all requests sum to the latencies that the workload saw, to the femtosecond.
bool stages_sum_up(const base::Histogram& latency);
inline constexpr const char* kStagesWrong = "the ledger is wrong: the stages do not sum to the latencies at the wire";

/// Mean per request and share of one stage, over all components.
struct StageRow {
  double mean_ns = 0;
  double share = 0;
};
/// By number of the stage; `unattributed` is always among them.
std::map<int, StageRow> stage_rows(const nlohmann::ordered_json& result);
/// The same as a table.
std::string stage_table(const nlohmann::ordered_json& result);

/// A line with the distribution of latencies at the wire.
std::string latency_text(const nlohmann::ordered_json& latency);
/// Requests that were dropped, over all reasons.
std::uint64_t dropped_requests(const nlohmann::ordered_json& requests);

}  // namespace sluice::workload
