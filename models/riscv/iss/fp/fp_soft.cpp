// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/fp/fp_soft.h"

#include <bit>

#include "models/riscv/iss/fp/fp.h"

namespace sluice::riscv::soft {
namespace {

using U128 = unsigned __int128;

/// A finite non-zero number: significand * 2^(exponent - 63), normalised (bit 63 is set). Bit 0 may be sticky: it
/// stands for everything below.
struct Number {
  bool negative;
  int exponent;
  std::uint64_t significand;
};

template <typename F>
Number unpack(typename F::Bits a) {
  using L = Layout<F>;
  const int biased = L::exponent(a);
  const std::uint64_t significand = biased == 0 ? L::fraction(a) : L::fraction(a) | L::kHidden;
  const int shift = std::countl_zero(significand);
  return {L::negative(a), (biased == 0 ? 1 : biased) - L::kBias + (63 - F::kFraction) - shift, significand << shift};
}

std::uint64_t shift_right_jam(std::uint64_t value, int count) {
  if (count >= 64) return value != 0;
  return (value >> count) | ((value << (-count & 63)) != 0 && count != 0);
}

U128 shift_right_jam(U128 value, int count) {
  if (count >= 128) return value != 0;
  if (count == 0) return value;
  return (value >> count) | ((value << (128 - count)) != 0);
}

/// Whether a magnitude is rounded up. odd: the last kept bit. rest: the dropped bits. half: the value of `rest` midway
/// between two results.
bool rounds_up(unsigned rm, bool negative, bool odd, std::uint64_t rest, std::uint64_t half) {
  switch (rm) {
    case kRoundRne:
      return rest > half || (rest == half && odd);
    case kRoundRtz:
      return false;
    case kRoundRdn:
      return negative && rest != 0;
    case kRoundRup:
      return !negative && rest != 0;
    default:
      return rest >= half;
  }
}

template <typename F>
typename F::Bits overflow(bool negative, unsigned rm, std::uint8_t& flags) {
  using L = Layout<F>;
  flags |= kFpOf | kFpNx;
  const bool to_largest = rm == kRoundRtz || (rm == kRoundRdn && !negative) || (rm == kRoundRup && negative);
  return (to_largest ? L::kLargest : L::kInfinity) | (negative ? L::kSign : 0);
}

/// Rounds to the format and raises OF, UF and NX.
template <typename F>
typename F::Bits round_pack(Number n, unsigned rm, std::uint8_t& flags) {
  using L = Layout<F>;
  constexpr int kDrop = 63 - F::kFraction;
  constexpr std::uint64_t kHalf = std::uint64_t{1} << (kDrop - 1);
  constexpr std::uint64_t kMask = 2 * kHalf - 1;
  int biased = n.exponent + L::kBias;
  bool tiny = false;
  if (biased <= 0) {
    // A number below the normal range is tiny unless rounding with an unbounded exponent gives the smallest normal
    // number.
    const std::uint64_t kept = n.significand >> kDrop;
    const bool up = rounds_up(rm, n.negative, kept & 1, n.significand & kMask, kHalf);
    tiny = biased < 0 || !(up && kept == 2 * std::uint64_t{L::kHidden} - 1);
    n.significand = shift_right_jam(n.significand, 1 - biased);
    biased = 0;
  }
  const std::uint64_t rest = n.significand & kMask;
  std::uint64_t kept = n.significand >> kDrop;
  if (rest != 0) {
    flags |= tiny ? kFpUf | kFpNx : kFpNx;
    kept += rounds_up(rm, n.negative, kept & 1, rest, kHalf);
  }
  // For a normal number the hidden bit in `kept` adds the 1 that is subtracted from the exponent here. A carry adds 1
  // too.
  const std::uint64_t magnitude = (static_cast<std::uint64_t>(biased == 0 ? 0 : biased - 1) << F::kFraction) + kept;
  if (biased >= L::kSpecial || magnitude >= L::kInfinity) return overflow<F>(n.negative, rm, flags);
  return static_cast<typename F::Bits>(magnitude) | (n.negative ? L::kSign : 0);
}

/// Returns the canonical NaN, and raises NV if an operand is a signalling NaN.
template <typename F, typename... Operands>
typename F::Bits propagate(std::uint8_t& flags, Operands... operands) {
  if ((Layout<F>::is_signalling(operands) || ...)) flags |= kFpNv;
  return Layout<F>::kNan;
}

template <typename F>
typename F::Bits invalid(std::uint8_t& flags) {
  flags |= kFpNv;
  return Layout<F>::kNan;
}

template <typename F>
typename F::Bits signed_zero(bool negative) {
  return negative ? Layout<F>::kSign : 0;
}

/// The zero sum of zeros or of opposite numbers. Its sign is their common sign, else + unless rounding down.
template <typename F>
typename F::Bits zero_sum(bool a_negative, bool b_negative, unsigned rm) {
  return signed_zero<F>(a_negative == b_negative ? a_negative : rm == kRoundRdn);
}

/// A 128-bit significand, leading bit 125 (so that a sum fits): significand * 2^(exponent - 125).
struct Wide {
  bool negative;
  int exponent;
  U128 significand;
};

Wide widen(Number n) { return {n.negative, n.exponent, static_cast<U128>(n.significand) << 62}; }

Wide multiply(Number a, Number b) {
  const U128 product = static_cast<U128>(a.significand) * b.significand;  // leading bit 126 or 127
  // At most 106 bits of the product are not zero, so these shifts lose nothing.
  const bool carry = (product >> 127) != 0;
  return {a.negative != b.negative, a.exponent + b.exponent + carry, product >> (carry ? 2 : 1)};
}

template <typename F>
typename F::Bits round_wide(Wide w, unsigned rm, std::uint8_t& flags) {
  const auto high = static_cast<std::uint64_t>(w.significand >> 64);
  const auto low = static_cast<std::uint64_t>(w.significand);
  const int shift = high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(low);
  const U128 normal = w.significand << shift;
  const auto significand = static_cast<std::uint64_t>(normal >> 64) | (static_cast<std::uint64_t>(normal) != 0);
  return round_pack<F>({w.negative, w.exponent + 2 - shift, significand}, rm, flags);
}

template <typename F>
typename F::Bits add_wide(Wide a, Wide b, unsigned rm, std::uint8_t& flags) {
  if (a.exponent < b.exponent || (a.exponent == b.exponent && a.significand < b.significand)) {
    const Wide larger = b;
    b = a;
    a = larger;
  }
  // Bits lost here lie more than 64 places below the result's leading bit: only whether any is set matters.
  b.significand = shift_right_jam(b.significand, a.exponent - b.exponent);
  if (a.negative == b.negative) {
    a.significand += b.significand;
  } else {
    a.significand -= b.significand;
    if (a.significand == 0) return zero_sum<F>(a.negative, b.negative, rm);
  }
  return round_wide<F>(a, rm, flags);
}

/// floor(sqrt(value)) and whether it is exact; any value.
std::uint64_t integer_sqrt(U128 value, bool& exact) {
  std::uint64_t root = 0;
  U128 rest = 0;
  for (int shift = 126; shift >= 0; shift -= 2) {
    rest = (rest << 2) | (static_cast<unsigned>(value >> shift) & 3);
    const U128 trial = (static_cast<U128>(root) << 2) | 1;
    root <<= 1;
    if (rest >= trial) {
      rest -= trial;
      root |= 1;
    }
  }
  exact = rest == 0;
  return root;
}

/// The magnitude of the number rounded to an integer; `overflows` if it needs more than 64 bits.
std::uint64_t round_to_integer(const Number& n, unsigned rm, bool& inexact, bool& overflows) {
  overflows = n.exponent > 63;
  inexact = false;
  if (overflows) return 0;
  if (n.exponent == 63) return n.significand;
  const int drop = 63 - n.exponent;
  const std::uint64_t kept = drop >= 64 ? 0 : n.significand >> drop;
  // The dropped fraction in units of 2^-64. If it is below one half (drop > 64), only its being non-zero counts.
  const std::uint64_t rest = drop > 64 ? 1 : n.significand << (64 - drop);
  inexact = rest != 0;
  return kept + rounds_up(rm, n.negative, kept & 1, rest, std::uint64_t{1} << 63);
}

}  // namespace

template <typename F>
typename F::Bits add(typename F::Bits a, typename F::Bits b, unsigned rm, std::uint8_t& flags) {
  using L = Layout<F>;
  if (L::is_nan(a) || L::is_nan(b)) return propagate<F>(flags, a, b);
  if (L::exponent(a) == L::kSpecial) return L::exponent(b) == L::kSpecial && a != b ? invalid<F>(flags) : a;
  if (L::exponent(b) == L::kSpecial) return b;
  if (L::magnitude(a) == 0) return L::magnitude(b) == 0 ? zero_sum<F>(L::negative(a), L::negative(b), rm) : b;
  if (L::magnitude(b) == 0) return a;
  return add_wide<F>(widen(unpack<F>(a)), widen(unpack<F>(b)), rm, flags);
}

template <typename F>
typename F::Bits mul(typename F::Bits a, typename F::Bits b, unsigned rm, std::uint8_t& flags) {
  using L = Layout<F>;
  const auto sign = static_cast<typename F::Bits>((a ^ b) & L::kSign);
  if (L::is_nan(a) || L::is_nan(b)) return propagate<F>(flags, a, b);
  const bool zero = L::magnitude(a) == 0 || L::magnitude(b) == 0;
  if (L::exponent(a) == L::kSpecial || L::exponent(b) == L::kSpecial) {
    return zero ? invalid<F>(flags) : L::kInfinity | sign;
  }
  if (zero) return sign;
  return round_wide<F>(multiply(unpack<F>(a), unpack<F>(b)), rm, flags);
}

template <typename F>
typename F::Bits div(typename F::Bits a, typename F::Bits b, unsigned rm, std::uint8_t& flags) {
  using L = Layout<F>;
  const auto sign = static_cast<typename F::Bits>((a ^ b) & L::kSign);
  if (L::is_nan(a) || L::is_nan(b)) return propagate<F>(flags, a, b);
  if (L::exponent(a) == L::kSpecial) return L::exponent(b) == L::kSpecial ? invalid<F>(flags) : L::kInfinity | sign;
  if (L::exponent(b) == L::kSpecial) return sign;
  if (L::magnitude(b) == 0) {
    if (L::magnitude(a) == 0) return invalid<F>(flags);
    flags |= kFpDz;
    return L::kInfinity | sign;
  }
  if (L::magnitude(a) == 0) return sign;
  const Number x = unpack<F>(a);
  const Number y = unpack<F>(b);
  // The quotient of significands is between 1/2 and 2; scaled so that it has 63 or 64 bits.
  const U128 dividend = static_cast<U128>(x.significand) << 63;
  const auto quotient = dividend / y.significand;  // leading bit 62 or 63
  const bool sticky = quotient * y.significand != dividend;
  const bool small = (quotient >> 63) == 0;
  const std::uint64_t significand = (static_cast<std::uint64_t>(quotient) << small) | sticky;
  return round_pack<F>({sign != 0, x.exponent - y.exponent - small, significand}, rm, flags);
}

template <typename F>
typename F::Bits sqrt(typename F::Bits a, unsigned rm, std::uint8_t& flags) {
  using L = Layout<F>;
  if (L::is_nan(a)) return propagate<F>(flags, a);
  if (L::magnitude(a) == 0) return a;
  if (L::negative(a)) return invalid<F>(flags);
  if (L::exponent(a) == L::kSpecial) return a;
  const Number n = unpack<F>(a);
  const bool odd = (n.exponent & 1) != 0;
  // Value = m * 2^(even exponent) with m in [1, 4), as m * 2^126: the root then has its leading bit at 63.
  bool exact;
  const std::uint64_t root = integer_sqrt(static_cast<U128>(n.significand) << (odd ? 64 : 63), exact);
  return round_pack<F>({false, (n.exponent - odd) / 2, root | !exact}, rm, flags);
}

template <typename F>
typename F::Bits fma(typename F::Bits a, typename F::Bits b, typename F::Bits c, unsigned rm, std::uint8_t& flags) {
  using L = Layout<F>;
  const bool negative = L::negative(a) != L::negative(b);
  const bool zero = L::magnitude(a) == 0 || L::magnitude(b) == 0;
  const bool infinite = L::magnitude(a) == L::kInfinity || L::magnitude(b) == L::kInfinity;
  if (zero && infinite) flags |= kFpNv;
  if (L::is_nan(a) || L::is_nan(b) || L::is_nan(c) || (zero && infinite)) return propagate<F>(flags, a, b, c);
  const bool c_infinite = L::exponent(c) == L::kSpecial;
  if (infinite) {
    if (c_infinite && negative != L::negative(c)) return invalid<F>(flags);
    return L::kInfinity | signed_zero<F>(negative);
  }
  if (c_infinite) return c;
  if (zero) return L::magnitude(c) == 0 ? zero_sum<F>(negative, L::negative(c), rm) : c;
  const Wide product = multiply(unpack<F>(a), unpack<F>(b));
  if (L::magnitude(c) == 0) return round_wide<F>(product, rm, flags);
  return add_wide<F>(product, widen(unpack<F>(c)), rm, flags);
}

template <typename To, typename From>
typename To::Bits convert(typename From::Bits a, unsigned rm, std::uint8_t& flags) {
  using L = Layout<From>;
  const typename To::Bits sign = signed_zero<To>(L::negative(a));
  if (L::is_nan(a)) {
    propagate<From>(flags, a);
    return Layout<To>::kNan;
  }
  if (L::exponent(a) == L::kSpecial) return Layout<To>::kInfinity | sign;
  if (L::magnitude(a) == 0) return sign;
  return round_pack<To>(unpack<From>(a), rm, flags);
}

template <typename F>
typename F::Bits from_integer(bool negative, std::uint64_t magnitude, unsigned rm, std::uint8_t& flags) {
  if (magnitude == 0) return 0;
  const int shift = std::countl_zero(magnitude);
  return round_pack<F>({negative, 63 - shift, magnitude << shift}, rm, flags);
}

template <typename F>
std::uint64_t to_integer(typename F::Bits a, unsigned width, bool is_signed, unsigned rm, std::uint8_t& flags) {
  using L = Layout<F>;
  const std::uint64_t ones = ~std::uint64_t{0} >> (64 - width);
  const std::uint64_t largest = is_signed ? ones >> 1 : ones;
  const std::uint64_t smallest = is_signed ? largest + 1 : 0;  // magnitude of the most negative value
  const bool negative = L::negative(a) && !L::is_nan(a);
  bool inexact = false;
  bool out_of_range = true;
  std::uint64_t magnitude = 0;
  if (L::magnitude(a) == 0) return 0;
  if (L::exponent(a) != L::kSpecial) {
    magnitude = round_to_integer(unpack<F>(a), rm, inexact, out_of_range);
    out_of_range = out_of_range || magnitude > (negative ? smallest : largest);
  }
  if (out_of_range) {
    flags |= kFpNv;
    return negative ? smallest : largest;  // -smallest has the same bits in `width` bits
  }
  if (inexact) flags |= kFpNx;
  return (negative ? 0 - magnitude : magnitude) & ones;
}

#define SLUICE_INSTANTIATE(F)                                                     \
  template F::Bits add<F>(F::Bits, F::Bits, unsigned, std::uint8_t&);             \
  template F::Bits mul<F>(F::Bits, F::Bits, unsigned, std::uint8_t&);             \
  template F::Bits div<F>(F::Bits, F::Bits, unsigned, std::uint8_t&);             \
  template F::Bits sqrt<F>(F::Bits, unsigned, std::uint8_t&);                     \
  template F::Bits fma<F>(F::Bits, F::Bits, F::Bits, unsigned, std::uint8_t&);    \
  template F::Bits from_integer<F>(bool, std::uint64_t, unsigned, std::uint8_t&); \
  template std::uint64_t to_integer<F>(F::Bits, unsigned, bool, unsigned, std::uint8_t&);
SLUICE_INSTANTIATE(Single)
SLUICE_INSTANTIATE(Double)
#undef SLUICE_INSTANTIATE
template Single::Bits convert<Single, Double>(Double::Bits, unsigned, std::uint8_t&);
template Double::Bits convert<Double, Single>(Single::Bits, unsigned, std::uint8_t&);

}  // namespace sluice::riscv::soft
