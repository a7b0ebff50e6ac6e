// SPDX-License-Identifier: Apache-2.0
#include "models/base/measure/histogram.h"

#include <algorithm>

namespace sluice::base {

Histogram& Histogram::operator=(const Histogram& other) {
  if (this == &other) return *this;
  clear();
  merge(other);
  return *this;
}

void Histogram::merge(const Histogram& other) {
  for (unsigned row = 0; row < kRows; ++row) {
    if (!other.rows_[row]) continue;
    if (!rows_[row]) rows_[row] = std::make_unique<Row>();
    for (unsigned column = 0; column < kColumns; ++column) (*rows_[row])[column] += (*other.rows_[row])[column];
  }
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

void Histogram::clear() {
  // Rows stay allocated: a cleared histogram is about to record the same range again.
  for (auto& row : rows_)
    if (row) row->fill(0);
  count_ = 0;
  sum_ = 0;
  min_ = ~std::uint64_t{0};
  max_ = 0;
}

std::uint64_t Histogram::mean() const { return count_ ? static_cast<std::uint64_t>((sum_ + count_ / 2) / count_) : 0; }

std::uint64_t Histogram::quantile(std::uint64_t numerator, std::uint64_t denominator) const {
  if (count_ == 0) return 0;
  std::uint64_t rank = count_;
  if (numerator < denominator)
    rank = static_cast<std::uint64_t>((static_cast<Sum>(count_) * numerator + denominator - 1) / denominator);
  rank = std::max<std::uint64_t>(rank, 1);
  if (rank == count_) return max_;
  if (rank == 1) return min_;

  std::uint64_t seen = 0;
  for (unsigned row = 0; row < kRows; ++row) {
    if (!rows_[row]) continue;
    for (unsigned column = 0; column < kColumns; ++column) {
      seen += (*rows_[row])[column];
      if (seen >= rank) return std::clamp(first_of(row, column) + (width_of(row) - 1) / 2, min_, max_);
    }
  }
  return max_;
}

}  // namespace sluice::base
