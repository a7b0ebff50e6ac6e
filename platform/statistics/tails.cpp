// SPDX-License-Identifier: Apache-2.0
#include "platform/statistics/tails.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>

#include "platform/statistics/distribution.h"
#include "platform/statistics/quantiles.h"

namespace sluice::statistics {
namespace {

using Histograms = std::vector<base::Histogram>;

/// Of all samples, how many must be beyond a quantile. With 10 independent ones intervals still hold, but then no
/// replication shows whether they are.
constexpr double kLeastBeyond = 30;
/// From how many times the variance of independent samples on their number is taken to vary because of bursts: 5
/// replications of independent ones reach it in 2 % of the cases.
constexpr double kBursts = 3;
/// How many bursts there must be: with fewer, the share beyond the quantile is not known to a third.
constexpr double kLeastBursts = 10;
/// With fewer replications chance alone may make them alike although their calls came in bursts: of 2 of a queue at 70
/// % load (M/M/1, 6,000 calls each) 79 % of the intervals held the truth, of 3 88 %.
constexpr std::size_t kLeastReplications = 5;
/// How many times as steep one half of an interval may be as the other until a straight line is no longer good enough.
constexpr double kBent = 8;

base::Histogram merged(const Histograms& all) {
  base::Histogram sum;
  for (const base::Histogram& h : all) sum.merge(h);
  return sum;
}

bool all_equal(const Histograms& all) {
  return std::adjacent_find(all.begin(), all.end(), std::not_equal_to<>()) == all.end();
}

double half_of_interval(const std::vector<double>& errors, double level) {
  const double n = static_cast<double>(errors.size());
  double squares = 0;
  for (const double e : errors) squares += e * e;
  return student_t(level, static_cast<unsigned>(errors.size()) - 1) * std::sqrt(squares / (n - 1) / n);
}

/// A quantile of one board.
struct Tail {
  double value;
  Interval interval;
  std::vector<double> errors;  ///< of `value`: their mean's standard error is its own, to a straight line
  double resolution;           ///< half the width of the bucket that holds the whole interval; 0: none does
  bool bent;                   ///< the distribution is no straight line in the interval
};

/// Nothing where there are too few samples beyond the quantile.
std::optional<Tail> tail_of(const Histograms& all, Share share, double level) {
  const Distribution together(merged(all));
  const double n = together.count(), replications = static_cast<double>(all.size());
  const double p = static_cast<double>(share.numerator) / static_cast<double>(share.denominator);
  const double beyond = n * static_cast<double>(std::min(share.numerator, share.denominator - share.numerator)) /
                        static_cast<double>(share.denominator);
  if (beyond < kLeastBeyond || all.size() < kLeastReplications) return {};

  Tail tail{together.bucket(p * n).at(p * n), {}, {}, 0, false};
  double squares = 0;
  for (const base::Histogram& h : all) {
    tail.errors.push_back((p * static_cast<double>(h.count()) - Distribution(h).below(tail.value)) * replications / n);
    squares += tail.errors.back() * tail.errors.back();
  }
  const double bursts = squares / replications / (replications - 1) * n / (p * (1 - p));
  if (bursts > kBursts && beyond / bursts < kLeastBursts) return {};

  // The arcsine of its square root makes the interval of a share symmetric (Anscombe, Biometrika 35, 1948).
  const double middle = std::asin(std::sqrt(p)),
               reach = half_of_interval(tail.errors, level) / (2 * std::sqrt(p * (1 - p)));
  const double low = middle - reach, high = middle + reach;
  if (low < 0 || high > std::numbers::pi / 2) return {};
  const double lower = n * std::pow(std::sin(low), 2), upper = n * std::pow(std::sin(high), 2);
  if (lower < 1 || upper > n - 1) return {};

  const Distribution::Bucket &from = together.bucket(lower), &to = together.bucket(upper);
  if (&from == &to) {
    tail.value = from.first + from.width / 2;
    tail.interval = {from.first, from.first + from.width};
    tail.resolution = from.width / 2;
    std::fill(tail.errors.begin(), tail.errors.end(), 0.0);
    return tail;
  }
  tail.interval = {from.at(lower), to.at(upper)};
  const double below = (tail.value - tail.interval.lower) / (p * n - lower);
  const double above = (tail.interval.upper - tail.value) / (upper - p * n);
  tail.bent = below > kBent * above || above > kBent * below;
  for (double& e : tail.errors) e *= (tail.interval.upper - tail.interval.lower) / (upper - lower) * n;
  return tail;
}

double plain_quantile(const Histograms& all, Share share) {
  return static_cast<double>(merged(all).quantile(share.numerator, share.denominator));
}

/// From the intervals of both boards, which hold together with the level.
std::optional<Interval> least_to_greatest(const Histograms& a, const Histograms& b, Share share, double level) {
  const double each = 1 - (1 - level) / 2;
  const auto first = tail_of(a, share, each), other = tail_of(b, share, each);
  if (!first || !other) return {};
  return Interval{other->interval.lower - first->interval.upper, other->interval.upper - first->interval.lower};
}

}  // namespace

Estimate quantile_of(const Histograms& all, Share share, double level) {
  const double plain = plain_quantile(all, share);
  if (all.size() == 1) return {plain, {}, Basis::one_replication};
  if (all_equal(all)) return {plain, {}, Basis::constant};
  const auto tail = tail_of(all, share, level);
  if (!tail) return {plain, {}, Basis::too_few_samples};
  return {tail->value, tail->interval, Basis::replications};
}

Estimate quantile_difference(const Histograms& a, const Histograms& b, Share share, double level) {
  const double plain = plain_quantile(b, share) - plain_quantile(a, share);
  if (a.size() == 1) return {plain, {}, Basis::one_replication};
  if (all_equal(a) && all_equal(b)) return {plain, {}, Basis::constant};
  if (a == b) return {0, Interval{0, 0}, Basis::replications};
  const auto first = tail_of(a, share, level), other = tail_of(b, share, level);
  if (!first || !other) return {plain, {}, Basis::too_few_samples};
  const double value = other->value - first->value;
  if (first->bent || other->bent) {
    const auto interval = least_to_greatest(a, b, share, level);
    return {value, interval, interval ? Basis::replications : Basis::too_few_samples};
  }
  std::vector<double> errors;
  for (std::size_t i = 0; i < a.size(); ++i) errors.push_back(other->errors[i] - first->errors[i]);
  const double half = half_of_interval(errors, level) + first->resolution + other->resolution;
  return {value, Interval{value - half, value + half}, Basis::replications};
}

}  // namespace sluice::statistics
