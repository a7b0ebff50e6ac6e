#pragma once
/// What reports on a terminal read from result files.

#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "models/workload/figures.h"

namespace sluice::report {

using Json = nlohmann::ordered_json;

using workload::counted;
using workload::grouped;
using workload::rate_text;
using workload::time_text;

std::string name_of(const Json& result);
/// A parameter of the board that ran, as a board file would write it; empty where the board has no such parameter.
std::string parameter(const Json& result, const char* instance, const char* key);
/// "echo 64 B, closed loop, 16 outstanding"
std::string workload_text(const Json& result);
std::uint64_t dropped(const Json& requests);

/// Mean per request and share of one stage, over all components.
struct StageRow {
  double mean_ns = 0;
  double share = 0;
};
/// By number of the stage; `unattributed` is always among them.
std::map<int, StageRow> stage_rows(const Json& result);

}  // namespace sluice::report
