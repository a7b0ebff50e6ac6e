// SPDX-License-Identifier: Apache-2.0
/// Requests and completions between devices, through switches and between root ports: routes, order, time.
#include <deque>

#include <catch2/catch.hpp>

#include "tests/unit/pcie/pcie_bench.h"

using namespace sluice;
using namespace sluice::pcie;

namespace {

/// Two devices below a switch, one beside it on a root port of its own.
struct PeerBench {
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 1_us};
  FlatMemory memory;
  RootComplex::Parameters parameters{.root_ports = 2};
  RootComplex root{"root", parameters, memory};
  ScriptedHart hart{"hart", scheduler};
  Switch fabric;
  Link trunk{"trunk", {}}, link0{"link0", {}}, link1{"link1", {}}, direct{"direct", {}};
  TestDevice device0{"device0"}, device1{"device1"}, other{"other"};
  std::map<RoutingId, std::uint64_t> bars;

  explicit PeerBench(const Switch::Parameters& p = {.downstream_ports = 2}) : fabric("switch", p) {
    hart.socket.bind(root.socket);
    trunk.connect(root.root_port(0), fabric.upstream_port());
    link0.connect(fabric.downstream_port(0), device0.port());
    link1.connect(fabric.downstream_port(1), device1.port());
    direct.connect(root.root_port(1), other.port());
    hart.start([this](ScriptedHart& h) {
      Enumerator e(h, parameters);
      e.scan(0);
      for (const auto& f : e.found)
        if (f.bars.contains(0)) bars[f.id] = f.bars.at(0);
    });
    settle();
  }
  void settle() { scheduler.run_until(base::Time::max()); }
  std::uint64_t bar(const TestDevice& d) { return bars.at(d.id()); }
};

}  // namespace

TEST_CASE("peers below one switch talk without the root complex", "[pcie]") {
  PeerBench b;
  b.device1.registers[8] = 0x77;
  const std::uint64_t trunk = b.trunk.up().statistics().bytes;
  const std::vector<std::uint8_t> data(8, 0x33);
  b.device0.dma_write(b.bar(b.device1), data, {});
  std::uint8_t got = 0;
  b.device0.dma_read(b.bar(b.device1) + 8, 4, {}, [&](const DmaCompletion& c) { got = c.data[0]; });
  b.settle();
  REQUIRE(b.device1.writes.size() == 1);
  REQUIRE(got == 0x77);
  REQUIRE(b.trunk.up().statistics().bytes == trunk);
}

TEST_CASE("peers below different root ports talk through the root complex", "[pcie]") {
  PeerBench b;
  b.other.registers[8] = 0x78;
  const std::vector<std::uint8_t> data(8, 0x34);
  b.device0.dma_write(b.bar(b.other), data, {});
  std::uint8_t got = 0;
  b.device0.dma_read(b.bar(b.other) + 8, 4, {}, [&](const DmaCompletion& c) { got = c.data[0]; });
  b.settle();
  REQUIRE(b.other.writes.size() == 1);
  REQUIRE(got == 0x78);
}

namespace {

/// Two devices, each on a root port of its own.
struct NeighbourBench {
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 1_us};
  FlatMemory memory;
  RootComplex::Parameters parameters{.root_ports = 2};
  RootComplex root{"root", parameters, memory};
  ScriptedHart hart{"hart", scheduler};
  Link link0{"link0", {}}, link1{"link1", {}};
  TestDevice device0{"device0"}, device1{"device1"};
  std::uint64_t bar0 = 0, bar1 = 0;

  NeighbourBench() {
    hart.socket.bind(root.socket);
    link0.connect(root.root_port(0), device0.port());
    link1.connect(root.root_port(1), device1.port());
    hart.start([this](ScriptedHart& h) {
      Enumerator e(h, parameters);
      e.scan(0);
      for (const auto& f : e.found)
        if (f.bars.contains(0)) (f.id == device0.id() ? bar0 : bar1) = f.bars.at(0);
    });
    settle();
  }
  void settle() { scheduler.run_until(base::Time::max()); }
  /// Time of a TLP of this size on an idle link, with the flight and the device port's pipeline in that direction.
  base::Time link(unsigned bytes) { return link0.up().wire_time(bytes) + 5_ns + 100_ns; }
  base::Time hop() const { return parameters.write_latency; }  ///< from root port to root port
};

