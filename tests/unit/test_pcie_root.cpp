/// What cores do through the root complex: reads, posted writes, errors; translation; peer to peer; the switch's time.
#include <catch2/catch.hpp>

#include "models/base/waiting.h"
#include "tests/unit/pcie_bench.h"

using namespace sluice;
using namespace sluice::pcie;

TEST_CASE("the latencies of devices' accesses are what is left of published totals", "[pcie]") {
  const Endpoint::Parameters endpoint;
  const auto left = [&](base::Time total, unsigned lanes, std::initializer_list<unsigned> tlps, base::Time memory) {
    Link::Parameters p;
    p.lanes = lanes;
    const Link link("link", p);
    total = total - endpoint.transmit_latency - memory;
    for (const unsigned bytes : tlps) total = total - p.flight - link.up().wire_time(bytes);
    return total;
  };
  const RootComplex::Parameters root;
  // pcie-bench, 64 B from a warm LLC: request and completion at gen3 x8. Nagare: 64 B one way at gen3 x16.
  const base::Time read = left(546_ns, 8, {20, 84}, 20_ns) - endpoint.receive_latency;
  REQUIRE(root.read_latency == 1_ns * (read / 1_ns));
  fresh_kernel();
  REQUIRE(root.write_latency == 1_ns * (left(379_ns, 16, {84}, 10_ns) / 1_ns));
}

TEST_CASE("a core's read takes the sum of its parts, in all widths", "[pcie]") {
  PcieBench b;
  b.enumerate();
  for (unsigned i = 0; i < 64; ++i) b.device.registers[i] = static_cast<std::uint8_t>(i);
  const std::uint64_t bar = b.endpoint().bars.at(0);
  base::Time took;
  std::vector<std::uint64_t> values;
  b.run([&](ScriptedHart& h) {
    const base::Time start = h.time();
    values.push_back(h.read(bar + 8, 4));
    took = h.time() - start;
    values.push_back(h.read(bar + 8, 8));
    values.push_back(h.read(bar + 13, 1));
    values.push_back(h.read(bar + 14, 2));
  });
  REQUIRE(values == std::vector<std::uint64_t>{0x0b0a0908, 0x0f0e0d0c0b0a0908, 0x0d, 0x0f0e});
  // The BAR is above 4 GiB: four DWs of header.
  REQUIRE(took ==
          270_ns + b.link.down().wire_time(24) + 5_ns + 100_ns + 100_ns + b.link.up().wire_time(24) + 5_ns + 270_ns);
}

TEST_CASE("a core goes on after a posted write, and the device sees it when it arrives", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const std::uint64_t bar = b.endpoint().bars.at(0);
  base::Time start, after;
  b.run([&](ScriptedHart& h) {
    start = h.time();
    h.write(bar + 16, 0x1122334455667788, 8);
    after = h.time();
  });
  REQUIRE(after == start);
  REQUIRE(b.device.writes.size() == 1);
  const auto& w = b.device.writes[0];
  REQUIRE(w.offset == 16);
  REQUIRE(little_endian(w.data) == 0x1122334455667788);
  REQUIRE(w.at == start + 270_ns + b.link.down().wire_time(24 + 8) + 5_ns + 100_ns);

  // Its journey can be applied by the device.
  const base::RequestId id = base::ledger().open(SLUICE_STAGE_transmit, 0, start);
  w.journey.apply(id);
  const auto& tiles = base::ledger().find(id)->tiles;
  REQUIRE(tiles[1].stage == SLUICE_STAGE_doorbell);
  REQUIRE(tiles[1].start == start);
  REQUIRE(tiles[2].stage == SLUICE_STAGE_downstream_link);
  REQUIRE(tiles[2].start == start + 270_ns);
}

