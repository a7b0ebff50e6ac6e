// SPDX-License-Identifier: Apache-2.0
#include "platform/page/data.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "platform/config/quoting.h"

namespace sluice::page {
std::string exact_text(double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); }

std::string exact_text(const std::optional<double>& value) { return value ? exact_text(*value) : std::string(); }

std::string short_text(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-4)) return fmt::format("{:.{}e}", value, digits - 1);
  std::string text =
      size >= std::pow(10, digits - 1) ? fmt::format("{:.0f}", value) : fmt::format("{:.{}g}", value, digits);
  const std::size_t first = text.front() == '-' ? 1 : 0;
  const std::size_t point = std::min(text.find('.'), text.size());
  for (std::size_t i = point; i > first + 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string csv_text(const Data& data) {
  std::vector<std::string> titles;
  for (const Column& c : data.columns) titles.push_back(c.title);
  std::string text = config::csv_line(titles);
  for (const auto& row : data.rows) text += config::csv_line(row);
  return text;
}

bool grows_by_factors(const std::set<double>& settings) {
  constexpr double kLeastFactor = 1.5;
  const auto too_close = [](double a, double b) { return b < a * kLeastFactor; };
  return settings.size() >= 4 && *settings.begin() > 0 &&
         std::adjacent_find(settings.begin(), settings.end(), too_close) == settings.end();
}

bool spans_decades(const std::vector<double>& values) {
  if (values.empty()) return false;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *least > 0 && *most / *least > 100;
}

}  // namespace sluice::page
