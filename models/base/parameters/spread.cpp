// SPDX-License-Identifier: Apache-2.0
#include "models/base/parameters/spread.h"

#include <utility>

namespace sluice::base {
namespace {

constexpr std::uint64_t kStepsPerMillionth = 10;
constexpr std::uint64_t kSteps = 1'000'000 * kStepsPerMillionth;

/// The best approximation of a fraction by one with terms of at most 40 bits, so that products with numbers of bytes
/// and of cycles stay within 64 bits: the last of its continued fraction's convergents that has such terms.
Ratio shortened(unsigned __int128 numerator, unsigned __int128 denominator) {
  constexpr unsigned __int128 kMost = (static_cast<unsigned __int128>(1) << 40) - 1;
  unsigned __int128 p = 1, q = 0, p_before = 0, q_before = 1;
  while (denominator != 0) {
    const unsigned __int128 whole = numerator / denominator;
    if (whole > kMost || whole * p + p_before > kMost || whole * q + q_before > kMost) break;
    p_before = std::exchange(p, whole * p + p_before);
    q_before = std::exchange(q, whole * q + q_before);
    numerator = std::exchange(denominator, numerator % denominator);
  }
  return {static_cast<std::uint64_t>(p), static_cast<std::uint64_t>(q)};
}

}  // namespace

Ratio Spread::period(Ratio nominal, unsigned tolerance, std::string_view path, std::string_view purpose) const {
  if (!seed_ || tolerance == 0) return nominal;
  const std::uint64_t most = tolerance * kStepsPerMillionth;
  const std::uint64_t steps = kSteps - most + RandomStream(*seed_, path, purpose).below(2 * most + 1);
  // First by the common divisor: most fractions then need no shortening.
  const Ratio factor(steps, kSteps);
  const Ratio one(nominal.numerator(), factor.denominator()), other(factor.numerator(), nominal.denominator());
  return shortened(static_cast<unsigned __int128>(one.numerator()) * other.numerator(),
                   static_cast<unsigned __int128>(one.denominator()) * other.denominator());
}

std::uint64_t Spread::key(std::string_view path, std::string_view purpose) const {
  return seed_ ? RandomStream(*seed_, path, purpose).next() : 0;
}

Time Spread::phase(Time period, std::string_view path, std::string_view purpose) const {
  if (!seed_ || period == Time{}) return {};
  return Time::fs(RandomStream(*seed_, path, purpose).below(period.femtoseconds()));
}

Spread& spread() {
  static Spread the_spread;
  return the_spread;
}

}  // namespace sluice::base
