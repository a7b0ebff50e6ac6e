#include "platform/report/text.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "models/base/ledger.h"
#include "platform/report/dma.h"
#include "platform/report/format.h"

namespace sluice::report {
namespace {

std::string bar(double share) { return std::string(static_cast<std::size_t>(std::lround(share * 40)), '#'); }

std::string requests_text(const Json& r) {
  std::string text = fmt::format("{}, {} lost, {} dropped", counted(r.at("sent").get<std::uint64_t>(), "call", "calls"),
                                 r.at("lost").get<std::uint64_t>(), dropped(r));
  if (const auto n = r.at("in_flight").get<std::uint64_t>()) text += fmt::format(", {} in flight", n);
  if (const auto n = r.at("errors").get<std::uint64_t>()) text += fmt::format(", {} WRONG", n);
  if (const auto n = r.at("retransmissions").get<std::uint64_t>()) text += fmt::format(", {} sent again", n);
  return text;
}

std::string stage_table(const Json& result) {
  std::string text = fmt::format("  {:<26} {:>10} {:>9}\n", "where the time goes", "mean", "share");
  for (const auto& [stage, row] : stage_rows(result))
    text += fmt::format("    {:<24} {:>10} {:>7.1f} %  {}\n", base::stage_title(static_cast<base::Stage>(stage)),
                        time_text(row.mean_ns), row.share * 100, bar(row.share));
  return text;
}

std::string core_text(const Json& core) {
  const double cycles = std::max(1.0, core.at("cycles").get<double>());
  std::string text = fmt::format("  {}: {:.2f} IPC", core.at("name").get<std::string>(),
                                 core.at("instructions").get<double>() / cycles);
  if (core.at("l1d_miss_ratio").get<double>() > 0)
    text += fmt::format(", L1d miss {:.1f} %, L2 miss {:.1f} %", core.at("l1d_miss_ratio").get<double>() * 100,
                        core.at("l2_miss_ratio").get<double>() * 100);
  text += "\n   ";
  for (const auto& [account, share] : core.at("time").items())
    if (share.get<double>() > 0) text += fmt::format(" {} {:.1f} %", account, share.get<double>() * 100);
  return text + "\n";
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

std::string host_text(const Json& result) {
  const Json& h = result.at("host");
  std::string calls;
  if (result.contains("requests"))
    calls = grouped(static_cast<std::uint64_t>(h.at("requests_per_wall_s").get<double>())) + " calls and ";
  return fmt::format("  simulated {} in {:.2f} s: {}{:.0f} M instructions per wall second\n",
                     time_text(result.at("simulated_ns").get<double>()), h.at("wall_s").get<double>(), calls,
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

/// The rates of a sweep, or the trials of a search.
std::string phase_table(const Json& result) {
  if (!result.contains("phases")) return {};
  std::string text = fmt::format("  {:>11} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}\n", "offered", "served", "sent",
                                 "unanswered", "mean", "p99", "max");
  for (const Json& p : result.at("phases")) {
    const Json& latency = p.at("latency_ns");
    const std::uint64_t sent = p.at("sent").get<std::uint64_t>();
    text +=
        fmt::format("  {:>11} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}\n", rate_text(p.at("rate_per_s").get<double>()),
                    rate_text(p.at("throughput_per_s").get<double>()), grouped(sent),
                    grouped(sent - p.at("completed").get<std::uint64_t>()), time_text(latency.at("mean").get<double>()),
                    time_text(latency.at("p99").get<double>()), time_text(latency.at("max").get<double>()));
  }
  if (result.contains("zero_loss_rate_per_s"))
    text +=
        fmt::format("\n  highest rate without loss: {}\n", rate_text(result.at("zero_loss_rate_per_s").get<double>()));
  return text + "\n";
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

std::string latency_text(const Json& l) {
  const auto at = [&](const char* key) { return time_text(l.at(key).get<double>()); };
  return fmt::format("  latency at the wire   mean {}   p50 {}   p90 {}   p99 {}   p99.9 {}   max {}\n", at("mean"),
                     at("p50"), at("p90"), at("p99"), at("p999"), at("max"));
}

/// What software did wrong; the rest is in the result file.
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

}  // namespace

std::string run_report(const Json& result) {
  std::string text;
  if (result.contains("requests")) {
    text +=
        fmt::format("{}   {}   {}\n\n", name_of(result), workload_text(result), requests_text(result.at("requests")));
    text += phase_table(result);
    if (result.at("requests").at("completed").get<std::uint64_t>() == 0) {
      text += "  no call was completed: there is no latency\n\n";
    } else {
      text += latency_text(result.at("latency_ns"));
      text += fmt::format("  throughput            {}\n\n", rate_text(result.at("throughput_per_s").get<double>()));
      text += stage_table(result) + "\n";
    }
  } else if (result.contains("dma")) {
    text += name_of(result) + "   DMA\n\n" + dma_table(result) + "\n";
  } else {
    text += name_of(result) + outside_text(result) + "\n\n";
  }
  for (const Json& core : result.at("cores")) text += core_text(core);
  return text + "\n" + fault_text(result) + mistake_text(result) + link_text(result) + host_text(result);
}

}  // namespace sluice::report
