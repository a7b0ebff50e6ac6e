// SPDX-License-Identifier: Apache-2.0
#include "platform/report/confidence.h"

#include <cmath>
#include <iterator>

namespace sluice::report {

double student_t_975(unsigned degrees) {
  static constexpr double kTable[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646,
                                      2.3060,  2.2622, 2.2281, 2.2010, 2.1788, 2.1604, 2.1448};
  if (degrees <= std::size(kTable)) return kTable[degrees - 1];
  // Expansion around the normal quantile (Abramowitz and Stegun 26.7.5).
  constexpr double z = 1.959964;
  const double n = degrees;
  const double z3 = z * z * z;
  const double z5 = z3 * z * z;
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n);
}

Estimate estimate_of(const std::vector<double>& values) {
  if (values.size() == 1) return {values.front(), {}};
  const auto d = paired_difference(std::vector<double>(values.size(), 0.0), values);
  return {d.mean, d.half_width};
}

PairedDifference paired_difference(const std::vector<double>& a, const std::vector<double>& b) {
  const double n = static_cast<double>(a.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += b[i] - a[i];
  const double mean = sum / n;
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (b[i] - a[i] - mean) * (b[i] - a[i] - mean);
  const double error = std::sqrt(squares / (n - 1) / n);
  return {mean, student_t_975(static_cast<unsigned>(a.size()) - 1) * error};
}

}  // namespace sluice::report
