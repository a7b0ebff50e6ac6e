// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A histogram as a distribution function that rises evenly within each bucket.

#include <algorithm>
#include <iterator>
#include <vector>

#include "models/base/measure/histogram.h"

namespace sluice::statistics {

class Distribution {
 public:
  explicit Distribution(const base::Histogram& h) : count_(static_cast<double>(h.count())) {
    double below = 0;
    h.for_each_bucket([&](std::uint64_t first, std::uint64_t last, std::uint64_t n) {
      buckets_.push_back(
          {static_cast<double>(first), static_cast<double>(last - first) + 1, below, static_cast<double>(n)});
      below += static_cast<double>(n);
    });
  }

  struct Bucket {
    double first, width;
    double below;  ///< samples in the buckets before it
    double count;
    double at(double rank) const { return first + width * (rank - below) / count; }
  };

  double count() const { return count_; }
  /// The bucket in which the samples' number passes `rank`, 0 to below count(). There is a sample.
  const Bucket& bucket(double rank) const {
    return *std::prev(std::upper_bound(buckets_.begin(), buckets_.end(), rank,
                                       [](double r, const Bucket& b) { return r < b.below; }));
  }
  /// How many samples are below a value.
  double below(double value) const {
    const auto next = std::upper_bound(buckets_.begin(), buckets_.end(), value,
                                       [](double v, const Bucket& b) { return v < b.first; });
    if (next == buckets_.begin()) return 0;
    const Bucket& b = *std::prev(next);
    return b.below + b.count * std::min(1.0, (value - b.first) / b.width);
  }

 private:
  std::vector<Bucket> buckets_;
  double count_;
};

}  // namespace sluice::statistics
