// SPDX-License-Identifier: Apache-2.0
#include "models/base/parameters/spread.h"

namespace sluice::base {
namespace {

constexpr std::uint64_t kStepsPerMillionth = 10;
constexpr std::uint64_t kSteps = 1'000'000 * kStepsPerMillionth;

/// numerator / denominator with a numerator of at most 40 bits, so that products with numbers of bytes and of cycles
/// stay within 64 bits. A larger fraction loses digits: less than 10^-11 of its value.
Ratio shortened(unsigned __int128 numerator, unsigned __int128 denominator) {
  while (numerator >> 40 != 0 && denominator > 1) {
    numerator >>= 1;
    denominator >>= 1;
  }
  return {static_cast<std::uint64_t>(numerator), static_cast<std::uint64_t>(denominator)};
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

Time Spread::phase(Time period, std::string_view path, std::string_view purpose) const {
  if (!seed_ || period == Time{}) return {};
  return Time::fs(RandomStream(*seed_, path, purpose).below(period.femtoseconds()));
}

Spread& spread() {
  static Spread the_spread;
  return the_spread;
}

}  // namespace sluice::base
