// SPDX-License-Identifier: Apache-2.0
/// What the message-rtt workload measured, in the result file and as a table.

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/workload/figures.h"
#include "models/workload/message_rtt/message_rtt_workload.h"
#include "models/workload/stages.h"

namespace sluice::workload {
namespace {

/// Of ascending times: the one in the middle, or the mean of the two there.
double median_ns(const std::vector<base::Time>& times) {
  const std::size_t half = times.size() / 2;
  return times.size() % 2 == 1 ? nanoseconds(times[half]) : nanoseconds((times[half - 1] + times[half]) / 2);
}

Json row(std::uint64_t bytes, std::vector<base::Time> times) {
  std::sort(times.begin(), times.end());
  base::Time sum;
  for (const base::Time t : times) sum += t;
  return {{"bytes", bytes},
          {"messages", times.size()},
          {"rtt_ns", median_ns(times)},
          {"mean_ns", nanoseconds(static_cast<double>(sum.femtoseconds()) / static_cast<double>(times.size()))},
          {"min_ns", nanoseconds(times.front())},
          {"max_ns", nanoseconds(times.back())}};
}

}  // namespace

void MessageRttWorkload::add_result(Json& result) const {
  const base::Ledger& ledger = base::ledger();
  Json dropped = Json::object();
  for (const auto& [reason, n] : ledger.dropped()) dropped[reason] = n;
  result["requests"] = {{"sent", ledger.opened()},
                        {"completed", ledger.completed()},
                        {"dropped", dropped},
                        {"in_flight", ledger.in_flight()},
                        {"lost", 0},
                        {"errors", 0},
                        {"retransmissions", 0},
                        {"late_duplicates", 0}};
  result["latency_ns"] = latency_with_histogram(latency_);
  result["throughput_per_s"] =
      share(static_cast<double>(latency_.count()), last_ > first_ ? (last_ - first_).seconds() : 0.0);
  Json list = Json::array();
  for (const auto& [bytes, times] : by_size_) list.push_back(row(bytes, times));
  result["message_rtt"] = std::move(list);
  add_stages(result);
}

std::vector<ListPlot> MessageRttWorkload::plots() const {
  return {{"message-rtt",
           "Round trip of a message",
           "From a core to the NIC and back, one at a time: medians.",
           "/message_rtt",
           {"bytes", "size of a message (B)"},
           {{"rtt_ns", "round trip"}},
           "time (ns)",
           {}}};
}

std::string MessageRttWorkload::report(const Json& result) const {
  std::string text = "   messages to the NIC and back\n\n";
  const Json& rows = result.at("message_rtt");
  if (rows.empty()) return text + "  nothing was measured\n\n";
  text += fmt::format("  {:>6} {:>9} {:>12} {:>12} {:>12}\n", "bytes", "messages", "round trip", "least", "most");
  for (const Json& r : rows) {
    const auto at = [&r](const char* key) { return time_text(r.at(key).get<double>()); };
    text += fmt::format("  {:>6} {:>9} {:>12} {:>12} {:>12}\n", r.at("bytes").get<std::uint64_t>(),
                        r.at("messages").get<std::uint64_t>(), at("rtt_ns"), at("min_ns"), at("max_ns"));
  }
  return text + "\n" + stage_table(result) + "\n";
}

}  // namespace sluice::workload
