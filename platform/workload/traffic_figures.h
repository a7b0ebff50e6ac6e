// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What reports on a terminal read from the result of `traffic`.

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "models/workload/workload.h"

namespace sluice::platform {

/// "echo 64 B, closed loop, 16 outstanding"
std::string traffic_text(const workload::Json& result);

}  // namespace sluice::platform
