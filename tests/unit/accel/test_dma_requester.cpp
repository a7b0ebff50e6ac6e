// SPDX-License-Identifier: Apache-2.0
/// The DMA requester alone on a link: closed forms of its latencies and rates, its caps, software's mistakes.
#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

#include "models/accel/dma_requester/dma_requester.h"
#include "tests/unit/device_bench.h"

using namespace sluice;
using accel::DmaRequester;

namespace {

constexpr std::uint64_t kRam = FlatMemory::kBase;

struct Bench : DeviceBench<DmaRequester> {
  using DeviceBench::DeviceBench;
  /// Writes a valid command; a test may change a register of it before start().
  void command(std::uint32_t operation, std::uint32_t size, std::uint32_t outstanding = 1, std::uint32_t count = 50) {
    write(DMAR_OPERATION, operation);
    write(DMAR_WINDOW, kRam, 8);
    write(DMAR_WINDOW_SIZE, 65536, 8);
    write(DMAR_SIZE, size);
    write(DMAR_UNIT, (size + 63) / 64 * 64);
    write(DMAR_OUTSTANDING, outstanding);
    write(DMAR_WARMUP, outstanding > 1 ? 2 * outstanding : 0);
    write(DMAR_COUNT, count);
  }
  const DmaRequester::Run& start() {
    write(DMAR_CONTROL, DMAR_CONTROL_START);
    REQUIRE(read(DMAR_STATUS) == DMAR_STATUS_DONE);
    return device.runs().back();
  }
  std::uint64_t refused() {
    write(DMAR_CONTROL, DMAR_CONTROL_START);
    REQUIRE((read(DMAR_STATUS) & (DMAR_STATUS_ERROR | DMAR_STATUS_BUSY)) == DMAR_STATUS_ERROR);
    return read(DMAR_ERROR);
  }
};

base::Time took(const DmaRequester::Run& r) { return r.to - r.from; }

}  // namespace

TEST_CASE("a read's latency is the sum of its parts, with the engine's where the engine is used", "[dma_requester]") {
  accel::DmaRequesterParameters p;
  p.engine_latency = 70_ns;
  Bench b(p);
  // MRd and CplD below 4 GiB have headers of three DWs: 20 bytes.
  const base::Time parts = 100_ns + b.wire(20) + 5_ns + pcie::RootComplex::Parameters{}.read_latency + b.memory.read +
                           b.wire(20 + 64) + 5_ns + 100_ns;
  b.command(DMAR_READ, 64);
  const auto& engine = b.start();
  REQUIRE(engine.completed == 50);
  REQUIRE(engine.latency.min() == (parts + 70_ns).femtoseconds());
  REQUIRE(engine.latency.max() == engine.latency.min());
  REQUIRE(b.read(DMAR_LATENCY_MIN) == engine.latency.min() / 1'000'000);
  REQUIRE(b.read(DMAR_COMPLETED) == 50);

  b.write(DMAR_INTERFACE, DMAR_DIRECT);
  REQUIRE(b.start().latency.max() == parts.femtoseconds());
}

TEST_CASE("a write ends when its last bit has left the device", "[dma_requester]") {
  Bench b;
  b.command(DMAR_WRITE, 64);
  REQUIRE(b.start().latency.max() == (100_ns + b.wire(20 + 64)).femtoseconds());
}

TEST_CASE("what a write-then-read brings back is what was written, and memory has it", "[dma_requester]") {
  const std::uint32_t size = GENERATE(8u, 64u, 300u, 2048u);
  Bench b;
  b.command(DMAR_WRITE_READ, size);
  REQUIRE(b.start().completed == 50);
  REQUIRE(b.device.runs().back().failed == 0);
  REQUIRE(std::any_of(b.memory.ram.at(kRam), b.memory.ram.at(kRam) + 8, [](std::uint8_t v) { return v != 0; }));
}

TEST_CASE("the read of a write-then-read begins when the write is visible", "[dma_requester]") {
  Bench b;
  b.command(DMAR_WRITE_READ, 64);
  const pcie::RootComplex::Parameters root;
  const base::Time parts = 100_ns + b.wire(84) + 5_ns + root.write_latency + b.memory.write + root.read_latency +
                           b.memory.read + b.wire(84) + 5_ns + 100_ns;
  REQUIRE(b.start().latency.max() == parts.femtoseconds());
}

