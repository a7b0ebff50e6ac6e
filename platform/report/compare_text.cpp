// SPDX-License-Identifier: Apache-2.0
#include "platform/report/compare_text.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "models/base/measure/ledger.h"
#include "models/base/measure/stages.h"
#include "models/workload/stages.h"
#include "models/workload/steps.h"
#include "platform/report/format.h"
#include "platform/report/list_plots.h"
#include "platform/workload/traffic_figures.h"

namespace sluice::report {
namespace {

constexpr int kLabel = 26;
constexpr int kColumn = 15;
constexpr int kRelative = 11;

/// One column per board. After each board but the first, another column has its ratio or difference to the first.
class Table {
 public:
  explicit Table(const std::vector<Json>& results) : results_(results) {}

  using Cell = std::function<std::string(const Json&)>;
  using Value = std::function<double(const Json&)>;
  using Text = std::function<std::string(double)>;

  void title(const std::string& label) { line(label, {}, {}); }
  void cells(const std::string& label, const Cell& cell) {
    std::vector<std::string> texts;
    for (const Json& r : results_) texts.push_back(cell(r));
    line(label, texts, {});
  }
  /// With the ratio to the first board: "x1.21".
  void ratios(const std::string& label, const Value& value, const Text& text) {
    figures(label, value, text, [](double first, double other) {
      return first > 0 && other >= 0 ? fmt::format("x{:.3f}", other / first) : std::string();
    });
  }
  /// With the difference to the first board: "+176.3 ns".
  void differences(const std::string& label, const Value& value, const Text& text) {
    figures(label, value, text,
            [&](double first, double other) { return (other < first ? "-" : "+") + text(std::abs(other - first)); });
  }
  void blank() { text_ += "\n"; }
  const std::string& text() const { return text_; }

 private:
  void figures(const std::string& label, const Value& value, const Text& text,
               const std::function<std::string(double, double)>& relative) {
    std::vector<std::string> texts, relatives;
    for (const Json& r : results_) {
      texts.push_back(text(value(r)));
      relatives.push_back(&r == &results_.front() ? "" : relative(value(results_.front()), value(r)));
    }
    line(label, texts, relatives);
  }

  void line(const std::string& label, const std::vector<std::string>& texts,
            const std::vector<std::string>& relatives) {
    std::string line = fmt::format("  {:<{}}", label, kLabel);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      line += fmt::format(" {:>{}}", texts[i], kColumn - 1);
      if (i > 0) line += fmt::format("{:>{}}", relatives.empty() ? "" : relatives[i], kRelative);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text_ += line + "\n";
  }

