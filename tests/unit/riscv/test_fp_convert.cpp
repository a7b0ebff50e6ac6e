// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>

#include <catch2/catch.hpp>

#include "models/riscv/iss/fp/fp.h"
#include "tests/unit/riscv/fp_operands.h"

// Conversions, comparisons, minimum and maximum, classification. References: 113-bit arithmetic, rounded here by
// comparing neighbours; C++ comparisons; and tables from the specification.

using namespace sluice::riscv;
using namespace sluice::riscv::fp_test;

namespace {

struct Outcome {
  std::uint64_t bits;
  std::uint8_t flags;
  bool operator==(const Outcome&) const = default;
};

void require_same(const char* what, std::uint64_t operand, unsigned rm, Outcome want, Outcome got) {
  if (want == got) return;
  char text[160];
  std::snprintf(text, sizeof text, "%s of %016lx, rm %u: want %016lx %02x, got %016lx %02x", what, operand, rm,
                want.bits, want.flags, got.bits, got.flags);
  FAIL(std::string(text));
}

/// Whether a value between two neighbours goes to the upper one. `lower_odd`: the lower neighbour's last bit.
bool goes_up(unsigned rm, Exact lower, Exact value, Exact upper, bool lower_odd) {
  const Exact below = value - lower;
  const Exact above = upper - value;
  switch (rm) {
    case kRoundRne:
      return below > above || (below == above && lower_odd);
    case kRoundRtz:
      return value < 0;
    case kRoundRdn:
      return false;
    case kRoundRup:
      return true;
    default:
      return below > above || (below == above && value > 0);
  }
}

using ToInteger = std::uint64_t (*)(std::uint64_t, unsigned, std::uint8_t&);

/// fcvt to an integer of `width` bits, computed on the number line.
template <typename Real>
Outcome to_integer(Real value, unsigned width, bool is_signed, unsigned rm) {
  const Exact two_to_width = width == 64 ? Exact(0x1p64) : Exact(0x1p32);
  const Exact lowest = is_signed ? -two_to_width / 2 : Exact(0);
  const Exact highest = (is_signed ? two_to_width / 2 : two_to_width) - 1;
  const auto extend = [width](std::uint64_t bits) {
    return width == 64 ? bits : static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(bits)));
  };
  const auto bits_of = [](Exact integer) {  // two's complement; highest and lowest are within 2^64
    return integer < 0 ? 0 - static_cast<std::uint64_t>(-integer) : static_cast<std::uint64_t>(integer);
  };
  if (is_nan(value) || value > 0x1p70) return {extend(bits_of(highest)), kFpNv};
  if (value < -0x1p70) return {extend(bits_of(lowest)), kFpNv};
  const Exact exact = value;
  auto floor = static_cast<Exact>(static_cast<__int128>(exact));
  if (floor > exact) floor -= 1;
  Exact rounded = exact;
  if (floor != exact) {
    const bool odd = (static_cast<__int128>(floor) & 1) != 0;
    rounded = goes_up(rm, floor, exact, floor + 1, odd) ? floor + 1 : floor;
  }
  if (rounded < lowest || rounded > highest) return {extend(bits_of(rounded < lowest ? lowest : highest)), kFpNv};
  return {extend(bits_of(rounded)), static_cast<std::uint8_t>(rounded == exact ? 0 : kFpNx)};
}

template <typename Real>
void check_to_integer(Real value, unsigned rm) {
  constexpr bool single = sizeof(Real) == 4;
  const struct {
    const char* name;
    ToInteger function;
    unsigned width;
    bool is_signed;
  } forms[] = {{"fcvt.w", single ? fp_cvt_w_s : fp_cvt_w_d, 32, true},
               {"fcvt.wu", single ? fp_cvt_wu_s : fp_cvt_wu_d, 32, false},
               {"fcvt.l", single ? fp_cvt_l_s : fp_cvt_l_d, 64, true},
               {"fcvt.lu", single ? fp_cvt_lu_s : fp_cvt_lu_d, 64, false}};
  for (const auto& form : forms) {
    std::uint8_t flags = 0;
    const std::uint64_t got = form.function(reg(value), rm, flags);
    require_same(form.name, reg(value), rm, to_integer(value, form.width, form.is_signed, rm), {got, flags});
  }
}

