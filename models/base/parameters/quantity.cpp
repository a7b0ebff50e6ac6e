// SPDX-License-Identifier: Apache-2.0
#include "models/base/parameters/quantity.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "models/base/parameters/characters.h"
#include "models/base/parameters/decimal.h"

namespace sluice::base {
namespace {

using Wide = unsigned __int128;

struct Unit {
  std::string_view name;
  std::uint64_t factor;  ///< in the quantity's smallest unit
};

constexpr std::array<Unit, 6> kTimeUnits{{{"fs", 1},
                                          {"ps", 1'000},
                                          {"ns", 1'000'000},
                                          {"us", 1'000'000'000},
                                          {"ms", 1'000'000'000'000},
                                          {"s", 1'000'000'000'000'000}}};
constexpr std::array<Unit, 9> kByteUnits{{{"B", 1},
                                          {"kB", 1'000},
                                          {"MB", 1'000'000},
                                          {"GB", 1'000'000'000},
                                          {"TB", 1'000'000'000'000},
                                          {"KiB", 1ull << 10},
                                          {"MiB", 1ull << 20},
                                          {"GiB", 1ull << 30},
                                          {"TiB", 1ull << 40}}};
constexpr std::array<Unit, 5> kRateUnits{
    {{"b/s", 1}, {"kb/s", 1'000}, {"Mb/s", 1'000'000}, {"Gb/s", 1'000'000'000}, {"Tb/s", 1'000'000'000'000}}};
constexpr std::array<Unit, 5> kFrequencyUnits{
    {{"Hz", 1}, {"kHz", 1'000}, {"MHz", 1'000'000}, {"GHz", 1'000'000'000}, {"THz", 1'000'000'000'000}}};

/// digits / 10^fraction; the fraction is negative where an exponent shifts the point to the right
struct Decimal {
  Wide digits = 0;
  int fraction = 0;
};

/// Takes a decimal number off the front of text; nothing when there is none or it has more than 30 digits.
std::optional<Decimal> take_decimal(std::string_view& text) {
  Decimal d;
  std::size_t i = 0;
  int digits = 0;
  bool point = false;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (is_digit(c)) {
      if (++digits > 30) return std::nullopt;
      d.digits = d.digits * 10 + static_cast<unsigned>(c - '0');
      d.fraction += point;
    } else if (c == '.' && !point && digits > 0) {
      point = true;
    } else if (c != '_' || i == 0 || !is_digit(text[i - 1]) || i + 1 == text.size() || !is_digit(text[i + 1])) {
      break;
    }
  }
  if (digits == 0 || text[i - 1] == '.') return std::nullopt;
  text.remove_prefix(i);
  return d;
}

std::string names_of(std::span<const Unit> units) {
  std::string names;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (i > 0) names += i + 1 == units.size() ? " or " : ", ";
    names += units[i].name;
  }
  return names;
}

/// what: "a time"
std::uint64_t parse(std::string_view text, const char* what, std::span<const Unit> units) {
  text = trim(text);
  if (!text.empty() && text.front() == '-') throw ValueError("must not be negative");
  auto number = take_decimal(text);
  if (number) number->fraction -= take_exponent(text);
  const auto name = trim(text);
  const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == name; });
  if (!number || unit == units.end()) {
    throw ValueError("must be " + std::string(what) + " with a unit (" + names_of(units) + ")");
  }
  for (; number->fraction > 0 && number->digits % 10 == 0 && number->digits != 0; --number->fraction)
    number->digits /= 10;
  Wide value = 0;
  if (__builtin_mul_overflow(number->digits, Wide{unit->factor}, &value)) value = ~Wide{0};
  for (int i = 0; i > number->fraction && value != 0; --i)
    if (__builtin_mul_overflow(value, Wide{10}, &value)) value = ~Wide{0};
  for (int i = 0; i < number->fraction; ++i) {
    if (value % 10 != 0) throw ValueError("must be a whole number of " + std::string(units[0].name));
    value /= 10;
  }
  if (value > std::numeric_limits<std::uint64_t>::max()) {
    const Unit& largest =
        *std::max_element(units.begin(), units.end(), [](const Unit& a, const Unit& b) { return a.factor < b.factor; });
    throw ValueError("must be at most " + std::to_string(~std::uint64_t{0} / largest.factor) + " " +
                     std::string(largest.name));
  }
  return static_cast<std::uint64_t>(value);
}

/// value / factor with as many decimals as needed; factor is a power of ten
std::string decimal_text(std::uint64_t value, std::uint64_t factor) {
  std::string text = std::to_string(value / factor);
  std::uint64_t rest = value % factor;
  if (rest == 0) return text;
  text += '.';
  while (rest != 0) {
    factor /= 10;
    text += static_cast<char>('0' + rest / factor);
    rest %= factor;
  }
  return text;
}

/// In the largest unit that leaves the value at least 1.
std::string text_of(std::uint64_t value, std::span<const Unit> units) {
  const Unit* unit = &units[0];
  for (const Unit& u : units) {
    if (value >= u.factor) unit = &u;
  }
  return decimal_text(value, unit->factor) + " " + std::string(unit->name);
}

std::uint64_t narrow(Wide value) {
  if (value > std::numeric_limits<std::uint64_t>::max()) throw ValueError("must have fewer digits");
  return static_cast<std::uint64_t>(value);
}

std::optional<std::uint64_t> power_of_ten(int exponent) {
  if (exponent > 19) return std::nullopt;
  std::uint64_t power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

}  // namespace

Time parse_time(std::string_view text) { return Time::fs(parse(text, "a time", kTimeUnits)); }
Bytes parse_bytes(std::string_view text) { return Bytes(parse(text, "a size", kByteUnits)); }
BitRate parse_bit_rate(std::string_view text) {
  std::string written(trim(text));
  for (const std::string_view per_second : {"bit/s", "bps"})
    if (written.ends_with(per_second)) written.replace(written.size() - per_second.size(), per_second.size(), "b/s");
  return BitRate(parse(written, "a data rate", kRateUnits));
}
Frequency parse_frequency(std::string_view text) { return Frequency(parse(text, "a frequency", kFrequencyUnits)); }

Ratio parse_ratio(std::string_view text) {
  const ValueError wrong("must be a ratio such as 0.39, \"39 %\" or \"128/130\"");
  text = trim(text);
  if (!text.empty() && text.front() == '-') throw ValueError("must not be negative");
  auto first = take_decimal(text);
  if (!first) throw wrong;
  first->fraction -= take_exponent(text);
  text = trim(text);
  if (text.starts_with('/')) {
    text = trim(text.substr(1));
    const auto second = take_decimal(text);
    if (!second || !text.empty() || first->fraction != 0 || second->fraction != 0) throw wrong;
    return {narrow(first->digits), narrow(second->digits)};
  }
  if (text == "%") {
    first->fraction += 2;
  } else if (!text.empty()) {
    throw wrong;
  }
  for (; first->fraction < 0; ++first->fraction)
    if (__builtin_mul_overflow(first->digits, Wide{10}, &first->digits)) throw ValueError("must have fewer digits");
  while (first->fraction > 0 && first->digits % 10 == 0) {
    first->digits /= 10;
    --first->fraction;
  }
  const auto denominator = power_of_ten(first->fraction);
  if (!denominator) throw ValueError("must have fewer digits");
  return {narrow(first->digits), *denominator};
}

std::string to_text(Time t) {
  if (t == Time()) return "0 ns";
  return text_of(t.femtoseconds(), kTimeUnits);
}
std::string to_text(BitRate rate) { return text_of(rate.bits_per_second(), kRateUnits); }
std::string to_text(Frequency f) { return text_of(f.hertz(), kFrequencyUnits); }

std::string to_text(Bytes n) {
  // The shortest text wins: 22000000 B becomes 22 MB, 65536 B becomes 64 KiB. Of equally short texts, the one with a
  // binary unit wins.
  std::string best = std::to_string(n.count()) + " B";
  if (n.count() == 0) return best;
  for (auto unit = kByteUnits.rbegin(); unit != kByteUnits.rend(); ++unit) {
    if (n.count() % unit->factor != 0) continue;
    std::string text = std::to_string(n.count() / unit->factor) + " " + std::string(unit->name);
    const bool binary = unit->name.size() == 3;
    if (text.size() < best.size() || (binary && text.size() == best.size())) best = std::move(text);
  }
  return best;
}

std::string to_text(Ratio r) {
  std::uint64_t rest = r.denominator();
  int twos = 0;
  int fives = 0;
  for (; rest % 2 == 0; rest /= 2) ++twos;
  for (; rest % 5 == 0; rest /= 5) ++fives;
  const auto factor = power_of_ten(std::max(twos, fives));
  std::uint64_t value = 0;
  if (rest != 1 || !factor || __builtin_mul_overflow(r.numerator(), *factor / r.denominator(), &value)) {
    return std::to_string(r.numerator()) + "/" + std::to_string(r.denominator());
  }
  return decimal_text(value, *factor);
}

std::string hexadecimal(std::uint64_t v) {
  int digits = 1;
  while (digits < 16 && v >> (4 * digits) != 0) ++digits;
  if (digits > 4) digits = (digits + 3) / 4 * 4;
  std::string text = "0x";
  for (int i = digits - 1; i >= 0; --i) {
    text += "0123456789abcdef"[v >> (4 * i) & 15];
    if (i % 4 == 0 && i > 0) text += '_';
  }
  return text;
}

}  // namespace sluice::base
