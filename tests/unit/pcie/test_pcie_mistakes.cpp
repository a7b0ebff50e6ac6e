// SPDX-License-Identifier: Apache-2.0
/// What is said of requests that nobody on PCIe serves: one sentence for each transfer.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "models/base/measure/mistakes.h"
#include "tests/unit/pcie/pcie_bench.h"

using namespace sluice;
using namespace sluice::pcie;

namespace {

constexpr std::uint64_t kNowhere = 0x9000'0000;
const std::vector<std::uint8_t> kBytes(1024, 7);
const std::string kHart = "cluster.host.hart0";

/// A CLINT, which refuses everything, and an interrupt controller that takes everything and knows no identity.
struct Soc : SocWriter {
  static constexpr std::uint64_t kClint = 0x200'0000, kImsic = 0x2800'0000, kSize = 0x1000;
  unsigned root = 0;  ///< writes that lead back to the root complex
  static bool within(std::uint64_t address, std::uint64_t base) { return address - base < kSize; }
  bool write(std::uint64_t address, const void*, unsigned size) override {
    if (within(address, kImsic)) {
      base::mistakes().report("imsic: no such identity");
      return true;
    }
    if (address >= 0x3000'0000 && address < 0x8000'0000) return ++root > 0;
    if (!within(address, kClint)) return false;
    base::mistakes().report(
        fmt::format("clint: write of {} bytes at {:#x}: not the register's width", size, address - kClint));
    return false;
  }
  std::string name_at(std::uint64_t address) const override {
    return within(address, kClint) ? "clint" : within(address, kImsic) ? "imsic" : "";
  }
};

/// Two devices below a switch.
struct Bench {
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 1_us};
  FlatMemory memory;
  Soc soc;
  RootComplex::Parameters parameters;
  RootComplex root{"root", parameters, memory};
  ScriptedHart hart{"hart", scheduler};
  Switch fabric{"switch", {.downstream_ports = 2}};
  Link trunk{"trunk", {}}, link0{"link0", {}}, link1{"link1", {}};
  TestDevice device0{"device0"}, device1{"device1"};
  std::map<RoutingId, std::uint64_t> bars;

