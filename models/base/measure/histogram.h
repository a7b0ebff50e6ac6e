// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A histogram of latencies whose buckets grow with the value, so that every quantile has the same relative error.
/// Plain C++.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "models/base/time/time.h"

namespace sluice::base {

/// Log-linear histogram over unsigned 64-bit values (for latencies: femtoseconds).
///
/// Each power of two is divided into 256 buckets of equal width, so a bucket is at most 1/256 (0.39 %) of its values
/// wide, and a quantile, which is a bucket's middle, is off by at most half of that; below 512 every value has a bucket
/// of its own. Count, sum, minimum, maximum and mean are exact. What is recorded does not depend on the order of
/// recording or merging. Host memory is 2 KiB for each power of two that occurs.
class Histogram {
 public:
  using Sum = unsigned __int128;
  static constexpr unsigned kSubBits = 8;
  static constexpr double kRelativeError = 0.5 / (1 << kSubBits);  ///< of a quantile, at most: 0.2 %

  Histogram() = default;
  Histogram(const Histogram& other) { merge(other); }
  Histogram& operator=(const Histogram& other);
  Histogram(Histogram&&) noexcept = default;
  Histogram& operator=(Histogram&&) noexcept = default;

  /// Records one value. Constant time; allocates only when a power of two occurs for the first time.
  void add(std::uint64_t value) { add(value, 1); }
  /// Records a value `times` times.
  void add(std::uint64_t value, std::uint64_t times) {
    const unsigned bucket = bucket_of(value);
    std::unique_ptr<Row>& row = rows_[bucket / kColumns];
    if (!row) [[unlikely]]
      row = std::make_unique<Row>();
    (*row)[bucket % kColumns] += times;
    if (times == 0) return;
    count_ += times;
    sum_ += static_cast<Sum>(value) * times;
    if (value < min_) min_ = value;
    if (value > max_) max_ = value;
  }
  void add(Time value) { add(value.femtoseconds()); }

  /// What for_each_bucket() says of a bucket.
  struct Bucket {
    std::uint64_t first, count;
  };
  /// The histogram that has these buckets, which are those of for_each_bucket(), and this sum, minimum and maximum, for
  /// one that was written to a file. Nothing where no histogram has them.
  static std::optional<Histogram> of(const std::vector<Bucket>&, Sum sum, std::uint64_t min, std::uint64_t max);

  void merge(const Histogram& other);
  void clear();

  /// Whether all that can be asked of them is the same.
  bool operator==(const Histogram&) const;

  std::uint64_t count() const { return count_; }
  Sum sum() const { return sum_; }
  std::uint64_t min() const { return count_ ? min_ : 0; }  ///< 0 when empty
  std::uint64_t max() const { return max_; }               ///< 0 when empty
  /// Sum / count, rounded to the nearest integer (halves up); 0 when empty.
  std::uint64_t mean() const;

  /// The least value that at least numerator/denominator of the recorded values do not exceed, by the nearest rank:
  /// quantile(1, 2) is the median, quantile(999, 1000) is p99.9. The answer is the middle of that value's bucket, held
  /// within min() and max(), so off by at most kRelativeError of the value. 0 when empty. A numerator above the
  /// denominator means all values.
  std::uint64_t quantile(std::uint64_t numerator, std::uint64_t denominator) const;
  std::uint64_t p50() const { return quantile(1, 2); }
  std::uint64_t p90() const { return quantile(9, 10); }
  std::uint64_t p99() const { return quantile(99, 100); }
  std::uint64_t p999() const { return quantile(999, 1000); }

  /// Calls visit(first, last, count) for every bucket that holds something, in ascending order; bounds are inclusive.
  template <class Visit>
  void for_each_bucket(Visit&& visit) const {
    for (unsigned row = 0; row < kRows; ++row) {
      if (!rows_[row]) continue;
      for (unsigned column = 0; column < kColumns; ++column)
        if (const std::uint64_t n = (*rows_[row])[column])
          visit(first_of(row, column), first_of(row, column) + width_of(row) - 1, n);
    }
  }

 private:
  static constexpr unsigned kColumns = 1u << kSubBits;
  static constexpr unsigned kRows = 64 - kSubBits + 1;  ///< row 0: values below kColumns; then one per power of two
  using Row = std::array<std::uint64_t, kColumns>;

  /// Buckets are numbered through: row 0 holds the values below 256, row r > 0 those from 2^(r+7) up to 2^(r+8).
  static unsigned bucket_of(std::uint64_t value) {
    const unsigned shift = 63 - kSubBits - static_cast<unsigned>(__builtin_clzll(value | kColumns));
    return shift * kColumns + static_cast<unsigned>(value >> shift);
  }
  static std::uint64_t width_of(unsigned row) { return std::uint64_t{1} << (row ? row - 1 : 0); }
  static std::uint64_t first_of(unsigned row, unsigned column) {
    return row ? (std::uint64_t{kColumns} + column) << (row - 1) : column;
  }

  std::array<std::unique_ptr<Row>, kRows> rows_;
  std::uint64_t count_ = 0;
  Sum sum_ = 0;
  std::uint64_t min_ = ~std::uint64_t{0};
  std::uint64_t max_ = 0;
};

}  // namespace sluice::base
