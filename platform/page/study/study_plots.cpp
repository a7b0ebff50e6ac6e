// SPDX-License-Identifier: Apache-2.0
#include "platform/page/study/study_plots.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace sluice::page {
namespace {

constexpr std::size_t kMostTicks = 12;

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

const Estimate* estimate(const Case& c, const Quantity& q) {
  const auto found = c.quantities.find(q.path);
  return found == c.quantities.end() ? nullptr : &found->second;
}

/// The texts of an interval's ends; empty where there is none.
std::pair<std::string, std::string> ends_of(const Estimate& e) {
  if (!e.interval_95) return {};
  return {exact_text(e.interval_95->first), exact_text(e.interval_95->second)};
}

Dimension value_of(const Study& study, const Quantity& q, const char* field) {
  std::vector<double> values;
  for (const Case& c : study.cases)
    if (const Estimate* e = estimate(c, q)) values.push_back(e->value);
  return {field, axis_title(q.path, q.unit), true, spans_decades(values)};
}

Dimension by_board(const Study& study) { return {"board", "board (name)", false, false, study.boards()}; }

/// Names in the order in which they come, each once.
class Names {
 public:
  void add(const std::string& name) {
    if (known_.insert(name).second) list_.push_back(name);
  }
  const std::vector<std::string>& list() const { return list_; }

 private:
  std::set<std::string> known_;
  std::vector<std::string> list_;
};

std::string plot_name(const Quantity& q, const std::string& along) { return q.path + "-by-" + along; }

constexpr const char* kIntervals = "Bars are 95 % confidence intervals.";

void add_line_plot(Document& page, const Study& study, const std::vector<ShownAxis>& axes, const ShownAxis& along,
                   const Quantity& q) {
  Plot plot{plot_name(q, along.axis->path), quantity_title(q.path) + " by " + along.axis->path, {}, {}, {}};
  Names combinations;
  std::vector<double> xs;
  bool intervals = false;
  for (const Case& c : study.cases) {
    const Estimate* e = estimate(c, q);
    if (!e || !c.settings.contains(along.axis->path)) continue;
    const std::string others = setting_text(c, axes, {along.axis});
    combinations.add(others);
    if (along.number) xs.push_back(c.numbers.at(along.axis->path));
    const auto [low, high] = ends_of(*e);
    intervals = intervals || e->interval_95;
    plot.data.rows.push_back({c.board, along.number ? exact_text(xs.back()) : c.setting(along.axis->path), others,
                              exact_text(e->value), low, high, fmt::format("{}", e->runs)});
  }
  const std::set<double> settings(xs.begin(), xs.end());
  Dimension x{"x", along.title, along.number, spans_decades(xs) || grows_by_factors(settings)};
  if (!along.number) x.order = along.order;
  // Few settings are the marks of their axis.
  if (settings.size() <= kMostTicks) x.ticks = settings;
  const Dimension y = value_of(study, q, "value");
  plot.data.columns = {{"board", "board (name)"},
                       {x.field, x.title, along.number},
                       {"others", "other parameters"},
                       {y.field, y.title, true},
                       {"low", "least of the 95 % interval", true},
                       {"high", "greatest of the 95 % interval", true},
                       {"runs", "runs (count)", true}};
  Lines lines{x, y, by_board(study)};
  if (intervals) lines.intervals = true;
  if (intervals) plot.caption = kIntervals;
  const std::size_t panels = combinations.list().size();
  if (panels > kMostPanels) {
    lines.spread = true;
    lines.intervals = false;
    plot.caption = fmt::format(
        "Over {} combinations of the other parameters: the line is the median, and the band reaches from the least to "
        "the "
        "greatest. The CSV file has each of them.",
        panels);
  } else if (panels > 1) {
    lines.panels = {"others", "other parameters (values)", false, false, combinations.list()};
  }
  plot.spec = line_spec(lines, panels);
  page.plot(std::move(plot));
}

void add_heat_map(Document& page, const Study& study, const std::vector<ShownAxis>& axes, const ShownAxis& first,
                  const ShownAxis& second, const Quantity& q) {
  Plot plot{plot_name(q, first.axis->path + "-and-" + second.axis->path),
            fmt::format("{} over {} and {}", quantity_title(q.path), first.axis->path, second.axis->path),
            "The mean at each setting; the colours are those of all small maps.",
            {},
            {}};
  Names panels;
  const bool one_board = study.boards().size() == 1;
  for (const Case& c : study.cases) {
    const Estimate* e = estimate(c, q);
    if (!e || !c.settings.contains(first.axis->path) || !c.settings.contains(second.axis->path)) continue;
    const std::string others = setting_text(c, axes, {first.axis, second.axis});
    const std::string panel = one_board && !others.empty() ? others
                              : others.empty()             ? c.board
                                                           : c.board + ": " + others;
    panels.add(panel);
    plot.data.rows.push_back({panel, c.setting(first.axis->path), c.setting(second.axis->path), exact_text(e->value)});
  }
  const std::size_t count = panels.list().size();
  if (count > kMostPanels) return;
  const Dimension value = value_of(study, q, "value");
  std::vector<std::string> upwards(second.order.rbegin(), second.order.rend());
  const HeatMap map{{"x", first.title, false, false, first.order},
                    {"y", second.title, false, false, upwards},
                    value,
                    {"panel", "board and other parameters (values)", false, false, panels.list()}};
  plot.data.columns = {
      {"panel", map.panels.title}, {"x", first.title}, {"y", second.title}, {value.field, value.title, true}};
  plot.spec = heat_spec(map, first.order.size(), second.order.size(), count);
  page.plot(std::move(plot));
}

/// Where nothing varies but the board.
void add_dot_plot(Document& page, const Study& study, const Quantity& q) {
  Plot plot{plot_name(q, "board"), quantity_title(q.path) + " by board", {}, {}, {}};
  bool intervals = false;
  for (const Case& c : study.cases)
    if (const Estimate* e = estimate(c, q)) {
      const auto [low, high] = ends_of(*e);
      intervals = intervals || e->interval_95;
      plot.data.rows.push_back({c.board, exact_text(e->value), low, high, fmt::format("{}", e->runs)});
    }
  const Dimension value = value_of(study, q, "value"), row = by_board(study);
  plot.data.columns = {{"board", row.title},
                       {value.field, value.title, true},
                       {"low", "least of the 95 % interval", true},
                       {"high", "greatest of the 95 % interval", true},
                       {"runs", "runs (count)", true}};
  if (intervals) plot.caption = kIntervals;
  plot.spec = dot_spec(row, value, study.boards().size(), intervals);
  page.plot(std::move(plot));
}

}  // namespace

