// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/fp/fp.h"

#include <bit>
#include <cmath>

#include "models/riscv/iss/fp/fp_soft.h"

// Round-to-nearest-even is the host's own rounding mode, so its operations give the right bits. The host paths below
// take a result only where OF, UF, NV and DZ are out of the question, and find NX without reading the host's status
// register: from the rounding error of the operation, which is representable, or from the number of significant bits
// that an exact result would have. Everything else goes to the integer implementation. Both give the same answer, so
// which path runs is not visible. Where NX is already accrued it need not be found again.

namespace sluice::riscv {
namespace {

using soft::Double;
using soft::Single;
using LayoutS = soft::Layout<Single>;
using LayoutD = soft::Layout<Double>;

float as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
double as_double(std::uint64_t bits) { return std::bit_cast<double>(bits); }
std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

/// Finite and at least twice the smallest normal number: neither tiny before nor after rounding, and no overflow.
bool well_inside(std::uint32_t result) {
  return static_cast<unsigned>(LayoutS::exponent(result) - 2) <= LayoutS::kSpecial - 3u;
}
bool well_inside(std::uint64_t result) {
  return static_cast<unsigned>(LayoutD::exponent(result) - 2) <= LayoutD::kSpecial - 3u;
}

/// The rounding error of sum = x + y, exactly (Knuth). No overflow.
template <typename Real>
Real sum_error(Real x, Real y, Real sum) {
  const Real y_part = sum - x;
  return (x - (sum - y_part)) + (y - y_part);
}

/// Whether the product of two normal doubles, rounded to `product` (normal), is exact: its significand, a product of
/// two integers, has as many trailing zeros as the integers have together.
bool product_is_exact(std::uint64_t a, std::uint64_t b, std::uint64_t product) {
  const bool carry = LayoutD::exponent(product) > LayoutD::exponent(a) + LayoutD::exponent(b) - LayoutD::kBias;
  return std::countr_zero(a | LayoutD::kHidden) + std::countr_zero(b | LayoutD::kHidden) >= Double::kFraction + carry;
}

/// A double that rounds to single as the unrounded sum + error would: if inexact, the neighbour with an odd
/// significand (53 bits are enough for that).
double round_to_odd(double sum, double error) {
  std::uint64_t bits = bits_of(sum);
  if (error == 0 || (bits & 1) != 0) return sum;
  bits += (error > 0) == (sum > 0) ? 1 : std::uint64_t(-1);
  return as_double(bits);
}

#if defined(__x86_64__) && defined(__GNUC__)
const bool host_has_fma = __builtin_cpu_supports("fma") != 0;
__attribute__((target("fma"))) double host_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
constexpr bool host_has_fma = false;
double host_fma(double a, double b, double c) { return std::fma(a, b, c); }
#endif

std::uint32_t add_s(std::uint32_t a, std::uint32_t b, unsigned rm, std::uint8_t& fflags) {
  if (rm == kRoundRne) {
    const float x = as_float(a);
    const float y = as_float(b);
    const float sum = x + y;
    if (LayoutS::exponent(bits_of(sum)) < LayoutS::kSpecial - 2) {  // finite; a tiny sum is exact
      if ((fflags & kFpNx) == 0 && sum_error(x, y, sum) != 0) fflags |= kFpNx;
      return bits_of(sum);
    }
  }
  return soft::add<Single>(a, b, rm, fflags);
}

std::uint64_t add_d(std::uint64_t a, std::uint64_t b, unsigned rm, std::uint8_t& fflags) {
  if (rm == kRoundRne) {
    const double x = as_double(a);
    const double y = as_double(b);
    const double sum = x + y;
    if (LayoutD::exponent(bits_of(sum)) < LayoutD::kSpecial - 2) {  // finite; a tiny sum is exact
      if ((fflags & kFpNx) == 0 && sum_error(x, y, sum) != 0) fflags |= kFpNx;
      return bits_of(sum);
    }
  }
  return soft::add<Double>(a, b, rm, fflags);
}

std::uint32_t fma_s(std::uint32_t a, std::uint32_t b, std::uint32_t c, unsigned rm, std::uint8_t& fflags) {
  if (rm == kRoundRne) {
    const double product = static_cast<double>(as_float(a)) * static_cast<double>(as_float(b));  // exact
    const double addend = as_float(c);
    const double sum = product + addend;
    const double exact = round_to_odd(sum, sum_error(product, addend, sum));
    const auto result = static_cast<float>(exact);
    if (well_inside(bits_of(result))) {
      // An odd neighbour has 53 significant bits, so it never equals a single.
      if (static_cast<double>(result) != exact) fflags |= kFpNx;
      return bits_of(result);
    }
  }
  return soft::fma<Single>(a, b, c, rm, fflags);
}

std::uint64_t fma_d(std::uint64_t a, std::uint64_t b, std::uint64_t c, unsigned rm, std::uint8_t& fflags) {
  if (rm == kRoundRne && host_has_fma && (fflags & kFpNx) != 0) {
    const std::uint64_t result = bits_of(host_fma(as_double(a), as_double(b), as_double(c)));
    if (well_inside(result)) return result;
  }
  return soft::fma<Double>(a, b, c, rm, fflags);
}

}  // namespace

std::uint64_t fp_add_s(std::uint64_t a, std::uint64_t b, unsigned rm, std::uint8_t& fflags) {
  return fp_box(add_s(fp_unbox(a), fp_unbox(b), rm, fflags));
}

std::uint64_t fp_sub_s(std::uint64_t a, std::uint64_t b, unsigned rm, std::uint8_t& fflags) {
  return fp_box(add_s(fp_unbox(a), fp_unbox(b) ^ LayoutS::kSign, rm, fflags));
}

std::uint64_t fp_add_d(std::uint64_t a, std::uint64_t b, unsigned rm, std::uint8_t& fflags) {
  return add_d(a, b, rm, fflags);
}

std::uint64_t fp_sub_d(std::uint64_t a, std::uint64_t b, unsigned rm, std::uint8_t& fflags) {
  return add_d(a, b ^ LayoutD::kSign, rm, fflags);
}

std::uint64_t fp_mul_s(std::uint64_t a, std::uint64_t b, unsigned rm, std::uint8_t& fflags) {
  const std::uint32_t x = fp_unbox(a);
  const std::uint32_t y = fp_unbox(b);
  if (rm == kRoundRne) {
    const double product = static_cast<double>(as_float(x)) * static_cast<double>(as_float(y));  // exact
    const auto result = static_cast<float>(product);
    if (well_inside(bits_of(result))) {
      if (static_cast<double>(result) != product) fflags |= kFpNx;
      return fp_box(bits_of(result));
    }
  }
  return fp_box(soft::mul<Single>(x, y, rm, fflags));
}

std::uint64_t fp_mul_d(std::uint64_t a, std::uint64_t b, unsigned rm, std::uint8_t& fflags) {
  if (rm == kRoundRne && LayoutD::exponent(a) != 0 && LayoutD::exponent(b) != 0) {
    const std::uint64_t result = bits_of(as_double(a) * as_double(b));
    if (well_inside(result)) {
      if ((fflags & kFpNx) == 0 && !product_is_exact(a, b, result)) fflags |= kFpNx;
      return result;
    }
  }
  return soft::mul<Double>(a, b, rm, fflags);
}

std::uint64_t fp_div_s(std::uint64_t a, std::uint64_t b, unsigned rm, std::uint8_t& fflags) {
  const std::uint32_t x = fp_unbox(a);
  const std::uint32_t y = fp_unbox(b);
  if (rm == kRoundRne) {
    const float result = as_float(x) / as_float(y);
    if (well_inside(bits_of(result))) {
      const double product = static_cast<double>(result) * static_cast<double>(as_float(y));  // exact
      if (product != static_cast<double>(as_float(x))) fflags |= kFpNx;
      return fp_box(bits_of(result));
    }
  }
  return fp_box(soft::div<Single>(x, y, rm, fflags));
}

std::uint64_t fp_div_d(std::uint64_t a, std::uint64_t b, unsigned rm, std::uint8_t& fflags) {
  // Tiny dividends are excluded because the exactness test below multiplies back to the dividend.
  if (rm == kRoundRne && LayoutD::exponent(a) > 1 && LayoutD::exponent(b) != 0) {
    const std::uint64_t quotient = bits_of(as_double(a) / as_double(b));
    if (well_inside(quotient)) {
      if ((fflags & kFpNx) == 0) {
        const std::uint64_t product = bits_of(as_double(quotient) * as_double(b));
        if (product != a || !product_is_exact(quotient, b, product)) fflags |= kFpNx;
      }
      return quotient;
    }
  }
  return soft::div<Double>(a, b, rm, fflags);
}

std::uint64_t fp_sqrt_s(std::uint64_t a, unsigned rm, std::uint8_t& fflags) {
  const std::uint32_t x = fp_unbox(a);
  if (rm == kRoundRne && !LayoutS::negative(x)) {
    const float root = std::sqrt(as_float(x));
    if (well_inside(bits_of(root))) {
      const double square = static_cast<double>(root) * static_cast<double>(root);  // exact
      if (square != static_cast<double>(as_float(x))) fflags |= kFpNx;
      return fp_box(bits_of(root));
    }
  }
  return fp_box(soft::sqrt<Single>(x, rm, fflags));
}

std::uint64_t fp_sqrt_d(std::uint64_t a, unsigned rm, std::uint8_t& fflags) {
  if (rm == kRoundRne && !LayoutD::negative(a) && LayoutD::exponent(a) > 1) {
    const std::uint64_t root = bits_of(std::sqrt(as_double(a)));
    if (well_inside(root)) {
      if ((fflags & kFpNx) == 0) {
        const std::uint64_t square = bits_of(as_double(root) * as_double(root));
        if (square != a || !product_is_exact(root, root, square)) fflags |= kFpNx;
      }
      return root;
    }
  }
  return soft::sqrt<Double>(a, rm, fflags);
}

// fmsub, fnmsub and fnmadd negate c, the product (by the sign of a) or both. The sign of a NaN operand does not matter:
// every NaN result is canonical.
std::uint64_t fp_fmadd_s(std::uint64_t a, std::uint64_t b, std::uint64_t c, unsigned rm, std::uint8_t& fflags) {
  return fp_box(fma_s(fp_unbox(a), fp_unbox(b), fp_unbox(c), rm, fflags));
}

std::uint64_t fp_fmsub_s(std::uint64_t a, std::uint64_t b, std::uint64_t c, unsigned rm, std::uint8_t& fflags) {
  return fp_box(fma_s(fp_unbox(a), fp_unbox(b), fp_unbox(c) ^ LayoutS::kSign, rm, fflags));
}

std::uint64_t fp_fnmsub_s(std::uint64_t a, std::uint64_t b, std::uint64_t c, unsigned rm, std::uint8_t& fflags) {
  return fp_box(fma_s(fp_unbox(a) ^ LayoutS::kSign, fp_unbox(b), fp_unbox(c), rm, fflags));
}

std::uint64_t fp_fnmadd_s(std::uint64_t a, std::uint64_t b, std::uint64_t c, unsigned rm, std::uint8_t& fflags) {
  return fp_box(fma_s(fp_unbox(a) ^ LayoutS::kSign, fp_unbox(b), fp_unbox(c) ^ LayoutS::kSign, rm, fflags));
}

std::uint64_t fp_fmadd_d(std::uint64_t a, std::uint64_t b, std::uint64_t c, unsigned rm, std::uint8_t& fflags) {
  return fma_d(a, b, c, rm, fflags);
}

std::uint64_t fp_fmsub_d(std::uint64_t a, std::uint64_t b, std::uint64_t c, unsigned rm, std::uint8_t& fflags) {
  return fma_d(a, b, c ^ LayoutD::kSign, rm, fflags);
}

std::uint64_t fp_fnmsub_d(std::uint64_t a, std::uint64_t b, std::uint64_t c, unsigned rm, std::uint8_t& fflags) {
  return fma_d(a ^ LayoutD::kSign, b, c, rm, fflags);
}

std::uint64_t fp_fnmadd_d(std::uint64_t a, std::uint64_t b, std::uint64_t c, unsigned rm, std::uint8_t& fflags) {
  return fma_d(a ^ LayoutD::kSign, b, c ^ LayoutD::kSign, rm, fflags);
}

}  // namespace sluice::riscv