TEST_CASE("a capped engine starts exactly as many transactions as it can", "[dma_requester]") {
  accel::DmaRequesterParameters p;
  p.read_rate = 20'000'000;
  p.write_rate = 10'000'000;
  Bench b(p);
  b.command(DMAR_READ, 64, 64, 2000);
  REQUIRE(took(b.start()) == 50_ns * 2000);
  b.command(DMAR_WRITE, 64, 64, 2000);
  REQUIRE(took(b.start()) == 100_ns * 2000);
  REQUIRE(b.device.runs().back().engine_busy >= (b.device.runs().back().to - b.device.runs().back().from) * 99 / 100);
}

TEST_CASE("streams without a cap fill the direction that they need most", "[dma_requester]") {
  Bench b;
  b.command(DMAR_READ, 64, 128, 2000);
  const auto read = b.start();
  REQUIRE(took(read) == b.wire(84) * 2000);
  REQUIRE(read.down_busy > read.up_busy);
  b.command(DMAR_WRITE, 64, 128, 2000);
  const auto write = b.start();
  REQUIRE(took(write) == b.wire(84) * 2000);
  REQUIRE(write.up_busy > write.down_busy);
}

TEST_CASE("sequential slots follow each other and wrap; random ones stay in the window", "[dma_requester]") {
  Bench b;
  std::vector<std::uint64_t> seen;
  b.link.up().add_tap([&](const pcie::Tlp& t, base::Time, base::Time) {
    if (t.type == pcie::TlpType::kMRd) seen.push_back(t.first_byte());
  });
  b.command(DMAR_READ, 32, 1, 5);
  b.write(DMAR_WINDOW_SIZE, 3 * 64 + 63, 8);  // three whole slots
  b.write(DMAR_OFFSET, 16);
  b.start();
  REQUIRE(seen == std::vector<std::uint64_t>{kRam + 16, kRam + 80, kRam + 144, kRam + 16, kRam + 80});

  seen.clear();
  b.command(DMAR_READ, 32, 1, 500);
  b.write(DMAR_OFFSET, 0);
  b.write(DMAR_PATTERN, DMAR_RANDOM);
  b.start();
  REQUIRE(seen.size() == 500);
  REQUIRE(std::all_of(seen.begin(), seen.end(),
                      [](std::uint64_t a) { return a % 64 == 0 && a >= kRam && a < kRam + 65536; }));
  REQUIRE(std::set<std::uint64_t>(seen.begin(), seen.end()).size() > 300);  // of 1024 slots
}

TEST_CASE("the completion record is written when everything has ended", "[dma_requester]") {
  Bench b;
  b.command(DMAR_READ, 64, 8, 100);
  b.write(DMAR_LABEL, 42);
  b.write(DMAR_RECORD, kRam + 0x100000, 8);
  b.start();
  dmar_record r{};
  b.memory.ram.read(kRam + 0x100000, &r, sizeof r);
  REQUIRE(r.status == DMAR_STATUS_DONE);
  REQUIRE(r.label == 42);
  REQUIRE(r.completed == 100);
  REQUIRE(r.failed == 0);
}

TEST_CASE("a command that is none is refused with its reason", "[dma_requester]") {
  Bench b;
  const auto refused_with = [&](std::uint64_t offset, std::uint64_t value, unsigned width = 4) {
    b.command(DMAR_READ, 64);
    b.write(offset, value, width);
    return b.refused();
  };
  REQUIRE(refused_with(DMAR_OPERATION, 3) == DMAR_ERROR_OPERATION);
  REQUIRE(refused_with(DMAR_SIZE, 0) == DMAR_ERROR_SIZE);
  REQUIRE(refused_with(DMAR_SIZE, DMAR_SIZE_MAX + 1) == DMAR_ERROR_SIZE);
  REQUIRE(refused_with(DMAR_OFFSET, 1) == DMAR_ERROR_UNIT);
  b.write(DMAR_OFFSET, 0);
  REQUIRE(refused_with(DMAR_WINDOW_SIZE, 63, 8) == DMAR_ERROR_WINDOW);
  REQUIRE(refused_with(DMAR_WINDOW, ~std::uint64_t{0} - 63, 8) == DMAR_ERROR_WINDOW);
  REQUIRE(refused_with(DMAR_OUTSTANDING, 0) == DMAR_ERROR_OUTSTANDING);
  REQUIRE(refused_with(DMAR_OUTSTANDING, DMAR_OUTSTANDING_MAX + 1) == DMAR_ERROR_OUTSTANDING);
  REQUIRE(refused_with(DMAR_COUNT, 0) == DMAR_ERROR_COUNT);
  REQUIRE(b.device.runs().empty());

  b.command(DMAR_READ, 64);
  b.run([&](ScriptedHart& h) {
    h.write(b.root_parameters.ecam_base + (std::uint64_t{b.id} << 12) + PCIE_COMMAND, PCIE_COMMAND_MEMORY, 2);
  });
  REQUIRE(b.refused() == DMAR_ERROR_BUS_MASTER);
}

