// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "models/riscv/iss/fp/fp.h"
#include "models/riscv/iss/fp/fp_soft.h"

// Comparisons, classification and conversions: integer arithmetic is as fast as the host's floating point here.

namespace sluice::riscv {
namespace {

using soft::Double;
using soft::Layout;
using soft::Single;

/// Maps the bits of a number to an unsigned integer, so that the integers order as the numbers do (-0 below +0).
template <typename F>
auto order(typename F::Bits a) {
  return Layout<F>::negative(a) ? static_cast<typename F::Bits>(~a)
                                : static_cast<typename F::Bits>(a | Layout<F>::kSign);
}

template <typename F>
void signal_nan(typename F::Bits a, typename F::Bits b, std::uint8_t& fflags) {
  if (Layout<F>::is_signalling(a) || Layout<F>::is_signalling(b)) fflags |= kFpNv;
}

template <typename F>
typename F::Bits pick(typename F::Bits a, typename F::Bits b, bool larger, std::uint8_t& fflags) {
  using L = Layout<F>;
  if (L::is_nan(a) || L::is_nan(b)) {
    signal_nan<F>(a, b, fflags);
    return !L::is_nan(b) ? b : (!L::is_nan(a) ? a : L::kNan);
  }
  return (order<F>(a) < order<F>(b)) != larger ? a : b;
}

template <typename F>
bool equal(typename F::Bits a, typename F::Bits b, std::uint8_t& fflags) {
  using L = Layout<F>;
  if (L::is_nan(a) || L::is_nan(b)) {
    signal_nan<F>(a, b, fflags);
    return false;
  }
  return a == b || L::magnitude(a | b) == 0;
}

template <typename F>
bool less(typename F::Bits a, typename F::Bits b, bool or_equal, std::uint8_t& fflags) {
  using L = Layout<F>;
  if (L::is_nan(a) || L::is_nan(b)) {
    fflags |= kFpNv;
    return false;
  }
  if (a == b || L::magnitude(a | b) == 0) return or_equal;
  return order<F>(a) < order<F>(b);
}

template <typename F>
std::uint64_t classify(typename F::Bits a) {
  using L = Layout<F>;
  if (L::is_nan(a)) return L::is_signalling(a) ? 1u << 8 : 1u << 9;
  // 0 to 3: -inf, -normal, -subnormal, -0; 4 to 7: the positive ones in the opposite order.
  const unsigned kind = L::exponent(a) == L::kSpecial ? 0 : L::exponent(a) != 0 ? 1 : L::fraction(a) != 0 ? 2 : 3;
  return 1u << (L::negative(a) ? kind : 7 - kind);
}

std::uint64_t sign_extend(std::uint64_t word) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(word)));
}

/// fcvt to a signed integer of `width` bits. A C cast truncates as RTZ does, so the host converts values that are in
/// range.
template <typename F, typename Real>
std::uint64_t to_signed(typename F::Bits a, Real limit, unsigned width, unsigned rm, std::uint8_t& fflags) {
  const Real value = std::bit_cast<Real>(a);
  if (rm == kRoundRtz && value < limit && value > -limit) {
    const auto integer = static_cast<std::int64_t>(value);
    if (static_cast<Real>(integer) != value) fflags |= kFpNx;
    return static_cast<std::uint64_t>(integer);
  }
  const std::uint64_t integer = soft::to_integer<F>(a, width, true, rm, fflags);
  return width == 32 ? sign_extend(integer) : integer;
}

template <typename F>
typename F::Bits from_signed(std::uint64_t x, unsigned rm, std::uint8_t& fflags) {
  const bool negative = static_cast<std::int64_t>(x) < 0;
  return soft::from_integer<F>(negative, negative ? 0 - x : x, rm, fflags);
}

}  // namespace

std::uint64_t fp_min_s(std::uint64_t a, std::uint64_t b, std::uint8_t& fflags) {
  return fp_box(pick<Single>(fp_unbox(a), fp_unbox(b), false, fflags));
}
std::uint64_t fp_min_d(std::uint64_t a, std::uint64_t b, std::uint8_t& fflags) {
  return pick<Double>(a, b, false, fflags);
}
std::uint64_t fp_max_s(std::uint64_t a, std::uint64_t b, std::uint8_t& fflags) {
  return fp_box(pick<Single>(fp_unbox(a), fp_unbox(b), true, fflags));
}
std::uint64_t fp_max_d(std::uint64_t a, std::uint64_t b, std::uint8_t& fflags) {
  return pick<Double>(a, b, true, fflags);
}

