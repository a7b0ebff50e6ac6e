// SPDX-License-Identifier: Apache-2.0
/// Configuration space as firmware sees it: sizing, capabilities, enumeration through bridges.
#include <initializer_list>
#include <utility>

#include <catch2/catch.hpp>

#include "tests/unit/pcie/pcie_bench.h"

using namespace sluice;
using namespace sluice::pcie;

namespace {
struct SwitchBench {
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 1_us};
  FlatMemory memory;
  RootComplex::Parameters parameters{.root_ports = 2};
  RootComplex root{"root", parameters, memory};
  ScriptedHart hart{"hart", scheduler};
  Switch fabric{"switch", {.downstream_ports = 3}};
  Link trunk{"trunk", {}};
  Link link0{"link0", {}};
  Link link2{"link2", {}};
  Link direct{"direct", {}};
  TestDevice device0{"device0"};
  TestDevice device2{"device2"};
  TestDevice other{"other"};

  SwitchBench() {
    hart.socket.bind(root.socket);
    trunk.connect(root.root_port(0), fabric.upstream_port());
    link0.connect(fabric.downstream_port(0), device0.port());
    link2.connect(fabric.downstream_port(2), device2.port());
    direct.connect(root.root_port(1), other.port());
  }
};
}  // namespace

TEST_CASE("a BAR answers all ones with its size", "[pcie]") {
  ConfigSpace c({0x1234, 0x5678, 0x020000, 1, 2, 3}, PCIE_HEADER_TYPE_ENDPOINT);
  c.define_bar(0, {Bar::Kind::kMemory64, true, 1u << 20});
  c.define_bar(2, {Bar::Kind::kMemory32, false, 4096});
  for (unsigned n = 0; n < 6; ++n) c.write(PCIE_BAR(n), ~0u, 0xf);
  REQUIRE(c.read(PCIE_BAR(0)) == 0xfff0000c);
  REQUIRE(c.read(PCIE_BAR(1)) == 0xffffffff);
  REQUIRE(c.read(PCIE_BAR(2)) == 0xfffff000);
  REQUIRE(c.read(PCIE_BAR(3)) == 0);
  c.write(PCIE_BAR(0), 0x12345678, 0xf);
  c.write(PCIE_BAR(1), 0x1, 0xf);
  REQUIRE(c.bar_address(0) == 0x1'1230'0000);
}

TEST_CASE("a BAR that no function can have is refused", "[pcie]") {
  using Kind = Bar::Kind;
  ConfigSpace c({}, PCIE_HEADER_TYPE_ENDPOINT);
  c.define_bar(1, {Kind::kMemory64, true, 16});
  c.define_bar(5, {Kind::kMemory32, false, 1ull << 31});
  const auto refused = [&c](unsigned n, const Bar& bar, const char* why) {
    REQUIRE_THROWS_WITH(c.define_bar(n, bar), Catch::StartsWith(why));
  };
  for (const std::uint64_t size : {0ull, 8ull, 24ull, 5000ull, (1ull << 63) + 16})
    refused(0, {Kind::kMemory32, false, size}, "BAR 0 has ");
  refused(0, {Kind::kMemory32, false, 1ull << 32}, "BAR 0 is larger than the 2 GiB");
  refused(0, {Kind::kMemory64, true, 4096}, "BAR 0 is a 64-bit one, and its upper half is BAR 1");
  refused(2, {Kind::kMemory32, false, 4096}, "BAR 2 is the upper half of BAR 1");
  refused(4, {Kind::kMemory64, true, 4096}, "BAR 4 is a 64-bit one, and its upper half is BAR 5");
  refused(5, {Kind::kMemory64, true, 4096}, "BAR 5 has no place");
  refused(6, {Kind::kMemory32, false, 4096}, "BAR 6 does not exist");
  REQUIRE(c.read(PCIE_BAR(2)) == 0);
}