/// Rounds a 113-bit number with at most 64 significant bits to one of its two neighbours in a format.
template <typename Real>
Outcome to_real(Exact exact, unsigned rm) {
  const auto nearest = static_cast<Real>(exact);  // the host's own rounding mode: one of the two neighbours
  if (Exact(nearest) == exact) return {reg(nearest), 0};
  const Real lower = Exact(nearest) < exact ? nearest : std::nextafter(nearest, -INFINITY);
  const Real upper = std::nextafter(lower, INFINITY);
  const bool odd = (reg(lower) & 1) != 0;
  return {reg(goes_up(rm, lower, exact, upper, odd) ? upper : lower), kFpNx};
}

template <typename Real>
void check_from_integer(std::uint64_t x, unsigned rm) {
  constexpr bool single = sizeof(Real) == 4;
  const auto word = static_cast<std::int32_t>(x);
  std::uint8_t flags = 0;
  std::uint64_t got = single ? fp_cvt_s_l(x, rm, flags) : fp_cvt_d_l(x, rm, flags);
  require_same("from l", x, rm, to_real<Real>(static_cast<std::int64_t>(x), rm), {got, flags});
  flags = 0;
  got = single ? fp_cvt_s_lu(x, rm, flags) : fp_cvt_d_lu(x, rm, flags);
  require_same("from lu", x, rm, to_real<Real>(x, rm), {got, flags});
  flags = 0;
  got = single ? fp_cvt_s_w(x, rm, flags) : fp_cvt_d_w(x);
  require_same("from w", x, rm, to_real<Real>(word, rm), {got, flags});
  flags = 0;
  got = single ? fp_cvt_s_wu(x, rm, flags) : fp_cvt_d_wu(x);
  require_same("from wu", x, rm, to_real<Real>(static_cast<std::uint32_t>(word), rm), {got, flags});
}

template <typename Real>
void check_comparisons(Real a, Real b) {
  constexpr bool single = sizeof(Real) == 4;
  const std::uint64_t x = reg(a), y = reg(b);
  const auto signalling = [](Real v) { return is_nan(v) && (reg(v) & (single ? 1ull << 22 : 1ull << 51)) == 0; };
  const bool any_nan = is_nan(a) || is_nan(b);
  const auto quiet_flags = static_cast<std::uint8_t>(signalling(a) || signalling(b) ? kFpNv : 0);
  const auto signalling_flags = static_cast<std::uint8_t>(any_nan ? kFpNv : 0);
  std::uint8_t flags = 0;
  std::uint64_t got = single ? fp_eq_s(x, y, flags) : fp_eq_d(x, y, flags);
  require_same("feq", x, 0, {a == b, quiet_flags}, {got, flags});
  flags = 0;
  got = single ? fp_lt_s(x, y, flags) : fp_lt_d(x, y, flags);
  require_same("flt", x, 0, {a < b, signalling_flags}, {got, flags});
  flags = 0;
  got = single ? fp_le_s(x, y, flags) : fp_le_d(x, y, flags);
  require_same("fle", x, 0, {a <= b, signalling_flags}, {got, flags});

  const bool a_below = a < b || (a == b && std::signbit(a) && !std::signbit(b));
  const std::uint64_t one_number = is_nan(a) ? (is_nan(b) ? canonical_nan<Real>() : y) : x;
  flags = 0;
  got = single ? fp_min_s(x, y, flags) : fp_min_d(x, y, flags);
  require_same("fmin", x, 0, {any_nan ? one_number : (a_below ? x : y), quiet_flags}, {got, flags});
  flags = 0;
  got = single ? fp_max_s(x, y, flags) : fp_max_d(x, y, flags);
  require_same("fmax", x, 0, {any_nan ? one_number : (a_below ? y : x), quiet_flags}, {got, flags});
}

}  // namespace

