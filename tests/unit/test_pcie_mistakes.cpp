/// What is said of requests that nobody on PCIe serves: one sentence for each transfer.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "models/base/mistakes.h"
#include "tests/unit/pcie_bench.h"

using namespace sluice;
using namespace sluice::pcie;

namespace {

constexpr std::uint64_t kNowhere = 0x9000'0000;
const std::vector<std::uint8_t> kBytes(1024, 7);
const std::string kHart = "cluster.host.hart0";

/// Two devices below a switch.
struct Bench {
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 1_us};
  FlatMemory memory;
  RootComplex::Parameters parameters;
  RootComplex root{"root", parameters, memory};
  ScriptedHart hart{"hart", scheduler};
  Switch fabric{"switch", {.downstream_ports = 2}};
  Link trunk{"trunk", {}}, link0{"link0", {}}, link1{"link1", {}};
  TestDevice device0{"device0"}, device1{"device1"};
  std::map<RoutingId, std::uint64_t> bars;

  Bench() {
    hart.socket.bind(root.socket);
    trunk.connect(root.root_port(0), fabric.upstream_port());
    link0.connect(fabric.downstream_port(0), device0.port());
    link1.connect(fabric.downstream_port(1), device1.port());
    run([this](ScriptedHart& h) {
      Enumerator e(h, parameters);
      e.scan(0);
      for (const auto& f : e.found)
        if (f.bars.contains(0)) bars[f.id] = f.bars.at(0);
    });
    base::mistakes().clear();
  }
  void run(ScriptedHart::Script script) {
    hart.start(std::move(script));
    settle();
  }
  void settle() { scheduler.run_until(base::Time::max()); }
  void command(RoutingId id, std::uint16_t value) {
    run([&](ScriptedHart& h) { h.write(parameters.ecam_base + (std::uint64_t{id} << 12) + PCIE_COMMAND, value, 2); });
  }
  std::vector<std::string> said() const {
    std::vector<std::string> all;
    for (const base::Mistake& m : base::mistakes().list()) all.push_back(m.what);
    return all;
  }
};

using Said = std::vector<std::string>;

}  // namespace

TEST_CASE("a transfer to nowhere is one mistake, and names its purpose and its instruction", "[pcie]") {
  Bench b;
  DmaOptions options;
  options.by = {&kHart, 0x8000'1234};
  options.purpose = {"the buffer of receive descriptor", 5, 2};
  b.device0.dma_write(kNowhere, kBytes, options);
  b.device0.dma_write(kNowhere, kBytes, options);
  b.device0.dma_read(kNowhere + 2, 1000, {}, [](const DmaCompletion&) {});
  b.settle();
  REQUIRE(b.root.counters().unsupported_requests > 3);
  // A write is found out where it lands, and a read does not pass the writes before it.
  REQUIRE(b.said() == Said{"device0: DMA write of 1024 bytes at 0x90000000 for the buffer of receive descriptor 5 of "
                           "queue 2: neither memory nor a device is there",
                           "device0: DMA read of 1000 bytes at 0x90000002: neither memory nor a device is there"});
  const auto& list = base::mistakes().list();
  CHECK((list[0].hart == kHart && list[0].pc == 0x8000'1234 && list[0].times == 2));
  CHECK((list[1].hart.empty() && list[1].times == 1));
}

TEST_CASE("bus mastering that is off is named, of the device and of what is above it", "[pcie]") {
  Bench b;
  const RoutingId device = b.device0.id();
  b.command(device, PCIE_COMMAND_MEMORY);
  CHECK_FALSE(b.device0.dma_write(FlatMemory::kBase, kBytes, {}));
  b.device0.dma_read(FlatMemory::kBase, 64, {}, [](const DmaCompletion&) {});
  b.settle();
  b.command(device, PCIE_COMMAND_MEMORY | PCIE_COMMAND_BUS_MASTER);
  b.command(routing_id(2, 0, 0), PCIE_COMMAND_MEMORY);  // the switch's downstream port
  b.device0.dma_read(FlatMemory::kBase, 64, {}, [](const DmaCompletion&) {});
  b.settle();
  b.command(routing_id(2, 0, 0), PCIE_COMMAND_MEMORY | PCIE_COMMAND_BUS_MASTER);
  b.command(routing_id(0, 1, 0), PCIE_COMMAND_MEMORY);  // the root port
  b.device0.dma_read(FlatMemory::kBase, 64, {}, [](const DmaCompletion&) {});
  b.settle();
  REQUIRE(b.said() ==
          Said{"device0: DMA write of 1024 bytes at 0x80000000: bus mastering is off in its command register",
               "device0: DMA read of 64 bytes at 0x80000000: bus mastering is off in its command register",
               "device0: DMA read of 64 bytes at 0x80000000: bus mastering is off in the command register of a switch "
               "port above it",
               "device0: DMA read of 64 bytes at 0x80000000: bus mastering is off in the command register of the root "
               "port above it"});
}

TEST_CASE("memory space that is off is named, of the device that is asked", "[pcie]") {
  Bench b;
  const std::uint64_t bar = b.bars.at(b.device1.id());
  b.command(b.device1.id(), PCIE_COMMAND_BUS_MASTER);
  b.run([&](ScriptedHart& h) { CHECK(h.read(bar, 4) == 0xffffffff); });
  b.device0.dma_read(bar, 4, {}, [](const DmaCompletion&) {});
  b.settle();
  b.command(b.device1.id(), PCIE_COMMAND_MEMORY | PCIE_COMMAND_BUS_MASTER);
  b.command(routing_id(0, 1, 0), PCIE_COMMAND_BUS_MASTER);
  b.run([&](ScriptedHart& h) { CHECK(h.read(bar, 4) == 0xffffffff); });
  const std::string at = fmt::format(" 4 bytes at {:#x}: ", bar);
  REQUIRE(b.said() ==
          Said{"device1: read of" + at + "memory space is off in its command register",
               "device0: DMA read of" + at + "device1 is asked, and memory space is off in its command register",
               "root: read of" + at + "memory space is off in the command register of the root port 00:01.0"});
}

TEST_CASE("an address that leads to an empty slot is named", "[pcie]") {
  PcieBench b({}, false);
  base::mistakes().clear();
  const std::uint64_t at = RootComplex::Parameters{}.mmio32_base;
  b.run([&](ScriptedHart& h) {
    const std::uint64_t port = RootComplex::Parameters{}.ecam_base + (std::uint64_t{routing_id(0, 1, 0)} << 12);
    h.write(port + PCIE_MEMORY_BASE, at >> 16, 2);
    h.write(port + PCIE_MEMORY_LIMIT, at >> 16, 2);
    h.write(port + PCIE_COMMAND, PCIE_COMMAND_MEMORY, 2);
    CHECK(h.read(at, 4) == 0xffffffff);
    h.write(at + 4, 1, 4);
  });
  b.settle();
  REQUIRE(base::mistakes().list().size() == 2);
  CHECK(base::mistakes().list()[0].what ==
        fmt::format("root: read of 4 bytes at {:#x}: nothing is connected to the root port 00:01.0", at));
  CHECK(base::mistakes().list()[1].what ==
        fmt::format("root: write of 4 bytes at {:#x}: nothing is connected to the root port 00:01.0", at + 4));
}