std::vector<ShownAxis> varied_axes(const Study& study, const std::function<std::string(const std::string&)>& unit_of) {
  std::vector<ShownAxis> shown;
  std::map<std::string, unsigned> ends;
  for (const Axis& axis : study.axes) {
    ShownAxis s{&axis, {}, {}, true, {}};
    std::map<std::string, double> numbers;
    Names settings;
    for (const std::string& value : axis.values) settings.add(value);
    std::set<std::string> used;
    for (const Case& c : study.cases) {
      const auto setting = c.settings.find(axis.path);
      if (setting == c.settings.end()) continue;
      used.insert(setting->second);
      settings.add(setting->second);
      const auto number = c.numbers.find(axis.path);
      if (number == c.numbers.end())
        s.number = false;
      else
        numbers[setting->second] = number->second;
    }
    if (used.size() < 2) continue;
    for (const std::string& value : settings.list())
      if (used.contains(value)) s.order.push_back(value);
    if (s.number)
      std::stable_sort(s.order.begin(), s.order.end(),
                       [&](const std::string& a, const std::string& b) { return numbers[a] < numbers[b]; });
    std::string unit = axis.unit.empty() ? unit_of(axis.path) : axis.unit;
    if (unit.empty()) unit = s.number ? "count" : "value";
    s.title = fmt::format("{} ({})", axis.path, unit);
    ++ends[last_part(axis.path)];
    shown.push_back(std::move(s));
  }
  for (ShownAxis& s : shown) s.name = ends[last_part(s.axis->path)] > 1 ? s.axis->path : last_part(s.axis->path);
  return shown;
}

std::string setting_text(const Case& c, const std::vector<ShownAxis>& axes, const std::vector<const Axis*>& without) {
  std::string text;
  for (const ShownAxis& s : axes)
    if (std::find(without.begin(), without.end(), s.axis) == without.end())
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", s.name, c.setting(s.axis->path));
  return text;
}

int better(const Quantity& q) {
  for (const char* more : {"throughput", "_per_s", "gbps"})
    if (q.path.find(more) != std::string::npos) return q.path.find("offered") == std::string::npos ? 1 : 0;
  for (const char* less : {"latency", "lost", "dropped", "stages", "miss"})
    if (q.path.find(less) != std::string::npos) return -1;
  return q.unit == "ns" ? -1 : 0;
}

void add_quantity_plots(Document& page, const Study& study, const std::vector<ShownAxis>& axes, const Quantity& q) {
  if (axes.empty()) add_dot_plot(page, study, q);
  for (const ShownAxis& along : axes) add_line_plot(page, study, axes, along, q);
  for (std::size_t i = 0; i < axes.size(); ++i)
    for (std::size_t j = i + 1; j < axes.size(); ++j) add_heat_map(page, study, axes, axes[i], axes[j], q);
}

}  // namespace sluice::page
