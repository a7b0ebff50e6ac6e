// SPDX-License-Identifier: Apache-2.0
/// MSI-X with its masks and pending bits, INTx through bridges.
#include <catch2/catch.hpp>

#include "models/base/measure/mistakes.h"
#include "tests/unit/pcie/pcie_bench.h"

using namespace sluice;
using namespace sluice::pcie;

namespace {

struct MsixBench : PcieBench {
  std::uint64_t table = 0;
  std::uint64_t control = 0;

  MsixBench() {
    enumerate();
    table = endpoint().bars.at(2);
    control = ecam(endpoint().id, device.config().find_capability(PCIE_CAPABILITY_ID_MSIX) + PCIE_MSIX_CONTROL);
    run([this](ScriptedHart& h) {
      for (unsigned v = 0; v < TestDevice::kVectors; ++v) {
        h.write(table + 16 * v, MessageSink::kAddress, 4);
        h.write(table + 16 * v + 4, 0, 4);
        h.write(table + 16 * v + 8, 100 + v, 4);
      }
    });
  }
  void set_control(unsigned bits) {
    run([this, bits](ScriptedHart& h) { h.write(control, bits, 2); });
  }
  void mask(unsigned v, bool masked) {
    run([=, this](ScriptedHart& h) { h.write(table + 16 * v + 12, masked, 4); });
  }
  std::uint64_t pending() {
    std::uint64_t bits = 0;
    run([&](ScriptedHart& h) { bits = h.read(table + 0x1000, 8); });
    return bits;
  }
};

}  // namespace

TEST_CASE("the MSI-X capability says how many vectors there are and where", "[pcie]") {
  PcieBench b;
  const ConfigSpace& c = b.device.config();
  const unsigned at = c.find_capability(PCIE_CAPABILITY_ID_MSIX);
  REQUIRE((c.get16(at + PCIE_MSIX_CONTROL) & PCIE_MSIX_CONTROL_SIZE) == TestDevice::kVectors - 1);
  REQUIRE(c.get32(at + PCIE_MSIX_TABLE) == 2);
  REQUIRE(c.get32(at + PCIE_MSIX_PBA) == (0x1000 | 2));
}

TEST_CASE("an unmasked vector's message arrives with its data, behind earlier writes", "[pcie]") {
  MsixBench b;
  b.set_control(PCIE_MSIX_CONTROL_ENABLE);
  b.mask(1, false);
  const std::uint8_t byte = 0x5a;
  const base::Time start = base::now();
  REQUIRE(b.device.dma_write(FlatMemory::kBase, {&byte, 1}, {}));
  REQUIRE(b.device.msix(1));
  b.settle();
  REQUIRE(b.soc.messages.size() == 1);
  REQUIRE(b.soc.messages[0].data == 101);
  const base::Time wire = b.link.up().wire_time(24);
  // The write and the message have one DW each; the message lands no earlier than the byte.
  const base::Time root = b.root.parameters().write_latency;
  REQUIRE(b.soc.messages[0].at == start + 100_ns + wire + 5_ns + std::max(wire + root, root + 30_ns));
  REQUIRE(*b.memory.ram.at(FlatMemory::kBase) == 0x5a);
  REQUIRE(b.root.counters().messages_signalled == 1);
}

TEST_CASE("vectors are masked after reset and fire when unmasked", "[pcie]") {
  MsixBench b;
  b.set_control(PCIE_MSIX_CONTROL_ENABLE);
  REQUIRE(b.device.msix(2));
  REQUIRE(b.device.msix(2));
  b.settle();
  REQUIRE(b.soc.messages.empty());
  REQUIRE(b.pending() == 0b100);
  b.mask(2, false);
  b.settle();
  REQUIRE(b.soc.messages.size() == 1);
  REQUIRE(b.soc.messages[0].data == 102);
  REQUIRE(b.pending() == 0);
}

