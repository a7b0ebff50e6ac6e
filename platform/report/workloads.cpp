// SPDX-License-Identifier: Apache-2.0
#include "platform/report/workloads.h"

namespace sluice::report {

std::vector<WorkloadKind> workload_kinds(const config::Registry& registry) {
  std::vector<WorkloadKind> kinds = {
      {"closed-loop", "a number of calls under way at a time (outstanding, think)"},
      {"open-loop", "calls at a rate, whatever the server does (rate, arrivals)"},
      {"replay", "what the clients of a capture sent, at its times (pcap)"},
      {"load-sweep", "an open loop at one rate after the other (rates)"},
      {"zero-loss", "search for the highest rate without loss, RFC 2544 (rate, resolution)"},
      {"size-sweep", "a closed loop with calls of one size after the other (sizes, outstanding, think)"},
  };
  for (const auto& model : registry.find("workload")->models)
    if (const auto* factory = dynamic_cast<const workload::WorkloadFactory*>(model.factory.get()))
      kinds.push_back({model.name, factory->summary()});
  kinds.push_back({"none", "no calls: the firmware, or --until, ends the run"});
  return kinds;
}

std::string firmware_for(const config::Registry& registry, const std::string& workload) {
  const auto* model = registry.find("workload")->find(workload);
  const auto* factory = model ? dynamic_cast<const workload::WorkloadFactory*>(model->factory.get()) : nullptr;
  return factory ? factory->firmware() : std::string();
}

std::optional<workload::Comparable> shown_as(const config::Instance& workload) {
  const auto* factory = dynamic_cast<const workload::WorkloadFactory*>(workload.factory());
  return factory ? factory->comparable(workload.model_values()) : std::nullopt;
}

}  // namespace sluice::report