TEST_CASE("a write of many bytes arrives whole, narrow ones byte by byte", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const std::uint64_t bar = b.endpoint().bars.at(0);
  b.run([&](ScriptedHart& h) {
    std::vector<std::uint8_t> line(64);
    for (unsigned i = 0; i < 64; ++i) line[i] = static_cast<std::uint8_t>(200 - i);
    REQUIRE(h.transport(tlm::TLM_WRITE_COMMAND, bar + 64, line.data(), 64) == tlm::TLM_OK_RESPONSE);
    h.write(bar + 3, 0xab, 1);
    h.write(bar + 6, 0xcdef, 2);
  });
  REQUIRE(b.device.writes.size() == 3);
  REQUIRE(b.device.writes[0].data.size() == 64);
  REQUIRE(b.device.writes[1].offset == 3);
  REQUIRE(b.device.writes[1].data == std::vector<std::uint8_t>{0xab});
  REQUIRE(b.device.writes[2].data == std::vector<std::uint8_t>{0xef, 0xcd});
}

TEST_CASE("a read pushes earlier posted writes to the device", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const std::uint64_t bar = b.endpoint().bars.at(0);
  std::uint64_t v = 0;
  b.run([&](ScriptedHart& h) {
    for (unsigned i = 0; i < 8; ++i) h.write(bar, i + 1, 4);
    v = h.read(bar, 4);
  });
  REQUIRE(v == 8);
}

TEST_CASE("a core is blocked while the posted queue is full", "[pcie]") {
  PcieBench b({.root = {.posted_writes = 2}});
  b.enumerate();
  const std::uint64_t bar = b.endpoint().bars.at(0);
  base::Time took[3];
  b.run([&](ScriptedHart& h) {
    const base::Time start = h.time();
    for (auto& t : took) {
      h.write(bar, 1, 4);
      t = h.time() - start;
    }
  });
  REQUIRE(took[1] == 0_ns);
  REQUIRE(took[2] == 270_ns);  // the first one's way to the link
  REQUIRE(b.root.counters().posted_stalls == 1);
  REQUIRE(b.device.writes.size() == 3);
}

