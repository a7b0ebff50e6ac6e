// SPDX-License-Identifier: Apache-2.0
#pragma once
/// IEEE 754 arithmetic as the RISC-V F and D extensions (2.2) define it: pure functions on the bits of registers.
///
/// Every register value is the whole 64-bit f register. `_s` functions unbox their operands (a value that is not
/// NaN-boxed counts as the canonical NaN) and box a floating-point result. `rm` is a resolved rounding mode, one of
/// Rounding; `fflags` holds the accrued flags, and functions only set bits in it. Results and flags are the same on
/// every host.

#include <cstdint>

namespace sluice::riscv {

/// Values of the rm field after `dyn` is resolved. An instruction with a value of 5 or more is illegal; the caller must
/// refuse it.
enum Rounding : unsigned { kRoundRne = 0, kRoundRtz = 1, kRoundRdn = 2, kRoundRup = 3, kRoundRmm = 4 };

/// Bits of fflags.
enum FpFlag : std::uint8_t { kFpNx = 1, kFpUf = 2, kFpOf = 4, kFpDz = 8, kFpNv = 16 };

inline constexpr std::uint64_t kFpBox = 0xffff'ffff'0000'0000;
inline constexpr std::uint32_t kFpCanonicalNanS = 0x7fc0'0000;
inline constexpr std::uint64_t kFpCanonicalNanD = 0x7ff8'0000'0000'0000;

constexpr std::uint64_t fp_box(std::uint32_t single) { return kFpBox | single; }
constexpr std::uint32_t fp_unbox(std::uint64_t reg) {
  return (reg & kFpBox) == kFpBox ? static_cast<std::uint32_t>(reg) : kFpCanonicalNanS;
}

// Arithmetic.
std::uint64_t fp_add_s(std::uint64_t a, std::uint64_t b, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_add_d(std::uint64_t a, std::uint64_t b, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_sub_s(std::uint64_t a, std::uint64_t b, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_sub_d(std::uint64_t a, std::uint64_t b, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_mul_s(std::uint64_t a, std::uint64_t b, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_mul_d(std::uint64_t a, std::uint64_t b, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_div_s(std::uint64_t a, std::uint64_t b, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_div_d(std::uint64_t a, std::uint64_t b, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_sqrt_s(std::uint64_t a, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_sqrt_d(std::uint64_t a, unsigned rm, std::uint8_t& fflags);

// Fused: a*b + c, a*b - c, -(a*b) + c, -(a*b) - c, rounded once.
std::uint64_t fp_fmadd_s(std::uint64_t a, std::uint64_t b, std::uint64_t c, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_fmadd_d(std::uint64_t a, std::uint64_t b, std::uint64_t c, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_fmsub_s(std::uint64_t a, std::uint64_t b, std::uint64_t c, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_fmsub_d(std::uint64_t a, std::uint64_t b, std::uint64_t c, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_fnmsub_s(std::uint64_t a, std::uint64_t b, std::uint64_t c, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_fnmsub_d(std::uint64_t a, std::uint64_t b, std::uint64_t c, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_fnmadd_s(std::uint64_t a, std::uint64_t b, std::uint64_t c, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_fnmadd_d(std::uint64_t a, std::uint64_t b, std::uint64_t c, unsigned rm, std::uint8_t& fflags);

// minimumNumber and maximumNumber of IEEE 754-2019: -0 < +0; if one operand is a NaN, the result is the other;
// signalling NaNs raise NV.
std::uint64_t fp_min_s(std::uint64_t a, std::uint64_t b, std::uint8_t& fflags);
std::uint64_t fp_min_d(std::uint64_t a, std::uint64_t b, std::uint8_t& fflags);
std::uint64_t fp_max_s(std::uint64_t a, std::uint64_t b, std::uint8_t& fflags);
std::uint64_t fp_max_d(std::uint64_t a, std::uint64_t b, std::uint8_t& fflags);

// Comparisons: 0 or 1, for an x register. feq is quiet (NV for signalling NaNs only), flt and fle signal on any NaN.
std::uint64_t fp_eq_s(std::uint64_t a, std::uint64_t b, std::uint8_t& fflags);
std::uint64_t fp_eq_d(std::uint64_t a, std::uint64_t b, std::uint8_t& fflags);
std::uint64_t fp_lt_s(std::uint64_t a, std::uint64_t b, std::uint8_t& fflags);
std::uint64_t fp_lt_d(std::uint64_t a, std::uint64_t b, std::uint8_t& fflags);
std::uint64_t fp_le_s(std::uint64_t a, std::uint64_t b, std::uint8_t& fflags);
std::uint64_t fp_le_d(std::uint64_t a, std::uint64_t b, std::uint8_t& fflags);

/// The ten-bit mask of fclass, for an x register.
std::uint64_t fp_class_s(std::uint64_t a);
std::uint64_t fp_class_d(std::uint64_t a);

// Sign injection: the magnitude of a with the sign of b, its inverse, or the product of the signs.
constexpr std::uint64_t fp_sgnj_s(std::uint64_t a, std::uint64_t b) {
  return fp_box((fp_unbox(a) & 0x7fff'ffffu) | (fp_unbox(b) & 0x8000'0000u));
}
constexpr std::uint64_t fp_sgnjn_s(std::uint64_t a, std::uint64_t b) {
  return fp_box((fp_unbox(a) & 0x7fff'ffffu) | (~fp_unbox(b) & 0x8000'0000u));
}
constexpr std::uint64_t fp_sgnjx_s(std::uint64_t a, std::uint64_t b) {
  return fp_box(fp_unbox(a) ^ (fp_unbox(b) & 0x8000'0000u));
}
constexpr std::uint64_t fp_sgnj_d(std::uint64_t a, std::uint64_t b) { return (a & ~(1ull << 63)) | (b & (1ull << 63)); }
constexpr std::uint64_t fp_sgnjn_d(std::uint64_t a, std::uint64_t b) {
  return (a & ~(1ull << 63)) | (~b & (1ull << 63));
}
constexpr std::uint64_t fp_sgnjx_d(std::uint64_t a, std::uint64_t b) { return a ^ (b & (1ull << 63)); }

// fcvt.{w,wu,l,lu}.{s,d}: the x register. 32-bit results are sign-extended, unsigned ones too. NaNs and values out of
// range saturate and raise only NV.
std::uint64_t fp_cvt_w_s(std::uint64_t a, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_cvt_wu_s(std::uint64_t a, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_cvt_l_s(std::uint64_t a, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_cvt_lu_s(std::uint64_t a, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_cvt_w_d(std::uint64_t a, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_cvt_wu_d(std::uint64_t a, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_cvt_l_d(std::uint64_t a, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_cvt_lu_d(std::uint64_t a, unsigned rm, std::uint8_t& fflags);

// fcvt.{s,d}.{w,wu,l,lu}: x is an x register; the w forms use its low 32 bits.
std::uint64_t fp_cvt_s_w(std::uint64_t x, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_cvt_s_wu(std::uint64_t x, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_cvt_s_l(std::uint64_t x, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_cvt_s_lu(std::uint64_t x, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_cvt_d_w(std::uint64_t x);   ///< always exact
std::uint64_t fp_cvt_d_wu(std::uint64_t x);  ///< always exact
std::uint64_t fp_cvt_d_l(std::uint64_t x, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_cvt_d_lu(std::uint64_t x, unsigned rm, std::uint8_t& fflags);

std::uint64_t fp_cvt_s_d(std::uint64_t a, unsigned rm, std::uint8_t& fflags);
std::uint64_t fp_cvt_d_s(std::uint64_t a, std::uint8_t& fflags);  ///< always exact; signalling NaNs raise NV

// Moves of bits between register files. fmv.x.w takes the low half, even if the register is not NaN-boxed.
constexpr std::uint64_t fp_mv_x_w(std::uint64_t f) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(f)));
}
constexpr std::uint64_t fp_mv_w_x(std::uint64_t x) { return fp_box(static_cast<std::uint32_t>(x)); }
constexpr std::uint64_t fp_mv_x_d(std::uint64_t f) { return f; }
constexpr std::uint64_t fp_mv_d_x(std::uint64_t x) { return x; }

}  // namespace sluice::riscv