/// Maps every address to itself and takes `reads` or `writes` for it; refuses kFault.
struct SlowTranslator : Translator {
  static constexpr std::uint64_t kFault = 0x9000'0000;
  base::Time reads, writes;
  Translation translate(RoutingId, std::uint64_t address, std::uint32_t, bool write) override {
    return {address, address == kFault, write ? writes : reads};
  }
};

}  // namespace

TEST_CASE("requests to a peer take the translation's time", "[pcie]") {
  NeighbourBench b;
  SlowTranslator iommu;
  b.root.set_translator(&iommu);
  iommu.reads = 70_ns;
  iommu.writes = 3_us;
  base::Time start = base::now();
  b.device0.dma_write(b.bar1, std::vector<std::uint8_t>(8, 0x34), {});
  b.settle();
  REQUIRE(b.device1.writes.size() == 1);
  REQUIRE(b.device1.writes[0].at == start + b.link(24 + 8) + b.hop() + 3_us + b.link(24 + 8));
  base::Time took;
  b.device0.dma_read(b.bar1 + 8, 4, {}, [&](const DmaCompletion& c) { took = base::now() - c.issued; });
  b.settle();
  REQUIRE(took == b.link(24) * 2 + b.hop() + 70_ns + b.link(24) * 2 + b.hop());
}

TEST_CASE("a read that the translation refuses is told so when the translation has ended", "[pcie]") {
  NeighbourBench b;
  SlowTranslator iommu;
  b.root.set_translator(&iommu);
  iommu.reads = 700_ns;
  base::Time took;
  b.device0.dma_read(SlowTranslator::kFault, 4, {}, [&](const DmaCompletion& c) {
    REQUIRE(c.status == DmaStatus::kUnsupportedRequest);
    took = base::now() - c.issued;
  });
  b.settle();
  REQUIRE(took == b.link(20) + 700_ns + b.link(20));
}

TEST_CASE("a peer's completion passes no write before it, unless its order is relaxed", "[pcie]") {
  const bool relaxed = GENERATE(false, true);
  const bool to_memory = GENERATE(false, true);
  NeighbourBench b;
  SlowTranslator iommu;
  b.root.set_translator(&iommu);
  b.memory.write = 30_ns;
  iommu.writes = 5_us;
  const base::Time start = base::now();
  const std::vector<std::uint8_t> data(8, 0x55);
  b.device0.dma_write(to_memory ? FlatMemory::kBase : b.bar1, data, {});
  base::Time done;
  bool written = false;
  DmaOptions options;
  options.relaxed_ordering = relaxed;
  b.device1.dma_read(b.bar0 + 8, 4, options, [&](const DmaCompletion&) {
    done = base::now();
    written = to_memory ? *b.memory.ram.at(FlatMemory::kBase) == 0x55 : b.device1.writes.size() == 1;
  });
  b.settle();
  REQUIRE(written == !relaxed);
  const base::Time answered = start + b.link(24) * 2 + b.hop() + b.link(24);
  if (relaxed) {
    REQUIRE(done == answered + b.hop() + b.link(24));
    return;
  }
  const base::Time arrived = start + b.link((to_memory ? 20 : 24) + 8) + b.hop() + 5_us + (to_memory ? 30_ns : 0_ns);
  REQUIRE(arrived > answered + b.hop());
  // To the peer, the completion leaves when the write's last bit has left.
  REQUIRE(done == arrived + (to_memory ? 0_ns : b.link0.up().wire_time(24 + 8)) + b.link(24));
}

