// SPDX-License-Identifier: Apache-2.0
/// The steps of receiving a call in results and reports.
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "models/workload/steps.h"

using namespace sluice;
using namespace sluice::base::literals;
using base::Ledger;
using base::Mark;
using base::Owner;
using Json = nlohmann::ordered_json;

namespace {

/// Two calls: the first is found by an interrupt, the second by polling.
Ledger two_calls() {
  Ledger l;
  const auto wire = l.component("net.wire0"), nic = l.component("nic.eth0"), hart = l.component("hart0");
  l.tells(hart, {SLUICE_STEP_interrupt, SLUICE_STEP_schedule});
  for (const bool interrupts : {true, false}) {
    const base::RequestId id = l.open(SLUICE_STAGE_wire, wire, 10_ns);
    const Mark both{{SLUICE_STEP_protocol, SLUICE_STEP_unmarshal}, Owner::nic};
    l.enter(id, SLUICE_STAGE_decode, nic, 20_ns, {}, both);
    l.enter(id, SLUICE_STAGE_upstream_link, nic, 28_ns);
    if (interrupts) l.enter(id, SLUICE_STAGE_idle_exit, hart, 30_ns);
    l.enter(id, SLUICE_STAGE_demultiplex, hart, 32_ns, {}, {{}, Owner::kernel});
    l.executed(id, hart, 9);
    l.enter(id, SLUICE_STAGE_system_call, hart, 40_ns, {}, {{}, Owner::kernel});
    l.executed(id, hart, 2);
    l.enter(id, SLUICE_STAGE_handler, hart, 41_ns, {}, {{}, Owner::application});
    l.complete(id, 61_ns);
  }
  return l;
}

Json result_of(const Ledger& l) {
  Json result = {
      {"ledger", {{"completed", l.completed()}}},
      {"cores", {{{"busy_cycles", 100}, {"busy_instructions", 30}}, {{"busy_cycles", 20}, {"busy_instructions", 0}}}}};
  workload::add_steps(l, result);
  return result;
}

}  // namespace

TEST_CASE("a result has who does which step, and what it costs", "[steps]") {
  const Ledger l = two_calls();
  REQUIRE(workload::steps_sum_up(l));
  const Json steps = result_of(l).at("steps");
  const Json costs = {
      {{"steps", {"protocol processing", "unmarshal"}}, {"who", "NIC"}, {"mean_ns", 8.0}, {"visits", 2}},
      {{"steps", {"demultiplex"}}, {"who", "kernel"}, {"mean_ns", 8.0}, {"instructions", 9.0}, {"visits", 2}},
      {{"steps", {"interrupt a core"}}, {"who", "host"}, {"mean_ns", 1.0}, {"visits", 1}}};
  CHECK(steps.at("costs") == costs);
  // The core has told of interrupts, too, but there is one.
  CHECK(steps.at("nobody") == Json{"schedule"});
  CHECK(steps.at("not_known") == Json{"read the packet", "general protocol", "identify the process", "find a core",
                                      "context switch", "find the function", "jump"});
  const Json rest = {{{"name", "client and wire"}, {"mean_ns", 10.0}, {"visits", 2}},
                     {{"name", "between the steps"}, {"mean_ns", 3.0}, {"visits", 2}},
                     {{"name", "software of no step"}, {"mean_ns", 1.0}, {"instructions", 2.0}, {"visits", 2}},
                     {{"name", "after the jump"}, {"mean_ns", 20.0}, {"visits", 2}}};
  CHECK(steps.at("rest") == rest);
}

TEST_CASE("the table gives a joint cost once, and tells nobody from not known", "[steps]") {
  std::istringstream table(workload::step_table(result_of(two_calls())));
  std::vector<std::string> lines;
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string all;
    for (std::string word; words >> word;) all += (all.empty() ? "" : " ") + word;
    lines.push_back(all);
  }
  CHECK(lines ==
        std::vector<std::string>{
            "receiving a call by mean instructions", "read the packet not known", "protocol processing NIC 8.0 ns",
            "demultiplex kernel 8.0 ns 9.0", "interrupt a core host 1.0 ns", "general protocol not known",
            "identify the process not known", "find a core not known", "schedule nobody", "context switch not known",
            "unmarshal NIC in one pass with: protocol processing", "find the function not known", "jump not known",
            "client and wire 10.0 ns", "between the steps 3.0 ns", "software of no step 1.0 ns 2.0",
            "after the jump 20.0 ns", "sum 51.0 ns", "a call costs the cores 60.0 busy cycles and 15.0 instructions"});
}

TEST_CASE("a result without completed requests has no steps, and no table", "[steps]") {
  const Json result = result_of(Ledger{});
  CHECK_FALSE(result.contains("steps"));
  CHECK(workload::step_table(result).empty());
}
