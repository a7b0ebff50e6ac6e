// SPDX-License-Identifier: Apache-2.0
#include "platform/workload/traffic_figures.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/base/measure/ledger.h"

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

}  // namespace

std::string traffic_text(const Json& result) {
  const auto p = [&](const char* key) { return parameter(result, key); };
  std::string kind = p("kind");
  std::string text = p("call.program");
  if (text != "null" && text != "add") text += " " + p("call.bytes") + " B";
  if (kind == "closed-loop") return fmt::format("{}, closed loop, {} outstanding", text, p("outstanding"));
  if (kind == "open-loop") return fmt::format("{}, open loop, {} /s {}", text, p("rate"), p("arrivals"));
  if (kind == "load-sweep") return fmt::format("{}, load sweep, {}", text, p("arrivals"));
  if (kind == "zero-loss") return fmt::format("{}, zero-loss search up to {} /s", text, p("rate"));
  return "replay of " + p("pcap");
}

std::uint64_t dropped_calls(const Json& requests) {
  std::uint64_t sum = 0;
  for (const auto& [reason, n] : requests.at("dropped").items()) sum += n.get<std::uint64_t>();
  return sum;
}

std::map<int, StageRow> stage_rows(const Json& result) {
  std::map<int, StageRow> rows;
  if (!result.contains("stages")) return rows;
  for (const Json& s : result.at("stages")) {
    for (int stage = 0; stage < SLUICE_STAGE_COUNT; ++stage) {
      if (s.at("name") != base::stage_title(static_cast<base::Stage>(stage))) continue;
      rows[stage].mean_ns += s.at("mean_ns").get<double>();
      rows[stage].share += s.at("share").get<double>();
    }
  }
  rows[SLUICE_STAGE_unattributed];  // shown even when it is 0
  return rows;
}

}  // namespace sluice::platform