TEST_CASE("conversion to integers rounds and saturates", "[fp]") {
  SplitMix random{1};
  for (const float value : special_values<float>()) {
    for (unsigned rm = 0; rm <= kRoundRmm; ++rm) check_to_integer(value, rm);
  }
  for (const double value : special_values<double>()) {
    for (unsigned rm = 0; rm <= kRoundRmm; ++rm) check_to_integer(value, rm);
  }
  for (int i = 0; i < 40'000; ++i) {
    // Magnitudes from 2^-4 to 2^70, many with few significant bits: halves, and the limits of each width.
    const std::uint64_t r = random();
    const double mantissa = static_cast<double>(static_cast<std::int64_t>(r) >> (r % 64));
    const double value = std::ldexp(mantissa, static_cast<int>(random() % 12) - 4);
    for (unsigned rm = 0; rm <= kRoundRmm; ++rm) {
      check_to_integer(value, rm);
      check_to_integer(static_cast<float>(value), rm);
    }
  }
}

TEST_CASE("conversion to integers at the limits, as the specification's table has them", "[fp]") {
  const struct {
    double value;
    std::uint64_t w, wu, l, lu;
    std::uint8_t w_flags, wu_flags, l_flags, lu_flags;
  } table[] = {
      {NAN, 0x7fffffff, ~0ull, ~0ull >> 1, ~0ull, 16, 16, 16, 16},
      {-NAN, 0x7fffffff, ~0ull, ~0ull >> 1, ~0ull, 16, 16, 16, 16},
      {INFINITY, 0x7fffffff, ~0ull, ~0ull >> 1, ~0ull, 16, 16, 16, 16},
      {-INFINITY, 0xffffffff80000000, 0, 1ull << 63, 0, 16, 16, 16, 16},
      {-1.0, ~0ull, 0, ~0ull, 0, 0, 16, 0, 16},
      {-0.9, 0, 0, 0, 0, 1, 1, 1, 1},
      {2147483647.9, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff, 1, 1, 1, 1},
      {2147483648.0, 0x7fffffff, 0xffffffff80000000, 0x80000000, 0x80000000, 16, 0, 0, 0},
      {-2147483648.9, 0xffffffff80000000, 0, 0xffffffff80000000, 0, 1, 16, 1, 16},
      {4294967296.0, 0x7fffffff, ~0ull, 1ull << 32, 1ull << 32, 16, 16, 0, 0},
      {0x1p63, 0x7fffffff, ~0ull, ~0ull >> 1, 1ull << 63, 16, 16, 16, 0},
      {-0x1p63, 0xffffffff80000000, 0, 1ull << 63, 0, 16, 16, 0, 16},
      {0x1p64, 0x7fffffff, ~0ull, ~0ull >> 1, ~0ull, 16, 16, 16, 16},
  };
  for (const auto& row : table) {
    CAPTURE(row.value);
    std::uint8_t flags = 0;
    CHECK(fp_cvt_w_d(reg(row.value), kRoundRtz, flags) == row.w);
    CHECK(flags == row.w_flags);
    flags = 0;
    CHECK(fp_cvt_wu_d(reg(row.value), kRoundRtz, flags) == row.wu);
    CHECK(flags == row.wu_flags);
    flags = 0;
    CHECK(fp_cvt_l_d(reg(row.value), kRoundRtz, flags) == row.l);
    CHECK(flags == row.l_flags);
    flags = 0;
    CHECK(fp_cvt_lu_d(reg(row.value), kRoundRtz, flags) == row.lu);
    CHECK(flags == row.lu_flags);
  }
  std::uint8_t flags = 0;
  CHECK(fp_cvt_w_s(0x3f80'0000, kRoundRne, flags) == 0x7fff'ffff);  // unboxed: a NaN
  CHECK(flags == kFpNv);
}

TEST_CASE("conversion from integers rounds", "[fp]") {
  SplitMix random{2};
  for (const std::uint64_t x : {0ull, 1ull, ~0ull, 1ull << 63, ~0ull >> 1, 0x7fff'ffffull, 0x8000'0000ull,
                                0xffff'ffffull, 0x1000'0001ull, (1ull << 53) + 1, (1ull << 24) + 1}) {
    for (unsigned rm = 0; rm <= kRoundRmm; ++rm) {
      check_from_integer<float>(x, rm);
      check_from_integer<double>(x, rm);
    }
  }
  for (int i = 0; i < 50'000; ++i) {
    std::uint64_t x = random();
    const auto shift = random() % 64;
    if (random() % 2) x &= ~0ull << shift;  // few significant bits: ties
    if (random() % 2) x = static_cast<std::uint64_t>(static_cast<std::int64_t>(x) >> random() % 64);
    for (unsigned rm = 0; rm <= kRoundRmm; ++rm) {
      check_from_integer<float>(x, rm);
      check_from_integer<double>(x, rm);
    }
  }
}

TEST_CASE("conversion between single and double", "[fp]") {
  SplitMix random{3};
  for (int i = 0; i < 200'000; ++i) {
    // Normal results, one in six halfway between singles. Tiny and huge ones are in the next case.
    std::uint64_t bits = random();
    if (random() % 2) bits = (bits & ~((1ull << 29) - 1)) | (random() % 3) << 28;
    bits = (bits & ~(0x7ffull << 52)) | (897 + random() % 254) << 52;
    const auto value = real<double>(bits);
    for (unsigned rm = 0; rm <= kRoundRmm; ++rm) {
      std::uint8_t flags = 0;
      const std::uint64_t got = fp_cvt_s_d(bits, rm, flags);
      require_same("fcvt.s.d", bits, rm, to_real<float>(value, rm), {got, flags});
    }
    std::uint8_t flags = 0;
    const auto single = static_cast<float>(value);
    require_same("fcvt.d.s", reg(single), 0, {reg(static_cast<double>(single)), 0},
                 {fp_cvt_d_s(reg(single), flags), flags});
  }
}

TEST_CASE("conversion to single underflows, overflows and keeps NaN rules", "[fp]") {
  const struct {
    double value;
    unsigned rm;
    std::uint32_t bits;
    int flags;
  } table[] = {
      {0x1p-149, kRoundRne, 1, 0},
      {0x1p-150, kRoundRne, 0, kFpUf | kFpNx},
      {0x1p-150, kRoundRmm, 1, kFpUf | kFpNx},
      {0x1.8p-150, kRoundRne, 1, kFpUf | kFpNx},
      {0x1p-1074, kRoundRup, 1, kFpUf | kFpNx},
      {-0x1p-1074, kRoundRup, 0x8000'0000, kFpUf | kFpNx},
      {-0x1p-1074, kRoundRdn, 0x8000'0001, kFpUf | kFpNx},
      {0x1.fffffe8p-127, kRoundRne, 0x0080'0000, kFpUf | kFpNx},  // less than the smallest normal in 24 bits: tiny
      {0x1.ffffffp-127, kRoundRne, 0x0080'0000, kFpNx},           // rounds to the smallest normal in 24 bits: not tiny
      {0x1.ffffffp-127, kRoundRtz, 0x007f'ffff, kFpUf | kFpNx},
      {0x1.fffffep+127, kRoundRne, 0x7f7f'ffff, 0},
      {0x1.fffffefp+127, kRoundRne, 0x7f7f'ffff, kFpNx},
      {0x1.ffffffp+127, kRoundRne, 0x7f80'0000, kFpOf | kFpNx},
      {0x1.ffffffp+127, kRoundRtz, 0x7f7f'ffff, kFpNx},
      {0x1p+128, kRoundRtz, 0x7f7f'ffff, kFpOf | kFpNx},
      {-0x1p+1000, kRoundRdn, 0xff80'0000, kFpOf | kFpNx},
      {-0x1p+1000, kRoundRup, 0xff7f'ffff, kFpOf | kFpNx},
      {-INFINITY, kRoundRtz, 0xff80'0000, 0},
      {-0.0, kRoundRne, 0x8000'0000, 0},
      {-NAN, kRoundRne, kFpCanonicalNanS, 0},
  };
  for (const auto& row : table) {
    CAPTURE(row.value, row.rm);
    std::uint8_t flags = 0;
    CHECK(fp_cvt_s_d(reg(row.value), row.rm, flags) == fp_box(row.bits));
    CHECK(int{flags} == row.flags);
  }
  std::uint8_t flags = 0;
  CHECK(fp_cvt_s_d(0x7ff0'0000'0000'0001, kRoundRne, flags) == fp_box(kFpCanonicalNanS));  // signalling
  CHECK(flags == kFpNv);
  flags = 0;
  CHECK(fp_cvt_d_s(fp_box(0xff80'0001), flags) == kFpCanonicalNanD);  // signalling
  CHECK(flags == kFpNv);
  flags = 0;
  CHECK(fp_cvt_d_s(fp_box(0xffc0'1234), flags) == kFpCanonicalNanD);  // quiet, payload dropped
  CHECK(fp_cvt_d_s(0x3f80'0000, flags) == kFpCanonicalNanD);          // not boxed
  CHECK(fp_cvt_d_s(fp_box(1), flags) == reg(0x1p-149));
  CHECK(flags == 0);
}

TEST_CASE("comparisons, minimum and maximum", "[fp]") {
  for (const float a : special_values<float>()) {
    for (const float b : special_values<float>()) check_comparisons(a, b);
  }
  for (const double a : special_values<double>()) {
    for (const double b : special_values<double>()) check_comparisons(a, b);
  }
  Operands<float> singles(4);
  Operands<double> doubles(5);
  for (int i = 0; i < 200'000; ++i) {
    const auto s = singles.next();
    check_comparisons(s[0], s[1]);
    const auto d = doubles.next();
    check_comparisons(d[0], d[1]);
  }
}

TEST_CASE("fclass", "[fp]") {
  const std::uint32_t singles[10] = {0xff80'0000, 0xff7f'ffff, 0x807f'ffff, 0x8000'0000, 0x0000'0000,
                                     0x0000'0001, 0x0080'0000, 0x7f80'0000, 0xff80'0001, 0xffc0'0000};
  const std::uint64_t doubles[10] = {0xfff0'0000'0000'0000, 0x8010'0000'0000'0000, 0x800f'ffff'ffff'ffff,
                                     0x8000'0000'0000'0000, 0x0000'0000'0000'0000, 0x0000'0000'0000'0001,
                                     0x7fef'ffff'ffff'ffff, 0x7ff0'0000'0000'0000, 0x7ff7'ffff'ffff'ffff,
                                     0x7ff8'0000'0000'0000};
  for (unsigned i = 0; i < 10; ++i) {
    CAPTURE(i);
    CHECK(fp_class_s(fp_box(singles[i])) == 1u << i);
    CHECK(fp_class_d(doubles[i]) == 1u << i);
  }
}

TEST_CASE("sign injection moves signs and nothing else", "[fp]") {
  const std::uint64_t nan = 0x7ff0'0000'0000'1234;  // not made canonical
  CHECK(fp_sgnj_d(nan, reg(-1.0)) == (nan | 1ull << 63));
  CHECK(fp_sgnjn_d(reg(1.0), reg(1.0)) == reg(-1.0));
  CHECK(fp_sgnjx_d(reg(-1.0), reg(-2.0)) == reg(1.0));
  CHECK(fp_sgnj_s(reg(1.0f), reg(-2.0f)) == reg(-1.0f));
  CHECK(fp_sgnjn_s(reg(1.0f), reg(-2.0f)) == reg(1.0f));
  CHECK(fp_sgnjx_s(reg(-1.0f), reg(2.0f)) == reg(-1.0f));
}
