// SPDX-License-Identifier: Apache-2.0
#include "platform/report/sensitivity/sensitivity_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "platform/config/dump.h"
#include "platform/report/format.h"
#include "platform/statistics/means.h"

namespace sluice::report {
namespace {

struct WhyFixed {
  Fixed why;
  const char* name;  ///< in JSON
  const char* text;
};
constexpr std::array<WhyFixed, 4> kWhyFixed{
    {{Fixed::kSetting, "setting", "choices of the board"},
     {Fixed::kExact, "exact", "exact: uncertainty 0 %"},
     {Fixed::kNoNumber, "no-number", "no numbers, but names, addresses, or true or false"},
     {Fixed::kNoOther, "no-other-value", "without another value: 0, an empty list, or alone in their range"}}};

bool has_effect(const Sensitivity& s) { return s.half_range.value != 0; }
bool is_assumed(const Sensitivity& s) { return s.parameter.provenance.kind == base::Provenance::Kind::kAssumed; }

/// Writes values of one result.
class Writer {
 public:
  Writer(const AskedResult& asked, double reference)
      : in_time_(asked.unit == std::string("ns")), reference_(reference) {}

  std::string value(double v) const {
    if (is_nothing(v)) v = 0;
    if (!in_time_) return rate_text(std::abs(v));
    return std::abs(v) < 0.1 && v != 0 ? fmt::format("{:.2g} ns", std::abs(v)) : time_text(std::abs(v));
  }
  std::string percent(double v) const { return fmt::format("{:+.2f} %", 100 * v / reference_); }
  /// "-25.0 ns (-1.08 %)"
  std::string effect(double v) const {
    return is_nothing(v) ? "0" : fmt::format("{}{} ({})", v < 0 ? "-" : "+", value(v), percent(v));
  }
  std::string with_interval(const Estimate& e) const {
    const auto half = statistics::half_width(e);
    return half ? value(e.value) + " +- " + value(*half) : value(e.value);
  }

 private:
  /// What the rounding of means leaves behind.
  bool is_nothing(double v) const { return std::abs(v) < 1e-9 * reference_; }