  const std::vector<Json>& results_;
  std::string text_;
};

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

void requests_rows(Table& table, const std::string& what) {
  const auto count = [&](const std::string& label, const char* key) {
    table.cells(label, [key](const Json& r) { return grouped(r.at("requests").at(key).get<std::uint64_t>()); });
  };
  count(what + " sent", "sent");
  count("completed", "completed");
  table.cells("lost / dropped / wrong", [](const Json& r) {
    const Json& q = r.at("requests");
    return fmt::format("{} / {} / {}", q.at("lost").get<std::uint64_t>(), workload::dropped_requests(q),
                       q.at("errors").get<std::uint64_t>());
  });
}

/// Whether the workload had requests. A board without a wire has none: its firmware is its workload.
bool has_requests(const Json& result) { return result.contains("requests"); }

void latency_rows(Table& table) {
  for (const char* key : {"mean", "p50", "p90", "p99", "p999", "max"})
    table.ratios(
        std::string("latency ") + (std::string(key) == "p999" ? "p99.9" : key),
        [key](const Json& r) { return r.at("latency_ns").at(key).get<double>(); }, time_text);
  table.ratios(
      "throughput", [](const Json& r) { return r.at("throughput_per_s").get<double>(); }, rate_text);
}

/// Of boards that all have several services.
void service_rows(Table& table, const std::vector<Json>& results) {
  if (!std::all_of(results.begin(), results.end(), [](const Json& r) { return r.contains("services"); })) return;
  table.ratios(
      "worst p99 of a service",
      [](const Json& r) { return platform::notable_services(r)->worst_p99->at("latency_ns").at("p99").get<double>(); },
      time_text);
  table.cells("  its number",
              [](const Json& r) { return platform::notable_services(r)->worst_p99->at("service").dump(); });
}

void zero_loss_row(Table& table, const std::vector<Json>& results) {
  if (!results.front().contains("zero_loss_rate_per_s")) return;
  table.ratios(
      "zero-loss rate", [](const Json& r) { return r.at("zero_loss_rate_per_s").get<double>(); }, rate_text);
  table.cells("  the highest tried", [](const Json& r) {
    const double found = r.at("zero_loss_rate_per_s").get<double>();
    return r.at("phases").at(0).at("rate_per_s").get<double>() == found ? "yes: may be more" : "no";
  });
}

void stage_table(Table& table, const std::vector<Json>& results) {
  std::map<int, bool> any;
  for (const Json& r : results)
    for (const auto& [stage, row] : workload::stage_rows(r)) any[stage] = true;
  table.title("mean time in");
  for (const auto& [stage, shown] : any)
    table.differences(
        std::string("  ") + base::stage_title(static_cast<base::Stage>(stage)),
        [number = stage](const Json& r) { return workload::stage_rows(r)[number].mean_ns; }, time_text);
  table.differences(
      "  sum",
      [](const Json& r) {
        double sum = 0;
        for (const auto& [stage, row] : workload::stage_rows(r)) sum += row.mean_ns;
        return sum;
      },
      time_text);
}

/// The lines of one step of a board, beneath each other. The number of the step whose cost has another's in it is known
/// to the caller.
std::string step_cell(const workload::StepLine& line, const std::vector<std::string>& titles) {
  std::string who = line.who == "application" ? "app" : line.who == "kernel" ? "kern" : line.who;
  if (!line.has_cost) return who;
  if (line.with.empty()) return who.empty() ? time_text(line.mean_ns) : who + " " + time_text(line.mean_ns);
  const auto with = std::find(titles.begin(), titles.end(), line.with);
  return fmt::format("{}, in {}", who, with - titles.begin() + 1);
}

/// Who does which step of receiving a call. A board may have several who do a step, each on a line.
void step_table(Table& table, const std::vector<Json>& results) {
  if (!std::all_of(results.begin(), results.end(), [](const Json& r) { return r.contains("steps"); })) return;
  const std::vector<std::string> titles = workload::step_titles();
  table.title("receiving a call: who");
  for (const std::string& title : titles) {
    const std::size_t number = &title - &titles.front() + 1;
    const bool is_step = number <= SLUICE_STEP_COUNT;
    const auto lines_of = [&title](const Json& r) { return workload::step_lines(r, title); };
    std::size_t height = 0;
    for (const Json& r : results) height = std::max(height, lines_of(r).size());
    for (std::size_t n = 0; n < height; ++n)
      table.cells(n > 0     ? ""
                  : is_step ? fmt::format("  {:>2} {}", number, title)
                            : "     " + title,
                  [&](const Json& r) {
                    const auto lines = lines_of(r);
                    return n < lines.size() ? step_cell(lines[n], titles) : "";
                  });
  }
}

/// What the cores execute for a call, by step and altogether.
void instruction_table(Table& table, const std::vector<Json>& results) {
  if (!std::all_of(results.begin(), results.end(), [](const Json& r) { return r.contains("steps"); })) return;
  const auto count = [](double n) { return fmt::format("{:.1f}", n); };
  const auto of = [](const Json& r, const std::string& title) {
    double sum = 0;
    for (const workload::StepLine& line : workload::step_lines(r, title))
      if (line.with.empty()) sum += line.instructions;
    return sum;
  };
  table.title("instructions for a call");
  for (const std::string& title : workload::step_titles())
    if (std::any_of(results.begin(), results.end(), [&](const Json& r) { return of(r, title) > 0; }))
      table.cells("  " + title, [&](const Json& r) { return count(of(r, title)); });
  table.ratios(
      "  of all busy cores", [](const Json& r) { return workload::busy(r).instructions; }, count);
  table.ratios(
      "  their cycles", [](const Json& r) { return workload::busy(r).cycles; }, count);
}

void core_table(Table& table, const std::vector<Json>& results) {
  table.title("core 0's time");
  for (const auto& [account, unused] : results.front().at("cores").at(0).at("time").items()) {
    const auto share = [key = account](const Json& r) { return r.at("cores").at(0).at("time").at(key).get<double>(); };
    if (std::all_of(results.begin(), results.end(), [&](const Json& r) { return share(r) == 0; })) continue;
    table.differences("  " + account, share, percent);
  }
}

/// Links that every board has.
void link_table(Table& table, const std::vector<Json>& results) {
  const auto find = [](const Json& r, const Json& like) -> const Json* {
    for (const Json& l : r.at("links"))
      if (l.at("name") == like.at("name") && l.at("direction") == like.at("direction")) return &l;
    return nullptr;
  };
  bool any = false;
  for (const Json& link : results.front().at("links")) {
    if (!std::all_of(results.begin(), results.end(), [&](const Json& r) { return find(r, link); })) continue;
    if (!std::exchange(any, true)) table.title("links");
    const std::string name = "  " + link.at("name").get<std::string>() + " " + link.at("direction").get<std::string>();
    table.ratios(
        name, [&](const Json& r) { return find(r, link)->at("bytes").get<double>(); },
        [](double bytes) { return grouped(static_cast<std::uint64_t>(bytes)) + " B"; });
    table.differences(
        name + ", busy", [&](const Json& r) { return find(r, link)->at("utilisation").get<double>(); }, percent);
  }
}

/// "B" of "size of a frame (B)".
std::string unit_in(const std::string& title) {
  const auto open = title.rfind('(');
  return open != std::string::npos && title.ends_with(')') ? title.substr(open + 1, title.size() - open - 2) : "";
}

/// Numbers of a workload's list where every board has them: all of them, or some from the first to the last.
void plotted_table(Table& table, const std::vector<Json>& results, const workload::ListPlot& plot) {
  constexpr std::size_t kMostShown = 8;
  const bool is_time = plot.y_title.ends_with("(ns)");
  const std::string unit = unit_in(plot.x.title);
  bool any = false;
  table.title(plot.title + (is_time ? std::string() : ": " + plot.y_title));
  for (const workload::ListPlot::Shown& line : plot.lines) {
    const std::vector<const Json*> entries = common_entries(plot, line.key, results);
    const std::size_t shown = std::min(entries.size(), kMostShown);
    any |= shown != 0;
    for (std::size_t n = 0; n < shown; ++n) {
      const Json& entry = *entries[shown == 1 ? 0 : n * (entries.size() - 1) / (shown - 1)];
      const std::string by = set_apart_by(plot, entry);
      table.ratios(
          fmt::format("  {}{} at {}{}{}", line.title, by.empty() ? "" : ", " + by, entry.at(plot.x.key).dump(),
                      unit.empty() ? "" : " ", unit),
          [&](const Json& r) { return find_entry(plot, line.key, r, entry)->at(line.key).get<double>(); },
          [is_time](double v) {
            return is_time ? (v < 0 ? "-" : "") + time_text(std::abs(v)) : fmt::format("{:.4g}", v);
          });
    }
  }
  if (!any) table.title("  the boards have no " + plot.x.title + " in common");
}

/// How far the quantities move at half the quantum, the bound on run-ahead between harts (docs/models/base-time.md).
std::string half_quantum_text(const Comparison& c) {
  std::string text;
  for (std::size_t i = 0; i < c.half_quantum.size(); ++i) {
    const Json& half = c.half_quantum[i];
    if (half.is_null()) continue;
    text += fmt::format("    {}, {}:", name_of(half), time_text(half.at("quantum_ns").get<double>()));
    const auto full = quantities_of(c.results[i]);
    const auto halved = quantities_of(half);
    for (std::size_t q = 0; q < full.size(); ++q) {
      const auto shown = full[q].unit == "ns" ? time_text(halved[q].value) : rate_text(halved[q].value);
      const double change = full[q].value > 0 ? halved[q].value / full[q].value - 1 : 0;
      text += fmt::format("{} {} {} ({:+.2f} %)", q == 0 ? "" : ",", full[q].name, shown, change * 100);
    }
    text += "\n";
  }
  return text.empty() ? text : "\n  At half the quantum:\n" + text;
}

std::string replications_text(const Comparison& c) {
  const std::vector<PairedRow>& rows = c.paired.rows;
  if (rows.empty()) return {};
  if (std::all_of(rows.begin(), rows.end(),
                  [](const PairedRow& p) { return p.difference.basis == statistics::Basis::constant; }))
    return fmt::format(
        "\n  All {} replications gave the same: nothing in this workload and these boards is random, so there is no "
        "confidence interval to give.{}\n",
        c.replications,
        !c.shown.empty()
            ? ""
            : " Poisson arrivals (workload.kind open-loop or load-sweep) and the programs sort and kv are random.");
  return fmt::format("\n  Over {} replications (the columns above are the first), less {}{}:\n{}", c.replications,
                     name_of(c.results.front()),
                     rows.size() == 1 ? ", with 95 % confidence" : "; with 95 % confidence all intervals hold",
                     paired_text(c.paired));
}

std::string differences_text(const Comparison& c) {
  std::string text =
      c.differences.empty() ? "\n  The boards have the same parameters.\n" : "\n  The boards differ in:\n";
  for (const std::string& d : c.differences) text += "    " + d + "\n";
  for (const std::string& board : c.same)
    text += fmt::format("  {} did the same as {} to the last count: what differs has no effect on this workload.\n",
                        board, name_of(c.results.front()));
  return text;
}

/// What the boards are put to: a line, or one for each board where they differ.
std::string workload_text(const Comparison& c) {
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < c.results.size(); ++i)
    titles.push_back(!c.shown.empty()             ? c.shown[i].title
                     : has_requests(c.results[i]) ? platform::traffic_text(c.results[i])
                                                  : "no calls: what the firmware does by itself");
  if (std::all_of(titles.begin(), titles.end(), [&](const std::string& t) { return t == titles.front(); }))
    return titles.front();
  std::string text;
  for (std::size_t i = 0; i < titles.size(); ++i)
    text += fmt::format("{}{}: {}", i == 0 ? "" : "\n", name_of(c.results[i]), titles[i]);
  return text;
}

std::string curve_report(const Comparison& c) {
  std::vector<std::string> names;
  for (const Json& r : c.results) names.push_back(name_of(r));
  std::string text = workload_text(c);
  if (c.capacity_per_s > 0)
    text += fmt::format("; 100 % is {}, what the slowest board achieves", rate_text(c.capacity_per_s));
  return text + "\n\n" + curve_text(names, c.curves, c.replications, c.capacity_per_s) + differences_text(c);
}

}  // namespace

