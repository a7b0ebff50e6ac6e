// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "platform/page/boards.h"
#include "platform/page/measured_plots.h"
#include "platform/page/pages.h"
#include "platform/page/table.h"

namespace sluice::page {
namespace {

using Results = std::vector<ResultData>;

struct Figure {
  std::string name;
  const char* unit;
  std::vector<std::optional<double>> values;  ///< of each board
};

/// What every result has, in the first replication.
std::vector<Figure> figures_of(const Results& results) {
  std::vector<Figure> figures;
  const auto add = [&](const std::string& name, const char* unit, auto&& value) {
    Figure figure{name, unit, {}};
    for (const ResultData& r : results) figure.values.push_back(value(r));
    if (std::any_of(figure.values.begin(), figure.values.end(), [](const auto& v) { return v.has_value(); }))
      figures.push_back(std::move(figure));
  };
  for (const auto& [name, unused] : results.front().requests)
    add("requests " + quantity_title(name), "count", [&key = name](const ResultData& r) -> std::optional<double> {
      for (const auto& [n, value] : r.requests)
        if (n == key) return value;
      return std::nullopt;
    });
  for (const auto& [name, unused] : results.front().measured.latency.quantiles)
    add("latency " + quantity_title(name), "ns",
        [&key = name](const ResultData& r) { return r.measured.latency.find(key); });
  add("throughput", "1/s", [](const ResultData& r) { return r.throughput_per_s; });
  add("zero-loss rate", "1/s", [](const ResultData& r) { return r.zero_loss_rate_per_s; });
  add("simulated time", "ns", [](const ResultData& r) { return r.simulated_ns; });
  return figures;
}

void add_figures(Document& page, const Results& results) {
  std::vector<Table::Head> heads = {{"quantity"}, {"unit"}};
  for (const ResultData& r : results) heads.push_back({r.board.name, true});
  for (std::size_t i = 1; i < results.size(); ++i)
    heads.push_back({fmt::format("{} / {}", results[i].board.name, results.front().board.name), true});
  Table table(heads);
  for (const Figure& f : figures_of(results)) {
    std::vector<Cell> cells = {text_cell(f.name), text_cell(f.unit)};
    for (const auto& value : f.values) cells.push_back(number_cell(value));
    for (std::size_t i = 1; i < f.values.size(); ++i) {
      const auto &first = f.values.front(), &other = f.values[i];
      cells.push_back(first && other && *first != 0 ? Cell{fmt::format("x{:.3f}", *other / *first), {}, true}
                                                    : number_cell(std::nullopt));
    }
    table.row(cells);
  }
  page.html(table.html());
}

/// The ends of an interval around a value, by its half-width or by themselves; nothing where there is none.
std::optional<std::pair<double, double>> interval(const Node& node, double value) {
  if (const auto half = node.number("half_width_95"); half && *half > 0) return std::pair(value - *half, value + *half);
  return node.ends("interval_95");
}

/// Differences from the reference over replications.
void add_paired(Document& page, const Node& comparison, const std::string& reference) {
  Table table(
      {{"board"}, {"quantity"}, {"unit"}, {reference, true}, {"difference", true}, {"interval", true}, {"verdict"}});
  for (const Node& row : comparison.list("paired")) {
    const double difference = row.at("difference").number();
    const auto ends = row.ends("interval");
    const std::string verdict = row.at("verdict").text();
    table.row({text_cell(row.text("board")),
               text_cell(row.text("quantity")),
               text_cell(row.text("unit")),
               number_cell(row.number("reference")),
               number_cell(difference),
               {ends ? short_text(ends->first) + " to " + short_text(ends->second) : "", {}, true},
               text_cell(verdict == "none" ? "no difference" : verdict)});
  }
  if (table.empty()) return;
  page.subsection("Differences over replications");
  page.paragraph(
      "The same replication of two boards sees the same arrivals and call contents, so what they share cancels. The "
      "interval is that of 95 % confidence; where it holds zero, there is no difference to speak of. Without an "
      "interval, "
      "every replication gave the same, or there are too few calls to tell.");
  page.html(table.html());
}

/// Latency against load or size, with the replications' intervals.
void add_curve(Document& page, const Node& comparison, const std::vector<std::string>& boards,
               std::uint64_t replications) {
  struct Shown {
    const char *key, *file, *title, *axis;
  };
  const std::vector<Node> points = comparison.list("curve");
  const bool is_size = !points.empty() && points.front().find("call_bytes");
  const std::string against = is_size ? "size" : "load";
  for (const Shown& s : {Shown{"mean_ns", "mean", "Mean latency", "mean latency (ns)"},
                         Shown{"p99_ns", "p99", "p99 of the latency", "latency p99 (ns)"},
                         Shown{"achieved_per_s", "achieved", "Achieved rate", "achieved rate (1/s)"}}) {
    Plot plot{fmt::format("{}-{}", against, s.file),
              fmt::format("{} against {}", s.title, against),
              is_size ? "Closed loop: each client makes its next call when it has an answer."
                      : "Open loop: calls are due at random times, whatever the board does.",
              {},
              {}};
    if (replications > 1)
      plot.caption += fmt::format(" Over {} replications, with 95 % confidence intervals.", replications);
    std::vector<double> xs, ys;
    bool intervals = false;
    for (const Node& point : points) {
      const double at = point.at(is_size ? "call_bytes" : "rate_per_s").number();
      const std::vector<Node> cells = point.at("boards").list();
      if (cells.size() != boards.size()) point.at("boards").refuse("must have an entry for each board");
      for (std::size_t b = 0; b < cells.size(); ++b) {
        const Node estimate = cells[b].at(s.key);
        const double value = estimate.at(estimate.find("value") ? "value" : "mean").number();
        const auto ends = interval(estimate, value);
        intervals = intervals || ends;
        plot.data.rows.push_back({boards[b], exact_text(at), exact_text(value), ends ? exact_text(ends->first) : "",
                                  ends ? exact_text(ends->second) : ""});
        xs.push_back(at);
        ys.push_back(ends ? std::min(value, ends->first) : value);
      }
    }
    const Dimension x = phase_axis(is_size, xs);
    const Dimension y{"mean", s.axis, true, spans_decades(ys)};
    plot.data.columns = {{"run", "board (name)"},
                         {x.field, x.title, true},
                         {y.field, y.title, true},
                         {"low", "low end of the 95 % interval", true},
                         {"high", "high end", true}};
    plot.spec = line_spec({x, y, {"run", "board (name)", false, false, boards}, {}, intervals}, 1);
    page.plot(std::move(plot));
  }
}

}  // namespace

Document comparison_page(const Node& comparison) {
  Results results;
  for (const Node& result : comparison.at("results").list()) results.push_back(result_data(result));
  if (results.size() < 2) comparison.at("results").refuse("must have at least two results");
  const std::uint64_t replications = comparison.at("replications").whole();
  std::vector<std::string> names;
  std::vector<const BoardData*> boards;
  std::vector<const ResultData*> pointers;
  std::vector<Labelled> runs;
  std::string title;
  for (const ResultData& r : results) {
    names.push_back(r.board.name);
    boards.push_back(&r.board);
    pointers.push_back(&r);
    runs.push_back({r.board.name, &r});
    title += (title.empty() ? "" : " and ") + r.board.name;
  }
  Document page(title, "One workload on several boards, side by side");
  page.section("What was run");
  std::string command = command_of(boards);
  if (replications > 1) command += fmt::format(" --replications {}", replications);
  page.html("<pre>" + escaped(command) + "</pre>\n");
  page.paragraph(fmt::format("Seed {}, {} replication{} of each board{}.", results.front().seed, replications,
                             replications == 1 ? "" : "s",
                             replications == 1 ? "" : "; what shows no interval is of the first"));
  add_origins(page, pointers);
  add_differences(page, boards, {});
  for (const Node& same : comparison.list("same_as_reference"))
    page.paragraph(fmt::format("{} did the same as {} to the last count: what differs has no effect on this workload.",
                               same.text(), names.front()));
  page.section("Results");
  for (const ResultData& r : results)
    if (!r.failure.empty()) page.html("<p class=\"bad\">" + escaped(r.board.name + " failed: " + r.failure) + "</p>\n");
  add_figures(page, results);
  add_paired(page, comparison, names.front());
  page.section("Plots");
  if (comparison.find("curve"))
    add_curve(page, comparison, names, replications);
  else
    add_phase_plots(page, runs, "board");
  add_measured_plots(page, runs, "board");
  add_boards(page, boards);
  return page;
}

}  // namespace sluice::page
