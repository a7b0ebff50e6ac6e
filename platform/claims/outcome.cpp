// SPDX-License-Identifier: Apache-2.0
#include "platform/claims/outcome.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "platform/statistics/means.h"
#include "platform/statistics/simultaneous.h"
#include "platform/study/expression.h"

namespace sluice::claims {
namespace {

using statistics::Estimate;

/// The rows of a term's case: as many as it has runs.
struct CaseRows {
  const sweep::Rows& rows;
  std::size_t first;
  std::size_t count;

  const sweep::Row& run(std::size_t i) const { return rows.rows[first + i]; }
  std::size_t quantity(const std::string& name) const {
    return static_cast<std::size_t>(std::find(rows.measured.begin(), rows.measured.end(), name) -
                                    rows.measured.begin());
  }
};

/// Why a claim has no value: the end of a sentence about it.
struct NoValue {
  std::string why;
};

double finite(double value, const std::string& expression) {
  if (std::isfinite(value)) return value;
  throw NoValue{fmt::format("has no finite number as its value: '{}'", expression)};
}

TermOutcome value_of(const Term& term, const CaseRows& of, std::size_t case_number) {
  const std::vector<std::string> names = study::names_in(term.value);
  study::Expression expression(kClaimExpression, term.value, names, term.where);
  TermOutcome outcome;
  for (std::size_t run = 0; run < of.count; ++run) {
    for (std::size_t v = 0; v < names.size(); ++v) {
      const double value = of.run(run).quantities[of.quantity(names[v])];
      if (std::isnan(value)) throw NoValue{fmt::format("has results without {}", names[v])};
      expression.set(v, value);
    }
    outcome.values.push_back(finite(expression.number(), term.value));
  }
  // Of a quantity as it is, the runs together may say more than their mean does: tails are merged.
  outcome.estimate = names.size() == 1 && names[0] == term.value
                         ? of.rows.cases[case_number][of.quantity(names[0])].estimate
                         : statistics::mean_of(outcome.values);
  return outcome;
}

/// Whether the runs of all terms saw the same random numbers, one after the other.
bool are_paired(const std::vector<CaseRows>& of) {
  return std::all_of(of.begin(), of.end(), [&of](const CaseRows& c) {
    if (c.count != of[0].count) return false;
    for (std::size_t i = 0; i < c.count; ++i)
      if (c.run(i).run.seed != of[0].run(i).run.seed || c.run(i).run.replication != of[0].run(i).run.replication)
        return false;
    return true;
  });
}

/// The value of an expression over the terms.
Estimate combined(const Claim& claim, const std::vector<TermOutcome>& terms, bool paired) {
  if (claim.value.empty()) return terms.front().estimate;
  std::vector<std::string> names;
  for (const Term& t : claim.terms) names.push_back(t.name);
  study::Expression expression(kClaimExpression, claim.value, names, claim.where);
  const auto with = [&](const auto& of) {
    for (std::size_t t = 0; t < terms.size(); ++t) expression.set(t, of(terms[t]));
    return finite(expression.number(), claim.value);
  };
  if (!paired && terms.front().values.size() > 1)
    throw NoValue{"has terms whose runs saw other seeds, and an expression over them has no interval"};
  if (!paired) return {with([](const TermOutcome& t) { return t.estimate.value; }), {}, {}};
  std::vector<double> values;
  for (std::size_t run = 0; run < terms.front().values.size(); ++run)
    values.push_back(with([run](const TermOutcome& t) { return t.values[run]; }));
  return statistics::mean_of(values);
}

/// b less a, of the runs' means. comparisons: as many intervals hold together with statistics::kLevel. Of runs that are
/// not paired, what the intervals of both leave open, each of half the error: that is wider than need be.
Estimate difference(const TermOutcome& a, const TermOutcome& b, bool paired, unsigned comparisons) {
  if (paired) return statistics::mean_difference(a.values, b.values, statistics::simultaneous_level(comparisons));
  const double level = statistics::simultaneous_level(2 * comparisons);
  const Estimate of_a = statistics::mean_of(a.values, level), of_b = statistics::mean_of(b.values, level);
  const double value = of_b.value - of_a.value;
  if (!of_a.interval && !of_b.interval) return {value, {}, statistics::Basis::one_replication};
  const auto ends = [](const Estimate& e) { return e.interval.value_or(statistics::Interval{e.value, e.value}); };
  return {value, statistics::Interval{ends(of_b).lower - ends(of_a).upper, ends(of_b).upper - ends(of_a).lower},
          statistics::Basis::replications};
}

void judge_ordering(const Claim& claim, bool paired, Outcome& o) {
  o.verdict = Verdict::holds;
  const auto comparisons = static_cast<unsigned>(claim.ordering.size() - 1);
  for (std::size_t i = 0; i + 1 < claim.ordering.size(); ++i) {
    const std::string &low = claim.ordering[i], &high = claim.ordering[i + 1];
    const TermOutcome &a = term_of(claim, o, low), &b = term_of(claim, o, high);
    const Estimate d = difference(a, b, paired, comparisons);
    if (d.interval ? d.interval->lower > 0 : d.value > 0) continue;
    const bool is_flipped = d.interval ? d.interval->upper <= 0 : d.value <= 0;
    if (!is_flipped && o.verdict == Verdict::flipped) continue;
    o.verdict = is_flipped ? Verdict::flipped : Verdict::undecided;
    o.why = is_flipped
                ? fmt::format("{} ({:.6g}) is not below {} ({:.6g})", low, a.estimate.value, high, b.estimate.value)
                : fmt::format("{} runs do not tell whether {} ({:.6g}) is below {} ({:.6g})", a.values.size(), low,
                              a.estimate.value, high, b.estimate.value);
  }
}

std::optional<double> error_of(double modelled, const Published& published) {
  if (modelled >= published.least && modelled <= published.most) return 0;
  const double nearer = modelled < published.least ? published.least : published.most;
  const double error = modelled / nearer - 1;
  return std::isfinite(error) ? std::optional(error) : std::nullopt;
}

void judge_value(const Claim& claim, Outcome& o) {
  o.verdict = Verdict::shown;
  if (claim.published) o.error = error_of(o.modelled.value, *claim.published);
  if (!claim.within) return;
  o.verdict = o.error && std::abs(*o.error) <= *claim.within ? Verdict::holds : Verdict::off;
  if (o.verdict == Verdict::off)
    o.why =
        fmt::format("is {:.6g}{}, not {} within {:.6g} %", o.modelled.value, claim.unit == "1" ? "" : " " + claim.unit,
                    published_text(*claim.published), *claim.within * 100);
}

}  // namespace

std::string_view to_text(Verdict v) {
  switch (v) {
    case Verdict::shown:
      return "shown";
    case Verdict::holds:
      return "holds";
    case Verdict::off:
      return "off";
    case Verdict::flipped:
      return "flipped";
    case Verdict::undecided:
      return "undecided";
    case Verdict::failed:
      return "failed";
    case Verdict::lacking:
      return "lacking";
    default:
      return "left out";
  }
}

std::string published_text(const Published& p) {
  return p.least == p.most ? fmt::format("{:.6g}", p.least) : fmt::format("{:.6g} to {:.6g}", p.least, p.most);
}

const TermOutcome& term_of(const Claim& c, const Outcome& o, const std::string& name) {
  const auto found = std::find_if(c.terms.begin(), c.terms.end(), [&](const Term& t) { return t.name == name; });
  return o.terms[static_cast<std::size_t>(found - c.terms.begin())];
}

Outcome left_out(std::size_t claim) {
  Outcome o;
  o.claim = claim;
  o.verdict = Verdict::left_out;
  return o;
}

Outcome evaluate(const ClaimList& list, std::size_t number, const std::vector<sweep::Rows>& rows) {
  const Claim& claim = list.claims()[number];
  Outcome o;
  o.claim = number;
  if (claim.terms.empty()) return o;
  std::vector<CaseRows> of;
  for (const CaseOfStudy& c : list.cases_of(number)) {
    const std::size_t count = list.studies()[c.study].points->per_case();
    of.push_back({rows[c.study], c.number * count, count});
    for (std::size_t run = 0; run < count; ++run)
      if (const sweep::Row& r = of.back().run(run); r.state != sweep::State::done) {
        o.verdict = Verdict::failed;
        o.why = r.state == sweep::State::failed ? "has a run that failed: " + r.why : "has a run without a result";
        return o;
      }
  }
  o.runs = of.front().count;
  try {
    for (std::size_t t = 0; t < claim.terms.size(); ++t)
      o.terms.push_back(value_of(claim.terms[t], of[t], list.cases_of(number)[t].number));
    const bool paired = are_paired(of);
    if (!claim.ordering.empty()) {
      judge_ordering(claim, paired, o);
    } else {
      o.modelled = combined(claim, o.terms, paired);
      judge_value(claim, o);
    }
  } catch (const NoValue& none) {
    o.terms.clear();
    o.verdict = Verdict::failed;
    o.why = none.why;
  }
  return o;
}

}  // namespace sluice::claims
