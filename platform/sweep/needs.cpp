// SPDX-License-Identifier: Apache-2.0
#include "platform/sweep/needs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "platform/config/nearest_name.h"
#include "platform/study/expression.h"
#include "platform/sweep/estimates.h"
#include "platform/sweep/quantity.h"

namespace sluice::sweep {
namespace {

using Json = nlohmann::ordered_json;

constexpr study::Expression::Use kOfSearch = {"while", "which is no quantity"};

void add_name(const std::string& name, std::vector<std::string>& to) {
  if (std::find(to.begin(), to.end(), name) == to.end()) to.push_back(name);
}

/// Of the runs that have it, the values of a quantity, and their latencies.
template <class Runs>
std::pair<std::vector<double>, report::Latencies> values_of(const Runs& runs, std::size_t quantity) {
  std::pair<std::vector<double>, report::Latencies> all;
  for (const auto& r : runs) {
    if (r.state != State::done || std::isnan(r.values[quantity])) continue;
    all.first.push_back(r.values[quantity]);
    if (r.latency.is_object()) all.second.push_back(r.latency);
  }
  return all;
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
  needed_.resize(points.size());
  cases_.resize(points.cases());
  if (const auto& precision = points.study().precision) add_name(precision->quantity, names_);
  for (const study::Search& s : searches_)
    for (const std::string& name : study::names_in(s.axis->search)) add_name(name, names_);
}

void Needs::look() {
  if (!adaptive_) return;
  std::vector<bool> searched(points_.cases());
  for (std::size_t s = 0; s < searches_.size(); ++s) {
    for (const std::size_t c : searches_[s].cases) searched[c] = true;
    outcomes_[s] = search(searches_[s]);
  }
  for (std::size_t c = 0; c < points_.cases(); ++c)
    if (!searched[c]) settled(c);
}

void Needs::forget(std::uint64_t point) {
  if (adaptive_) cases_[point / points_.per_case()].reset();
}

void Needs::refuse(const config::Location& where, const std::string& quantity) const {
  throw config::UserError(where, "the results have no " + quantity + config::suggestion(quantity, known_));
}

/// Bisection between the last value at which the condition is known to hold and the first at which it does not.
SearchOutcome Needs::search(const study::Search& s) {
  SearchOutcome outcome;
  std::size_t holding = 0, failing = s.cases.size() + 1;  // counted from 1; 0: none holds
  while (failing - holding > 1) {
    const std::size_t middle = holding + (failing - holding) / 2;
    const std::size_t number = s.cases[middle - 1];
    outcome.tried.push_back(number);
    const std::optional<Settled>& of = settled(number);
    if (!of) return outcome;
    (holds(s, *of) ? holding : failing) = middle;
  }
  outcome.is_open = false;
  if (holding > 0) outcome.found = s.cases[holding - 1];
  return outcome;
}

/// A run that fails is none at which the condition holds.
bool Needs::holds(const study::Search& s, const Settled& of) const {
  if (of.failed) return false;
  study::Expression condition(kOfSearch, s.axis->search, names_, s.axis->search_where);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (condition.uses(i) && !of.quantities[i]) refuse(s.axis->search_where, names_[i]);
    condition.set(i, of.quantities[i].value_or(0));
  }
  return condition.holds();
}

const std::optional<Needs::Settled>& Needs::settled(std::size_t case_number) {
  if (!cases_[case_number]) cases_[case_number] = settle(case_number);
  return cases_[case_number];
}

/// Goes through the replications as the sweep does that has none: what is there beyond them changes nothing.
std::optional<Needs::Settled> Needs::settle(std::size_t case_number) {
  const std::uint64_t first = case_number * points_.per_case(), most = points_.per_case();
  const auto& precision = points_.study().precision;
  std::vector<Run> runs;
  for (std::uint64_t wanted = precision ? precision->least : most;;) {
    bool is_open = false;
    for (std::uint64_t n = first; n < first + wanted; ++n) {
      needed_[n] = true;
      if (is_open || n - first < runs.size()) continue;
      runs.push_back(read(n));
      is_open = runs.back().state == State::missing;
    }
    if (is_open) return {};
    const std::uint64_t more = precision ? std::min(most, more_than(runs)) : wanted;
    if (more <= wanted) return summary(runs);
    wanted = more;
  }
}

/// How many replications the precision takes, as far as these tell: as many as there are where they are enough.
std::uint64_t Needs::more_than(const std::vector<Run>& runs) const {
  const study::Precision& p = *points_.study().precision;
  const std::uint64_t n = runs.size();
  const bool any_failed = std::any_of(runs.begin(), runs.end(), [](const Run& r) { return r.state == State::failed; });
  if (any_failed) return n;
  const auto quantity = static_cast<std::size_t>(std::find(names_.begin(), names_.end(), p.quantity) - names_.begin());
  const auto [values, latencies] = values_of(runs, quantity);
  if (values.size() < n) refuse(p.where, p.quantity);
  const statistics::Estimate e = estimate_of(p.quantity, values, latencies);
  if (e.basis == statistics::Basis::constant) return n;
  const auto half = statistics::half_width(e);
  if (!half || e.value == 0) return n + 1;
  const double ratio = *half / std::abs(e.value) / p.within;
  if (ratio <= 1) return n;
  // The half-width falls with the root of their number. No more than twice as many at a time, because it is a guess.
  const double guess = std::ceil(static_cast<double>(n) * std::min(ratio * ratio, 2.0));
  return std::max(n + 1, static_cast<std::uint64_t>(guess));
}

Needs::Settled Needs::summary(const std::vector<Run>& runs) const {
  Settled s;
  s.runs = runs.size();
  for (const Run& r : runs) s.failed = s.failed || r.state == State::failed;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto [values, latencies] = values_of(runs, i);
    s.quantities.push_back(values.empty() ? std::nullopt
                                          : std::optional(estimate_of(names_[i], values, latencies).value));
  }
  return s;
}

Needs::Run Needs::read(std::uint64_t point) {
  const Found found = directory_.find(identities_.of(point).id);
  Run run{found.state, std::vector<double>(names_.size(), std::numeric_limits<double>::quiet_NaN()), {}};
  if (found.state != State::done) return run;
  const Json result = Json::parse(found.result, nullptr, false);
  if (!result.is_object()) return {State::missing, std::move(run.values), {}};
  if (known_.empty()) known_ = quantities_in(result);
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (const auto value = find_quantity(result, names_[i])) run.values[i] = *value;
  if (result.contains("latency_ns")) run.latency = result["latency_ns"];
  return run;
}

}  // namespace sluice::sweep