  Bench() {
    hart.socket.bind(root.socket);
    root.set_soc_writer(&soc);
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
  /// Enables vector 0 of device0, with a message to the address.
  void set_up_message(std::uint64_t address) {
    const RoutingId id = device0.id();
    const unsigned msix = device0.config().find_capability(PCIE_CAPABILITY_ID_MSIX) + PCIE_MSIX_CONTROL;
    run([&](ScriptedHart& h) {
      const std::uint64_t ecam = parameters.ecam_base + (std::uint64_t{id} << 12);
      const std::uint64_t table = h.read(ecam + PCIE_BAR(2), 4) & PCIE_BAR_MEMORY_MASK;
      h.write(table, address, 8);
      h.write(table + 8, 1, 8);
      h.write(ecam + msix, PCIE_MSIX_CONTROL_ENABLE, 2);
    });
  }
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
  // Two writes in TLPs of 256 bytes, one read in requests of 512 bytes.
  REQUIRE(b.root.counters().unsupported_requests == 2 * 4 + 2);
  // A write's mistake is found when the write lands, and a read does not pass the writes before it.
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

TEST_CASE("a device reaches neither configuration space nor a window that no root port has", "[pcie]") {
  Bench b;
  const auto accesses = [&] { return b.root.counters().core_writes + b.root.counters().config_accesses; };
  const std::uint64_t before = accesses();
  const RootComplex::Parameters& p = b.parameters;
  const std::uint64_t unclaimed = p.mmio32_base + p.mmio32_size.count() - 4096;
  b.device0.dma_write(p.ecam_base + 0x8018, {kBytes.data(), 4}, {});
  b.device0.dma_write(unclaimed, kBytes, {});
  b.device0.dma_read(p.ecam_base + 0x8018, 4, {}, [](const DmaCompletion& c) { CHECK(c.status != DmaStatus::kOk); });
  b.device0.dma_read(unclaimed, 4, {}, [](const DmaCompletion& c) { CHECK(c.status != DmaStatus::kOk); });
  b.settle();
  b.set_up_message(p.ecam_base + 0x10);
  const std::uint64_t set_up = accesses();
  b.device0.msix(0);
  b.settle();
  const std::string config = "devices do not reach configuration space",
                    window = "the window of no root port holds the address";
  CHECK(b.said() ==
        Said{fmt::format("device0: DMA write of 4 bytes at {:#x}: {}", p.ecam_base + 0x8018, config),
             fmt::format("device0: DMA write of 1024 bytes at {:#x}: {}", unclaimed, window),
             fmt::format("device0: DMA read of 4 bytes at {:#x}: {}", p.ecam_base + 0x8018, config),
             fmt::format("device0: DMA read of 4 bytes at {:#x}: {}", unclaimed, window),
             fmt::format("device0: interrupt message of vector 0 to {:#x}: {}", p.ecam_base + 0x10, config)});
  CHECK(b.root.counters().unsupported_requests == 1 + 4 + 2 + 1);
  CHECK((b.soc.root == 0 && b.root.counters().messages_signalled == 0));
  CHECK((accesses() == set_up && set_up == before + 4));
}

TEST_CASE("a transfer that a device of the SoC refuses is one mistake of the device that makes it", "[pcie]") {
  Bench b;
  DmaOptions options;
  options.by = {&kHart, 0x8000'1234};
  options.purpose = {"the buffer of receive descriptor", 5, 2};
  b.device0.dma_write(Soc::kClint, kBytes, options);
  b.device0.dma_write(Soc::kClint, kBytes, options);
  b.device0.dma_write(Soc::kImsic, {kBytes.data(), 4}, {});
  b.settle();
  b.device0.dma_read(Soc::kClint, 1024, {}, [](const DmaCompletion& c) { CHECK(c.status != DmaStatus::kOk); });
  b.settle();
  REQUIRE(b.said() == Said{"device0: DMA write of 1024 bytes at 0x2000000 for the buffer of receive descriptor 5 of "
                           "queue 2: clint: write of 256 bytes at 0x0: not the register's width",
                           "device0: DMA write of 4 bytes at 0x28000000: imsic: no such identity",
                           "device0: DMA read of 1024 bytes at 0x2000000: clint cannot be read by devices"});
  const auto& list = base::mistakes().list();
  CHECK((list[0].hart == kHart && list[0].pc == 0x8000'1234 && list[0].times == 2 && list[0].others == 0));
  CHECK((list[1].times == 1 && list[2].times == 1));
  CHECK(b.root.counters().messages_signalled == 1);
}

TEST_CASE("of an interrupt message its receiver says what is wrong, and its sender where none takes it", "[pcie]") {
  Bench b;
  b.set_up_message(Soc::kImsic);
  b.device0.msix(0);
  b.settle();
  b.set_up_message(kNowhere);
  b.device0.msix(0);
  b.settle();
  CHECK(b.said() == Said{"imsic: no such identity",
                         "device0: interrupt message of vector 0 to 0x90000000: no interrupt controller is there"});
}

TEST_CASE("a root port whose memory space is off is named to devices, too", "[pcie]") {
  PcieBench b;
  b.enumerate();
  b.run([&](ScriptedHart& h) { h.write(b.ecam(routing_id(0, 1, 0), PCIE_COMMAND), PCIE_COMMAND_BUS_MASTER, 2); });
  base::mistakes().clear();
  const std::uint64_t bar = b.endpoint().bars.at(0);
  b.device.dma_write(bar, {kBytes.data(), 4}, {});
  b.settle();
  REQUIRE(base::mistakes().list().size() == 1);
  CHECK(base::mistakes().list()[0].what == fmt::format("device: DMA write of 4 bytes at {:#x}: memory space is off in "
                                                       "the command register of the root port 00:01.0",
                                                       bar));
}
