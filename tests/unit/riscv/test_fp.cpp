// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>

#include <catch2/catch.hpp>
#include <xmmintrin.h>

#include "models/riscv/iss/fp/fp.h"
#include "models/riscv/iss/fp/fp_soft.h"
#include "tests/unit/riscv/fp_operands.h"

// F and D arithmetic against the host's SSE unit in the four rounding modes it has. The fifth, RMM, differs from RNE
// only where the exact result lies halfway between two neighbours, which is decided here in 113-bit arithmetic.

using namespace sluice::riscv;
using namespace sluice::riscv::fp_test;

namespace {

constexpr unsigned kDefaultMxcsr = 0x1f80;
constexpr std::uint8_t kAllFlags = 0x1f;

struct Outcome {
  std::uint64_t bits;
  std::uint8_t flags;
  bool operator==(const Outcome&) const = default;
};

unsigned mxcsr_of(unsigned rm) {
  constexpr unsigned control[] = {0, 3, 1, 2};  // RNE, RTZ, RDN, RUP in the host's coding
  return kDefaultMxcsr | control[rm] << 13;
}

std::uint8_t flags_of(unsigned mxcsr) {
  return static_cast<std::uint8_t>((mxcsr & 1 ? kFpNv : 0) | (mxcsr & 4 ? kFpDz : 0) | (mxcsr & 8 ? kFpOf : 0) |
                                   (mxcsr & 16 ? kFpUf : 0) | (mxcsr & 32 ? kFpNx : 0));
}

#define HOST_BINARY(name, instruction, Real)                                                        \
  Outcome name(Real a, Real b, unsigned rm) {                                                       \
    const unsigned in = mxcsr_of(rm), normal = kDefaultMxcsr;                                       \
    unsigned out;                                                                                   \
    asm volatile("ldmxcsr %[in]\n\t" instruction " %[b], %[a]\n\tstmxcsr %[out]\n\tldmxcsr %[norm]" \
                 : [a] "+x"(a), [out] "=m"(out)                                                     \
                 : [b] "x"(b), [in] "m"(in), [norm] "m"(normal));                                   \
    return {reg(a), flags_of(out)};                                                                 \
  }
HOST_BINARY(host_add, "addss", float)
HOST_BINARY(host_add, "addsd", double)
HOST_BINARY(host_sub, "subss", float)
HOST_BINARY(host_sub, "subsd", double)
HOST_BINARY(host_mul, "mulss", float)
HOST_BINARY(host_mul, "mulsd", double)
HOST_BINARY(host_div, "divss", float)
HOST_BINARY(host_div, "divsd", double)
HOST_BINARY(host_sqrt, "sqrtss", float)
HOST_BINARY(host_sqrt, "sqrtsd", double)
#undef HOST_BINARY

#define HOST_FMA(instruction, Real)                                                                       \
  Outcome host_fma(Real a, Real b, Real c, unsigned rm) {                                                 \
    const unsigned in = mxcsr_of(rm), normal = kDefaultMxcsr;                                             \
    unsigned out;                                                                                         \
    asm volatile("ldmxcsr %[in]\n\t" instruction " %[b], %[a], %[c]\n\tstmxcsr %[out]\n\tldmxcsr %[norm]" \
                 : [c] "+x"(c), [out] "=m"(out)                                                           \
                 : [a] "x"(a), [b] "x"(b), [in] "m"(in), [norm] "m"(normal));                             \
    return {reg(c), flags_of(out)};                                                                       \
  }
HOST_FMA("vfmadd231ss", float)
HOST_FMA("vfmadd231sd", double)
#undef HOST_FMA

/// sum + error is x + y, exactly.
struct Sum {
  Exact sum, error;
};
Sum exact_sum(Exact x, Exact y) {
  const Exact sum = x + y;
  const Exact y_part = sum - x;
  return {sum, (x - (sum - y_part)) + (y - y_part)};
}

// Is the exact result `half`? A halfway case has one bit more than the format, so it is exact in 113 bits.
template <typename Real>
bool is_tie(char op, Real a, Real b, Real c, Exact half) {
  const Exact x = a, y = b, z = c;
  switch (op) {
    case '+':
      return exact_sum(x, y).sum == half && exact_sum(x, y).error == 0;
    case '-':
      return exact_sum(x, -y).sum == half && exact_sum(x, -y).error == 0;
    case '*':
      return x * y == half;
    case '/':
      return half * y == x;
    case 'f':
      return exact_sum(x * y, z).sum == half && exact_sum(x * y, z).error == 0;
    default:
      return half * half == y;  // square root of b
  }
}

template <typename Real>
Outcome host(char op, Real a, Real b, Real c, unsigned rm) {
  switch (op) {
    case '+':
      return host_add(a, b, rm);
    case '-':
      return host_sub(a, b, rm);
    case '*':
      return host_mul(a, b, rm);
    case '/':
      return host_div(a, b, rm);
    case 'f':
      return host_fma(a, b, c, rm);
    default:
      return host_sqrt(a, b, rm);
  }
}

/// The host's answer with RISC-V's NaN.
template <typename Real>
Outcome expected(char op, Real a, Real b, Real c, unsigned rm) {
  Outcome result = host(op, a, b, c, rm == kRoundRmm ? kRoundRne : rm);
  if (is_nan(real<Real>(result.bits))) result.bits = canonical_nan<Real>();
  if (rm != kRoundRmm || (result.flags & kFpNx) == 0) return result;
  const std::uint64_t towards = host(op, a, b, c, kRoundRtz).bits;
  const bool negative = std::signbit(real<Real>(towards));
  const std::uint64_t away = host(op, a, b, c, negative ? kRoundRdn : kRoundRup).bits;
  if (is_infinite(real<Real>(away))) return result;  // the largest number is odd, so RNE goes to infinity from halfway
  const Exact half = (Exact(real<Real>(towards)) + Exact(real<Real>(away))) / 2;
  if (is_tie(op, a, b, c, half)) result.bits = away;
  return result;
}

template <typename Real>
Outcome ours(char op, std::uint64_t a, std::uint64_t b, std::uint64_t c, unsigned rm, std::uint8_t accrued) {
  constexpr bool single = sizeof(Real) == 4;
  std::uint8_t flags = accrued;
  std::uint64_t bits = 0;
  switch (op) {
    case '+':
      bits = single ? fp_add_s(a, b, rm, flags) : fp_add_d(a, b, rm, flags);
      break;
    case '-':
      bits = single ? fp_sub_s(a, b, rm, flags) : fp_sub_d(a, b, rm, flags);
      break;
    case '*':
      bits = single ? fp_mul_s(a, b, rm, flags) : fp_mul_d(a, b, rm, flags);
      break;
    case '/':
      bits = single ? fp_div_s(a, b, rm, flags) : fp_div_d(a, b, rm, flags);
      break;
    case 'f':
      bits = single ? fp_fmadd_s(a, b, c, rm, flags) : fp_fmadd_d(a, b, c, rm, flags);
      break;
    default:
      bits = single ? fp_sqrt_s(b, rm, flags) : fp_sqrt_d(b, rm, flags);
      break;
  }
  return {bits, flags};
}

/// With no flags accrued, and with NX accrued (which opens the shortest host path): same bits, same flags.
template <typename Real>
void check(char op, Real a, Real b, Real c, unsigned rm) {
  const Outcome want = expected(op, a, b, c, rm);
  const Outcome got = ours<Real>(op, reg(a), reg(b), reg(c), rm, 0);
  const Outcome again = ours<Real>(op, reg(a), reg(b), reg(c), rm, kFpNx);
  if (got == want && again == Outcome{want.bits, static_cast<std::uint8_t>(want.flags | kFpNx)}) return;
  char text[200];
  std::snprintf(text, sizeof text,
                "%c rm %u a %016lx b %016lx c %016lx: want %016lx %02x, got %016lx %02x, %016lx %02x", op, rm, reg(a),
                reg(b), reg(c), want.bits, want.flags, got.bits, got.flags, again.bits, again.flags);
  FAIL(std::string(text));
}

template <typename Real>
void check_many(char op, int count) {
  Operands<Real> operands(static_cast<std::uint64_t>(op) * 1000003 + sizeof(Real));
  for (int i = 0; i < count; ++i) {
    const auto [a, b, c] = operands.next();
    const bool nan_decides = op == 'f' && is_nan(c) && a * b != a * b;  // the host raises no NV for inf*0 + qNaN
    if (nan_decides) continue;
    for (unsigned rm = kRoundRne; rm <= kRoundRmm; ++rm) check<Real>(op, a, b, c, rm);
  }
}

std::uint64_t s(float value) { return reg(value); }

}  // namespace

