// SPDX-License-Identifier: Apache-2.0
#include "models/base/parameters/variation.h"

#include <algorithm>
#include <cmath>

namespace sluice::base::schema_detail {

std::optional<std::uint64_t> moved(std::uint64_t n, Ratio share, Side side, const Grid& grid) {
  if (n == 0 || share == Ratio(0)) return {};
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  if (grid.power_of_two) {
    if (side == Side::kLess) return n > 1 ? std::optional(n / 2) : std::nullopt;
    return n <= kMost / 2 ? std::optional(n * 2) : std::nullopt;
  }
  const auto moved_by = static_cast<unsigned __int128>(n) * share.numerator();
  const auto step = static_cast<unsigned __int128>(share.denominator()) * grid.multiple_of;
  const auto rest = moved_by % step;
  const auto steps = static_cast<std::uint64_t>(moved_by / step + (rest >= step - rest ? 1 : 0));
  std::uint64_t by = 0;
  if (__builtin_mul_overflow(std::max<std::uint64_t>(steps, 1), grid.multiple_of, &by)) return {};
  if (side == Side::kLess) return by <= n ? std::optional(n - by) : std::nullopt;
  return by <= kMost - n ? std::optional(n + by) : std::nullopt;
}

std::optional<double> moved(double v, Ratio share, Side side) {
  if (v == 0 || share == Ratio(0)) return {};
  const double by = std::abs(v) * share.real();
  const double end = side == Side::kLess ? v - by : v + by;
  return std::isfinite(end) ? std::optional(end) : std::nullopt;
}

std::optional<Ratio> moved(const Ratio& v, Ratio share, Side side) {
  const bool less = side == Side::kLess;
  if (v == Ratio(0) || share == Ratio(0) || (less && Ratio(1) < share)) return {};
  std::uint64_t factor = 0;
  if (less)
    factor = share.denominator() - share.numerator();
  else if (__builtin_add_overflow(share.denominator(), share.numerator(), &factor))
    return {};
  const Ratio a(v.numerator(), share.denominator());
  const Ratio b(factor, v.denominator());
  std::uint64_t numerator = 0, denominator = 0;
  if (__builtin_mul_overflow(a.numerator(), b.numerator(), &numerator)) return {};
  if (__builtin_mul_overflow(a.denominator(), b.denominator(), &denominator)) return {};
  return Ratio(numerator, denominator);
}

}  // namespace sluice::base::schema_detail