TEST_CASE("transactions outside memory fail and are counted; the command ends", "[dma_requester]") {
  Bench b;
  b.command(DMAR_READ, 64, 4, 20);
  b.write(DMAR_WINDOW, 0x7000'0000, 8);
  b.write(DMAR_CONTROL, DMAR_CONTROL_START);
  REQUIRE(b.read(DMAR_STATUS) == (DMAR_STATUS_DONE | DMAR_STATUS_FAILED));
  REQUIRE(b.device.runs().back().failed == 20);
  REQUIRE(b.device.runs().back().latency.count() == 0);
}

TEST_CASE("a running command cannot be changed or started again, and can be stopped", "[dma_requester]") {
  Bench b;
  b.command(DMAR_READ, 64, 2, 1'000'000);
  b.run([&](ScriptedHart& h) {
    h.write(b.bar + DMAR_CONTROL, DMAR_CONTROL_START, 4);
    h.write(b.bar + DMAR_SIZE, 8, 4);
    h.write(b.bar + DMAR_CONTROL, DMAR_CONTROL_START, 4);
    REQUIRE(h.read(b.bar + DMAR_STATUS, 4) == DMAR_STATUS_BUSY);
    h.write(b.bar + DMAR_CONTROL, DMAR_CONTROL_STOP, 4);
  });
  REQUIRE(b.read(DMAR_STATUS) == DMAR_STATUS_DONE);
  REQUIRE(b.read(DMAR_SIZE) == 64);
  REQUIRE(b.device.runs().size() == 1);
  REQUIRE(b.device.runs().back().completed < 100);
  REQUIRE(b.device.transactions() == b.device.counters().dma_reads);
}

TEST_CASE("a reset forgets the command that runs", "[dma_requester]") {
  Bench b;
  b.command(DMAR_READ, 64, 16, 1'000'000);
  b.run([&](ScriptedHart& h) {
    h.write(b.bar + DMAR_CONTROL, DMAR_CONTROL_START, 4);
    h.pause(2_us);
    const std::uint64_t config = b.root_parameters.ecam_base + (std::uint64_t{b.id} << 12);
    const auto express = h.read(config + PCIE_CAPABILITIES_POINTER, 1);
    h.write(config + express + PCIE_EXPRESS_DEVICE_CONTROL, PCIE_EXPRESS_DEVICE_CONTROL_FLR, 2);
  });
  REQUIRE(!b.device.busy());
  REQUIRE(b.device.runs().empty());
}

TEST_CASE("a reset frees the DMA engine for the next command", "[dma_requester]") {
  accel::DmaRequesterParameters p;
  p.read_rate = 1000;
  Bench b(p);
  b.command(DMAR_READ, 64, 16);
  std::uint64_t status = 0;
  b.run([&](ScriptedHart& h) {
    h.write(b.bar + DMAR_CONTROL, DMAR_CONTROL_START, 4);
    h.pause(2_us);
    b.device.reset();
    const std::uint64_t config = b.root_parameters.ecam_base + (std::uint64_t{b.id} << PCIE_ECAM_FUNCTION_SHIFT);
    h.write(config + PCIE_BAR(0), b.bar & 0xffff'ffff, 4);
    h.write(config + PCIE_BAR(1), b.bar >> 32, 4);
    h.write(config + PCIE_COMMAND, PCIE_COMMAND_MEMORY | PCIE_COMMAND_BUS_MASTER, 2);
    h.write(b.bar + DMAR_WINDOW, kRam, 8);
    h.write(b.bar + DMAR_WINDOW_SIZE, 65536, 8);
    for (const unsigned reg : {DMAR_SIZE, DMAR_UNIT}) h.write(b.bar + reg, 64, 4);
    for (const unsigned reg : {DMAR_OUTSTANDING, DMAR_COUNT}) h.write(b.bar + reg, 1, 4);
    h.write(b.bar + DMAR_CONTROL, DMAR_CONTROL_START, 4);
    h.pause(20_us);
    status = h.read(b.bar + DMAR_STATUS, 4);
  });
  CHECK(status == DMAR_STATUS_DONE);
}

TEST_CASE("registers of other widths and places are refused", "[dma_requester]") {
  Bench b;
  b.command(DMAR_READ, 64);
  REQUIRE(b.read(DMAR_SIZE, 2) == 0xffff);
  REQUIRE(b.read(0x800) == 0xffff'ffff);
  b.write(DMAR_SIZE, 9, 8);
  REQUIRE(b.read(DMAR_SIZE) == 64);
  REQUIRE(b.device.registers().refused() == 3);
}