std::uint64_t fp_eq_s(std::uint64_t a, std::uint64_t b, std::uint8_t& fflags) {
  return equal<Single>(fp_unbox(a), fp_unbox(b), fflags);
}
std::uint64_t fp_eq_d(std::uint64_t a, std::uint64_t b, std::uint8_t& fflags) { return equal<Double>(a, b, fflags); }
std::uint64_t fp_lt_s(std::uint64_t a, std::uint64_t b, std::uint8_t& fflags) {
  return less<Single>(fp_unbox(a), fp_unbox(b), false, fflags);
}
std::uint64_t fp_lt_d(std::uint64_t a, std::uint64_t b, std::uint8_t& fflags) {
  return less<Double>(a, b, false, fflags);
}
std::uint64_t fp_le_s(std::uint64_t a, std::uint64_t b, std::uint8_t& fflags) {
  return less<Single>(fp_unbox(a), fp_unbox(b), true, fflags);
}
std::uint64_t fp_le_d(std::uint64_t a, std::uint64_t b, std::uint8_t& fflags) {
  return less<Double>(a, b, true, fflags);
}

std::uint64_t fp_class_s(std::uint64_t a) { return classify<Single>(fp_unbox(a)); }
std::uint64_t fp_class_d(std::uint64_t a) { return classify<Double>(a); }

std::uint64_t fp_cvt_w_s(std::uint64_t a, unsigned rm, std::uint8_t& fflags) {
  return to_signed<Single>(fp_unbox(a), 0x1p31f, 32, rm, fflags);
}
std::uint64_t fp_cvt_wu_s(std::uint64_t a, unsigned rm, std::uint8_t& fflags) {
  return sign_extend(soft::to_integer<Single>(fp_unbox(a), 32, false, rm, fflags));
}
std::uint64_t fp_cvt_l_s(std::uint64_t a, unsigned rm, std::uint8_t& fflags) {
  return to_signed<Single>(fp_unbox(a), 0x1p63f, 64, rm, fflags);
}
std::uint64_t fp_cvt_lu_s(std::uint64_t a, unsigned rm, std::uint8_t& fflags) {
  return soft::to_integer<Single>(fp_unbox(a), 64, false, rm, fflags);
}
std::uint64_t fp_cvt_w_d(std::uint64_t a, unsigned rm, std::uint8_t& fflags) {
  return to_signed<Double>(a, 0x1p31, 32, rm, fflags);
}
std::uint64_t fp_cvt_wu_d(std::uint64_t a, unsigned rm, std::uint8_t& fflags) {
  return sign_extend(soft::to_integer<Double>(a, 32, false, rm, fflags));
}
std::uint64_t fp_cvt_l_d(std::uint64_t a, unsigned rm, std::uint8_t& fflags) {
  return to_signed<Double>(a, 0x1p63, 64, rm, fflags);
}
std::uint64_t fp_cvt_lu_d(std::uint64_t a, unsigned rm, std::uint8_t& fflags) {
  return soft::to_integer<Double>(a, 64, false, rm, fflags);
}

std::uint64_t fp_cvt_s_w(std::uint64_t x, unsigned rm, std::uint8_t& fflags) {
  return fp_box(from_signed<Single>(sign_extend(x), rm, fflags));
}
std::uint64_t fp_cvt_s_wu(std::uint64_t x, unsigned rm, std::uint8_t& fflags) {
  return fp_box(soft::from_integer<Single>(false, static_cast<std::uint32_t>(x), rm, fflags));
}
std::uint64_t fp_cvt_s_l(std::uint64_t x, unsigned rm, std::uint8_t& fflags) {
  return fp_box(from_signed<Single>(x, rm, fflags));
}
std::uint64_t fp_cvt_s_lu(std::uint64_t x, unsigned rm, std::uint8_t& fflags) {
  return fp_box(soft::from_integer<Single>(false, x, rm, fflags));
}
std::uint64_t fp_cvt_d_w(std::uint64_t x) {
  return std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int32_t>(x)));
}
std::uint64_t fp_cvt_d_wu(std::uint64_t x) {
  return std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::uint32_t>(x)));
}
std::uint64_t fp_cvt_d_l(std::uint64_t x, unsigned rm, std::uint8_t& fflags) {
  return from_signed<Double>(x, rm, fflags);
}
std::uint64_t fp_cvt_d_lu(std::uint64_t x, unsigned rm, std::uint8_t& fflags) {
  return soft::from_integer<Double>(false, x, rm, fflags);
}

std::uint64_t fp_cvt_s_d(std::uint64_t a, unsigned rm, std::uint8_t& fflags) {
  return fp_box(soft::convert<Single, Double>(a, rm, fflags));
}
std::uint64_t fp_cvt_d_s(std::uint64_t a, std::uint8_t& fflags) {
  return soft::convert<Double, Single>(fp_unbox(a), kRoundRne, fflags);
}

}  // namespace sluice::riscv
