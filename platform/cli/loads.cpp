// SPDX-License-Identifier: Apache-2.0
#include "platform/cli/loads.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "platform/config/user_error.h"

namespace sluice::cli {
namespace {

constexpr unsigned kStep = 10, kMost = 1000;
// Calls of an overload: more than rings and FIFOs hold, so that what they hold does not count much.
constexpr std::uint64_t kOverloadCalls = 100'000;

[[noreturn]] void refuse(std::string_view text) {
  throw config::UserError(
      fmt::format("--loads {}: must be rising percentages of 1 to {}, such as 20,50,90 or 10..90", text, kMost));
}

unsigned percentage(std::string_view part, std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (error != std::errc() || end != part.data() + part.size() || value < 1 || value > kMost) refuse(text);
  return value;
}

}  // namespace

std::vector<unsigned> parse_loads(std::string_view text) {
  std::vector<unsigned> loads;
  if (const std::size_t dots = text.find(".."); dots != std::string_view::npos) {
    const unsigned first = percentage(text.substr(0, dots), text), last = percentage(text.substr(dots + 2), text);
    for (unsigned load = first; load < last; load += kStep) loads.push_back(load);
    loads.push_back(last);
    if (first > last) refuse(text);
    return loads;
  }
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    loads.push_back(percentage(rest.substr(0, comma), text));
    if (loads.size() > 1 && loads.back() <= loads[loads.size() - 2]) refuse(text);
    if (comma == std::string_view::npos) return loads;
    rest.remove_prefix(comma + 1);
  }
}

std::vector<std::string> overload_settings() {
  return {"workload.kind=open-loop",  "workload.arrivals=constant",
          "workload.rate=1000000000", fmt::format("workload.requests={}", kOverloadCalls),
          "workload.retries=0",       "run.allow_drops=true"};
}

std::vector<std::string> sweep_settings(const std::vector<unsigned>& loads, double capacity) {
  std::vector<std::uint64_t> rates;
  rates.reserve(loads.size());
  for (const unsigned load : loads)
    rates.push_back(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(capacity * load / 100))));
  return {"workload.kind=load-sweep", "workload.arrivals=poisson",
          fmt::format("workload.rates=[{}]", fmt::join(rates, ", "))};
}

}  // namespace sluice::cli
