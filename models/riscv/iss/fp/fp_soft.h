// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Binary floating point in integer arithmetic, exact in every case: the reference for the host paths in fp.cpp, and
/// the path for the cases that these do not handle. Operands and results are bare bits (no NaN boxes). NaN results are
/// canonical; tininess is detected after rounding. `rm` and `flags` as in fp.h.

#include <cstdint>

namespace sluice::riscv::soft {

struct Single {
  using Bits = std::uint32_t;
  static constexpr int kFraction = 23;
  static constexpr int kExponent = 8;
};

struct Double {
  using Bits = std::uint64_t;
  static constexpr int kFraction = 52;
  static constexpr int kExponent = 11;
};

/// The layout of a floating-point format.
template <typename F>
struct Layout {
  using Bits = typename F::Bits;
  static constexpr int kBias = (1 << (F::kExponent - 1)) - 1;
  static constexpr int kSpecial = (1 << F::kExponent) - 1;  ///< biased exponent of infinities and NaNs
  static constexpr Bits kHidden = Bits{1} << F::kFraction;
  static constexpr Bits kQuiet = Bits{1} << (F::kFraction - 1);
  static constexpr Bits kSign = Bits{1} << (F::kFraction + F::kExponent);
  static constexpr Bits kInfinity = Bits{kSpecial} << F::kFraction;
  static constexpr Bits kNan = kInfinity | kQuiet;  ///< canonical
  static constexpr Bits kLargest = kInfinity - 1;

  static constexpr int exponent(Bits a) { return static_cast<int>(a >> F::kFraction) & kSpecial; }
  static constexpr Bits fraction(Bits a) { return a & (kHidden - 1); }
  static constexpr Bits magnitude(Bits a) { return a & (kSign - 1); }
  static constexpr bool negative(Bits a) { return (a & kSign) != 0; }
  static constexpr bool is_nan(Bits a) { return magnitude(a) > kInfinity; }
  static constexpr bool is_signalling(Bits a) { return is_nan(a) && (a & kQuiet) == 0; }
};

template <typename F>
typename F::Bits add(typename F::Bits a, typename F::Bits b, unsigned rm, std::uint8_t& flags);
template <typename F>
typename F::Bits mul(typename F::Bits a, typename F::Bits b, unsigned rm, std::uint8_t& flags);
template <typename F>
typename F::Bits div(typename F::Bits a, typename F::Bits b, unsigned rm, std::uint8_t& flags);
template <typename F>
typename F::Bits sqrt(typename F::Bits a, unsigned rm, std::uint8_t& flags);
/// a*b + c, rounded once. inf*0 raises NV whatever c is.
template <typename F>
typename F::Bits fma(typename F::Bits a, typename F::Bits b, typename F::Bits c, unsigned rm, std::uint8_t& flags);

/// Converts from one format to another.
template <typename To, typename From>
typename To::Bits convert(typename From::Bits a, unsigned rm, std::uint8_t& flags);

/// Converts an integer (sign and magnitude) to a format.
template <typename F>
typename F::Bits from_integer(bool negative, std::uint64_t magnitude, unsigned rm, std::uint8_t& flags);

/// Converts to an integer of `width` bits (32 or 64), signed or not, and saturates as RISC-V requires. The result is
/// not sign-extended.
template <typename F>
std::uint64_t to_integer(typename F::Bits a, unsigned width, bool is_signed, unsigned rm, std::uint8_t& flags);

}  // namespace sluice::riscv::soft
