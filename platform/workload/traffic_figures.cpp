// SPDX-License-Identifier: Apache-2.0
#include "platform/workload/traffic_figures.h"

#include <algorithm>

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

/// ", 32 services, hot-set: 90 % to 4, others each 2 ms"; empty of one service
std::string services_text(const Json& result) {
  const auto p = [&](const char* key) { return parameter(result, key); };
  const std::string services = p("services"), popularity = p("popularity");
  if (services.empty() || services == "1") return {};
  std::string text = fmt::format(", {} services, {}", services, popularity);
  if (popularity == "zipf") text += " " + p("zipf_exponent");
  if (popularity == "hot-set") {
    text += fmt::format(": {} to {}", p("hot_share"), p("hot"));
    if (p("hot_period") != "0 ns") text += ", others each " + p("hot_period");
  }
  return text;
}

std::string calls_text(const Json& result) {
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
  return fmt::format("{}, zero-loss search up to {} /s", text, p("rate"));
}

std::uint64_t calls_to(const Json& service) { return service.at("sent").get<std::uint64_t>(); }

double p99_of(const Json& service) { return service.at("latency_ns").at("p99").get<double>(); }

}  // namespace

std::string traffic_text(const Json& result) {
  if (parameter(result, "kind") == "replay") return "replay of " + parameter(result, "pcap");
  return calls_text(result) + services_text(result);
}

std::uint64_t unanswered(const Json& service) {
  return calls_to(service) - service.at("completed").get<std::uint64_t>();
}

std::optional<NotableServices> notable_services(const Json& measured) {
  const auto found = measured.find("services");
  if (found == measured.end()) return {};
  const auto most = [&](const auto& quantity) {
    return &*std::max_element(found->begin(), found->end(),
                              [&](const Json& a, const Json& b) { return quantity(a) < quantity(b); });
  };
  const auto least = std::min_element(found->begin(), found->end(),
                                      [](const Json& a, const Json& b) { return calls_to(a) < calls_to(b); });
  const Json* silent = most(unanswered);
  return NotableServices{most(calls_to), &*least, unanswered(*silent) == 0 ? nullptr : silent, most(p99_of)};
}

}  // namespace sluice::platform
