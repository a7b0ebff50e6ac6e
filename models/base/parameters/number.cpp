// SPDX-License-Identifier: Apache-2.0
#include "models/base/parameters/number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "models/base/parameters/characters.h"
#include "models/base/parameters/decimal.h"
#include "models/base/parameters/quantity.h"

namespace sluice::base {
namespace {

constexpr const char* kWhole = "must be a whole number";

bool is_hexadecimal(std::string_view text) { return text.starts_with("0x"); }

/// The text without the underscores that something stands before and behind.
std::string without_underscores(std::string_view text) {
  std::string rest;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '_' || i == 0 || i + 1 == text.size()) rest += text[i];
  return rest;
}

/// Takes the digits off the front of a text.
std::string_view take_digits(std::string_view& text) {
  const auto end = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  const std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  return digits;
}

/// The digits of a decimal number that is whole: "1500" for "1.5e3". Nothing where it is not, or is no number.
std::optional<std::string> whole_digits(std::string_view text) {
  std::string digits(take_digits(text));
  if (digits.empty()) return {};
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = take_digits(text);
    if (fraction.empty()) return {};
  }
  int exponent = take_exponent(text) - static_cast<int>(fraction.size());
  if (!text.empty()) return {};
  digits += fraction;
  for (; exponent < 0 && digits.size() > 1 && digits.ends_with('0'); ++exponent) digits.pop_back();
  if (digits.find_first_not_of('0') == std::string::npos) return "0";
  if (exponent < 0) return {};
  return digits.append(static_cast<std::size_t>(exponent), '0');
}

template <class T>
T parse_whole(std::string_view text) {
  const std::string number = without_underscores(trim(text));
  const bool negative = number.starts_with('-');
  std::string_view rest = std::string_view(number).substr(negative ? 1 : 0);
  const bool hexadecimal = is_hexadecimal(rest);
  std::string digits;
  if (hexadecimal) {
    digits = rest.substr(2);
    if (digits.starts_with('-')) throw ValueError(kWhole);
  } else {
    const auto whole = whole_digits(rest);
    if (!whole) throw ValueError(kWhole);
    digits = *whole;
  }
  if (negative) digits.insert(0, "-");
  T value{};
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, value, hexadecimal ? 16 : 10);
  if (error == std::errc::result_out_of_range) throw ValueError("must be a whole number of at most 64 bits");
  if (error != std::errc() || end != last) throw ValueError(kWhole);
  return value;
}

/// What follows a number that begins a text: takes digits, a fraction and an exponent, or a hexadecimal number, off the
/// front.
void skip_number(std::string_view& text) {
  const auto skip = [&text](const auto& belongs) {
    while (!text.empty() && belongs(text.front())) text.remove_prefix(1);
  };
  if (text.starts_with('-')) text.remove_prefix(1);
  if (is_hexadecimal(text)) {
    text.remove_prefix(2);
    return skip([](char c) { return is_digit(c) || c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); });
  }
  skip([](char c) { return is_digit(c) || c == '_' || c == '.'; });
  take_exponent(text);
}

/// "M/s" and " M 1/s" have the unit 1/s, "calls" and "call" the unit calls.
bool names_unit(std::string_view text, std::string_view unit) {
  if (unit.empty()) return false;
  if (unit == "bytes" && text == "B") return true;
  return text == unit || text == singular(unit) || (unit.starts_with("1/") && text == unit.substr(1));
}

/// The exponent that stands for a factor in front of nothing or of the unit; nothing where there is no such factor.
const char* exponent_of(std::string_view text, std::string_view unit) {
  const std::string_view behind = text.empty() ? text : text.substr(1);
  const bool apart = behind.empty() || behind.front() == ' ' || behind.front() == '/';
  if (!apart || (!behind.empty() && !names_unit(trim(behind), unit))) return nullptr;
  if (text.starts_with('k')) return "e3";
  if (text.starts_with('M')) return "e6";
  return text.starts_with('G') ? "e9" : nullptr;
}

std::string what_may_follow(std::string_view unit, std::string_view what) {
  const std::string must = "must be " + std::string(what);
  if (unit == "bytes") return must + " of bytes, without k, M or G, which could mean powers of 1000 or of 1024";
  if (unit.empty()) return must + "; only k, M or G may follow it";
  return must + "; only k, M or G and its unit, " + std::string(unit) + ", may follow it";
}

}  // namespace

int take_exponent(std::string_view& text) {
  if (text.empty() || (text.front() | 0x20) != 'e') return 0;
  std::string_view rest = text.substr(1);
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  const std::string_view digits = take_digits(rest);
  if (digits.empty()) return 0;
  text = rest;
  constexpr int kBeyond = 1000;
  int exponent = kBeyond;
  std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  exponent = std::min(exponent, kBeyond);
  return negative ? -exponent : exponent;
}

std::uint64_t parse_unsigned(std::string_view text) {
  if (!trim(text).starts_with('-')) return parse_whole<std::uint64_t>(text);
  if (parse_signed(text) < 0) throw ValueError("must not be negative");
  return 0;
}

std::int64_t parse_signed(std::string_view text) { return parse_whole<std::int64_t>(text); }

std::int64_t whole_of(double value) {
  constexpr double kMost = 1ll << 53;
  if (!(std::abs(value) <= kMost) || value != std::trunc(value)) throw ValueError(kWhole);
  return static_cast<std::int64_t>(value);
}

std::string without_unit(std::string_view text, std::string_view unit, std::string_view what) {
  text = trim(text);
  std::string_view behind = text;
  if (behind.starts_with('-')) behind.remove_prefix(1);
  if (behind.empty() || !is_digit(behind.front())) return std::string(text);
  skip_number(behind);
  const std::string_view number = trim(text.substr(0, text.size() - behind.size()));
  behind = trim(behind);
  if (behind.empty() || names_unit(behind, unit)) return without_underscores(number);
  const char* const exponent = unit == "bytes" ? nullptr : exponent_of(behind, unit);
  if (!exponent || number.find_first_of("exE") != std::string_view::npos) throw ValueError(what_may_follow(unit, what));
  return without_underscores(number) + exponent;
}

std::string singular(std::string_view unit) {
  if (unit.ends_with("ies")) return std::string(unit.substr(0, unit.size() - 3)) + "y";
  if (unit.ends_with("sses")) return std::string(unit.substr(0, unit.size() - 2));
  const bool plural = unit.ends_with('s') && unit.find('/') == std::string_view::npos;
  return std::string(unit.substr(0, unit.size() - (plural ? 1 : 0)));
}

}  // namespace sluice::base
