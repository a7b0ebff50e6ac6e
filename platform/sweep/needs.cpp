// SPDX-License-Identifier: Apache-2.0
#include "platform/sweep/needs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "platform/config/nearest_name.h"
#include "platform/study/expression.h"
#include "platform/sweep/estimates.h"
#include "platform/sweep/quantity.h"

namespace sluice::sweep {
namespace {

using Json = nlohmann::ordered_json;

constexpr study::Expression::Use kOfSearch = {"while", "which is no quantity"};

void add_name(const std::string& name, const config::Location& where, std::vector<study::Named>& to) {
  if (std::none_of(to.begin(), to.end(), [&name](const study::Named& n) { return n.name == name; }))
    to.push_back({name, where});
}

/// What runs, all of which have it, say of a quantity together.
template <class Runs>
statistics::Estimate together(const Runs& runs, const std::string& name, std::size_t quantity) {
  std::vector<double> values;
  report::Latencies latencies;
  for (const auto& r : runs) {
    values.push_back(r.values[quantity]);
    if (r.latency.is_object()) latencies.push_back(r.latency);
  }
  return estimate_of(name, values, latencies);
}

}  // namespace

Needs::Needs(const study::Points& points, const Directory& directory, Identities& identities)
    : points_(points),
      directory_(directory),
      identities_(identities),
      adaptive_(points.is_adaptive()),
      searches_(points.searches()),
      outcomes_(searches_.size()) {
  if (!adaptive_) return;
  cases_.resize(points.cases());
  if (const auto& precision = points.study().precision) add_name(precision->quantity, precision->where, names_);
  for (const study::Search& s : searches_)
    for (const std::string& name : study::names_in(s.axis->search)) add_name(name, s.axis->search_where, names_);
  seen_.resize(names_.size());
}

void Needs::look(const OnBroken& on_broken) {
  if (!adaptive_) return;
  on_broken_ = &on_broken;
  needed_.assign(points_.size(), false);
  std::vector<bool> searched(points_.cases());
  for (std::size_t s = 0; s < searches_.size(); ++s) {
    for (const std::size_t c : searches_[s].cases) searched[c] = true;
    outcomes_[s] = search(searches_[s]);
  }
  for (std::size_t c = 0; c < points_.cases(); ++c)
    if (!searched[c]) settled(c);
  check_quantities();
}

void Needs::forget(std::uint64_t point) {
  if (adaptive_) cases_[point / points_.per_case()] = {};
}

std::optional<bool> Needs::is_precise(std::size_t case_number) const {
  if (!points_.study().precision || !cases_[case_number].is_settled) return {};
  return cases_[case_number].is_precise;
}

/// A quantity that no result has is misspelt.
void Needs::check_quantities() const {
  for (std::size_t i = 0; !known_.empty() && i < names_.size(); ++i)
    if (!seen_[i])
      throw config::UserError(names_[i].where, fmt::format("the results have no {}{}", names_[i].name,
                                                           config::suggestion(names_[i].name, known_)));
}

/// Bisection between the last value at which the condition is known to hold and the first at which it does not.
SearchOutcome Needs::search(const study::Search& s) {
  SearchOutcome outcome;
  std::size_t holding = 0, failing = s.cases.size() + 1;  // counted from 1; 0: none holds
  while (failing - holding > 1) {
    const std::size_t middle = holding + (failing - holding) / 2;
    const std::size_t number = s.cases[middle - 1];
    outcome.tried.push_back(number);
    const Progress* of = settled(number);
    if (!of) return outcome;
    (holds(s, *of) ? holding : failing) = middle;
  }
  outcome.is_open = false;
  if (holding > 0) outcome.found = s.cases[holding - 1];
  return outcome;
}

/// Where a run has failed, or lacks a quantity, a condition does not hold.
bool Needs::holds(const study::Search& s, const Progress& of) const {
  if (!of.is_whole) return false;
  std::vector<std::string> names;
  for (const study::Named& n : names_) names.push_back(n.name);
  study::Expression condition(kOfSearch, s.axis->search, names, s.axis->search_where);
  for (std::size_t i = 0; i < names.size(); ++i) condition.set(i, of.quantities[i]);
  return condition.holds();
}

/// The case, its points being needed; null while results are missing.
const Needs::Progress* Needs::settled(std::size_t case_number) {
  Progress& p = cases_[case_number];
  const std::uint64_t first = case_number * points_.per_case();
  if (!p.is_settled) settle(p, first);
  for (std::uint64_t n = first; n < first + p.wanted; ++n) needed_[n] = true;
  return p.is_settled ? &p : nullptr;
}

/// Goes through the replications as the sweep does that has none: what is there beyond them changes nothing.
void Needs::settle(Progress& p, std::uint64_t first) {
  const auto& precision = points_.study().precision;
  if (p.wanted == 0) p.wanted = precision ? precision->least : points_.per_case();
  while (read_runs(p, first)) {
    p.is_whole = std::all_of(p.runs.begin(), p.runs.end(), [](const Run& r) {
      return r.state == State::done &&
             std::none_of(r.values.begin(), r.values.end(), [](double v) { return std::isnan(v); });
    });
    const std::uint64_t more = precision && p.is_whole ? std::min(points_.per_case(), more_than(p)) : p.wanted;
    if (more > p.wanted) {
      p.wanted = more;
      continue;
    }
    p.is_settled = true;
    for (std::size_t i = 0; p.is_whole && i < names_.size(); ++i)
      p.quantities.push_back(together(p.runs, names_[i].name, i).value);
    p.runs = {};
    return;
  }
}

/// Whether as many runs as are wanted have ended; they are then there.
bool Needs::read_runs(Progress& p, std::uint64_t first) {
  while (p.runs.size() < p.wanted) {
    Run run = read(first + p.runs.size());
    if (run.state == State::missing) return false;
    p.runs.push_back(std::move(run));
  }
  return true;
}

/// How many replications the precision takes, as far as these tell: as many as there are where they are enough.
std::uint64_t Needs::more_than(Progress& p) const {
  const study::Precision& precision = *points_.study().precision;
  const std::uint64_t n = p.runs.size();
  const statistics::Estimate e = together(p.runs, precision.quantity, 0);
  const auto half = statistics::half_width(e);
  const double ratio = half ? *half / std::abs(e.value) / precision.within : 2;
  p.is_precise = e.basis == statistics::Basis::constant || ratio <= 1;
  if (p.is_precise) return n;
  // The half-width falls with the root of their number. No more than twice as many at a time, because it is a guess; as
  // many where nothing is known yet.
  const double guess = std::ceil(static_cast<double>(n) * std::min(ratio * ratio, 2.0));
  return std::max(n + 1, static_cast<std::uint64_t>(guess));
}

Needs::Run Needs::read(std::uint64_t point) {
  const std::string& id = identities_.of(point).id;
  const Found found = directory_.find(id);
  Run run{found.state, std::vector<double>(names_.size(), std::numeric_limits<double>::quiet_NaN()), {}};
  if (found.state != State::done) return run;
  const Json result = Json::parse(found.result, nullptr, false);
  if (!result.is_object()) {
    directory_.set_aside(id);
    (*on_broken_)(directory_.result_of(id).string() + " is damaged, and now called result.json.broken");
    run.state = State::missing;
    return run;
  }
  if (known_.empty()) known_ = quantities_in(result);
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (const auto value = find_quantity(result, names_[i].name)) {
      run.values[i] = *value;
      seen_[i] = true;
    }
  if (result.contains("latency_ns")) run.latency = result["latency_ns"];
  return run;
}

}  // namespace sluice::sweep