TEST_CASE("a 64-bit BAR larger than 4 GiB is sized in its upper half", "[pcie]") {
  ConfigSpace c({}, PCIE_HEADER_TYPE_ENDPOINT);
  c.define_bar(4, {Bar::Kind::kMemory64, true, 1ull << 33});
  c.write(PCIE_BAR(4), ~0u, 0xf);
  c.write(PCIE_BAR(5), ~0u, 0xf);
  REQUIRE(c.read(PCIE_BAR(4)) == 0xc);
  REQUIRE(c.read(PCIE_BAR(5)) == 0xfffffffe);
}

TEST_CASE("software changes only what it may", "[pcie]") {
  ConfigSpace c({0x1234, 0x5678, 0x020000, 1, 2, 3}, PCIE_HEADER_TYPE_ENDPOINT);
  c.add_express(PCIE_EXPRESS_TYPE_ENDPOINT);
  c.write(PCIE_VENDOR_ID, 0, 0xf);
  REQUIRE(c.read(PCIE_VENDOR_ID) == 0x56781234);
  c.write(PCIE_COMMAND, 0xffffffff, 0xf);
  REQUIRE(c.get16(PCIE_COMMAND) == 0x0546);
  REQUIRE(c.get16(PCIE_STATUS) == PCIE_STATUS_CAPABILITIES);
  c.write(PCIE_COMMAND, 0, 0x2);  // the second byte only
  REQUIRE(c.get16(PCIE_COMMAND) == 0x0046);
  REQUIRE(c.read(0x100) == 0);
  c.write(0x100, 1, 0xf);  // beyond the space: nothing
  REQUIRE(c.read(0x100) == 0);
}

TEST_CASE("a maximum payload beyond what is supported is not used", "[pcie]") {
  ConfigSpace c({}, PCIE_HEADER_TYPE_ENDPOINT);
  c.add_express(PCIE_EXPRESS_TYPE_ENDPOINT);
  const unsigned express = c.find_capability(PCIE_CAPABILITY_ID_EXPRESS);
  c.set_max_payload(256, 256);
  REQUIRE(c.max_payload() == 256);
  c.write(express + PCIE_EXPRESS_DEVICE_CONTROL, 5 << 5 | 2 << 12, 0x3);
  REQUIRE(c.max_payload() == 256);
  REQUIRE(c.max_read_request() == 512);
  c.write(express + PCIE_EXPRESS_DEVICE_CONTROL, 0 << 5 | 5 << 12, 0x3);
  REQUIRE(c.max_payload() == 128);
  REQUIRE(c.max_read_request() == 4096);
}

