// SPDX-License-Identifier: Apache-2.0
#include "platform/statistics/transient.h"

#include <algorithm>

namespace sluice::statistics {
namespace {

constexpr std::size_t kLeastBatches = 20;
constexpr std::size_t kMostBatches = 1000;
/// Of so few batches at the end the statistic is not used: they may be alike by chance (Hoad, Robinson and Davies,
/// Journal of the Operational Research Society 61, 2010).
constexpr std::size_t kLeastKept = 5;
/// Where the series has settled, chance alone decides which of many cuts has the least statistic. The first of those
/// whose standard error is within 1 % of the least (the statistic is its square) wastes nothing.
constexpr double kAsGood = 1.02;

}  // namespace

void Transient::add(double observation) {
  sum_ += observation;
  if (++in_batch_ < batch_) return;
  sums_.push_back(sum_);
  sum_ = 0;
  in_batch_ = 0;
  if (sums_.size() < kMostBatches) return;
  for (std::size_t i = 0; i < kMostBatches / 2; ++i) sums_[i] = sums_[2 * i] + sums_[2 * i + 1];
  sums_.resize(kMostBatches / 2);
  batch_ *= 2;
}

Transient::End Transient::end() const {
  const std::size_t n = sums_.size();
  if (n < kLeastBatches) return {true, 0};
  // From the back, the mean of the batches so far and the sum of squares around it (Welford, Technometrics 4, 1962).
  double mean = 0, squares = 0;
  std::vector<double> statistics(n - kLeastKept + 1);  // by the number of batches that are cut
  for (std::size_t i = n; i-- > 0;) {
    const double kept = static_cast<double>(n - i), value = sums_[i] / static_cast<double>(batch_);
    const double step = value - mean;
    mean += step / kept;
    squares += step * (value - mean);
    if (i < statistics.size()) statistics[i] = squares / (kept * kept);
  }
  const double least = *std::min_element(statistics.begin(), statistics.end());
  const auto first =
      std::find_if(statistics.begin(), statistics.end(), [least](double s) { return s <= least * kAsGood; });
  const auto cut = static_cast<std::size_t>(first - statistics.begin());
  if (2 * cut > n) return {true, 0};
  return {false, cut * batch_};
}

}  // namespace sluice::statistics
