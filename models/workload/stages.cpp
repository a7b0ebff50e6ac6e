// SPDX-License-Identifier: Apache-2.0
#include "models/workload/stages.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/base/measure/ledger.h"
#include "models/workload/figures.h"

namespace sluice::workload {
namespace {

using Json = nlohmann::ordered_json;

std::string bar(double share) { return std::string(static_cast<std::size_t>(std::lround(share * 40)), '#'); }

}  // namespace

Json stages_between(const base::Ledger::Totals& from, const base::Ledger::Totals& to) {
  Json list = Json::array();
  const double n = static_cast<double>(to.completed - from.completed);
  const double whole = static_cast<double>(to.latency - from.latency);
  for (unsigned s = 0; s < SLUICE_STAGE_COUNT; ++s) {
    for (std::size_t c = 0; c < to.stages.size(); ++c) {
      const base::Ledger::Total before = c < from.stages.size() ? from.stages[c][s] : base::Ledger::Total{};
      const base::Ledger::Total& total = to.stages[c][s];
      if (total.visits == before.visits) continue;
      const double sum = static_cast<double>(total.femtoseconds - before.femtoseconds);
      list.push_back({{"name", base::stage_title(static_cast<base::Stage>(s))},
                      {"component", base::ledger().path(static_cast<base::Ledger::Component>(c))},
                      {"mean_ns", nanoseconds(share(sum, n))},
                      {"share", share(sum, whole)},
                      {"visits", total.visits - before.visits}});
    }
  }
  return list;
}

void add_stages(Json& result) {
  result["stages"] = stages_between({}, base::ledger().totals());
  result["ledger"] = {{"completed", base::ledger().completed()}, {"clamped", base::ledger().clamped()}};
}

bool stages_sum_up(const base::Histogram& latency) {
  const base::Ledger& ledger = base::ledger();
  unsigned __int128 sum = 0;
  for (std::size_t c = 0; c < ledger.components(); ++c)
    for (unsigned s = 0; s < SLUICE_STAGE_COUNT; ++s)
      sum += ledger.total(static_cast<base::Ledger::Component>(c), static_cast<base::Stage>(s)).femtoseconds;
  return sum == ledger.total_latency() && sum == latency.sum() && ledger.completed() == latency.count();
}

std::map<int, StageRow> stage_rows(const Json& result) {
  std::map<int, StageRow> rows;
  if (!result.contains("stages")) return rows;
  for (const Json& s : result.at("stages")) {
    for (int stage = 0; stage < SLUICE_STAGE_COUNT; ++stage) {
      if (s.at("name") != base::stage_title(static_cast<base::Stage>(stage))) continue;
      rows[stage].mean_ns += s.at("mean_ns").get<double>();
      rows[stage].share += s.at("share").get<double>();
    }
  }
  rows[SLUICE_STAGE_unattributed];  // shown even when it is 0
  return rows;
}

std::string stage_table(const Json& result) {
  std::string text = fmt::format("  {:<26} {:>10} {:>9}\n", "where the time goes", "mean", "share");
  for (const auto& [stage, row] : stage_rows(result))
    text += fmt::format("    {:<24} {:>10} {:>7.1f} %  {}\n", base::stage_title(static_cast<base::Stage>(stage)),
                        time_text(row.mean_ns), row.share * 100, bar(row.share));
  return text;
}

std::string latency_text(const Json& l) {
  const auto at = [&](const char* key) { return time_text(l.at(key).get<double>()); };
  return fmt::format("  latency               mean {}   p50 {}   p90 {}   p99 {}   p99.9 {}   max {}\n", at("mean"),
                     at("p50"), at("p90"), at("p99"), at("p999"), at("max"));
}

std::uint64_t dropped_requests(const Json& requests) {
  std::uint64_t sum = 0;
  for (const auto& [reason, n] : requests.at("dropped").items()) sum += n.get<std::uint64_t>();
  return sum;
}

}  // namespace sluice::workload
