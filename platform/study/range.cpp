// SPDX-License-Identifier: Apache-2.0
#include "platform/study/range.h"

#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "models/base/parameters/number.h"
#include "platform/study/study_file.h"

namespace sluice::study {
namespace {

/// A number of a range: whole where it can be, with the unit that is written behind it.
struct Number {
  double value = 0;
  std::optional<std::int64_t> whole;
  std::string unit;  ///< empty: the value is a plain number
};

Number from_text(const std::string& text) {
  Number n;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, n.value);
  n.unit = std::string(rest, end);
  while (n.unit.starts_with(' ')) n.unit.erase(0, 1);
  if (error != std::errc() || !std::isfinite(n.value) || n.unit.empty())
    throw base::ValueError(fmt::format("has the value \"{}\", which is no number with a unit", text));
  return n;
}

Number number_of(const base::Value& v) {
  if (const auto* i = std::get_if<std::int64_t>(&v.data)) return {static_cast<double>(*i), *i, {}};
  if (const auto* text = std::get_if<std::string>(&v.data)) return from_text(*text);
  if (const auto* d = std::get_if<double>(&v.data); d && std::isfinite(*d)) return {*d, {}, {}};
  throw base::ValueError("must have numbers, or texts with a number and a unit");
}

/// Without the digits that only rounding has made: 0.1 + 2 x 0.1 is 0.3.
double rounded(double value) {
  const std::string text = fmt::format("{:.15g}", value);
  double result = value;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

void check_length(std::size_t n) {
  if (n >= kMostPoints) throw base::ValueError(fmt::format("has more than {} values", kMostPoints));
}

/// Refuses a range that is far too long before its values are made. Rounding may take a few values from others.
void check_length(double from, double to, double by, bool is_factor) {
  const double steps = is_factor ? (std::log(to) - std::log(from)) / std::log(by) : to / by - from / by;
  if (steps > 2.0 * kMostPoints) check_length(kMostPoints);
}

/// Value n of a range that may begin so low that the way from there is no number, though its values are.
double value_at(double from, double by, double n, bool is_factor) {
  const double value = is_factor ? from * std::pow(by, n) : from + n * by;
  if (std::isfinite(value)) return value;
  return is_factor ? from * std::pow(by, n / 2) * std::pow(by, n / 2) : 2 * (from / 2 + n * (by / 2));
}

/// In whole numbers alone, which are exact.
std::vector<base::Value> whole_values(std::int64_t from, std::int64_t to, std::int64_t by, bool is_factor) {
  std::vector<base::Value> values;
  for (std::int64_t v = from; v <= to;) {
    check_length(values.size());
    values.emplace_back().data = v;
    if (is_factor ? __builtin_mul_overflow(v, by, &v) : __builtin_add_overflow(v, by, &v)) break;
  }
  return values;
}

/// Whole numbers by a factor that is none: each is the nearest one, and none is there twice.
std::vector<base::Value> rounded_values(std::int64_t from, std::int64_t to, double factor) {
  constexpr double kLeastGrowth = 1e-6, kRounding = 1e-12;
  if (factor - 1 < kLeastGrowth) throw base::ValueError("has a factor too small to change its values");
  std::vector<base::Value> values;
  std::int64_t last = from - 1;
  for (double exact = static_cast<double>(from); exact <= static_cast<double>(to) * (1 + kRounding); exact *= factor) {
    const std::int64_t v = std::min<std::int64_t>(to, std::llround(exact));
    if (v == last) continue;
    check_length(values.size());
    values.emplace_back().data = last = v;
  }
  return values;
}

}  // namespace

std::vector<base::Value> values_of(const Range& range) {
  const Number from = number_of(range.from), to = number_of(range.to), by = number_of(range.by);
  const char* name = range.is_factor ? "factor" : "step";
  if (from.unit != to.unit) throw base::ValueError("must have one unit for from and to");
  if (range.is_factor ? !by.unit.empty() : by.unit != from.unit)
    throw base::ValueError(range.is_factor ? "must have a plain number as its factor"
                                           : "must have one unit for from, to and step");
  if (to.value < from.value) throw base::ValueError("must end at or above its beginning: it rises");
  if (by.value <= (range.is_factor ? 1 : 0))
    throw base::ValueError(fmt::format("must have a {} of more than {}", name, range.is_factor ? 1 : 0));
  if (range.is_factor && from.value <= 0) throw base::ValueError("with a factor must begin above 0");
  const bool is_rounded = from.whole && to.whole && !by.whole && range.is_factor;  // to fewer values than steps
  if (!is_rounded) check_length(from.value, to.value, by.value, range.is_factor);
  if (from.whole && to.whole && by.whole) return whole_values(*from.whole, *to.whole, *by.whole, range.is_factor);
  if (is_rounded) return rounded_values(*from.whole, *to.whole, by.value);
  std::vector<base::Value> values;
  for (;;) {
    const auto n = static_cast<double>(values.size());
    const double value = rounded(value_at(from.value, by.value, n, range.is_factor));
    if (value > to.value) return values;
    check_length(values.size());
    if (!values.empty() && value == number_of(values.back()).value)
      throw base::ValueError(fmt::format("has a {} too small to change its values", name));
    auto& data = values.emplace_back().data;
    if (from.unit.empty())
      data = value;
    else
      data = fmt::format("{} {}", value, from.unit);
  }
}

}  // namespace sluice::study
