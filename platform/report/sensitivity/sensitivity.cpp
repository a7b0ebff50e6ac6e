// SPDX-License-Identifier: Apache-2.0
#include "platform/report/sensitivity/sensitivity.h"

#include <algorithm>
#include <cmath>

#include "platform/statistics/means.h"

namespace sluice::report {
namespace {

constexpr double kCarried = 0.9;

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

/// (b - a) x factor, over the replications that both have.
Estimate difference(const std::vector<double>& a, const std::vector<double>& b, double factor) {
  const auto n = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  Estimate d = statistics::mean_difference({a.begin(), a.begin() + n}, {b.begin(), b.begin() + n});
  d.value *= factor;
  if (d.interval) d.interval = {d.interval->lower * factor, d.interval->upper * factor};
  return d;
}

}  // namespace

double AskedResult::value_in(const nlohmann::ordered_json& result) const {
  return (table ? result.at(table) : result).at(key).get<double>();
}

Estimate effect_of(const std::vector<double>& reference, const End& end) {
  return difference(reference, end.results, 1);
}

Estimate half_range_of(const std::vector<double>& reference, const End& less, const End& more) {
  const std::size_t n = std::max(less.results.size(), more.results.size());
  if (n == 0) return {};
  const std::vector<double> base(reference.begin(), reference.begin() + static_cast<std::ptrdiff_t>(n));
  std::vector<const std::vector<double>*> three{&base};
  for (const End* end : {&less, &more})
    if (!end->results.empty()) three.push_back(&end->results);
  const auto [least, greatest] = std::minmax_element(
      three.begin(), three.end(), [](const auto* a, const auto* b) { return mean_of(*a) < mean_of(*b); });
  return difference(**least, **greatest, three.size() == 3 ? 0.5 : 1);
}

void rank(std::vector<Sensitivity>& all, const std::vector<double>& reference) {
  double squares = 0;
  for (Sensitivity& s : all) {
    s.half_range = half_range_of(reference, s.less, s.more);
    squares += s.half_range.value * s.half_range.value;
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.half_range.value > b.half_range.value; });
  double sum = 0;
  for (Sensitivity& s : all) {
    s.share = squares > 0 ? s.half_range.value * s.half_range.value / squares : 0;
    sum += s.share;
    s.cumulated = sum;
    s.carrying = false;
  }
  for (std::size_t i = 0; i < carriers(all, kCarried); ++i) all[i].carrying = true;
}

std::size_t carriers(const std::vector<Sensitivity>& ranked, double share) {
  if (ranked.empty() || ranked.front().share == 0) return 0;
  std::size_t n = 1;
  while (n < ranked.size() && ranked[n - 1].cumulated < share) ++n;
  return n;
}

double combined_uncertainty(const std::vector<Sensitivity>& all) {
  double squares = 0;
  for (const Sensitivity& s : all) squares += s.half_range.value * s.half_range.value;
  return std::sqrt(squares / 3);  // a uniform distribution's variance is a third of the square of half its width
}

}  // namespace sluice::report
