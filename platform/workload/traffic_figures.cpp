// SPDX-License-Identifier: Apache-2.0
#include "platform/workload/traffic_figures.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sluice::platform {

using workload::Json;

namespace {

/// A parameter of the workload that ran, as a board file would write it; empty where the board has no such parameter.
std::string parameter(const Json& result, const char* key) {
  const Json& instances = result.at("board").at("instances");
  if (!instances.contains("workload")) return {};
  const Json& parameters = instances.at("workload").at("parameters");
  return parameters.contains(key) ? parameters.at(key).at("text").get<std::string>() : std::string{};
}

std::string spin_text(const std::string& service, const std::string& times, const std::string& longer,
                      const std::string& share) {
  if (times == "bimodal") return fmt::format(" {} or {} ({})", service, longer, share);
  return times == "constant" ? " " + service : fmt::format(" {}, {}", service, times);
}

}  // namespace

std::string traffic_text(const Json& result) {
  const auto p = [&](const char* key) { return parameter(result, key); };
  std::string kind = p("kind");
  std::string text = p("call.program");
  if (text == "spin")
    text += spin_text(p("call.service"), p("call.service_times"), p("call.service_long"), p("call.service_long_share"));
  else if (kind == "size-sweep")
    return fmt::format("{} {} B, size sweep, closed loop, {} outstanding", text, p("sizes"), p("outstanding"));
  else if (text != "null" && text != "add")
    text += " " + p("call.bytes") + " B";
  if (kind == "closed-loop") return fmt::format("{}, closed loop, {} outstanding", text, p("outstanding"));
  if (kind == "open-loop") return fmt::format("{}, open loop, {} /s {}", text, p("rate"), p("arrivals"));
  if (kind == "load-sweep") return fmt::format("{}, load sweep, {}", text, p("arrivals"));
  if (kind == "zero-loss") return fmt::format("{}, zero-loss search up to {} /s", text, p("rate"));
  return "replay of " + p("pcap");
}

}  // namespace sluice::platform