TEST_CASE("a vector that has never been unmasked is a mistake, one that software masks for a while is none", "[pcie]") {
  MsixBench b;
  base::mistakes().clear();
  b.set_control(PCIE_MSIX_CONTROL_ENABLE);
  const auto said = [] {
    std::vector<std::string> all;
    for (const base::Mistake& m : base::mistakes().list()) all.push_back(m.what);
    CHECK((all.empty() || base::mistakes().list().back().times == 1));
    return all;
  };
  const std::vector<std::string> one{
      "device: interrupt of vector 2: it has not been unmasked since reset, so its message waits"};
  b.mask(1, false);
  b.mask(1, true);
  b.device.msix(1);
  CHECK(said().empty());
  for (unsigned times = 0; times < 3; ++times) b.device.msix(2);
  CHECK(said() == one);
  b.mask(2, false);
  b.mask(2, true);
  b.device.msix(2);
  CHECK(said() == one);
  // A vector that is unmasked in the table stays masked as long as the capability masks all.
  b.set_control(PCIE_MSIX_CONTROL_ENABLE | PCIE_MSIX_CONTROL_FUNCTION_MASK);
  b.mask(3, false);
  b.device.msix(3);
  CHECK(said().size() == 2);
  b.set_control(PCIE_MSIX_CONTROL_ENABLE);
  b.set_control(PCIE_MSIX_CONTROL_ENABLE | PCIE_MSIX_CONTROL_FUNCTION_MASK);
  b.device.msix(3);
  CHECK(said().size() == 2);
  b.settle();
  CHECK(b.soc.messages.size() == 2);
}

TEST_CASE("a long write into the table unmasks every entry that it covers", "[pcie]") {
  MsixBench b;
  base::mistakes().clear();
  b.set_control(PCIE_MSIX_CONTROL_ENABLE);
  std::vector<std::uint8_t> entries(32);
  entries[3] = entries[19] = MessageSink::kAddress >> 24;
  entries[16] = 2;
  b.run([&](ScriptedHart& h) { h.transport(tlm::TLM_WRITE_COMMAND, b.table + 16, entries.data(), 32); });
  b.device.msix(1);
  b.device.msix(2);
  b.settle();
  CHECK(b.soc.messages.size() == 2);
  std::vector<std::string> said;
  for (const base::Mistake& m : base::mistakes().list()) said.push_back(m.what);
  CHECK(said == std::vector<std::string>{
                    "device: write of 32 bytes at 0x10: not the register's width (MSI-X table)",
                    "device: message address 0x28000002 of vector 2 is not a multiple of 4: the low bits are dropped"});
}

TEST_CASE("the function mask pends all vectors", "[pcie]") {
  MsixBench b;
  b.set_control(PCIE_MSIX_CONTROL_ENABLE | PCIE_MSIX_CONTROL_FUNCTION_MASK);
  b.mask(0, false);
  b.mask(3, false);
  b.device.msix(0);
  b.device.msix(1);
  b.device.msix(3);
  REQUIRE(b.pending() == 0b1011);
  b.set_control(PCIE_MSIX_CONTROL_ENABLE);
  b.settle();
  REQUIRE(b.soc.messages.size() == 2);
  REQUIRE(b.soc.messages[0].data == 100);
  REQUIRE(b.soc.messages[1].data == 103);
  REQUIRE(b.pending() == 0b0010);
}

TEST_CASE("without MSI-X, bus mastering or such a vector a message is dropped and counted", "[pcie]") {
  MsixBench b;
  REQUIRE_FALSE(b.device.msix(0));
  b.set_control(PCIE_MSIX_CONTROL_ENABLE);
  b.mask(0, false);
  REQUIRE_FALSE(b.device.msix(TestDevice::kVectors));
  b.run([&](ScriptedHart& h) { h.write(b.ecam(b.endpoint().id, PCIE_COMMAND), PCIE_COMMAND_MEMORY, 2); });
  REQUIRE_FALSE(b.device.msix(0));
  b.settle();
  REQUIRE(b.soc.messages.empty());
  REQUIRE(b.device.counters().msix_dropped == 3);
}

TEST_CASE("a message to an address that takes none is an unsupported request", "[pcie]") {
  MsixBench b;
  b.set_control(PCIE_MSIX_CONTROL_ENABLE);
  b.run([&](ScriptedHart& h) { h.write(b.table, 0x1000, 4); });
  b.mask(0, false);
  b.device.msix(0);
  b.settle();
  REQUIRE(b.root.counters().unsupported_requests == 1);
}

TEST_CASE("the table reads back what was written, in any width", "[pcie]") {
  MsixBench b;
  std::vector<std::uint64_t> values;
  b.run([&](ScriptedHart& h) {
    values = {h.read(b.table + 16, 8), h.read(b.table + 24, 4), h.read(b.table + 28, 4), h.read(b.table + 24, 1)};
  });
  REQUIRE(values == std::vector<std::uint64_t>{MessageSink::kAddress, 101, 1, 101});
  REQUIRE(b.device.reads == 0);
}

