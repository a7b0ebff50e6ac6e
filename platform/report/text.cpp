// SPDX-License-Identifier: Apache-2.0
#include "platform/report/text.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "platform/firmware/processes.h"
#include "platform/report/format.h"
#include "platform/report/measured.h"

namespace sluice::report {
namespace {

using Cores = std::vector<const Json*>;

/// The least and the greatest of a number of cores: "64.5 to 65.5", or once where they look the same.
template <class Value, class Text>
std::string range_text(const Cores& cores, const Value& value, const Text& text) {
  double least = value(*cores.front()), most = least;
  for (const Json* core : cores) {
    least = std::min(least, value(*core));
    most = std::max(most, value(*core));
  }
  const std::string low = text(least), high = text(most);
  return low == high ? low : low + " to " + high;
}

std::string percent_range(const Cores& cores, const std::string& pointer) {
  const Json::json_pointer at(pointer);
  const auto percent = [&at](const Json& core) { return core.at(at).get<double>() * 100; };
  return range_text(cores, percent, [](double v) { return fmt::format("{:.1f}", v); }) + " %";
}

/// Requests of each core and their p99.
std::string requests_text(const Cores& cores) {
  const auto count = [](const Json& core) { return core.at("requests").at("completed").get<double>(); };
  const auto p99 = [](const Json& core) { return core.at("requests").at("latency_ns").at("p99").get<double>(); };
  Cores served;
  std::copy_if(cores.begin(), cores.end(), std::back_inserter(served), [&](const Json* c) { return count(*c) > 0; });
  return fmt::format("{} requests{}, p99 {}",
                     range_text(cores, count, [](double n) { return grouped(static_cast<std::uint64_t>(n)); }),
                     cores.size() > 1 ? " each" : "", range_text(served, p99, time_text));
}

/// One core, or the ranges of several. shared: other cores serve requests, too.
std::string core_text(const Cores& cores, bool shared) {
  const Json& first = *cores.front();
  const std::string name = first.at("name").get<std::string>();
  const std::string names =
      cores.size() == 1 ? name : fmt::format("{} to {}, each", name, cores.back()->at("name").get<std::string>());
  const auto ipc = [](const Json& core) {
    return core.at("instructions").get<double>() / std::max(1.0, core.at("cycles").get<double>());
  };
  std::string text =
      fmt::format("  {}: {} IPC", names, range_text(cores, ipc, [](double v) { return fmt::format("{:.2f}", v); }));
  const auto any = [&cores](const std::string& pointer) {
    const Json::json_pointer at(pointer);
    return std::any_of(cores.begin(), cores.end(), [&at](const Json* c) { return c->at(at).get<double>() > 0; });
  };
  if (any("/l1d_miss_ratio")) text += ", L1d miss " + percent_range(cores, "/l1d_miss_ratio");
  if (any("/l2_miss_ratio")) text += ", L2 miss " + percent_range(cores, "/l2_miss_ratio");
  text += "\n   ";
  for (const auto& [account, share] : first.at("time").items())
    if (any("/time/" + account)) text += fmt::format(" {} {}", account, percent_range(cores, "/time/" + account));
  if (shared && first.contains("requests") && any("/requests/completed")) text += "\n    " + requests_text(cores);
  return text + "\n";
}

/// A cluster of many cores has its ranges; the result file has each core.
std::string cores_text(const Json& list) {
  constexpr std::size_t kMostShown = 4;
  std::map<std::string, Cores> clusters;
  std::vector<std::string> order;
  for (const Json& core : list) {
    const std::string name = core.at("name").get<std::string>();
    const std::string cluster = name.substr(0, name.rfind('.'));
    if (clusters[cluster].empty()) order.push_back(cluster);
    clusters[cluster].push_back(&core);
  }
  std::string text;
  for (const std::string& cluster : order) {
    const Cores& cores = clusters[cluster];
    if (cores.size() > kMostShown)
      text += core_text(cores, true);
    else
      for (const Json* core : cores) text += core_text({core}, list.size() > 1);
  }
  return text;
}

std::string link_text(const Json& result) {
  std::string text;
  const double elapsed = std::max(1.0, result.at("measured_ns").get<double>());
  for (const Json& l : result.at("links")) {
    const double bytes = l.at("bytes").get<double>();
    text +=
        fmt::format("  {} {:<4} {:.1f} Gb/s ({:.0f} % busy, metadata {:.0f} %)\n", l.at("name").get<std::string>(),
                    l.at("direction").get<std::string>(), bytes * 8 / elapsed, l.at("utilisation").get<double>() * 100,
                    bytes > 0 ? l.at("metadata_bytes").get<double>() / bytes * 100 : 0.0);
  }
  return text;
}

/// What a first run has found of the warm-up.
std::string warm_up_text(const Json& result) {
  if (!result.contains("warm_up")) return {};
  const Json& found = result.at("warm_up");
  if (found.at("too_short").get<bool>()) return {};
  const std::string exact = grouped(found.at("batch").get<std::uint64_t>());
  const auto calls = found.at("calls").get<std::uint64_t>();
  if (calls == 0) return fmt::format("  no call is cut: a first run found no start-up of {} calls or more\n", exact);
  return fmt::format(
      "  the first {} calls are cut: a first run found its start-up to last so long, exact to {} calls\n",
      grouped(calls), exact);
}

std::string host_text(const Json& result) {
  const Json& h = result.at("host");
  std::string requests;
  if (result.contains("requests"))
    requests = grouped(static_cast<std::uint64_t>(h.at("requests_per_wall_s").get<double>())) + " requests and ";
  return fmt::format("  simulated {} in {:.2f} s: {}{:.0f} M instructions per wall second\n",
                     time_text(result.at("simulated_ns").get<double>()), h.at("wall_s").get<double>(), requests,
                     h.at("mips").get<double>());
}

/// Traffic from and to real programs, in the place of a workload.
std::string outside_text(const Json& result) {
  if (!result.at("counters").contains("tap")) return {};
  const Json& tap = result.at("counters").at("tap");
  std::string text =
      fmt::format("   outside: {} in, {} out", counted(tap.at("received").get<std::uint64_t>(), "frame", "frames"),
                  counted(tap.at("sent").get<std::uint64_t>(), "frame", "frames"));
  const std::uint64_t refused = result.at("host").value("refused_frames", std::uint64_t{0});
  if (refused != 0) text += fmt::format(", {} of them refused by the machine", grouped(refused));
  return text;
}

struct FaultSum {
  std::uint64_t times = 0;
  bool lasts = false;
  std::map<std::string, double> cost;
};

/// A line for each fault of the board, its occurrences together.
std::string fault_text(const Json& result) {
  std::map<std::string, FaultSum> sums;
  for (const Json& f : result.at("faults")) {
    FaultSum& sum = sums[f.at("name").get<std::string>()];
    ++sum.times;
    for (const auto& [name, value] : f.at("cost").items()) sum.cost[name] += value.get<double>();
    sum.lasts |= f.at("recovered_ns").is_null() && (sum.cost.contains("stopped_ns") || sum.cost.contains("naks"));
  }
  std::string text;
  for (const auto& [path, instance] : result.at("board").at("instances").items()) {
    if (!path.starts_with("fault.")) continue;
    const FaultSum& sum = sums[path];
    text += fmt::format("  {}: {} of {}, {}", path, instance.at("model").get<std::string>(),
                        instance.at("parameters").at("target").at("value").get<std::string>(),
                        sum.times == 0   ? "never"
                        : sum.times == 1 ? "once"
                                         : fmt::format("{} times", sum.times));
    const char* separator = ": ";
    for (const auto& [name, value] : sum.cost) {
      if (value == 0) continue;
      std::string words = name;
      std::replace(words.begin(), words.end(), '_', ' ');
      const bool time = words.ends_with(" ns");
      if (time) words.resize(words.size() - 3);
      text += separator + words + " " + (time ? time_text(value) : grouped(static_cast<std::uint64_t>(value)));
      separator = ", ";
    }
    text += sum.lasts ? ", to the end\n" : "\n";
  }
  return text.empty() ? text : text + "\n";
}

/// The first mistakes of the firmware; the result file has the others.
std::string mistake_text(const Json& result) {
  constexpr std::size_t kShown = 8;
  const Json& list = result.at("mistakes").at("list");
  if (list.empty()) return "";
  std::string text = "  mistakes of the firmware\n";
  for (std::size_t i = 0; i < std::min(list.size(), kShown); ++i) {
    const Json& m = list[i];
    const auto times = m.at("times").get<std::uint64_t>();
    const std::uint64_t others = m.value("others", std::uint64_t{0});
    text += "    " + m.at("what").get<std::string>();
    if (m.contains("hart"))
      text += fmt::format(", by {} at pc {}", m.at("hart").get<std::string>(), m.at("pc").get<std::string>());
    if (const std::string symbol = m.value("symbol", ""); !symbol.empty()) text += " " + symbol;
    if (m.contains("asid"))
      text += " in " + platform::title_of_process(m.at("process").get<std::string>(), m.at("asid").get<unsigned>());
    if (times > 1) text += fmt::format(", {} times", grouped(times));
    if (others > 0) text += fmt::format(", and {} times with other numbers that are not listed", grouped(others));
    text += "\n";
  }
  const std::uint64_t more = list.size() - std::min(list.size(), kShown);
  if (more > 0) text += fmt::format("    and {} more in the result file\n", more);
  const auto unlisted = result.at("mistakes").at("unlisted").get<std::uint64_t>();
  if (unlisted > 0) text += fmt::format("    and {} others, for which the list has no room\n", grouped(unlisted));
  return text + "\n";
}

/// A workload's report with a second line that says what limited its requests; not where it has several phases, each
/// with its own.
std::string with_limit(std::string report, const workload::Workload& workload, const Json& result) {
  const std::string phases = workload.phases();
  if (!result.contains("requests") || (!phases.empty() && result.at(Json::json_pointer(phases)).size() > 1))
    return report;
  const std::string sentence = limit_sentence(result);
  const std::size_t line = report.find('\n');
  if (sentence.empty() || line == std::string::npos) return report;
  return report.insert(line + 1, "  " + sentence + "\n");
}

}  // namespace

std::string run_report(const Json& result, const workload::Workload* workload) {
  const std::string outside = outside_text(result);
  std::string text =
      name_of(result) + (workload ? with_limit(workload->report(result), *workload, result) : outside + "\n\n");
  if (workload && !outside.empty()) text += outside.substr(1) + "\n\n";
  text += cores_text(result.at("cores"));
  return text + "\n" + fault_text(result) + mistake_text(result) + link_text(result) + warm_up_text(result) +
         host_text(result);
}

}  // namespace sluice::report
