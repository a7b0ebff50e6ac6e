#include "platform/report/text.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "models/base/ledger.h"

namespace sluice::report {
namespace {

using Json = nlohmann::ordered_json;

std::string name_of(const Json& result) { return result.at("board").at("name").get<std::string>(); }

/// 4230.5 -> "4.23 us"
std::string time_text(double ns) {
  if (ns < 1e3) return fmt::format("{:.1f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.2f} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.2f} ms", ns / 1e6);
  return fmt::format("{:.3f} s", ns / 1e9);
}

std::string rate_text(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.3f} M/s", per_second / 1e6);
  if (per_second >= 1e3) return fmt::format("{:.1f} k/s", per_second / 1e3);
  return fmt::format("{:.1f} /s", per_second);
}

std::string grouped(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string parameter(const Json& result, const char* instance, const char* key) {
  const Json& instances = result.at("board").at("instances");
  if (!instances.contains(instance)) return {};
  const Json& parameters = instances.at(instance).at("parameters");
  return parameters.contains(key) ? parameters.at(key).at("text").get<std::string>() : std::string{};
}

std::string workload_text(const Json& result) {
  const auto p = [&](const char* key) { return parameter(result, "workload", key); };
  std::string kind = p("kind");
  std::string text = p("call.program");
  if (text != "null" && text != "add") text += " " + p("call.bytes") + " B";
  if (kind == "closed-loop") return fmt::format("{}, closed loop, {} outstanding", text, p("outstanding"));
  if (kind == "open-loop") return fmt::format("{}, open loop, {} /s {}", text, p("rate"), p("arrivals"));
  return "replay of " + p("pcap");
}

std::uint64_t dropped(const Json& requests) {
  std::uint64_t sum = 0;
  for (const auto& [reason, n] : requests.at("dropped").items()) sum += n.get<std::uint64_t>();
  return sum;
}

/// Mean per request and share, by stage title, over all components.
struct StageRow {
  double mean_ns = 0;
  double share = 0;
};
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
  rows[SLUICE_STAGE_unattributed];  // shown although, and because, it is nothing
  return rows;
}

std::string bar(double share) { return std::string(static_cast<std::size_t>(share * 40 + 0.5), '#'); }

std::string requests_text(const Json& r) {
  std::string text = fmt::format("{} calls, {} lost, {} dropped", grouped(r.at("sent").get<std::uint64_t>()),
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
      fmt::format("   outside: {} frames in, {} frames out", grouped(tap.at("received").get<std::uint64_t>()),
                  grouped(tap.at("sent").get<std::uint64_t>()));
  const std::uint64_t refused = result.at("host").value("refused_frames", std::uint64_t{0});
  if (refused != 0) text += fmt::format(", {} of them refused by the machine", grouped(refused));
  return text;
}

std::string latency_text(const Json& l) {
  const auto at = [&](const char* key) { return time_text(l.at(key).get<double>()); };
  return fmt::format("  latency at the wire   mean {}   p50 {}   p90 {}   p99 {}   p99.9 {}   max {}\n", at("mean"),
                     at("p50"), at("p90"), at("p99"), at("p999"), at("max"));
}

}  // namespace

std::string run_report(const Json& result) {
  std::string text;
  if (result.contains("requests")) {
    text +=
        fmt::format("{}   {}   {}\n\n", name_of(result), workload_text(result), requests_text(result.at("requests")));
    text += latency_text(result.at("latency_ns"));
    text += fmt::format("  throughput            {}\n\n", rate_text(result.at("throughput_per_s").get<double>()));
    text += stage_table(result) + "\n";
  } else {
    text += name_of(result) + outside_text(result) + "\n\n";
  }
  for (const Json& core : result.at("cores")) text += core_text(core);
  return text + "\n" + link_text(result) + host_text(result);
}

namespace {

constexpr int kLabel = 28;
constexpr int kColumn = 16;

class Table {
 public:
  explicit Table(std::size_t columns) : columns_(columns) {}
  void row(const std::string& label, const std::vector<std::string>& cells) {
    text_ += fmt::format("  {:<{}}", label, kLabel);
    for (std::size_t i = 0; i < columns_; ++i) text_ += fmt::format("{:>{}}", cells[i], kColumn);
    text_ += "\n";
  }
  void blank() { text_ += "\n"; }
  const std::string& text() const { return text_; }

 private:
  std::size_t columns_;
  std::string text_;
};

}  // namespace

std::string compare_report(const std::vector<Json>& results, const std::vector<std::string>& differences) {
  Table table(results.size());
  const auto each = [&](const std::string& label, auto&& cell) {
    std::vector<std::string> cells;
    for (const Json& r : results) cells.push_back(cell(r));
    table.row(label, cells);
  };
  each("", [](const Json& r) { return name_of(r); });
  each("calls sent", [](const Json& r) { return grouped(r.at("requests").at("sent").get<std::uint64_t>()); });
  each("completed", [](const Json& r) { return grouped(r.at("requests").at("completed").get<std::uint64_t>()); });
  each("lost / dropped / wrong", [](const Json& r) {
    const Json& q = r.at("requests");
    return fmt::format("{} / {} / {}", q.at("lost").get<std::uint64_t>(), dropped(q),
                       q.at("errors").get<std::uint64_t>());
  });
  table.blank();
  for (const char* key : {"mean", "p50", "p90", "p99", "p999", "max"})
    each(std::string("latency ") + key,
         [&](const Json& r) { return time_text(r.at("latency_ns").at(key).get<double>()); });
  each("throughput", [](const Json& r) { return rate_text(r.at("throughput_per_s").get<double>()); });
  table.blank();

  std::vector<std::map<int, StageRow>> stages;
  std::map<int, bool> any;
  for (const Json& r : results) {
    stages.push_back(stage_rows(r));
    for (const auto& [stage, row] : stages.back()) any[stage] = true;
  }
  table.row("mean time in", std::vector<std::string>(results.size()));
  for (const auto& [stage, shown] : any) {
    std::vector<std::string> cells;
    for (auto& rows : stages) cells.push_back(rows.contains(stage) ? time_text(rows[stage].mean_ns) : "-");
    table.row(std::string("  ") + base::stage_title(static_cast<base::Stage>(stage)), cells);
  }
  table.row("  sum", [&] {
    std::vector<std::string> cells;
    for (auto& rows : stages) {
      double sum = 0;
      for (const auto& [stage, row] : rows) sum += row.mean_ns;
      cells.push_back(time_text(sum));
    }
    return cells;
  }());
  table.blank();
  table.row("core 0's time", std::vector<std::string>(results.size()));
  for (const auto& [account, unused] : results.front().at("cores").at(0).at("time").items()) {
    const auto share = [&, key = account](const Json& r) {
      return r.at("cores").at(0).at("time").at(key).get<double>();
    };
    if (std::all_of(results.begin(), results.end(), [&](const Json& r) { return share(r) == 0; })) continue;
    each("  " + account, [&](const Json& r) { return fmt::format("{:.1f} %", share(r) * 100); });
  }
  std::string text = workload_text(results.front()) + "\n\n" + table.text();
  if (!differences.empty()) text += "\n  The boards differ in:\n";
  for (const std::string& d : differences) text += "    " + d + "\n";
  return text;
}

}  // namespace sluice::report