TEST_CASE("a message's requests wait in the interrupt stage, or where the device says", "[pcie]") {
  MsixBench b;
  b.set_control(PCIE_MSIX_CONTROL_ENABLE);
  b.mask(0, false);
  const auto nic = base::ledger().component("nic");
  const base::RequestId one = base::ledger().open(SLUICE_STAGE_notify, nic, base::now());
  const base::RequestId two = base::ledger().open(SLUICE_STAGE_notify, nic, base::now());
  b.device.msix(0, base::Spans(0, 0, one));
  b.device.msix(0, base::Spans(0, 0, two), {SLUICE_STAGE_wait_core, nic});
  b.settle();
  REQUIRE(base::ledger().find(one)->tiles.back().stage == SLUICE_STAGE_interrupt);
  REQUIRE(base::ledger().find(one)->tiles.back().start == b.soc.messages[0].at);
  REQUIRE(base::ledger().find(two)->tiles.back().stage == SLUICE_STAGE_wait_core);
  REQUIRE(base::ledger().find(two)->tiles.back().start == b.soc.messages[1].at);
}

TEST_CASE("a message moves only requests that software has not found by itself", "[pcie]") {
  MsixBench b;
  b.set_control(PCIE_MSIX_CONTROL_ENABLE);
  b.mask(0, false);
  const auto nic = base::ledger().component("nic");
  const base::RequestId found = base::ledger().open(SLUICE_STAGE_poll, nic, base::now());
  const base::RequestId waits = base::ledger().open(SLUICE_STAGE_wait_core, nic, base::now());
  base::Spans both(0, 0, found);
  both.add({0, 0, waits});
  b.device.msix(0, both, {SLUICE_STAGE_interrupt, nic, true});
  b.settle();
  REQUIRE(base::ledger().find(found)->tiles.size() == 1);
  REQUIRE(base::ledger().find(waits)->tiles.size() == 2);  // the message's own journey is left out
  REQUIRE(base::ledger().find(waits)->tiles.back().stage == SLUICE_STAGE_interrupt);
  REQUIRE(base::ledger().error().empty());
}

TEST_CASE("INTx is a level at the root complex, swizzled by root port", "[pcie]") {
  PcieBench b;
  b.enumerate();
  b.device.intx(true);
  b.settle();
  // INTA of device 0 below root port 0, which is device 1: line 1.
  REQUIRE_FALSE(b.root.intx[0].level());
  REQUIRE(b.root.intx[1].level());
  b.device.intx(true);  // no change, no message
  b.settle();
  REQUIRE(b.link.up().statistics().tlps[static_cast<unsigned>(TlpType::kMsg)] == 1);

  // Disabled, it is deasserted; the status bit stays.
  b.run([&](ScriptedHart& h) {
    h.write(b.ecam(b.endpoint().id, PCIE_COMMAND),
            PCIE_COMMAND_MEMORY | PCIE_COMMAND_BUS_MASTER | PCIE_COMMAND_INTX_DISABLE, 2);
  });
  REQUIRE_FALSE(b.root.intx[1].level());
  REQUIRE(b.device.config().get16(PCIE_STATUS) & PCIE_STATUS_INTERRUPT);
  b.device.intx(false);
  b.settle();
  REQUIRE_FALSE(b.device.config().get16(PCIE_STATUS) & PCIE_STATUS_INTERRUPT);
}

TEST_CASE("neither INTA nor a register's value passes a write before it", "[pcie]") {
  PcieBench::Options options;
  options.root.completion_latency = 0_ns;
  PcieBench b(options);
  b.memory.write = 5_us;
  b.enumerate();
  const std::uint64_t bar = b.endpoint().bars.at(0);
  const std::vector<std::uint8_t> word{1, 2, 3, 4};
  const auto stored = [&] {
    std::uint32_t v = 0;
    b.memory.ram.read(FlatMemory::kBase, reinterpret_cast<std::uint8_t*>(&v), 4);
    return v;
  };

  std::uint32_t seen = 0;
  b.run([&](ScriptedHart& h) {
    b.device.dma_write(FlatMemory::kBase, word, {});
    h.read(bar, 4);
    seen = stored();
  });
  REQUIRE(seen == 0x04030201);

  const auto nic = base::ledger().component("nic");
  const base::RequestId id = base::ledger().open(SLUICE_STAGE_notify, nic, base::now());
  seen = 0;
  base::Time told;
  b.root.intx[1].on_change = [&](bool level) {
    if (level) {
      told = base::now();
      seen = stored();
    }
  };
  b.device.dma_write(FlatMemory::kBase, std::vector<std::uint8_t>{9, 0, 0, 0}, {});
  b.device.intx(true, base::Spans(0, 0, id), {SLUICE_STAGE_interrupt, nic, true});
  b.device.intx(false);
  b.settle();
  REQUIRE(seen == 9);
  REQUIRE(base::ledger().find(id)->tiles.back().stage == SLUICE_STAGE_interrupt);
  REQUIRE(base::ledger().find(id)->tiles.back().start == told);
}

