// SPDX-License-Identifier: Apache-2.0
#include "models/workload/figures.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sluice::workload {
namespace {

using Sum = base::Histogram::Sum;

/// A sum of femtoseconds may need more than the 64 bits that a number of a JSON file has.
std::string decimal(Sum n) { return fmt::format("{}", n); }

std::optional<Sum> from_decimal(const std::string& digits) {
  constexpr Sum kMost = ~Sum{0};
  Sum n = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return {};
    const auto digit = static_cast<Sum>(c - '0');
    if (n > (kMost - digit) / 10) return {};
    n = n * 10 + digit;
  }
  return digits.empty() ? std::nullopt : std::optional(n);
}

/// Throws what the library throws of a value of another type.
std::uint64_t whole_number(const nlohmann::ordered_json& json) {
  return json.get_ref<const nlohmann::ordered_json::number_unsigned_t&>();
}
std::vector<std::uint64_t> whole_numbers(const nlohmann::ordered_json& list) {
  std::vector<std::uint64_t> numbers;
  for (const auto& n : list.get_ref<const nlohmann::ordered_json::array_t&>()) numbers.push_back(whole_number(n));
  return numbers;
}

}  // namespace

double nanoseconds(double femtoseconds) { return std::round(femtoseconds) / 1e6; }
double nanoseconds(base::Time t) { return static_cast<double>(t.femtoseconds()) / 1e6; }
double share(double part, double whole) { return whole > 0 ? part / whole : 0.0; }

nlohmann::ordered_json latency(const base::Histogram& h) {
  const auto at = [](std::uint64_t fs) { return nanoseconds(static_cast<double>(fs)); };
  return {{"mean", h.count() ? nanoseconds(static_cast<double>(h.sum()) / static_cast<double>(h.count())) : 0.0},
          {"min", at(h.min())},
          {"p50", at(h.p50())},
          {"p90", at(h.p90())},
          {"p99", at(h.p99())},
          {"p999", at(h.p999())},
          {"max", at(h.max())}};
}

nlohmann::ordered_json latency_with_histogram(const base::Histogram& h) {
  nlohmann::ordered_json json = latency(h);
  auto first = nlohmann::ordered_json::array(), counts = nlohmann::ordered_json::array();
  h.for_each_bucket([&](std::uint64_t from, std::uint64_t, std::uint64_t n) {
    first.push_back(from);
    counts.push_back(n);
  });
  json["histogram"] = {{"count", h.count()}, {"sum_fs", decimal(h.sum())},   {"min_fs", h.min()},
                       {"max_fs", h.max()},  {"first_fs", std::move(first)}, {"counts", std::move(counts)}};
  return json;
}

std::optional<base::Histogram> histogram_in(const nlohmann::ordered_json& latency) {
  try {
    const auto& json = latency.at("histogram");
    const auto first = whole_numbers(json.at("first_fs")), counts = whole_numbers(json.at("counts"));
    const auto sum = from_decimal(json.at("sum_fs").get<std::string>());
    if (first.size() != counts.size() || !sum) return {};
    std::vector<base::Histogram::Bucket> buckets;
    for (std::size_t i = 0; i < first.size(); ++i) buckets.push_back({first[i], counts[i]});
    auto h = base::Histogram::of(buckets, *sum, whole_number(json.at("min_fs")), whole_number(json.at("max_fs")));
    if (!h || h->count() != whole_number(json.at("count"))) return {};
    return h;
  } catch (const nlohmann::ordered_json::exception&) {
    return {};
  }
}

std::string time_text(double ns) {
  if (ns < 1e3) return fmt::format("{:.1f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.2f} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.2f} ms", ns / 1e6);
  return fmt::format("{:.3f} s", ns / 1e9);
}

std::string rate_text(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.3f} M/s", per_second / 1e6);
  if (per_second >= 1e3) return fmt::format("{:.1f} k/s", per_second / 1e3);
  return fmt::format("{:.1f} /s", per_second);
}

std::string grouped(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string counted(std::uint64_t n, const char* one, const char* many) {
  return grouped(n) + " " + (n == 1 ? one : many);
}

std::string busiest_text(const nlohmann::ordered_json& measured) {
  if (!measured.contains("resources") || measured.at("resources").empty()) return {};
  const auto& first = measured.at("resources")[0];
  return fmt::format("{} {:.0f} %", first.at("name").get<std::string>(), first.at("busy").get<double>() * 100);
}

std::string search_cost(std::uint64_t requests, const char* many, const std::string& key) {
  // Of what a board does in a second of wall time, a low and a high figure (docs/performance.md).
  constexpr std::uint64_t kSlow = 40'000, kFast = 200'000, kMinute = 60;
  if (requests / kSlow < kMinute) return {};
  const std::uint64_t least = std::max<std::uint64_t>(1, requests / kFast / 60), most = requests / kSlow / 60;
  return fmt::format("the search will make up to {} {}, which takes {}; a larger {} makes it shorter",
                     grouped(requests), many,
                     most == 1 ? "about a minute" : fmt::format("some {} to {} minutes", least, most), key);
}

}  // namespace sluice::workload
