// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What all reports on a terminal use.

#include <string>

#include <nlohmann/json.hpp>

#include "models/workload/figures.h"

namespace sluice::report {

using Json = nlohmann::ordered_json;

using workload::counted;
using workload::grouped;
using workload::rate_text;
using workload::time_text;

inline std::string name_of(const Json& result) { return result.at("board").at("name").get<std::string>(); }

}  // namespace sluice::report
