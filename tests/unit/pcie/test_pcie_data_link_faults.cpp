// SPDX-License-Identifier: Apache-2.0
/// What a hart and a device see of faults on their PCIe link: poisoned and missing completions, a link that goes down,
/// a device that stands still.
#include <memory>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "models/pcie/data_link.h"
#include "tests/unit/pcie/pcie_bench.h"
#include "tests/unit/pcie/scripted_faults.h"

using namespace sluice;
using namespace sluice::base::literals;
using namespace sluice::pcie;

namespace {

/// A whole fabric, with a script for one direction of its link.
struct FabricBench : PcieBench {
  Script script;
  std::unique_ptr<DataLink> data_link;
  void script_for(LinkDirection& direction, LinkDirection& reverse,
                  std::vector<std::pair<unsigned, MessageFate>> fates) {
    script.fates = std::move(fates);
    script.completions_only = true;
    script.seen = 0;
    data_link =
        std::make_unique<DataLink>("pcie.slot0.x", direction, reverse, replay_timing(link.parameters(), 2_us), script);
  }
};

}  // namespace

TEST_CASE("a hart's read with a poisoned completion is a bus error", "[data_link]") {
  FabricBench b;
  b.enumerate();
  b.script_for(b.link.up(), b.link.down(), {{2, MessageFate::poisoned}});
  const std::uint64_t bar = b.endpoint().bars.at(0);
  b.device.registers[0] = 0x5a;
  std::vector<tlm::tlm_response_status> responses;
  std::vector<std::uint64_t> values;
  b.run([&](ScriptedHart& h) {
    for (unsigned i = 0; i < 3; ++i) {
      values.push_back(h.read(bar, 4));
      responses.push_back(h.response);
    }
  });
  CHECK(responses == std::vector{tlm::TLM_OK_RESPONSE, tlm::TLM_GENERIC_ERROR_RESPONSE, tlm::TLM_OK_RESPONSE});
  CHECK(values[2] == 0x5a);
  CHECK(b.root.counters().poisoned_completions == 1);
}

TEST_CASE("a DMA read with a poisoned completion fails, and those behind it do not", "[data_link]") {
  FabricBench b;
  b.enumerate();
  b.script_for(b.link.down(), b.link.up(), {{2, MessageFate::poisoned}});
  std::vector<DmaStatus> ends;
  for (unsigned i = 0; i < 2; ++i)
    b.device.dma_read(FlatMemory::kBase, 256, {}, [&](const DmaCompletion& c) { ends.push_back(c.status); });
  b.settle();
  CHECK(ends == std::vector{DmaStatus::kPoisoned, DmaStatus::kOk});
  CHECK(b.device.counters().poisoned_completions == 1);
  CHECK(b.device.counters().unexpected_completions == 0);
  CHECK(b.device.reads_in_flight() == 0);
}

TEST_CASE("a completion that never comes ends in the requester's timeout", "[data_link]") {
  FabricBench b;
  b.enumerate();
  b.script_for(b.link.up(), b.link.down(), {{1, MessageFate::unsent}});
  const base::Time before = base::now();
  std::uint64_t value = 0;
  base::Time after;
  b.run([&](ScriptedHart& h) {
    value = h.read(b.endpoint().bars.at(0), 4);
    after = h.time();
  });
  CHECK(value == 0xffffffff);
  CHECK(b.root.counters().completion_timeouts == 1);
  CHECK(after == before + 270_ns + b.options.root.completion_timeout + 270_ns);

  b.script_for(b.link.down(), b.link.up(), {{1, MessageFate::unsent}});
  DmaStatus status = DmaStatus::kOk;
  b.device.dma_read(FlatMemory::kBase, 64, {}, [&](const DmaCompletion& c) { status = c.status; });
  b.settle();
  CHECK(status == DmaStatus::kTimeout);
  CHECK(b.device.counters().completion_timeouts == 1);
}

TEST_CASE("a link that goes down ends a hart's read at once, and resets the device", "[data_link]") {
  FabricBench b;
  b.enumerate();
  b.device.silent = true;
  const base::Time before = base::now();
  base::calendar().after(1_us, 0, [&] { b.link.set_up(false); });
  std::uint64_t value = 0;
  base::Time after;
  b.run([&](ScriptedHart& h) {
    value = h.read(b.endpoint().bars.at(0), 4);
    after = h.time();
  });
  CHECK(value == 0xffffffff);
  CHECK(after == before + 1_us + 270_ns);
  CHECK(b.device.resets == 1);
  CHECK_FALSE(b.device.config().bus_master());
  // While it is down nobody answers; afterwards the device must be set up anew.
  b.run([&](ScriptedHart& h) { value = h.read(b.ecam(b.endpoint().id, PCIE_VENDOR_ID), 4); });
  CHECK(value == 0xffffffff);
  b.link.set_up(true);
  b.device.silent = false;
  b.run([&](ScriptedHart& h) { value = h.read(b.ecam(b.endpoint().id, PCIE_VENDOR_ID), 4); });
  CHECK(value == 0x56781234);
}

TEST_CASE("a device that stands still answers when it goes on", "[data_link]") {
  FabricBench b;
  b.enumerate();
  b.device.stop();
  base::calendar().after(50_us, 0, [&] { b.device.resume(); });
  const base::Time before = base::now();
  const std::uint64_t bar = b.endpoint().bars.at(0);
  std::uint64_t value = 0;
  base::Time after;
  b.run([&](ScriptedHart& h) {
    h.write(bar, 0x77, 4);
    value = h.read(bar, 4);
    after = h.time();
  });
  CHECK(value == 0x77);
  CHECK(after == before + 50_us + 100_ns + b.link.up().wire_time(24) + 5_ns + 270_ns);
}
