// SPDX-License-Identifier: Apache-2.0
#include "models/workload/steps.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/workload/figures.h"

namespace sluice::workload {
namespace {

using Json = nlohmann::ordered_json;
using base::Ledger;
using base::Mark;
using base::Step;
using base::StepSet;

/// What is no step.
enum class Rest : std::uint8_t { none, wire, between, software };
constexpr std::array kRest = {"", "client and wire", "between the steps", "software of no step"};
constexpr const char* kAfter = "after the jump";
constexpr const char* kSum = "sum";

Rest rest_of(const Mark& mark, base::Stage stage) {
  if (!mark.steps.empty()) return Rest::none;
  if (is_software(mark.owner)) return Rest::software;
  const bool is_wire = stage == SLUICE_STAGE_wire || stage == SLUICE_STAGE_client_queue ||
                       stage == SLUICE_STAGE_retransmit || stage == SLUICE_STAGE_unattributed;
  return is_wire ? Rest::wire : Rest::between;
}

/// By what it is: its steps, in their order, and who does them.
using Key = std::pair<Rest, Mark>;
struct Before {
  bool operator()(const Key& a, const Key& b) const {
    if (a.first != b.first) return a.first < b.first;
    for (unsigned s = 0; s < SLUICE_STEP_COUNT; ++s) {
      const auto step = static_cast<Step>(s);
      if (a.second.steps.has(step) != b.second.steps.has(step)) return a.second.steps.has(step);
    }
    return a.first == Rest::none && a.second.owner < b.second.owner;
  }
};
using Costs = std::map<Key, Ledger::Received, Before>;

Costs costs_of(const Ledger& ledger) {
  Costs costs;
  for (std::size_t c = 0; c < ledger.components(); ++c)
    for (unsigned s = 0; s < SLUICE_STAGE_COUNT; ++s) {
      const auto stage = static_cast<base::Stage>(s);
      for (const Ledger::Received& r : ledger.received(static_cast<Ledger::Component>(c), stage)) {
        Ledger::Received& sum = costs[{rest_of(r.mark, stage), r.mark}];
        sum.time.femtoseconds += r.time.femtoseconds;
        sum.time.visits += r.time.visits;
        sum.instructions += r.instructions;
      }
    }
  return costs;
}

Json titles(StepSet steps) {
  Json list = Json::array();
  for (unsigned s = 0; s < SLUICE_STEP_COUNT; ++s)
    if (steps.has(static_cast<Step>(s))) list.push_back(base::step_title(static_cast<Step>(s)));
  return list;
}

StepSet all_steps() {
  StepSet all;
  for (unsigned s = 0; s < SLUICE_STEP_COUNT; ++s) all.add(static_cast<Step>(s));
  return all;
}

StepLine line_of(const Json& cost) {
  StepLine line{cost.value("who", ""), "", true, cost.at("mean_ns").get<double>(), cost.contains("instructions"), 0};
  if (line.is_software) line.instructions = cost.at("instructions").get<double>();
  return line;
}

bool has(const Json& list, const std::string& title) {
  return std::find(list.begin(), list.end(), title) != list.end();
}

}  // namespace

void add_steps(const Ledger& ledger, Json& result) {
  const double n = static_cast<double>(ledger.completed());
  if (ledger.completed() == 0) return;
  const auto mean = [n](unsigned __int128 fs) { return nanoseconds(share(static_cast<double>(fs), n)); };
  Json costs = Json::array(), rest = Json::array();
  StepSet done;
  for (const auto& [key, cost] : costs_of(ledger)) {
    const auto& [what, mark] = key;
    done = done | mark.steps;
    Json entry = what == Rest::none ? Json{{"steps", titles(mark.steps)}, {"who", owner_title(mark.owner)}}
                                    : Json{{"name", kRest[static_cast<unsigned>(what)]}};
    entry["mean_ns"] = mean(cost.time.femtoseconds);
    if (is_software(mark.owner)) entry["instructions"] = share(static_cast<double>(cost.instructions), n);
    entry["visits"] = cost.time.visits;
    (what == Rest::none ? costs : rest).push_back(std::move(entry));
  }
  rest.push_back({{"name", kAfter}, {"mean_ns", mean(ledger.after().femtoseconds)}, {"visits", ledger.after().visits}});
  const StepSet nobody = ledger.told().without(done);
  result["steps"] = {{"costs", std::move(costs)},
                     {"nobody", titles(nobody)},
                     {"not_known", titles(all_steps().without(done | nobody))},
                     {"rest", std::move(rest)}};
}

bool steps_sum_up(const Ledger& ledger) {
  unsigned __int128 sum = ledger.after().femtoseconds;
  for (const auto& [key, cost] : costs_of(ledger)) sum += cost.time.femtoseconds;
  return sum == ledger.total_latency();
}

std::vector<std::string> step_titles() {
  std::vector<std::string> all;
  for (unsigned s = 0; s < SLUICE_STEP_COUNT; ++s) all.emplace_back(base::step_title(static_cast<Step>(s)));
  all.insert(all.end(), kRest.begin() + 1, kRest.end());
  all.insert(all.end(), {kAfter, kSum});
  return all;
}

std::vector<StepLine> step_lines(const Json& result, const std::string& title) {
  const Json& steps = result.at("steps");
  std::vector<StepLine> lines;
  double sum = 0;
  for (const Json& cost : steps.at("costs")) {
    sum += cost.at("mean_ns").get<double>();
    if (!has(cost.at("steps"), title)) continue;
    lines.push_back(line_of(cost));
    const auto first = cost.at("steps").front().get<std::string>();
    if (first != title) lines.back().with = first;
  }
  for (const Json& rest : steps.at("rest")) {
    sum += rest.at("mean_ns").get<double>();
    if (rest.at("name") == title) lines.push_back(line_of(rest));
  }
  if (has(steps.at("nobody"), title)) lines.push_back({"nobody", "", false});
  if (has(steps.at("not_known"), title)) lines.push_back({"not known", "", false});
  if (title == kSum) lines.push_back({"", "", true, sum});
  return lines;
}

std::string step_table(const Json& result) {
  if (!result.contains("steps")) return {};
  std::string text = fmt::format("  {:<26} {:<12} {:>10} {:>13}\n", "receiving a call", "by", "mean", "instructions");
  for (const std::string& title : step_titles()) {
    bool is_first = true;
    for (const StepLine& l : step_lines(result, title)) {
      std::string row = fmt::format("    {:<24} {:<12} ", std::exchange(is_first, false) ? title : "", l.who);
      if (!l.with.empty())
        row += "  in one pass with: " + l.with;
      else if (l.has_cost)
        row += fmt::format("{:>10}", time_text(l.mean_ns));
      if (l.with.empty() && l.is_software) row += fmt::format(" {:>13.1f}", l.instructions);
      row.erase(row.find_last_not_of(' ') + 1);
      text += row + "\n";
    }
  }
  const Busy b = busy(result);
  return text +
         fmt::format("  a call costs the cores {:.1f} busy cycles and {:.1f} instructions\n", b.cycles, b.instructions);
}

Busy busy(const Json& result) {
  const double n = result.at("ledger").at("completed").get<double>();
  Busy sum;
  for (const Json& core : result.at("cores")) {
    sum.cycles += share(core.at("busy_cycles").get<double>(), n);
    sum.instructions += share(core.at("busy_instructions").get<double>(), n);
  }
  return sum;
}

}  // namespace sluice::workload