TEST_CASE("a function level reset takes INTA back", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const unsigned express = b.device.config().find_capability(PCIE_CAPABILITY_ID_EXPRESS);
  const auto reset = [&] {
    b.run([&](ScriptedHart& h) {
      h.write(b.ecam(b.endpoint().id, express + PCIE_EXPRESS_DEVICE_CONTROL), PCIE_EXPRESS_DEVICE_CONTROL_FLR, 2);
    });
  };
  const auto messages = [&] { return b.link.up().statistics().tlps[static_cast<unsigned>(TlpType::kMsg)]; };
  reset();
  REQUIRE(messages() == 0);  // nothing to take back
  b.device.intx(true);
  b.settle();
  REQUIRE(b.root.intx[1].level());
  reset();
  REQUIRE(b.device.resets == 2);
  REQUIRE_FALSE(b.root.intx[1].level());
  REQUIRE(messages() == 2);
  REQUIRE_FALSE(b.device.config().get16(PCIE_STATUS) & PCIE_STATUS_INTERRUPT);
  b.device.intx(true);
  b.settle();
  REQUIRE(b.root.intx[1].level());
}

namespace {

/// What takes the link below root port 0 down.
enum class Loss { link_down, secondary_bus_reset };

void lose(PcieBench& b, Loss loss) {
  if (loss == Loss::link_down) return b.link.set_up(false);
  b.run([&](ScriptedHart& h) {
    const std::uint64_t control = b.ecam(routing_id(0, 1, 0), PCIE_BRIDGE_CONTROL);
    h.write(control, PCIE_BRIDGE_CONTROL_RESET, 2);
    h.write(control, 0, 2);
  });
}

}  // namespace

TEST_CASE("INTA falls when the link to its device is lost, and may rise again", "[pcie]") {
  const auto loss = GENERATE(Loss::link_down, Loss::secondary_bus_reset);
  PcieBench b;
  b.enumerate();
  b.device.intx(true);
  b.settle();
  REQUIRE(b.root.intx[1].level());
  lose(b, loss);
  b.settle();
  REQUIRE_FALSE(b.root.intx[1].level());
  b.link.set_up(true);
  b.settle();
  REQUIRE_FALSE(b.root.intx[1].level());
  b.enumerate();
  b.device.intx(true);
  b.settle();
  REQUIRE(b.root.intx[1].level());
}

TEST_CASE("INTA that was on its way when the link was lost does not rise behind it", "[pcie]") {
  const auto loss = GENERATE(Loss::link_down, Loss::secondary_bus_reset);
  // In the device's pipeline, or at the root complex behind a write that has yet to land.
  const bool received = GENERATE(false, true);
  PcieBench::Options options;
  if (!received) options.endpoint.transmit_latency = 5_us;
  PcieBench b(options);
  b.enumerate();
  unsigned rises = 0;
  b.root.intx[1].on_change = [&rises](bool level) { rises += level; };
  if (received) {
    b.memory.write = 5_us;
    b.device.dma_write(FlatMemory::kBase, std::vector<std::uint8_t>{1, 0, 0, 0}, {});
  }
  b.device.intx(true);
  b.scheduler.run_until(base::now() + 1_us);
  lose(b, loss);
  b.settle();
  REQUIRE(rises == received);
  REQUIRE_FALSE(b.root.intx[1].level());
}

namespace {

/// Devices at ports 0, 3 and 4 of a switch.
struct SwitchBench {
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 1_us};
  FlatMemory memory;
  RootComplex::Parameters parameters;
  RootComplex root{"root", parameters, memory};
  Switch fabric{"switch", {.downstream_ports = 5}};
  Link trunk{"trunk", {}}, link0{"link0", {}}, link3{"link3", {}}, link4{"link4", {}};
  TestDevice device0{"device0"}, device3{"device3"}, device4{"device4"};
  ScriptedHart hart{"hart", scheduler};

