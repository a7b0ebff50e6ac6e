// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/operands.h"

#include "models/riscv/iss/fp/fp.h"

namespace sluice::differential {
namespace {

struct Format {
  unsigned fraction, exponent;
  std::uint64_t sign() const { return std::uint64_t{1} << (fraction + exponent); }
  std::uint64_t special() const { return (std::uint64_t{1} << exponent) - 1; }
  std::uint64_t fraction_mask() const { return (std::uint64_t{1} << fraction) - 1; }
  std::uint64_t bias() const { return special() >> 1; }
};
constexpr Format kSingle{23, 8}, kDouble{52, 11};

Format format_of(Source s) { return s == Source::single ? kSingle : kDouble; }
std::uint64_t boxed(std::uint64_t bits, Source s) {
  return s == Source::single ? riscv::fp_box(static_cast<std::uint32_t>(bits)) : bits;
}
std::uint64_t unboxed(std::uint64_t reg, Source s) { return s == Source::single ? riscv::fp_unbox(reg) : reg; }

std::uint64_t draw_fraction(const Format& f, Draw& draw) {
  const std::uint64_t mask = f.fraction_mask();
  switch (draw.below(5)) {
    case 0:
      return draw() & mask;
    case 1:
      return 0;
    case 2:
      return (std::uint64_t{1} << draw.below(f.fraction)) & mask;
    case 3:
      return ~((std::uint64_t{1} << draw.below(f.fraction)) - 1) & mask;
    default:
      return ((std::uint64_t{1} << draw.below(f.fraction)) - 1) & mask;
  }
}

std::uint64_t draw_exponent(const Format& f, Draw& draw) {
  const std::uint64_t most = f.special() - 1;
  switch (draw.below(6)) {
    case 0:
      return 1 + draw.below(most);
    case 1:
      return 1 + draw.below(3);
    case 2:
      return most - draw.below(3);
    case 3:
      return f.bias() / 2 + draw.below(f.fraction);
    default:
      return f.bias() - f.fraction / 2 + draw.below(f.fraction);
  }
}

}  // namespace

const char* name_of(FloatClass c) {
  constexpr const char* names[] = {"+0",   "-0",   "+subnormal", "-subnormal", "+normal",  "-normal",
                                   "+inf", "-inf", "qNaN",       "sNaN",       "not boxed"};
  return names[static_cast<unsigned>(c)];
}

const char* name_of(IntegerClass c) {
  constexpr const char* names[] = {"0",     "1",      "-1",     "-2^63",    "2^63-1",
                                   "-2^31", "2^31-1", "2^32-1", "positive", "negative"};
  return names[static_cast<unsigned>(c)];
}

FloatClass float_class(std::uint64_t reg, Source s) {
  if (s == Source::single && reg >> 32 != 0xffff'ffff) return FloatClass::not_boxed;
  const Format f = format_of(s);
  const std::uint64_t bits = unboxed(reg, s);
  const bool minus = bits & f.sign();
  const std::uint64_t exponent = bits >> f.fraction & f.special();
  const std::uint64_t fraction = bits & f.fraction_mask();
  if (exponent == f.special() && fraction != 0)
    return fraction >> (f.fraction - 1) ? FloatClass::quiet_nan : FloatClass::signalling_nan;
  const FloatClass plus = exponent == f.special() ? FloatClass::plus_infinity
                          : exponent != 0         ? FloatClass::plus_normal
                          : fraction != 0         ? FloatClass::plus_subnormal
                                                  : FloatClass::plus_zero;
  return static_cast<FloatClass>(static_cast<unsigned>(plus) + minus);
}

Magnitude magnitude(std::uint64_t reg, Source s) {
  const Format f = format_of(s);
  const auto exponent =
      static_cast<std::int64_t>(unboxed(reg, s) >> f.fraction & f.special()) - static_cast<std::int64_t>(f.bias());
  if (exponent < 0) return Magnitude::below_one;
  if (exponent <= 29) return Magnitude::small;
  if (exponent <= 31) return exponent == 30 ? Magnitude::at_2_31 : Magnitude::at_2_32;
  if (exponent == 32) return Magnitude::at_2_32;
  if (exponent <= 61) return Magnitude::middle;
  if (exponent == 62) return Magnitude::at_2_63;
  if (exponent <= 64) return Magnitude::at_2_64;
  return Magnitude::beyond;
}

IntegerClass integer_class(std::uint64_t v) {
  switch (v) {
    case 0:
      return IntegerClass::zero;
    case 1:
      return IntegerClass::one;
    case ~std::uint64_t{0}:
      return IntegerClass::minus_one;
    case std::uint64_t{1} << 63:
      return IntegerClass::least64;
    case ~std::uint64_t{0} >> 1:
      return IntegerClass::most64;
    case 0xffff'ffff'8000'0000:
      return IntegerClass::least32;
    case 0x7fff'ffff:
      return IntegerClass::most32;
    case 0xffff'ffff:
      return IntegerClass::all_ones32;
    default:
      return v >> 63 ? IntegerClass::other_negative : IntegerClass::other_positive;
  }
}

std::uint64_t draw_float(FloatClass c, Source s, Draw& draw) {
  const Format f = format_of(s);
  std::uint64_t bits = 0;
  switch (c) {
    case FloatClass::plus_zero:
    case FloatClass::minus_zero:
    case FloatClass::count:
      break;
    case FloatClass::plus_subnormal:
    case FloatClass::minus_subnormal:
      while (bits == 0) bits = draw_fraction(f, draw);
      break;
    case FloatClass::plus_normal:
    case FloatClass::minus_normal:
      bits = draw_exponent(f, draw) << f.fraction | draw_fraction(f, draw);
      break;
    case FloatClass::plus_infinity:
    case FloatClass::minus_infinity:
      bits = f.special() << f.fraction;
      break;
    case FloatClass::quiet_nan:
      bits = (draw() & f.sign()) | f.special() << f.fraction | std::uint64_t{1} << (f.fraction - 1) |
             draw_fraction(f, draw);
      break;
    case FloatClass::signalling_nan: {
      std::uint64_t payload = 0;
      while (payload == 0) payload = draw_fraction(f, draw) & (f.fraction_mask() >> 1);
      bits = (draw() & f.sign()) | f.special() << f.fraction | payload;
      break;
    }
    case FloatClass::not_boxed: {
      // The low half is a normal single; the upper half is drawn, or differs from a box in one bit.
      const std::uint64_t upper = draw.one_in(2) ? draw() >> 32 : 0xffff'fffe;
      const std::uint64_t low = draw_float(FloatClass::plus_normal, Source::single, draw) & 0xffff'ffff;
      return (upper == 0xffff'ffff ? 0 : upper << 32) | low;
    }
  }
  const bool minus = c == FloatClass::minus_zero || c == FloatClass::minus_subnormal || c == FloatClass::minus_normal ||
                     c == FloatClass::minus_infinity;
  return boxed(minus ? bits | f.sign() : bits, s);
}

std::uint64_t draw_magnitude(Magnitude m, bool negative, Source s, Draw& draw) {
  const Format f = format_of(s);
  std::int64_t exponent = 0;
  switch (m) {
    case Magnitude::below_one:
      exponent = draw.one_in(2) ? draw.between(-2, -1) : draw.between(-60, -3);
      break;
    case Magnitude::small:
      exponent = draw.one_in(2) ? draw.between(0, 3) : draw.between(4, 29);
      break;
    case Magnitude::at_2_31:
      exponent = 30;
      break;
    case Magnitude::at_2_32:
      exponent = draw.between(31, 32);
      break;
    case Magnitude::middle:
      exponent = draw.between(33, 61);
      break;
    case Magnitude::at_2_63:
      exponent = 62;
      break;
    case Magnitude::at_2_64:
      exponent = draw.between(63, 64);
      break;
    default:
      exponent = draw.between(65, 100);
  }
  // Often next to a power of two or to a half.
  std::uint64_t fraction = draw_fraction(f, draw);
  if (draw.one_in(3)) fraction = f.fraction_mask() - (draw.one_in(2) ? draw.below(3) : 0);
  if (draw.one_in(5)) fraction = 0;
  const std::uint64_t bits = (f.bias() + static_cast<std::uint64_t>(exponent)) << f.fraction | fraction;
  return boxed(negative ? bits | f.sign() : bits, s);
}

std::uint64_t draw_float(Source s, Draw& draw) {
  if (draw.one_in(2)) return draw_float(draw.one_in(2) ? FloatClass::plus_normal : FloatClass::minus_normal, s, draw);
  return draw_float(static_cast<FloatClass>(draw.below(kFloatClasses - (s == Source::full))), s, draw);
}

std::uint64_t draw_integer(IntegerClass c, Draw& draw) {
  constexpr std::uint64_t values[] = {
      0,           1,          ~std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0} >> 1, 0xffff'ffff'8000'0000,
      0x7fff'ffff, 0xffff'ffff};
  if (static_cast<unsigned>(c) < std::size(values)) return values[static_cast<unsigned>(c)];
  std::uint64_t v = draw.one_in(2) ? draw() : draw() >> draw.below(64);
  const std::uint64_t sign = std::uint64_t{1} << 63;
  if (c == IntegerClass::other_negative) return draw.one_in(2) ? v | sign : ~(v >> 1);
  v &= ~sign;
  return integer_class(v) == c ? v : 0x1234'5678'9abc;
}

std::uint64_t draw_integer(Draw& draw) {
  return draw_integer(static_cast<IntegerClass>(draw.below(kIntegerClasses)), draw);
}

}  // namespace sluice::differential
