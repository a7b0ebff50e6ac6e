// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What reports on a terminal read from the result of `traffic`.

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "models/workload/workload.h"

namespace sluice::platform {

/// "echo 64 B, closed loop, 16 outstanding"
std::string traffic_text(const workload::Json& result);

/// Of the services in a result, or in one of its phases, the first with the most of something.
struct NotableServices {
  const workload::Json* most_called;
  const workload::Json* least_called;
  const workload::Json* most_unanswered;  ///< null where every call was answered
  const workload::Json* worst_p99;
};
/// Nothing where one service was called, or services are those of several clients.
std::optional<NotableServices> notable_services(const workload::Json& measured);

/// Calls to a service that were not answered.
std::uint64_t unanswered(const workload::Json& service);

}  // namespace sluice::platform
