// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Confidence intervals of paired differences: the same replication of two boards sees the same random numbers, so what
/// they share cancels.

#include <optional>
#include <vector>

namespace sluice::report {

struct PairedDifference {
  double mean = 0;        ///< of b - a
  double half_width = 0;  ///< of the 95 % confidence interval, by Student's t
};

/// Mean over replications.
struct Estimate {
  double mean = 0;
  std::optional<double> half_width;  ///< of the 95 % confidence interval, by Student's t; nothing of one replication
};
/// values: at least one.
Estimate estimate_of(const std::vector<double>& values);

/// a, b: the same number of values, at least 2.
PairedDifference paired_difference(const std::vector<double>& a, const std::vector<double>& b);

/// 97.5 % quantile of Student's t with `degrees` of freedom (at least 1), within 0.001.
double student_t_975(unsigned degrees);

}  // namespace sluice::report