  bool in_time_;
  double reference_;
};

using Row = std::vector<std::string>;

/// Lines of columns that are as wide as they must be; the first is flush left, and so are names.
std::string table_of(const std::vector<Row>& rows, std::size_t flush_left) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += i < flush_left ? fmt::format("{:<{}}  ", row[i], widths[i]) : fmt::format("{:>{}}  ", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += "  " + line + "\n";
  }
  return text;
}

std::string end_text(const Writer& write, const std::vector<double>& reference, const End& end, bool clipped) {
  if (end.results.empty()) return "-";
  return write.effect(effect_of(reference, end).value) + (clipped ? " !" : "");
}

std::string ranking(const SensitivityReport& r, const Writer& write) {
  std::vector<Row> rows{
      {"", "parameter", "value", "kind", "+-", "with less", "with more", "half the range", "share", "sum"}};
  for (const Sensitivity& s : r.ranked) {
    if (!has_effect(s)) continue;
    const VariedParameter& p = s.parameter;
    rows.push_back({s.carrying && is_assumed(s) ? "*" : "", p.path, p.value,
                    std::string(base::to_text(p.provenance.kind)),
                    config::percent_text(p.provenance.effective_uncertainty()),
                    end_text(write, r.reference, s.less, p.less.clipped),
                    end_text(write, r.reference, s.more, p.more.clipped), write.with_interval(s.half_range),
                    fmt::format("{:.1f} %", 100 * s.share), fmt::format("{:.1f} %", 100 * s.cumulated)});
  }
  if (rows.size() == 1) return "  No parameter has an effect.\n";
  return table_of(rows, 4);
}

/// "Of the spread, 90 % comes from 7 parameters; these 5 of them are assumed: ..."
std::string carriers_text(const SensitivityReport& r) {
  std::vector<std::string> assumed;
  std::size_t carrying = 0;
  for (const Sensitivity& s : r.ranked) {
    if (!s.carrying) continue;
    ++carrying;
    if (is_assumed(s)) assumed.push_back(s.parameter.path);
  }
  if (carrying == 0) return {};
  const std::string from =
      fmt::format("\n  Of the spread, 90 % comes from {}; ", counted(carrying, "parameter", "parameters"));
  if (assumed.empty()) return from + "none of them is assumed.\n";
  if (assumed.size() == 1) return from + fmt::format("1 of them is assumed (*): {}.\n", assumed.front());
  return from + fmt::format("these {} of them are assumed (*): {}.\n", assumed.size(), fmt::join(assumed, ", "));
}

std::string combined_text(const SensitivityReport& r, const Writer& write, double reference) {
  const double combined = combined_uncertainty(r.ranked);
  if (combined == 0) return {};
  return fmt::format(
      "  Combined standard uncertainty: {} ({:.2f} %), the root of the sum of squares of half the ranges, each over "
      "the "
      "root of 3. This\n  takes the result as linear in the parameters (first order), these as independent, and each "
      "as "
      "equally probable everywhere in its interval.\n",
      write.value(combined), 100 * combined / reference);
}

/// Why neither end has results. That there is no value on one side matters less than why the other one is refused.
std::string why_neither(const Sensitivity& s) {
  if (s.less.why_none == s.more.why_none || s.parameter.less.text.empty()) return s.more.why_none;
  if (s.parameter.more.text.empty()) return s.less.why_none;
  return fmt::format("less: {}; more: {}", s.less.why_none, s.more.why_none);
}

/// Lines of parameters that have a reason in common.
class ByReason {
 public:
  void add(const std::string& reason, const std::string& path) {
    const auto known = std::find_if(groups_.begin(), groups_.end(), [&](const auto& g) { return g.first == reason; });
    if (known != groups_.end())
      known->second.push_back(path);
    else
      groups_.push_back({reason, {path}});
  }
  /// Empty where there are none.
  std::string text(const char* title) const {
    std::string text;
    for (const auto& [reason, paths] : groups_) text += fmt::format("    {}: {}\n", fmt::join(paths, ", "), reason);
    return text.empty() ? text : fmt::format("\n  {}:\n{}", title, text);
  }

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> groups_;
};

std::string left_out_text(const SensitivityReport& r) {
  ByReason neither, less, more;
  for (const Sensitivity& s : r.ranked) {
    const bool no_less = s.less.results.empty();
    const bool no_more = s.more.results.empty();
    if (no_less && no_more)
      neither.add(why_neither(s), s.parameter.path);
    else if (no_less)
      less.add(s.less.why_none, s.parameter.path);
    else if (no_more)
      more.add(s.more.why_none, s.parameter.path);
  }
  return less.text("Run with more only, whose effect stands for both") +
         more.text("Run with less only, whose effect stands for both") + neither.text("Could not be varied");
}

std::string clipped_text(const SensitivityReport& r) {
  const auto clipped = [](const End& end, const base::Variation& v) { return v.clipped && !end.results.empty(); };
  const bool any = std::any_of(r.ranked.begin(), r.ranked.end(), [&](const Sensitivity& s) {
    return has_effect(s) && (clipped(s.less, s.parameter.less) || clipped(s.more, s.parameter.more));
  });
  return any ? "  Clipped (!): the parameter's range ends before its uncertainty does.\n" : "";
}

/// How many uncertainties have a source.
std::string uncertainties_text(const SensitivityReport& r) {
  const auto sourced = std::count_if(r.ranked.begin(), r.ranked.end(), [](const Sensitivity& s) {
    return s.parameter.provenance.uncertainty.has_value();
  });
  std::string kinds;
  using Kind = base::Provenance::Kind;
  for (const Kind kind : {Kind::kMeasured, Kind::kDerived, Kind::kFitted, Kind::kAssumed})
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", base::to_text(kind),
                         config::percent_text(base::default_uncertainty(kind)));
  return fmt::format("\n  {} varied; the uncertainty of {} has a source, that of the others is their kind's: {}.\n",
                     counted(r.ranked.size(), "parameter was", "parameters were"), sourced, kinds);
}

std::string fixed_text(const SensitivityReport& r, bool all) {
  std::string text;
  for (const WhyFixed& w : kWhyFixed) {
    std::vector<std::string> paths;
    for (const auto& f : r.fixed)
      if (f.why == w.why) paths.push_back(f.path);
    if (paths.empty()) continue;
    text += fmt::format("{:>6} {}\n", paths.size(), w.text);
    if (all)
      for (const std::string& p : paths) text += "         " + p + "\n";
  }
  return text.empty() ? text : "\n  Not varied:\n" + text;
}