bool did_the_same(const Json& a, const Json& b) {
  const auto what = [](Json result) {
    for (const char* key : {"board", "host", "without_effect"}) result.erase(key);
    return result;
  };
  return what(a) == what(b);
}

std::string compare_report(const Comparison& c) {
  if (!c.curves.empty()) return curve_report(c);
  const bool requests = has_requests(c.results.front()) && (c.shown.empty() || !c.shown.front().requests.empty());
  Table table(c.results);
  table.cells("", name_of);
  if (requests) {
    requests_rows(table, c.shown.empty() ? "calls" : c.shown.front().requests);
    table.blank();
    latency_rows(table);
    service_rows(table, c.results);
    zero_loss_row(table, c.results);
    table.blank();
    stage_table(table, c.results);
    table.blank();
    step_table(table, c.results);
    table.blank();
    instruction_table(table, c.results);
  } else {
    table.ratios(
        "simulated time", [](const Json& r) { return r.at("simulated_ns").get<double>(); }, time_text);
    table.blank();
    for (const Json& plot : c.results.front().value("plots", Json::array())) {
      plotted_table(table, c.results, list_plot(plot));
      table.blank();
    }
    link_table(table, c.results);
  }
  table.blank();
  core_table(table, c.results);
  std::string text = workload_text(c) + "\n\n" + table.text();
  return text + replications_text(c) + half_quantum_text(c) + differences_text(c);
}

}  // namespace sluice::report