  SwitchBench() {
    hart.socket.bind(root.socket);
    trunk.connect(root.root_port(0), fabric.upstream_port());
    link0.connect(fabric.downstream_port(0), device0.port());
    link3.connect(fabric.downstream_port(3), device3.port());
    link4.connect(fabric.downstream_port(4), device4.port());
  }
  void settle() { scheduler.run_until(base::Time::max()); }
  void enumerate() {
    hart.start([this](ScriptedHart& h) { Enumerator(h, parameters).scan(0); });
    settle();
  }
  void reset_below(RoutingId bridge) {
    hart.start([this, bridge](ScriptedHart& h) {
      h.write(parameters.ecam_base + (std::uint64_t{bridge} << 12) + PCIE_BRIDGE_CONTROL, PCIE_BRIDGE_CONTROL_RESET, 2);
    });
    settle();
  }
  /// The root complex's wires, bit 0 is INTA.
  unsigned lines() const {
    unsigned v = 0;
    for (unsigned i = 0; i < 4; ++i) v |= static_cast<unsigned>(root.intx[i].level()) << i;
    return v;
  }
  std::uint64_t messages() const { return trunk.up().statistics().tlps[static_cast<unsigned>(TlpType::kMsg)]; }
};

constexpr unsigned kLine0 = 1u << 1;  // of ports 0 and 4: pin A + port + the root port's device number 1
constexpr unsigned kLine3 = 1u << 0;

}  // namespace

TEST_CASE("a switch joins its ports' wires and swizzles by port", "[pcie]") {
  SwitchBench b;
  b.device3.intx(true);
  b.settle();
  REQUIRE(b.lines() == kLine3);
  b.device0.intx(true);
  b.device4.intx(true);
  b.settle();
  REQUIRE(b.lines() == (kLine0 | kLine3));
  b.device0.intx(false);  // port 4 still holds the wire
  b.settle();
  REQUIRE(b.lines() == (kLine0 | kLine3));
  b.device4.intx(false);
  b.settle();
  REQUIRE(b.lines() == kLine3);
}

TEST_CASE("a switch deasserts what came from a link that is lost, and nothing else", "[pcie]") {
  SwitchBench b;
  b.enumerate();
  for (TestDevice* d : {&b.device0, &b.device3, &b.device4}) d->intx(true);
  b.settle();
  REQUIRE(b.lines() == (kLine0 | kLine3));
  REQUIRE(b.messages() == 2);
  b.link4.set_up(false);  // port 0 still holds the wire
  b.settle();
  REQUIRE(b.lines() == (kLine0 | kLine3));
  REQUIRE(b.messages() == 2);
  b.reset_below(routing_id(2, 3, 0));  // downstream port 3
  REQUIRE(b.device3.resets == 1);
  REQUIRE(b.device0.resets == 0);
  REQUIRE(b.lines() == kLine0);
  REQUIRE(b.messages() == 3);
  b.link0.set_up(false);
  b.settle();
  REQUIRE(b.lines() == 0);
  REQUIRE(b.messages() == 4);
}

TEST_CASE("a reset or a loss above a switch takes all wires below it down", "[pcie]") {
  SwitchBench b;
  b.enumerate();
  for (TestDevice* d : {&b.device0, &b.device3}) d->intx(true);
  b.settle();
  REQUIRE(b.lines() == (kLine0 | kLine3));
  const bool by_link = GENERATE(true, false);
  std::uint64_t deasserted = 0;
  if (by_link) {
    b.trunk.set_up(false);
    b.settle();
    b.trunk.set_up(true);
  } else {
    // At the root port, which needs no message, and at the switch's upstream port, which sends two.
    const bool at_switch = GENERATE(false, true);
    b.reset_below(at_switch ? routing_id(1, 0, 0) : routing_id(0, 1, 0));
    deasserted = at_switch ? 2 : 0;
  }
  b.settle();
  REQUIRE(b.lines() == 0);
  REQUIRE(b.messages() == 2 + deasserted);
  REQUIRE(b.device0.resets == 1);
  REQUIRE(b.device3.resets == 1);
  b.device3.intx(true);
  b.settle();
  REQUIRE(b.lines() == kLine3);
}