TEST_CASE("a bridge's windows claim nothing until they are set and enabled", "[pcie]") {
  Bridge b({}, PCIE_EXPRESS_TYPE_ROOT_PORT);
  REQUIRE_FALSE(b.leads_to(0));
  REQUIRE_FALSE(b.leads_to_bus(0));
  b.write(PCIE_COMMAND, PCIE_COMMAND_MEMORY, 0x3);
  REQUIRE_FALSE(b.leads_to(0));
  b.write(PCIE_MEMORY_BASE, 0x4020'4010, 0xf);
  REQUIRE_FALSE(b.leads_to(0x400f'ffff));
  REQUIRE(b.leads_to(0x4010'0000));
  REQUIRE(b.leads_to(0x402f'ffff));
  REQUIRE_FALSE(b.leads_to(0x4030'0000));
  b.write(PCIE_PREFETCHABLE_BASE, 0x0000'0000, 0xf);
  b.write(PCIE_PREFETCHABLE_BASE_UPPER, 0x40, 0xf);
  b.write(PCIE_PREFETCHABLE_LIMIT_UPPER, 0x40, 0xf);
  REQUIRE(b.leads_to(0x40'000f'ffff));
  REQUIRE_FALSE(b.leads_to(0x40'0010'0000));
  REQUIRE(b.config().read(PCIE_PREFETCHABLE_BASE) == 0x0001'0001);
}

TEST_CASE("firmware finds the tree below the root complex", "[pcie]") {
  SwitchBench b;
  std::vector<Enumerator::Found> found;
  b.hart.start([&](ScriptedHart& h) {
    Enumerator e(h, b.parameters);
    e.scan(0);
    found = e.found;
  });
  b.scheduler.run_until(base::Time::max());

  std::vector<RoutingId> bridges, devices;
  for (const auto& f : found) (f.bridge ? bridges : devices).push_back(f.id);
  // Root ports 00:01 and 00:02, the switch at 01:00 with its ports on bus 2, of which the middle one is empty.
  REQUIRE(bridges == std::vector<RoutingId>{0x0008, 0x0100, 0x0200, 0x0208, 0x0210, 0x0010});
  REQUIRE(devices == std::vector<RoutingId>{0x0000, 0x0300, 0x0500, 0x0600});
  REQUIRE(b.device0.id() == 0x0300);
  REQUIRE(b.device2.id() == 0x0500);
  REQUIRE(b.other.id() == 0x0600);

  // Through the bridges, an access reaches the registers of its device and no others.
  std::uint64_t value = 0;
  b.hart.start([&](ScriptedHart& h) {
    for (const auto& f : found)
      if (f.bars.contains(0)) h.write(f.bars.at(0) + 8, f.id, 4);
    for (const auto& f : found)
      if (f.id == 0x0500) value = h.read(f.bars.at(0) + 8, 4);
  });
  b.scheduler.run_until(base::Time::max());
  for (TestDevice* d : {&b.device0, &b.device2, &b.other}) {
    REQUIRE(d->writes.size() == 1);
    REQUIRE(little_endian(d->writes[0].data) == d->id());
  }
  REQUIRE(value == 0x0500);
}

TEST_CASE("where nothing is, configuration space reads all ones and takes writes", "[pcie]") {
  PcieBench b;
  b.enumerate();
  std::vector<std::uint64_t> values;
  b.run([&](ScriptedHart& h) {
    for (const RoutingId id : {routing_id(0, 9, 0), routing_id(0, 0, 1), routing_id(1, 3, 0), routing_id(77, 0, 0)}) {
      h.write(b.ecam(id, PCIE_COMMAND), 7, 2);
      values.push_back(h.read(b.ecam(id, 0), 4));
    }
    values.push_back(h.read(b.ecam(routing_id(1, 0, 5), 0), 4));  // another function of the device: it answers UR
  });
  REQUIRE(values == std::vector<std::uint64_t>(5, 0xffff'ffff));
  REQUIRE(b.root.counters().error_completions == 1);
  REQUIRE(b.device.counters().unsupported_requests == 1);
}

TEST_CASE("configuration space is read in bytes, words and doublewords, never across one", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const auto at = b.ecam(b.endpoint().id, 0);
  std::vector<std::uint64_t> values;
  std::vector<tlm::tlm_response_status> responses;
  b.run([&](ScriptedHart& h) {
    for (const auto& [offset, size] : {std::pair{0u, 4u}, {2u, 2u}, {3u, 1u}, {8u, 1u}, {0u, 8u}, {3u, 2u}}) {
      values.push_back(h.read(at + offset, size));
      responses.push_back(h.response);
    }
  });
  REQUIRE(values == std::vector<std::uint64_t>{0x56781234, 0x5678, 0x56, 3, 0, 0});
  REQUIRE(responses[3] == tlm::TLM_OK_RESPONSE);
  REQUIRE(responses[4] == tlm::TLM_BURST_ERROR_RESPONSE);
  REQUIRE(responses[5] == tlm::TLM_BURST_ERROR_RESPONSE);
  REQUIRE(b.root.counters().bad_accesses == 2);
}

TEST_CASE("the link's speed, width and payload are in the capabilities", "[pcie]") {
  PcieBench b({.link = {.generation = 4, .lanes = 8, .max_payload = 512_B}});
  const ConfigSpace& c = b.device.config();
  const unsigned express = c.find_capability(PCIE_CAPABILITY_ID_EXPRESS);
  REQUIRE(c.get16(express + PCIE_EXPRESS_LINK_STATUS) == (4 | 8 << 4));
  REQUIRE((c.get32(express + PCIE_EXPRESS_DEVICE_CAPABILITIES) & 7) == 2);
  REQUIRE(c.max_payload() == 512);
}

TEST_CASE("the parameters declare themselves and keep the windows aligned", "[pcie]") {
  REQUIRE(base::schema_of<RootComplex::Parameters>().find("read_latency") != nullptr);
  REQUIRE(base::schema_of<Switch::Parameters>().find("latency") != nullptr);
  REQUIRE(base::schema_of<Endpoint::Parameters>().find("tags") != nullptr);
  RootComplex::Parameters p;
  const auto* base = base::schema_of<RootComplex::Parameters>().find("mmio32_base");
  base->assign_text(&p, "0x5000_0000");
  REQUIRE(p.mmio32_base == 0x5000'0000);
  REQUIRE_THROWS_AS(base->assign_text(&p, "0x50000001"), base::ValueError);
}

TEST_CASE("a function level reset and a secondary bus reset clear the device", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const RoutingId id = b.endpoint().id;
  const unsigned express = b.device.config().find_capability(PCIE_CAPABILITY_ID_EXPRESS);
  REQUIRE(b.device.config().bus_master());
  b.run([&](ScriptedHart& h) {
    h.write(b.ecam(id, express + PCIE_EXPRESS_DEVICE_CONTROL), PCIE_EXPRESS_DEVICE_CONTROL_FLR, 2);
  });
  REQUIRE(b.device.resets == 1);
  REQUIRE_FALSE(b.device.config().bus_master());
  REQUIRE(b.device.config().bar_address(0) == 0);
  REQUIRE(b.device.config().max_payload() == 256);
  b.run([&](ScriptedHart& h) {
    h.write(b.ecam(routing_id(0, 1, 0), PCIE_BRIDGE_CONTROL), PCIE_BRIDGE_CONTROL_RESET, 2);
    h.write(b.ecam(routing_id(0, 1, 0), PCIE_BRIDGE_CONTROL), 0, 2);
  });
  REQUIRE(b.device.resets == 2);
}

TEST_CASE("after a reset every function below the root complex is as after construction", "[pcie][reset]") {
  SwitchBench b;
  const auto state = [&b] {
    std::vector<std::uint32_t> all;
    for (const ConfigSpace* c : {&b.root.host_bridge(), &b.root.bridge(0).config(), &b.root.bridge(1).config(),
                                 &b.fabric.upstream_bridge().config(), &b.fabric.downstream_bridge(0).config(),
                                 &b.fabric.downstream_bridge(2).config(), &std::as_const(b.device0).config(),
                                 &std::as_const(b.device2).config(), &std::as_const(b.other).config()})
      for (unsigned reg = 0; reg < ConfigSpace::kBytes; reg += 4) all.push_back(c->read(reg));
    for (const TestDevice* d : {&b.device0, &b.device2, &b.other}) {
      all.push_back(d->id());
      for (const pcie_msix_entry& e : d->msix_table())
        all.insert(all.end(), {e.address_low, e.address_high, e.data, e.control});
    }
    return all;
  };
  const auto run = [&b](ScriptedHart::Script s) {
    b.hart.start(std::move(s));
    b.scheduler.run_until(base::Time::max());
  };
  std::vector<Enumerator::Found> found;
  const auto enumerate = [&](ScriptedHart& h) {
    Enumerator e(h, b.parameters);
    e.scan(0);
    found = e.found;
  };
  const std::vector<std::uint32_t> fresh = state();
  run([&](ScriptedHart& h) {
    enumerate(h);
    for (const Enumerator::Found& f : found) {
      if (!f.bars.contains(2)) continue;
      for (unsigned at = 0; at < TestDevice::kVectors * sizeof(pcie_msix_entry); at += 4)
        h.write(f.bars.at(2) + at, 0xabcd'0000 + at, 4);
      for (unsigned reg = 0; reg < ConfigSpace::kBytes; reg += 4)
        h.write(b.parameters.ecam_base + (std::uint64_t{f.id} << PCIE_ECAM_FUNCTION_SHIFT) + reg, 0x5a5a'5a5a, 4);
    }
  });
  const std::size_t functions = found.size();
  CHECK(functions == 10);
  CHECK(state() != fresh);
  // The switch resets what is below it.
  for (base::Resettable* r : std::initializer_list<base::Resettable*>{&b.fabric, &b.other, &b.root}) r->reset();
  CHECK(state() == fresh);
  run(enumerate);
  CHECK(found.size() == functions);
}
