// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Classes of operands: what floating-point and integer operations may treat differently.

#include <cstdint>

#include "tests/differential/draw.h"
#include "tests/differential/encodings.h"

namespace sluice::differential {

/// Classes of floating-point operands. The normal ones are split only for conversions to integers.
enum class FloatClass : std::uint8_t {
  plus_zero,
  minus_zero,
  plus_subnormal,
  minus_subnormal,
  plus_normal,
  minus_normal,
  plus_infinity,
  minus_infinity,
  quiet_nan,
  signalling_nan,
  not_boxed,  ///< singles only
  count
};
constexpr unsigned kFloatClasses = static_cast<unsigned>(FloatClass::count);
const char* name_of(FloatClass c);

/// Ranges of the exponent around the limits of integers, for conversions.
enum class Magnitude : std::uint8_t { below_one, small, at_2_31, at_2_32, middle, at_2_63, at_2_64, beyond, count };
constexpr unsigned kMagnitudes = static_cast<unsigned>(Magnitude::count);

enum class IntegerClass : std::uint8_t {
  zero,
  one,
  minus_one,
  least64,
  most64,
  least32,
  most32,
  all_ones32,
  other_positive,
  other_negative,
  count
};
constexpr unsigned kIntegerClasses = static_cast<unsigned>(IntegerClass::count);
const char* name_of(IntegerClass c);

FloatClass float_class(std::uint64_t reg, Source format);
Magnitude magnitude(std::uint64_t reg, Source format);
IntegerClass integer_class(std::uint64_t value);

/// An f register of this class. Significands are often full of runs of ones and zeros.
std::uint64_t draw_float(FloatClass c, Source format, Draw& draw);
std::uint64_t draw_magnitude(Magnitude m, bool negative, Source format, Draw& draw);
std::uint64_t draw_float(Source format, Draw& draw);  ///< of any class, biased to normal
std::uint64_t draw_integer(IntegerClass c, Draw& draw);
std::uint64_t draw_integer(Draw& draw);

}  // namespace sluice::differential
