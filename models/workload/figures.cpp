// SPDX-License-Identifier: Apache-2.0
#include "models/workload/figures.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sluice::workload {

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
