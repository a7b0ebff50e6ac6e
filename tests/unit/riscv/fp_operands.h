// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Operands that reach the corners of floating point: every class, exponents that meet, results next to the limits of
/// the format, and significands full of runs of ones and zeros (so that halfway cases are common).

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "models/riscv/iss/fp/fp.h"

namespace sluice::riscv::fp_test {

using Exact = __float128;

/// The f register that holds a value.
inline std::uint64_t reg(float value) { return fp_box(std::bit_cast<std::uint32_t>(value)); }
inline std::uint64_t reg(double value) { return std::bit_cast<std::uint64_t>(value); }

template <typename Real>
Real real(std::uint64_t bits) {
  if constexpr (sizeof(Real) == 4) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else {
    return std::bit_cast<double>(bits);
  }
}

template <typename Real>
constexpr std::uint64_t canonical_nan() {
  return sizeof(Real) == 4 ? fp_box(kFpCanonicalNanS) : kFpCanonicalNanD;
}

template <typename Real>
bool is_nan(Real value) {
  return value != value;
}
template <typename Real>
bool is_infinite(Real value) {
  return value == value && value - value != 0;
}

struct SplitMix {
  std::uint64_t state;
  std::uint64_t operator()() {
    std::uint64_t z = state += 0x9e37'79b9'7f4a'7c15;
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
    return z ^ (z >> 31);
  }
};

template <typename Real>
std::vector<Real> special_values() {
  constexpr int fraction = sizeof(Real) == 4 ? 23 : 52;
  constexpr std::uint64_t bias = sizeof(Real) == 4 ? 127 : 1023;
  constexpr std::uint64_t one = bias << fraction, hidden = 1ull << fraction, infinity = (2 * bias + 1) << fraction;
  std::vector<Real> values;
  for (const std::uint64_t bits : {std::uint64_t{0},
                                   std::uint64_t{1},
                                   std::uint64_t{2},
                                   std::uint64_t{3},
                                   hidden / 2,
                                   hidden - 2,
                                   hidden - 1,
                                   hidden,
                                   hidden + 1,
                                   2 * hidden - 1,
                                   2 * hidden,
                                   one - hidden,
                                   one - 2,
                                   one - 1,
                                   one,
                                   one + 1,
                                   one + hidden,
                                   one + hidden + hidden / 2,
                                   infinity - hidden,
                                   infinity - 2,
                                   infinity - 1,
                                   infinity,
                                   infinity + 1,
                                   infinity + hidden / 2,
                                   infinity + hidden / 2 + 1,
                                   infinity + hidden - 1}) {
    values.push_back(real<Real>(bits));
    values.push_back(real<Real>(bits | hidden * 2 * (bias + 1)));
  }
  return values;
}

template <typename Real>
class Operands {
 public:
  explicit Operands(std::uint64_t seed) : random_{seed}, special_(special_values<Real>()) {}

  std::array<Real, 3> next() {
    const int a = exponent();
    int b = exponent();
    int c = exponent();
    switch (random_() % 8) {
      case 0:
        b = near(a, 3);
        break;  // sums that cancel
      case 1:
        b = near(a, kFraction + 4);
        break;  // sums that just meet
      case 2:
        b = near(1 - kBias - a, kFraction + 4);
        break;  // products about the smallest normal number
      case 3:
        b = near(kBias - a, 3);
        break;  // products about the largest
      case 4:
        b = near(a + kBias, kFraction + 4);
        break;  // quotients about the smallest normal number
      case 5:
        b = near(a - kBias, 3);
        break;  // quotients about the largest
      case 6:
        b = near(0, 20);
        break;
      default:
        break;
    }
    if (random_() % 4 != 0) c = near(a + b, random_() % 2 ? 3 : 2 * kFraction);  // addends that meet the product
    return {value(a), value(b), value(c)};
  }

 private:
  static constexpr int kFraction = sizeof(Real) == 4 ? 23 : 52;
  static constexpr int kBias = sizeof(Real) == 4 ? 127 : 1023;

  int exponent() { return static_cast<int>(random_() % (2 * kBias + 2)) - kBias; }
  int near(int exponent, int distance) {
    return exponent + static_cast<int>(random_() % (2 * static_cast<unsigned>(distance) + 1)) - distance;
  }

  std::uint64_t significand() {
    const std::uint64_t r = random_();
    const auto shift = static_cast<int>(random_() % kFraction);
    switch (random_() % 6) {
      case 0:
        return 0;
      case 1:
        return ~0ull;
      case 2:
        return r & (~0ull << shift);  // few significant bits: exact results and ties
      case 3:
        return 1ull << shift;
      case 4:
        return ~0ull << shift;
      default:
        return r;
    }
  }

  Real value(int exponent) {
    if (random_() % 32 == 0) return special_[random_() % special_.size()];
    int biased = exponent + kBias;
    biased = biased < 0 ? 0 : (biased > 2 * kBias ? 2 * kBias : biased);
    const std::uint64_t fraction = significand() & ((1ull << kFraction) - 1);
    const std::uint64_t sign = (random_() & 1) << (sizeof(Real) * 8 - 1);
    return real<Real>(sign | static_cast<std::uint64_t>(biased) << kFraction | fraction);
  }

  SplitMix random_;
  std::vector<Real> special_;
};

}  // namespace sluice::riscv::fp_test