TEST_CASE("a peer's relaxed write passes earlier ones, a strict one does not", "[pcie]") {
  const bool relaxed = GENERATE(false, true);
  NeighbourBench b;
  b.memory.write = 5_us;
  const base::Time start = base::now();
  const std::vector<std::uint8_t> data(8, 0x55);
  b.device0.dma_write(FlatMemory::kBase, data, {});
  DmaOptions options;
  options.relaxed_ordering = relaxed;
  b.device0.dma_write(b.bar1, data, options);
  b.settle();
  const base::Time first = b.link(20 + 8), second = first + b.link0.up().wire_time(24 + 8);
  REQUIRE(b.device1.writes.at(0).at == start + (relaxed ? second : first + 5_us) + b.hop() + b.link(24 + 8));
}

TEST_CASE("an address below the switch that no port claims is refused there", "[pcie]") {
  PeerBench b;
  DmaStatus status = DmaStatus::kOk;
  const std::uint64_t before = b.fabric.counters().unsupported_requests;
  b.device0.dma_read(b.bar(b.device0), 4, {}, [&](const DmaCompletion& c) { status = c.status; });  // itself
  b.settle();
  REQUIRE(status == DmaStatus::kUnsupportedRequest);
  REQUIRE(b.fabric.counters().unsupported_requests == before + 1);
}

TEST_CASE("a switch adds its latency and a link, and the ledger says so", "[pcie]") {
  const bool cut_through = GENERATE(false, true);
  PeerBench b({.downstream_ports = 2, .latency = 115_ns, .cut_through = cut_through});
  const base::RequestId id = base::ledger().open(SLUICE_STAGE_nic_queue, 0, base::now());
  const base::Time start = base::now();
  base::Time took;
  DmaOptions options;
  options.spans = base::Spans(0, 64, id);
  b.device0.dma_read(FlatMemory::kBase, 64, options, [&](const DmaCompletion& c) { took = base::now() - c.issued; });
  b.settle();
  const base::Time up = b.link0.up().wire_time(20);
  const base::Time down = b.link0.down().wire_time(20 + 64);
  const base::Time header = b.link0.up().wire_time(12);
  // Cut through, the switch waits only for the header.
  const base::Time at_switch_up = cut_through ? header : up;
  const base::Time at_switch_down = cut_through ? header : down;
  REQUIRE(took == 100_ns + at_switch_up + 5_ns + 115_ns + up + 5_ns + kServed + at_switch_down + 5_ns + 115_ns + down +
                      5_ns + 100_ns);

  const auto& tiles = base::ledger().find(id)->tiles;
  std::vector<base::Stage> stages;
  base::Time in_switch;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    stages.push_back(tiles[i].stage);
    if (tiles[i].stage == SLUICE_STAGE_switch_fabric) in_switch += tiles[i + 1].start - tiles[i].start;
  }
  REQUIRE(in_switch == 230_ns);
  REQUIRE(tiles.back().start == start + took - (down + 105_ns));
  const std::vector<base::Stage> expected = {
      SLUICE_STAGE_upstream_link,   SLUICE_STAGE_switch_fabric, SLUICE_STAGE_upstream_link,  SLUICE_STAGE_memory,
      SLUICE_STAGE_downstream_link, SLUICE_STAGE_switch_fabric, SLUICE_STAGE_downstream_link};
  REQUIRE(std::vector<base::Stage>(stages.end() - 7, stages.end()) == expected);
}

