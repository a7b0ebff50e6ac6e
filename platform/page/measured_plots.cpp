// SPDX-License-Identifier: Apache-2.0
#include "platform/page/measured_plots.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "models/base/measure/stages.h"

namespace sluice::page {
namespace {

/// More parts of a stack than this have no colours that can be told apart: the smaller ones share one.
constexpr std::size_t kColouredParts = 11;
constexpr const char* kOthers = "others";
constexpr std::size_t kMostCoreBars = 48;

std::vector<std::string> labels_of(const std::vector<Labelled>& runs) {
  std::vector<std::string> labels;
  labels.reserve(runs.size());
  for (const Labelled& r : runs) labels.push_back(r.label);
  return labels;
}

Dimension by_label(const std::vector<Labelled>& runs, const std::string& what) {
  return {"run", what + " (name)", false, false, labels_of(runs)};
}

/// The parts of stacked bars, in the order in which they were met, and which have a colour of their own.
class Parts {
 public:
  void add(const std::string& part, double size) {
    if (!size_.contains(part)) order_.push_back(part);
    size_[part] = std::max(size_[part], size);
  }
  /// Names with a colour, in the parts' order, and last the name of all others.
  std::vector<std::string> coloured() const {
    std::vector<std::string> largest = order_;
    std::stable_sort(largest.begin(), largest.end(),
                     [this](const auto& a, const auto& b) { return size_.at(a) > size_.at(b); });
    if (largest.size() > kColouredParts) largest.resize(kColouredParts);
    std::vector<std::string> names;
    for (const std::string& part : order_)
      if (std::find(largest.begin(), largest.end(), part) != largest.end()) names.push_back(part);
    if (order_.size() > names.size()) names.emplace_back(kOthers);
    return names;
  }
  /// In the order of a stack.
  const std::vector<std::string>& order() const { return order_; }
  std::string place(const std::string& part) const {
    return exact_text(static_cast<double>(std::find(order_.begin(), order_.end(), part) - order_.begin()));
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, double> size_;
};

/// One stacked bar.
struct Bar {
  std::string label;
  std::vector<std::pair<std::string, double>> parts;
};

/// Stacked bars; parts that are 0 in every bar are left out.
Plot stacked(const std::vector<Bar>& bars, const Dimension& bar, const Dimension& value,
             const std::string& part_title) {
  Parts parts;
  for (const Bar& b : bars)
    for (const auto& [part, size] : b.parts)
      if (size != 0) parts.add(part, size);
  const std::vector<std::string> coloured = parts.coloured();
  Plot plot;
  plot.data.columns = {{bar.field, bar.title},
                       {"part", part_title},
                       {"colour", "shown as"},
                       {"place", "place in the bar", true},
                       {value.field, value.title, true}};
  for (const Bar& b : bars)
    for (const auto& [part, size] : b.parts) {
      if (size == 0) continue;
      const bool own = std::find(coloured.begin(), coloured.end(), part) != coloured.end();
      plot.data.rows.push_back({b.label, part, own ? part : kOthers, parts.place(part), exact_text(size)});
    }
  plot.spec = stack_spec({bar, value, {"colour", part_title, false, false, coloured}, bars.size()});
  if (parts.order().size() > kColouredParts)
    plot.caption = fmt::format("The {} largest parts have a colour of their own.", kColouredParts);
  return plot;
}

/// Mean time of each stage, over the components in which requests met it, in the order of a request's life.
std::vector<std::pair<std::string, double>> stage_parts(const std::vector<StageData>& stages) {
  static constexpr const char* titles[] = {
#define SLUICE_STAGE(name, title, meaning) title,
      SLUICE_STAGES(SLUICE_STAGE)
#undef SLUICE_STAGE
  };
  std::vector<std::pair<std::string, double>> parts;
  for (const char* title : titles) {
    double sum = 0;
    for (const StageData& s : stages)
      if (s.name == title) sum += s.mean_ns;
    if (sum != 0) parts.emplace_back(title, sum);
  }
  // Of a plug-in, or of a later version.
  for (const StageData& s : stages)
    if (std::find(std::begin(titles), std::end(titles), s.name) == std::end(titles))
      parts.emplace_back(s.name, s.mean_ns);
  return parts;
}

void add_stages(Document& page, const std::vector<Labelled>& runs, const std::string& what) {
  std::vector<Bar> bars;
  for (const Labelled& r : runs)
    if (!r.result->measured.stages.empty()) bars.push_back({r.label, stage_parts(r.result->measured.stages)});
  Plot plot = stacked(bars, by_label(runs, what), {"mean_ns", "mean time of a request (ns)"}, "stage (name)");
  plot.name = "stages";
  plot.title = "Where a request's time goes";
  plot.caption = "The stages of a request, in the order of its life, sum to its mean latency. " + plot.caption;
  page.plot(std::move(plot));
}

void add_cores(Document& page, const std::vector<Labelled>& runs, const std::string& what) {
  std::size_t cores = 0;
  for (const Labelled& r : runs) cores += r.result->measured.cores.size();
  const bool averaged = cores > kMostCoreBars;
  std::vector<Bar> bars;
  for (const Labelled& r : runs) {
    const auto& list = r.result->measured.cores;
    std::vector<std::pair<std::string, double>> mean;
    for (const CoreData& c : list) {
      if (!averaged) {
        bars.push_back({runs.size() == 1 ? c.name : list.size() == 1 ? r.label : r.label + ": " + c.name, c.time});
        continue;
      }
      for (std::size_t i = 0; i < c.time.size(); ++i) {
        if (i >= mean.size()) mean.emplace_back(c.time[i].first, 0);
        mean[i].second += c.time[i].second / static_cast<double>(list.size());
      }
    }
    if (averaged) bars.push_back({r.label, mean});
  }
  for (Bar& b : bars)
    for (auto& [account, share] : b.parts) std::replace(account.begin(), account.end(), '_', ' ');
  std::vector<std::string> order;
  order.reserve(bars.size());
  for (const Bar& b : bars) order.push_back(b.label);
  Plot plot = stacked(
      bars, {"core", averaged || runs.size() > 1 ? what + " and core (name)" : "core (name)", false, false, order},
      {"share", "time of a core (share)"}, "account (name)");
  plot.name = "cores";
  plot.title = "Where the cores' time goes";
  plot.caption = "Shares of the measured time; they sum to 1. " +
                 (averaged ? std::string("There are many cores: each bar is the mean over a run's cores. ") : "") +
                 plot.caption;
  page.plot(std::move(plot));
}

/// Named shares of each run as bars beside each other.
struct NamedShares {
  const char* file;
  const char* title;
  const char* caption;
  Dimension group, value;
};
void add_shares(Document& page, const std::vector<Labelled>& runs, const std::string& what, const NamedShares& shown,
                const std::vector<std::vector<std::pair<std::string, double>>>& shares) {
  Plot plot{shown.file, shown.title, shown.caption, {}, {}};
  plot.data.columns = {
      {"run", what + " (name)"}, {shown.group.field, shown.group.title}, {shown.value.field, shown.value.title, true}};
  std::vector<std::string> groups;
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const auto& [name, share] : shares[i]) {
      plot.data.rows.push_back({runs[i].label, name, exact_text(share)});
      if (std::find(groups.begin(), groups.end(), name) == groups.end()) groups.push_back(name);
    }
  Dimension group = shown.group;
  group.order = groups;
  plot.spec = bar_spec({group, shown.value, by_label(runs, what), groups.size(), runs.size(), true});
  page.plot(std::move(plot));
}

void add_links(Document& page, const std::vector<Labelled>& runs, const std::string& what) {
  std::vector<std::vector<std::pair<std::string, double>>> shares(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const LinkData& l : runs[i].result->measured.links)
      if (l.utilisation) shares[i].emplace_back(l.name + " " + l.direction, *l.utilisation);
  add_shares(page, runs, what,
             {"links",
              "How busy the PCIe links are",
              "Each link in each direction: up is towards the host.",
              {"link", "link and direction (name)", false},
              {"utilisation", "utilisation (share)"}},
             shares);
}

/// Resources that are busy at least this long somewhere are shown.
constexpr double kLeastBusy = 0.01;

void add_resources(Document& page, const std::vector<Labelled>& runs, const std::string& what) {
  std::map<std::string, double> most;
  for (const Labelled& r : runs)
    for (const ResourceData& s : r.result->measured.resources) most[s.name] = std::max(most[s.name], s.busy);
  std::vector<std::vector<std::pair<std::string, double>>> shares(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const ResourceData& s : runs[i].result->measured.resources)
      if (most[s.name] >= kLeastBusy) shares[i].emplace_back(s.name, s.busy);
  add_shares(
      page, runs, what,
      {"resources",
       "What could limit a run",
       "What can be busy all the time and then limits a run, where it is busy for at least 1 % of the time in one "
       "of the runs. A core that only polls is not busy.",
       {"resource", "resource (name)", false},
       {"busy", "busy (share)"}},
      shares);
}

std::vector<double> latencies(const std::vector<Labelled>& runs) {
  std::vector<double> values;
  for (const Labelled& r : runs)
    for (const auto& [name, value] : r.result->measured.latency.quantiles)
      if (name != "mean") values.push_back(value);
  return values;
}

/// The share of requests that took longer, from buckets.
void add_distribution(Document& page, const std::vector<Labelled>& runs, const std::string& what) {
  Plot plot{
      "distribution",
      "How latencies are distributed",
      "The share of requests that took at least so long. The lower a curve falls, and the further to the left, the "
      "better.",
      {},
      {}};
  const Dimension x{"latency", "latency (ns)", true, spans_decades(latencies(runs))};
  const Dimension y{"slower", "requests that took at least so long (share)", true, true};
  plot.data.columns = {{"run", what + " (name)"},
                       {x.field, x.title, true},
                       {"count", "requests from there on (count)", true},
                       {y.field, y.title, true}};
  for (const Labelled& r : runs) {
    const auto& histogram = r.result->measured.latency.histogram;
    double left = 0;
    for (const auto& bucket : histogram) left += bucket.count;
    const double all = left;
    for (const auto& bucket : histogram) {
      if (left <= 0 || bucket.count <= 0) continue;
      plot.data.rows.push_back({r.label, exact_text(bucket.first_ns), exact_text(left), exact_text(left / all)});
      left -= bucket.count;
    }
  }
  Lines lines{x, y, by_label(runs, what)};
  lines.steps = true;
  plot.spec = line_spec(lines, 1);
  page.plot(std::move(plot));
}

void add_quantiles(Document& page, const std::vector<Labelled>& runs, const std::string& what) {
  static constexpr std::pair<const char*, const char*> shown[] = {{"min", "min"}, {"p50", "p50"},    {"p90", "p90"},
                                                                  {"p99", "p99"}, {"p999", "p99.9"}, {"max", "max"}};
  Plot plot{"quantiles", "Quantiles of the latency", "p99: 99 % of the requests took no longer.", {}, {}};
  Dimension x{"quantile", "quantile (name)", false};
  for (const auto& [key, title] : shown) x.order.emplace_back(title);
  const Dimension y{"latency", "latency (ns)", true, spans_decades(latencies(runs))};
  plot.data.columns = {{"run", what + " (name)"}, {x.field, x.title}, {y.field, y.title, true}};
  for (const Labelled& r : runs)
    for (const auto& [key, title] : shown)
      if (const auto value = r.result->measured.latency.find(key))
        plot.data.rows.push_back({r.label, title, exact_text(*value)});
  plot.spec = line_spec({x, y, by_label(runs, what)}, 1);
  page.plot(std::move(plot));
}

bool has_histograms(const std::vector<Labelled>& runs) {
  return std::any_of(runs.begin(), runs.end(),
                     [](const Labelled& r) { return !r.result->measured.latency.histogram.empty(); });
}

/// The plot of this name that a result asks for. Null: it does not.
const PlotData* find_plot(const ResultData& result, const std::string& name) {
  const auto found = std::find_if(result.plots.begin(), result.plots.end(),
                                  [&name](const PlotData& plot) { return plot.name == name; });
  return found != result.plots.end() ? &*found : nullptr;
}

/// Numbers of the entries of a workload's list against another one of them, for the runs that have such a list.
void add_list_plot(Document& page, const std::vector<Labelled>& runs, const std::string& what, const PlotData& shown) {
  Plot plot{shown.name, shown.title, shown.caption, {}, {}};
  std::vector<double> xs, ys;
  const auto number = [](const Json& entry, const std::string& key) -> std::optional<double> {
    return entry.contains(key) && entry[key].is_number() ? std::optional(entry[key].get<double>()) : std::nullopt;
  };
  std::vector<std::string> names;
  const auto add = [&](const std::string& run, const Json& entry) {
    for (const PlotData::Shown& line : shown.lines) {
      const auto x = number(entry, shown.x.key), y = number(entry, line.key);
      if (!x || !y) continue;
      std::string name = line.title;
      if (const auto by = entry.find(shown.also_by); by != entry.end() && by->is_string())
        name += ", " + by->get<std::string>();
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      plot.data.rows.push_back({run, name, exact_text(*x), exact_text(*y)});
      xs.push_back(*x);
      ys.push_back(*y);
    }
  };
  for (const Labelled& r : runs)
    if (const PlotData* const own = find_plot(*r.result, shown.name))
      for (const Json& entry : own->entries) add(r.label, entry);
  const Dimension x{"x", shown.x.title, true, spans_decades(xs)}, y{"y", shown.y_title, true, spans_decades(ys)};
  plot.data.columns = {
      {"run", what + " (name)"}, {"line", "line (name)"}, {x.field, x.title, true}, {y.field, y.title, true}};
  const Dimension by_line{"line", "line (name)", false, false, names};
  Lines lines{x, y, runs.size() > 1 ? by_label(runs, what) : by_line};
  if (runs.size() > 1) lines.panels = by_line;
  plot.spec = line_spec(lines, names.size());
  page.plot(std::move(plot));
}

/// Each plot that a result asks for, once.
void add_list_plots(Document& page, const std::vector<Labelled>& runs, const std::string& what) {
  std::vector<std::string> drawn;
  for (const Labelled& r : runs)
    for (const PlotData& plot : r.result->plots) {
      if (std::find(drawn.begin(), drawn.end(), plot.name) != drawn.end()) continue;
      drawn.push_back(plot.name);
      add_list_plot(page, runs, what, plot);
    }
}

}  // namespace

Dimension phase_axis(bool is_size, const std::vector<double>& values) {
  if (is_size) return {"size", "data of a call (B)", true, spans_decades(values)};
  return {"rate", "offered rate (1/s)", true, spans_decades(values)};
}

void add_phase_plots(Document& page, const std::vector<Labelled>& runs, const std::string& what) {
  const std::vector<PhaseData>& first = runs.front().result->phases;
  const bool is_size = !first.empty() && first.front().is_size;
  Plot plot{"load-latency", "Latency against load", "Each point is one offered rate of the load sweep.", {}, {}};
  if (is_size) plot = {"size-latency", "Latency against size", "Each point is one size of the size sweep.", {}, {}};
  std::vector<double> xs, ys;
  for (const Labelled& r : runs)
    for (const PhaseData& p : r.result->phases)
      for (const auto& [name, value] : {std::pair("mean", p.mean_ns), std::pair("p99", p.p99_ns)}) {
        if (!value || !p.achieved_per_s) continue;
        plot.data.rows.push_back({r.label, name, exact_text(p.at), exact_text(*p.achieved_per_s), exact_text(*value)});
        xs.push_back(p.at);
        ys.push_back(*value);
      }
  const Dimension x = phase_axis(is_size, xs);
  const Dimension y{"latency", "latency (ns)", true, spans_decades(ys)};
  plot.data.columns = {{"run", what + " (name)"},
                       {"statistic", "statistic (name)"},
                       {x.field, x.title, true},
                       {"achieved", "achieved rate (1/s)", true},
                       {y.field, y.title, true}};
  Lines lines{x, y, by_label(runs, what), {"statistic", "statistic (name)", false, false, {"mean", "p99"}}};
  plot.spec = line_spec(lines, 2);
  page.plot(std::move(plot));
}

void add_measured_plots(Document& page, const std::vector<Labelled>& runs, const std::string& what) {
  add_list_plots(page, runs, what);
  if (has_histograms(runs)) add_distribution(page, runs, what);
  add_quantiles(page, runs, what);
  add_stages(page, runs, what);
  add_steps(page, runs);
  add_cores(page, runs, what);
  add_links(page, runs, what);
  add_resources(page, runs, what);
}

}  // namespace sluice::page
