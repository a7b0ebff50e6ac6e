// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The kinds of workload, for people.

#include <string>
#include <vector>

#include "platform/config/registry.h"

namespace sluice::report {

struct WorkloadKind {
  std::string name;     ///< as a board writes it: workload.kind
  std::string summary;  ///< one line
};
/// The kinds of the traffic workload in the order of TrafficSource::Kind, then the other models of [workload], then
/// "none".
std::vector<WorkloadKind> workload_kinds(const config::Registry&);

}  // namespace sluice::report
