// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The kinds of workload, for people.

#include <optional>
#include <string>
#include <vector>

#include "models/workload/workload.h"
#include "platform/config/board_config.h"
#include "platform/config/registry.h"

namespace sluice::report {

struct WorkloadKind {
  std::string name;     ///< as a board writes it: workload.kind
  std::string summary;  ///< one line
};
/// The kinds of the traffic workload in the order of TrafficSource::Kind, then the other models of [workload], then
/// "none".
std::vector<WorkloadKind> workload_kinds(const config::Registry&);

/// Name of the shipped firmware that a workload of workload_kinds() needs; empty: the board's own.
std::string firmware_for(const config::Registry&, const std::string& workload);

/// How a board's workload that is not made of calls is shown; nothing where it is made of calls, or compare does not
/// show it. workload: the board's instance of it.
std::optional<workload::Comparable> shown_as(const config::Instance& workload);

}  // namespace sluice::report