std::string without_effect_text(const SensitivityReport& r, bool all) {
  std::vector<std::string> paths;
  for (const Sensitivity& s : r.ranked)
    if (!has_effect(s) && !(s.less.results.empty() && s.more.results.empty())) paths.push_back(s.parameter.path);
  if (paths.empty()) return {};
  std::string text =
      fmt::format("\n  {} without any effect{}\n", counted(paths.size(), "parameter is", "parameters are"),
                  all ? ":" : " (--all lists them).");
  if (all)
    for (const std::string& p : paths) text += "    " + p + "\n";
  return text;
}

std::string conditions_text(const SensitivityReport& r, const Writer& write) {
  const Estimate reference = statistics::mean_of(r.reference);
  std::string text = fmt::format("{}: what the {} hangs on\n", r.board, r.asked.title);
  if (!r.workload.empty()) text += r.workload + "\n";
  text += fmt::format("\n  {} {}, over {}", r.asked.title, write.with_interval(reference),
                      counted(r.replications, "replication", "replications"));
  if (r.requests) text += fmt::format(" of {} requests", grouped(*r.requests));
  text += fmt::format("; {} runs in all\n  ", grouped(r.runs));
  if (!r.random)
    return text +
           fmt::format("All {} replications gave the same: nothing here is random, so there are no intervals.\n\n",
                       r.replications);
  if (r.replications == 1) return text + "One replication has no interval.\n\n";
  return text +
         fmt::format(
             "Intervals (+-) have 95 % confidence, over paired replications; what adds less than {:.1f} % of the "
             "spread has run in one.\n\n",
             100 * (1 - kReplicatedShare));
}

Json json_of(const Estimate& e) {
  const auto half = statistics::half_width(e);
  return {{"mean", e.value}, {"half_width_95", half ? Json(*half) : Json()}};
}

Json json_of(const End& end, const base::Variation& v, const std::vector<double>& reference) {
  Json json = {{"value", v.text.empty() ? Json() : Json(v.text)}, {"clipped", v.clipped}};
  if (end.results.empty())
    json["why_none"] = end.why_none;
  else
    json["effect"] = json_of(effect_of(reference, end));
  json["replications"] = end.results.size();
  return json;
}

Json json_of(const Sensitivity& s, const std::vector<double>& reference) {
  const VariedParameter& p = s.parameter;
  return {{"path", p.path},
          {"value", p.value},
          {"kind", base::to_text(p.provenance.kind)},
          {"source", p.provenance.source},
          {"uncertainty", p.provenance.effective_uncertainty().real()},
          {"uncertainty_by", p.provenance.uncertainty ? "source" : "kind"},
          {"less", json_of(s.less, p.less, reference)},
          {"more", json_of(s.more, p.more, reference)},
          {"half_range", json_of(s.half_range)},
          {"share", s.share},
          {"cumulated", s.cumulated},
          {"carries_90_percent", s.carrying}};
}

}  // namespace

std::string sensitivity_text(const SensitivityReport& r, bool all) {
  const double reference = statistics::mean_of(r.reference).value;
  const Writer write(r.asked, reference);
  return conditions_text(r, write) + ranking(r, write) + carriers_text(r) + combined_text(r, write, reference) +
         clipped_text(r) + uncertainties_text(r) + without_effect_text(r, all) + left_out_text(r) + fixed_text(r, all);
}

Json to_json(const SensitivityReport& r) {
  Json json = {{"board", r.board},
               {"result", r.asked.name},
               {"unit", r.asked.unit},
               {"reference", json_of(statistics::mean_of(r.reference))},
               {"requests", r.requests ? Json(*r.requests) : Json()},
               {"replications", r.replications},
               {"random", r.random},
               {"runs", r.runs},
               {"combined_standard_uncertainty", combined_uncertainty(r.ranked)},
               {"parameters", Json::array()},
               {"not_varied", Json::array()}};
  for (const Sensitivity& s : r.ranked) json["parameters"].push_back(json_of(s, r.reference));
  for (const WhyFixed& w : kWhyFixed)
    for (const auto& f : r.fixed)
      if (f.why == w.why) json["not_varied"].push_back({{"path", f.path}, {"value", f.value}, {"why", w.name}});
  return json;
}

}  // namespace sluice::report
