// SPDX-License-Identifier: Apache-2.0
/// What a run's report on a terminal says of its calls.

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/base/measure/ledger.h"
#include "models/workload/figures.h"
#include "models/workload/stages.h"
#include "models/workload/steps.h"
#include "platform/workload/traffic_figures.h"
#include "platform/workload/traffic_workload.h"

namespace sluice::platform {
namespace {

using net::TrafficSource;
using workload::counted;
using workload::grouped;
using workload::Json;
using workload::rate_text;
using workload::time_text;

std::string requests_text(const Json& r) {
  std::string text = fmt::format("{}, {} lost, {} dropped", counted(r.at("sent").get<std::uint64_t>(), "call", "calls"),
                                 grouped(r.at("lost").get<std::uint64_t>()), grouped(workload::dropped_requests(r)));
  if (const auto n = r.at("in_flight").get<std::uint64_t>()) text += fmt::format(", {} in flight", n);
  if (const auto n = r.at("errors").get<std::uint64_t>()) text += fmt::format(", {} WRONG", n);
  if (const auto n = r.at("retransmissions").get<std::uint64_t>()) text += fmt::format(", {} sent again", n);
  if (const auto n = r.at("dropped_in_warmup").get<std::uint64_t>())
    text += fmt::format(", {} dropped before, in the warm-up", n);
  return text;
}

/// What drops before the measurement change in it.
std::string idle_clients(const Json& requests, bool closed) {
  const auto n = requests.at("dropped_in_warmup").get<std::uint64_t>();
  if (n == 0 || !closed) return {};
  return fmt::format(
      "  {} of the warm-up {} dropped: a client waits for its answer until the timeout, so that fewer calls may\n"
      "  have been under way than outstanding says\n\n",
      counted(n, "call", "calls"), n == 1 ? "was" : "were");
}

/// Share of an account in the time of the first core.
double core_share(const Json& phase, const std::string& account) {
  const Json& cores = phase.at("cores");
  return cores.empty() ? 0 : cores.front().at("time").at(account).get<double>();
}

/// What the phases differ in, and what it is in one of them. There are none if the run has ended before the first call.
const char* phase_title(const Json& phases) {
  return !phases.empty() && phases.front().contains("call_bytes") ? "bytes" : "offered";
}
std::string phase_text(const Json& phase) {
  return phase.contains("call_bytes") ? grouped(phase.at("call_bytes").get<std::uint64_t>())
                                      : rate_text(phase.at("rate_per_s").get<double>());
}

/// The stages of each phase, and where the first core's time went, in blocks of a few phases.
std::string phase_details(const Json& phases) {
  constexpr std::size_t kAcross = 7;
  std::string text;
  for (std::size_t first = 0; first < phases.size(); first += kAcross) {
    const std::size_t end = std::min(phases.size(), first + kAcross);
    const auto row = [&](const std::string& title, const auto& cell) {
      text += fmt::format("  {:<22}", title);
      for (std::size_t i = first; i < end; ++i) text += fmt::format(" {:>11}", cell(phases[i]));
      text += "\n";
    };
    row(phase_title(phases), phase_text);
    if (notable_services(phases[first])) {
      const auto worst = [](const Json& p) -> const Json& { return *notable_services(p)->worst_p99; };
      row("  worst service's p99",
          [&](const Json& p) { return time_text(worst(p).at("latency_ns").at("p99").get<double>()); });
      row("  its number", [&](const Json& p) { return worst(p).at("service").dump(); });
    }
    std::set<int> stages;
    for (std::size_t i = first; i < end; ++i)
      for (const auto& [stage, unused] : workload::stage_rows(phases[i])) stages.insert(stage);
    for (const int stage : stages)
      row(std::string("  ") + base::stage_title(static_cast<base::Stage>(stage)),
          [stage](const Json& p) { return time_text(workload::stage_rows(p)[stage].mean_ns); });
    if (!phases[first].at("cores").empty())
      for (const auto& item : phases[first].at("cores").front().at("time").items()) {
        const std::string& account = item.key();
        if (std::any_of(phases.begin(), phases.end(), [&](const Json& p) { return core_share(p, account) > 0; }))
          row("  core 0, " + account,
              [&](const Json& p) { return fmt::format("{:.1f} %", core_share(p, account) * 100); });
      }
    text += "\n";
  }
  return text;
}

/// The phases of a sweep, or the trials of a search: what came of each, and what was busiest.
std::string phase_table(const Json& phases) {
  std::string text =
      fmt::format("  {:>11} {:>11} {:>11} {:>11} {:>10} {:>10} {:>10} {:>10} {:>10}   {}\n", phase_title(phases),
                  "accepted", "achieved", "sent", "dropped", "lost", "mean", "p99", "max", "busiest");
  for (const Json& p : phases) {
    const Json& latency = p.at("latency_ns");
    const Json& load = p.at("load");
    const auto time = [&](const char* key) { return time_text(latency.at(key).get<double>()); };
    const auto rate = [&](const char* key) { return rate_text(load.at(key).get<double>()); };
    text += fmt::format("  {:>11} {:>11} {:>11} {:>11} {:>10} {:>10} {:>10} {:>10} {:>10}   {}\n", phase_text(p),
                        rate("accepted_per_s"), rate("achieved_per_s"), grouped(p.at("sent").get<std::uint64_t>()),
                        grouped(workload::dropped_requests(p)), grouped(p.at("lost").get<std::uint64_t>()),
                        time("mean"), time("p99"), time("max"), workload::busiest_text(p));
  }
  return text + "\n";
}

/// Of several services, those that stand out.
std::string service_table(const Json& result) {
  const std::optional<NotableServices> notable = notable_services(result);
  if (!notable) return {};
  std::string text = fmt::format("  {:<18} {:>7} {:>7} {:>11} {:>11} {:>11} {:>11} {:>11}\n", "services", "number",
                                 "port", "calls", "unanswered", "p50", "p99", "max");
  const auto row = [&](const char* title, const Json* s) {
    if (!s) return;
    const bool any = s->at("completed").get<std::uint64_t>() > 0;
    const auto time = [&](const char* key) {
      return any ? time_text(s->at("latency_ns").at(key).get<double>()) : std::string("-");
    };
    text += fmt::format("  {:<18} {:>7} {:>7} {:>11} {:>11} {:>11} {:>11} {:>11}\n", title,
                        s->at("service").get<unsigned>(), s->at("port").get<unsigned>(),
                        grouped(s->at("sent").get<std::uint64_t>()), grouped(unanswered(*s)), time("p50"), time("p99"),
                        time("max"));
  };
  row("  most called", notable->most_called);
  row("  least called", notable->least_called);
  row("  most unanswered", notable->most_unanswered);
  row("  worst p99", notable->worst_p99);
  return text + "\n";
}

/// The clients of a board that has several.
std::string client_table(const Json& result) {
  if (!result.contains("clients")) return {};
  std::string text = fmt::format("  {:<18} {:<12} {:>11} {:>11} {:>11} {:>11} {:>11}\n", "clients", "at", "calls",
                                 "unanswered", "mean", "p99", "served");
  for (const auto& [path, c] : result.at("clients").items()) {
    const Json& r = c.at("requests");
    const std::uint64_t sent = r.at("sent").get<std::uint64_t>();
    text += fmt::format(
        "  {:<18} {:<12} {:>11} {:>11} {:>11} {:>11} {:>11}\n", path, c.at("wire").get<std::string>(), grouped(sent),
        grouped(sent - r.at("completed").get<std::uint64_t>()), time_text(c.at("latency_ns").at("mean").get<double>()),
        time_text(c.at("latency_ns").at("p99").get<double>()), rate_text(c.at("throughput_per_s").get<double>()));
  }
  return text + "\n";
}

}  // namespace

/// Of a sweep or a search: each phase by itself, for nothing is true of all together.
std::string TrafficWorkload::report_of_phases(const Json& result) const {
  std::string text = phase_table(result.at("phases"));
  if (!result.contains("zero_loss_rate_per_s")) return text + phase_details(result.at("phases"));
  const double found = result.at("zero_loss_rate_per_s").get<double>();
  text += fmt::format("  highest rate without loss: {}\n", rate_text(found));
  if (found == static_cast<double>(clients_.front().parameters->rate))
    text += fmt::format("  the search has ended at the highest rate that it tried ({}.rate); the board may do more\n",
                        clients_.front().path);
  return text + "\n";
}

std::string TrafficWorkload::report(const Json& result) const {
  std::string text = fmt::format("   {}   {}\n\n", traffic_text(result), requests_text(result.at("requests")));
  if (result.contains("phases")) return text + report_of_phases(result);
  if (result.at("requests").at("completed").get<std::uint64_t>() == 0)
    return text + "  no call was completed: there is no latency\n\n";
  text += workload::latency_text(result.at("latency_ns"));
  const auto rate = [&](const char* key) { return rate_text(result.at("load").at(key).get<double>()); };
  const bool closed = std::all_of(clients_.begin(), clients_.end(), [](const Clients& c) {
    return c.parameters->kind == TrafficSource::Kind::closed_loop;
  });
  text += closed ? fmt::format("  throughput            {}\n\n", rate_text(result.at("throughput_per_s").get<double>()))
                 : fmt::format("  calls                 offered {}   accepted {}   achieved {}\n\n",
                               rate("offered_per_s"), rate("accepted_per_s"), rate("achieved_per_s"));
  text += idle_clients(result.at("requests"), closed);
  return text + client_table(result) + service_table(result) + workload::stage_table(result) + "\n" +
         workload::step_table(result) + "\n";
}

}  // namespace sluice::platform
