// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Result files as a person reads them on a terminal.

#include <string>

#include <nlohmann/json.hpp>

#include "models/workload/workload.h"

namespace sluice::report {

/// The report of one run. workload: the workload of that run; null: it had none.
std::string run_report(const nlohmann::ordered_json& result, const workload::Workload* workload);

}  // namespace sluice::report