TEST_CASE("addition and subtraction equal the host's in every rounding mode", "[fp]") {
  check_many<float>('+', 100'000);
  check_many<double>('+', 100'000);
  check_many<float>('-', 100'000);
  check_many<double>('-', 100'000);
}

TEST_CASE("multiplication equals the host's in every rounding mode", "[fp]") {
  check_many<float>('*', 150'000);
  check_many<double>('*', 150'000);
}

TEST_CASE("division equals the host's in every rounding mode", "[fp]") {
  check_many<float>('/', 150'000);
  check_many<double>('/', 150'000);
}

TEST_CASE("square root equals the host's in every rounding mode", "[fp]") {
  check_many<float>('q', 50'000);
  check_many<double>('q', 50'000);
}

TEST_CASE("fused multiply-add equals the host's in every rounding mode", "[fp]") {
  if (!__builtin_cpu_supports("fma")) {
    WARN("skipped: this host has no fused multiply-add to compare with");
    return;
  }
  check_many<float>('f', 150'000);
  check_many<double>('f', 150'000);
}

TEST_CASE("every pair of special values and neighbours of boundaries agrees with the host", "[fp]") {
  const auto all_pairs = [](const auto& values) {
    using Real = std::decay_t<decltype(values[0])>;
    for (const Real a : values) {
      for (const Real b : values) {
        for (unsigned rm = kRoundRne; rm <= kRoundRmm; ++rm) {
          for (const char op : {'+', '-', '*', '/', 'q'}) check<Real>(op, a, b, Real{0}, rm);
        }
      }
    }
  };
  all_pairs(special_values<float>());
  all_pairs(special_values<double>());
}

TEST_CASE("the fused family has its signs", "[fp]") {
  std::uint8_t flags = 0;
  CHECK(fp_fmadd_s(s(2), s(3), s(10), kRoundRne, flags) == s(16));
  CHECK(fp_fmsub_s(s(2), s(3), s(10), kRoundRne, flags) == s(-4));
  CHECK(fp_fnmsub_s(s(2), s(3), s(10), kRoundRne, flags) == s(4));
  CHECK(fp_fnmadd_s(s(2), s(3), s(10), kRoundRne, flags) == s(-16));
  CHECK(fp_fmadd_d(reg(2.), reg(3.), reg(10.), kRoundRne, flags) == reg(16.));
  CHECK(fp_fmsub_d(reg(2.), reg(3.), reg(10.), kRoundRne, flags) == reg(-4.));
  CHECK(fp_fnmsub_d(reg(2.), reg(3.), reg(10.), kRoundRne, flags) == reg(4.));
  CHECK(fp_fnmadd_d(reg(2.), reg(3.), reg(10.), kRoundRne, flags) == reg(-16.));
  CHECK(flags == 0);
  // The sign of an exact zero comes from the rounding mode, in each of the four fused operations.
  CHECK(fp_fmsub_d(reg(2.), reg(3.), reg(6.), kRoundRne, flags) == reg(0.));
  CHECK(fp_fmsub_d(reg(2.), reg(3.), reg(6.), kRoundRdn, flags) == reg(-0.));
  CHECK(fp_fnmadd_d(reg(0.), reg(1.), reg(0.), kRoundRne, flags) == reg(-0.));
}

TEST_CASE("infinity times zero is invalid even with a quiet NaN addend", "[fp]") {
  for (const std::uint64_t addend : {kFpCanonicalNanD, reg(1.0), reg(-0.0)}) {
    std::uint8_t flags = 0;
    CHECK(fp_fmadd_d(reg(real<double>(0x7ff0'0000'0000'0000)), reg(0.0), addend, kRoundRne, flags) == kFpCanonicalNanD);
    CHECK(flags == kFpNv);
  }
  std::uint8_t flags = 0;
  CHECK(fp_fmadd_s(s(0), fp_box(0xff80'0000), fp_box(kFpCanonicalNanS), kRoundRne, flags) == fp_box(kFpCanonicalNanS));
  CHECK(flags == kFpNv);
  flags = 0;
  fp_fmadd_d(reg(1.0), reg(0.0), kFpCanonicalNanD, kRoundRne, flags);
  CHECK(flags == 0);
}

TEST_CASE("underflow is detected after rounding", "[fp]") {
  // Results next to the smallest normal number: tiny only if below it after rounding with an unbounded exponent.
  const std::uint64_t just_below_one = reg(real<double>(0x3fef'ffff'ffff'ffff));  // 1 - 2^-53
  const std::uint64_t min_normal = 0x0010'0000'0000'0000;
  std::uint8_t flags = 0;
  // (1 - 2^-53) * (2^-1022 + 2^-1074) = 2^-1022 + 2^-1074 - 2^-1075 - 2^-1127: inexact, normal.
  CHECK(fp_mul_d(just_below_one, min_normal + 1, kRoundRdn, flags) == min_normal);
  CHECK(flags == kFpNx);
  flags = 0;
  CHECK(fp_mul_d(just_below_one, min_normal, kRoundRne, flags) == min_normal);  // tie between subnormal and normal
  CHECK(flags == (kFpNx | kFpUf));  // 53 bits hold 2^-1022 * (1 - 2^-53): tiny, and inexact as a subnormal
  flags = 0;
  CHECK(fp_fmadd_d(just_below_one, min_normal, 1, kRoundRne, flags) == min_normal);
  CHECK(flags == kFpNx);
  flags = 0;
  CHECK(fp_mul_d(reg(0.5), min_normal, kRoundRne, flags) == min_normal / 2);  // tiny but exact
  CHECK(flags == 0);
}

TEST_CASE("overflow goes to infinity or to the largest number as the rounding mode says", "[fp]") {
  const std::uint64_t largest = 0x7fef'ffff'ffff'ffff, infinity = 0x7ff0'0000'0000'0000, sign = 1ull << 63;
  const std::uint64_t up[5] = {infinity, largest, largest, infinity, infinity};
  const std::uint64_t down[5] = {infinity, largest, infinity, largest, infinity};
  for (unsigned rm = 0; rm <= kRoundRmm; ++rm) {
    std::uint8_t flags = 0;
    CHECK(fp_add_d(largest, largest, rm, flags) == up[rm]);
    CHECK(fp_mul_d(largest | sign, largest, rm, flags) == (down[rm] | sign));
    CHECK(flags == (kFpOf | kFpNx));
  }
}

TEST_CASE("round to nearest, ties to max magnitude", "[fp]") {
  const double tie_even = 1.0 + 0x1p-53;  // not representable: written as a sum below
  CHECK(tie_even == 1.0);
  std::uint8_t flags = 0;
  CHECK(fp_add_d(reg(1.0), reg(0x1p-53), kRoundRne, flags) == reg(1.0));
  CHECK(fp_add_d(reg(1.0), reg(0x1p-53), kRoundRmm, flags) == reg(1.0 + 0x1p-52));
  CHECK(fp_add_d(reg(-1.0), reg(-0x1p-53), kRoundRmm, flags) == reg(-1.0 - 0x1p-52));
  CHECK(fp_add_d(reg(1.0), reg(0x1.fffffp-54), kRoundRmm, flags) == reg(1.0));
  CHECK(fp_add_s(s(1.0f), s(0x1p-24f), kRoundRmm, flags) == s(1.0f + 0x1p-23f));
  CHECK(flags == kFpNx);
}

TEST_CASE("a single that is not NaN-boxed counts as the canonical NaN", "[fp]") {
  const std::uint64_t unboxed = 0x0000'0000'3f80'0000, nearly = 0xffff'fffe'3f80'0000;
  const std::uint64_t nan = fp_box(kFpCanonicalNanS);
  for (const std::uint64_t bad : {unboxed, nearly, reg(1.0)}) {
    std::uint8_t flags = 0;
    CHECK(fp_add_s(bad, s(1), kRoundRne, flags) == nan);
    CHECK(fp_mul_s(s(1), bad, kRoundRne, flags) == nan);
    CHECK(fp_fmadd_s(s(1), s(1), bad, kRoundRne, flags) == nan);
    CHECK(fp_sqrt_s(bad, kRoundRne, flags) == nan);
    CHECK(fp_min_s(bad, s(2), flags) == s(2));
    CHECK(fp_eq_s(bad, bad, flags) == 0);
    CHECK(flags == 0);  // the canonical NaN is quiet
    CHECK(fp_sgnj_s(bad, s(-1)) == fp_box(0xffc0'0000));
    CHECK(fp_sgnj_s(s(-1), bad) == s(1));
    CHECK(fp_class_s(bad) == 1u << 9);
  }
  CHECK(fp_mv_x_w(0x0000'0000'8000'0001) == 0xffff'ffff'8000'0001);  // moves bits, and checks no box
  CHECK(fp_mv_w_x(0x1234'5678'8000'0001) == 0xffff'ffff'8000'0001);
}

TEST_CASE("flags are added to, never cleared", "[fp]") {
  std::uint8_t flags = kAllFlags;
  fp_add_d(reg(1.0), reg(2.0), kRoundRne, flags);
  fp_div_s(s(1), s(0), kRoundRtz, flags);
  CHECK(flags == kAllFlags);
}
