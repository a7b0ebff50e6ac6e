// SPDX-License-Identifier: Apache-2.0
#include "platform/statistics/means.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "platform/statistics/quantiles.h"

namespace sluice::statistics {
namespace {

bool all_equal(const std::vector<double>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

}  // namespace

Estimate mean_of(const std::vector<double>& values, double level) {
  return mean_difference(std::vector<double>(values.size(), 0.0), values, level);
}

Estimate mean_difference(const std::vector<double>& a, const std::vector<double>& b, double level) {
  if (a.size() == 1) return {b.front() - a.front(), {}, Basis::one_replication};
  if (all_equal(a) && all_equal(b)) return {b.front() - a.front(), {}, Basis::constant};
  const double n = static_cast<double>(a.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += b[i] - a[i];
  const double mean = sum / n;
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (b[i] - a[i] - mean) * (b[i] - a[i] - mean);
  const double half = student_t(level, static_cast<unsigned>(a.size()) - 1) * std::sqrt(squares / (n - 1) / n);
  return {mean, Interval{mean - half, mean + half}, Basis::replications};
}

}  // namespace sluice::statistics
