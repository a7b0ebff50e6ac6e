// SPDX-License-Identifier: Apache-2.0
#include "models/base/measure/histogram.h"

#include <algorithm>
#include <utility>

namespace sluice::base {

Histogram& Histogram::operator=(const Histogram& other) {
  if (this == &other) return *this;
  clear();
  merge(other);
  return *this;
}

std::optional<Histogram> Histogram::of(const std::vector<Bucket>& buckets, Sum sum, std::uint64_t min,
                                       std::uint64_t max) {
  Histogram h;
  Sum least = 0, greatest = 0;  // that the sum can be
  std::optional<std::uint64_t> before;
  for (const auto& [first, count] : buckets) {
    const unsigned bucket = bucket_of(first), row = bucket / kColumns;
    const std::uint64_t last = first + width_of(row) - 1;
    if (first != first_of(row, bucket % kColumns) || count == 0 || (before && first <= *before)) return {};
    if (h.count_ + count < count) return {};
    before = first;
    h.add(first, count);
    least += static_cast<Sum>(std::max(first, min)) * count;
    greatest += static_cast<Sum>(std::min(last, max)) * count;
  }
  if (buckets.empty()) return sum == 0 && min == 0 && max == 0 ? std::optional(std::move(h)) : std::nullopt;
  if (min > max || bucket_of(min) != bucket_of(buckets.front().first) ||
      bucket_of(max) != bucket_of(buckets.back().first) || sum < least || sum > greatest)
    return {};
  h.sum_ = sum;
  h.min_ = min;
  h.max_ = max;
  return h;
}

bool Histogram::operator==(const Histogram& other) const {
  if (count_ != other.count_ || sum_ != other.sum_ || min_ != other.min_ || max_ != other.max_) return false;
  static constexpr Row kEmpty{};
  for (unsigned row = 0; row < kRows; ++row)
    if ((rows_[row] ? *rows_[row] : kEmpty) != (other.rows_[row] ? *other.rows_[row] : kEmpty)) return false;
  return true;
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