TEST_CASE("a read through a chain of switches has the hops of all of them", "[pcie]") {
  constexpr unsigned kSwitches = 5;
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 1_us};
  FlatMemory memory;
  RootComplex::Parameters parameters;
  RootComplex root{"root", parameters, memory};
  ScriptedHart hart{"hart", scheduler};
  std::deque<Switch> fabric;
  std::deque<Link> links;
  TestDevice device{"device"};
  hart.socket.bind(root.socket);
  Port* above = &root.root_port(0);
  for (unsigned i = 0; i < kSwitches; ++i) {
    fabric.emplace_back(("switch" + std::to_string(i)).c_str(), Switch::Parameters{.downstream_ports = 1});
    links.emplace_back(("link" + std::to_string(i)).c_str(), Link::Parameters{});
    links.back().connect(*above, fabric.back().upstream_port());
    above = &fabric.back().downstream_port(0);
  }
  links.emplace_back("leaf", Link::Parameters{});
  links.back().connect(*above, device.port());
  hart.start([&](ScriptedHart& h) { Enumerator(h, parameters).scan(0); });
  scheduler.run_until(base::Time::max());

  const base::RequestId id = base::ledger().open(SLUICE_STAGE_nic_queue, 0, base::now());
  base::Time took;
  DmaOptions options;
  options.spans = base::Spans(0, 64, id);
  device.dma_read(FlatMemory::kBase, 64, options, [&](const DmaCompletion& c) {
    took = base::now() - c.issued;
    base::ledger().complete(id, base::now(), c.issued);
  });
  scheduler.run_until(base::Time::max());
  REQUIRE(base::ledger().error().empty());
  const base::Time up = links[0].up().wire_time(20) + 5_ns, down = links[0].down().wire_time(20 + 64) + 5_ns;
  REQUIRE(took == 200_ns + (up + down) * (kSwitches + 1) + 115_ns * (2 * kSwitches) + kServed);
  for (unsigned i = 0; i <= kSwitches; ++i) {
    const auto spent = [](const base::Model& m, base::Stage s) {
      return base::Time::fs(static_cast<std::uint64_t>(base::ledger().total(m.component(), s).femtoseconds));
    };
    const base::Time end = i == kSwitches ? 100_ns : 0_ns;  // the device's pipelines count to its link
    REQUIRE(spent(links[i], SLUICE_STAGE_upstream_link) == up + end);
    REQUIRE(spent(links[i], SLUICE_STAGE_downstream_link) == down + end);
    if (i < kSwitches) REQUIRE(spent(fabric[i], SLUICE_STAGE_switch_fabric) == 230_ns);
  }
}

TEST_CASE("cut through to a faster link, the last bit is not sent before it has come", "[pcie]") {
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 1_us};
  FlatMemory memory;
  RootComplex::Parameters parameters;
  RootComplex root{"root", parameters, memory};
  ScriptedHart hart{"hart", scheduler};
  Switch fabric{"switch", {.downstream_ports = 1, .latency = 20_ns, .cut_through = true}};
  Link trunk{"trunk", {.lanes = 16}};
  Link leaf{"leaf", {.lanes = 4}};
  TestDevice device{"device"};
  hart.socket.bind(root.socket);
  trunk.connect(root.root_port(0), fabric.upstream_port());
  leaf.connect(fabric.downstream_port(0), device.port());
  hart.start([&](ScriptedHart& h) { Enumerator(h, parameters).scan(0); });
  scheduler.run_until(base::Time::max());

  const base::RequestId id = base::ledger().open(SLUICE_STAGE_nic_queue, 0, base::now());
  DmaOptions options;
  options.spans = base::Spans(0, 256, id);
  options.arrival_stage = {SLUICE_STAGE_wait_core, 0};
  const base::Time start = base::now();
  device.dma_write(FlatMemory::kBase, std::vector<std::uint8_t>(256, 1), options);
  scheduler.run_until(base::Time::max());
  const base::Time slow = leaf.up().wire_time(20 + 256);
  REQUIRE(base::ledger().find(id)->tiles.back().start == start + 100_ns + slow + 5_ns + 20_ns + 5_ns + kLanded);
}

TEST_CASE("a full egress holds up the sender through its credits", "[pcie]") {
  // The trunk is a quarter as wide as the device's link, and the switch holds two writes.
  BelowSwitchBench<Switch> b({.lanes = 4}, {.lanes = 16, .posted_headers = 2, .credit_update = 1_ns});

  const std::vector<std::uint8_t> data(256, 1);
  for (unsigned i = 0; i < 20; ++i) b.device.dma_write(FlatMemory::kBase + 256 * i, data, {});
  b.settle();
  REQUIRE(b.leaf.up().statistics().credit_stalls == 18);  // all but the first two
  REQUIRE(b.memory.ram.at(FlatMemory::kBase + 256 * 19)[255] == 1);
  REQUIRE(b.leaf.up().available(TlpClass::kPosted).messages == 2);  // all came back
}