TEST_CASE("an address that no device claims reads all ones and takes writes", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const auto& p = b.options.root;
  std::vector<std::uint64_t> values;
  b.run([&](ScriptedHart& h) {
    values.push_back(h.read(p.mmio32_base + 0x3000'0000, 4));
    REQUIRE(h.response == tlm::TLM_OK_RESPONSE);
    h.write(p.mmio64_base + p.mmio64_size.count() - 8, 1, 8);
    REQUIRE(h.response == tlm::TLM_OK_RESPONSE);
  });
  REQUIRE(values[0] == 0xffff'ffff);
  REQUIRE(b.root.counters().master_aborts >= 2);
  REQUIRE(b.device.writes.empty());
}

TEST_CASE("bad accesses are errors and never reach a device", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const std::uint64_t bar = b.endpoint().bars.at(0);
  std::vector<std::uint8_t> buffer(8192);
  b.run([&](ScriptedHart& h) {
    REQUIRE(h.transport(tlm::TLM_READ_COMMAND, 0x1000, buffer.data(), 4) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    REQUIRE(h.transport(tlm::TLM_READ_COMMAND, bar, buffer.data(), 65) == tlm::TLM_BURST_ERROR_RESPONSE);
    REQUIRE(h.transport(tlm::TLM_WRITE_COMMAND, bar + 4092, buffer.data(), 8) == tlm::TLM_BURST_ERROR_RESPONSE);
    REQUIRE(h.transport(tlm::TLM_IGNORE_COMMAND, bar, buffer.data(), 4) == tlm::TLM_BURST_ERROR_RESPONSE);
  });
  REQUIRE(b.root.counters().bad_accesses == 3);
  REQUIRE(b.device.writes.empty());
  REQUIRE(b.device.reads == 0);
}

TEST_CASE("a register that does not exist reads all ones", "[pcie]") {
  PcieBench b;
  b.enumerate();
  std::uint64_t v = 0;
  b.run([&](ScriptedHart& h) { v = h.read(b.endpoint().bars.at(0) + 0x900, 4); });
  REQUIRE(v == 0xffff'ffff);
  REQUIRE(b.root.counters().error_completions == 1);
}

TEST_CASE("memory decoding off: the device claims nothing", "[pcie]") {
  PcieBench b;
  b.enumerate();
  std::uint64_t v = 0;
  b.run([&](ScriptedHart& h) {
    h.write(b.ecam(b.endpoint().id, PCIE_COMMAND), 0, 2);
    h.write(b.endpoint().bars.at(0), 1, 4);
    v = h.read(b.endpoint().bars.at(0), 4);
  });
  REQUIRE(v == 0xffff'ffff);
  REQUIRE(b.device.writes.empty());
  REQUIRE(b.device.counters().unsupported_requests == 2);
}

TEST_CASE("a device that does not answer costs the completion timeout", "[pcie]") {
  PcieBench b({.root = {.completion_timeout = 20_us}});
  b.enumerate();
  b.device.silent = true;
  std::uint64_t v = 0;
  base::Time took;
  b.run([&](ScriptedHart& h) {
    const base::Time start = h.time();
    v = h.read(b.endpoint().bars.at(0), 4);
    took = h.time() - start;
  });
  REQUIRE(v == 0xffff'ffff);
  REQUIRE(took == 270_ns + 20_us + 270_ns);
  REQUIRE(b.root.counters().completion_timeouts == 1);
}

TEST_CASE("a stalled read says who waits for whom", "[pcie]") {
  PcieBench b;
  b.enumerate();
  b.device.silent = true;
  b.hart.start([&](ScriptedHart& h) { h.read(b.endpoint().bars.at(0), 4); });
  b.scheduler.run_until(base::now() + 2_us);
  REQUIRE(base::describe_waits().find("hart waits for root: read completion") != std::string::npos);
}

TEST_CASE("a slot without a device reads all ones", "[pcie]") {
  PcieBench b({}, false);
  b.enumerate();
  REQUIRE(b.found.size() == 2);  // host bridge and root port
}

TEST_CASE("translation moves accesses, delays them and may refuse", "[pcie]") {
  struct Table : Translator {
    std::vector<RoutingId> seen;
    Translation translate(RoutingId requester, std::uint64_t address, std::uint32_t, bool) override {
      seen.push_back(requester);
      if (address >= 0x9000'0000) return {0, true, {}};
      return {address + 0x2000, false, 40_ns};
    }
  } table;
  PcieBench b;
  b.enumerate();
  b.root.set_translator(&table);
  const std::vector<std::uint8_t> data(64, 7);
  b.device.dma_write(FlatMemory::kBase, data, {});
  b.settle();
  REQUIRE(b.memory.ram.at(FlatMemory::kBase)[0] == 0);
  REQUIRE(b.memory.ram.at(FlatMemory::kBase + 0x2000)[63] == 7);

  DmaStatus status[2] = {};
  std::uint8_t first = 0;
  base::Time took;
  b.device.dma_read(FlatMemory::kBase + 3, 60, {}, [&](const DmaCompletion& c) {
    status[0] = c.status;
    first = c.data[0];
    took = base::now() - c.issued;
  });
  b.device.dma_read(0x9000'0000, 64, {}, [&](const DmaCompletion& c) { status[1] = c.status; });
  b.device.dma_write(0x9000'0000, data, {});
  b.settle();
  REQUIRE(status[0] == DmaStatus::kOk);
  REQUIRE(first == 7);
  REQUIRE(took ==
          100_ns + b.link.up().wire_time(20) + 5_ns + kServed + 40_ns + b.link.down().wire_time(20 + 64) + 105_ns);
  REQUIRE(status[1] == DmaStatus::kUnsupportedRequest);
  REQUIRE(b.root.counters().unsupported_requests == 2);
  REQUIRE(table.seen[0] == b.device.id());
}

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

TEST_CASE("an address below the switch that no port claims is refused there", "[pcie]") {
  PeerBench b;
  DmaStatus status = DmaStatus::kOk;
  b.device0.dma_read(b.bar(b.device0), 4, {}, [&](const DmaCompletion& c) { status = c.status; });  // itself
  b.settle();
  REQUIRE(status == DmaStatus::kUnsupportedRequest);
  REQUIRE(b.fabric.counters().unsupported_requests > 0);
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
  // Cut through, only the header is waited for at the switch.
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
  REQUIRE(tiles.back().start < start + took);
  const std::vector<base::Stage> expected = {
      SLUICE_STAGE_upstream_link,   SLUICE_STAGE_switch_fabric, SLUICE_STAGE_upstream_link,  SLUICE_STAGE_memory,
      SLUICE_STAGE_downstream_link, SLUICE_STAGE_switch_fabric, SLUICE_STAGE_downstream_link};
  REQUIRE(std::vector<base::Stage>(stages.end() - 7, stages.end()) == expected);
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
  options.landed = {SLUICE_STAGE_wait_core, 0};
  const base::Time start = base::now();
  device.dma_write(FlatMemory::kBase, std::vector<std::uint8_t>(256, 1), options);
  scheduler.run_until(base::Time::max());
  const base::Time slow = leaf.up().wire_time(20 + 256);
  REQUIRE(base::ledger().find(id)->tiles.back().start == start + 100_ns + slow + 5_ns + 20_ns + 5_ns + kLanded);
}

TEST_CASE("a full egress holds up the sender through its credits", "[pcie]") {
  // The trunk is a quarter as wide as the device's link, and the switch holds two writes.
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 1_us};
  FlatMemory memory;
  RootComplex::Parameters parameters;
  RootComplex root{"root", parameters, memory};
  ScriptedHart hart{"hart", scheduler};
  Switch fabric{"switch", {.downstream_ports = 1}};
  Link trunk{"trunk", {.lanes = 4}};
  Link leaf{"leaf", {.lanes = 16, .posted_headers = 2, .credit_update = 1_ns}};
  TestDevice device{"device"};
  hart.socket.bind(root.socket);
  trunk.connect(root.root_port(0), fabric.upstream_port());
  leaf.connect(fabric.downstream_port(0), device.port());
  hart.start([&](ScriptedHart& h) { Enumerator(h, parameters).scan(0); });
  scheduler.run_until(base::Time::max());

  const std::vector<std::uint8_t> data(256, 1);
  for (unsigned i = 0; i < 20; ++i) device.dma_write(FlatMemory::kBase + 256 * i, data, {});
  scheduler.run_until(base::Time::max());
  REQUIRE(leaf.up().statistics().credit_stalls > 10);
  REQUIRE(memory.ram.at(FlatMemory::kBase + 256 * 19)[255] == 1);
  REQUIRE(leaf.up().available(TlpClass::kPosted).messages == 2);  // all came back
}

TEST_CASE("no packet is lost or kept", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const std::size_t before = TlpPool::instance().taken();
  const std::vector<std::uint8_t> data(3000, 1);
  for (int i = 0; i < 50; ++i) {
    b.device.dma_write(FlatMemory::kBase + 4096, data, {});
    b.device.dma_read(FlatMemory::kBase, 3000, {}, [](const DmaCompletion&) {});
    b.device.dma_read(8, 4, {}, [](const DmaCompletion&) {});
  }
  b.run([&](ScriptedHart& h) {
    h.write(b.endpoint().bars.at(0), 1, 4);
    h.read(b.endpoint().bars.at(0), 4);
  });
  REQUIRE(TlpPool::instance().taken() == before);
  const auto& p = b.options.link;
  for (LinkDirection* d : {&b.link.up(), &b.link.down()}) {
    b.scheduler.run_until(base::now() + 1_us);
    REQUIRE(d->available(TlpClass::kPosted).messages == p.posted_headers);
    REQUIRE(d->available(TlpClass::kPosted).data == p.posted_data);
    REQUIRE(d->available(TlpClass::kNonPosted).messages == p.non_posted_headers);
  }
}
