// SPDX-License-Identifier: Apache-2.0
/// The IOMMU in front of a root complex: translation, what hits and walks cost, faults.
#include <catch2/catch.hpp>

#include "models/pcie/root/iommu.h"
#include "tests/unit/pcie/pcie_bench.h"

using namespace sluice;
using namespace sluice::pcie;

namespace {

constexpr std::uint64_t kRam = FlatMemory::kBase;
constexpr std::uint64_t kTables = kRam + (8u << 20);
constexpr std::uint64_t kRights = IOMMU_PTE_READ | IOMMU_PTE_WRITE;

/// Binds the IOMMU's socket. The tests reach the registers without it.
struct Initiator : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Initiator> socket{"socket"};
  Initiator(sc_core::sc_module_name name, Iommu& iommu) : sc_module(name) { socket.bind(iommu.socket); }
};

struct Bench {
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 1_us};
  FlatMemory memory;
  Iommu iommu;
  Initiator initiator;
  std::uint64_t next_table = kTables + 4096;

  explicit Bench(const Iommu::Parameters& p = {}) : iommu("iommu", p, memory), initiator("initiator", iommu) {
    set(IOMMU_ROOT, kTables, 8);
    set(IOMMU_CONTROL, IOMMU_CONTROL_TRANSLATE);
  }
  void set(std::uint64_t offset, std::uint64_t value, unsigned size = 4) {
    REQUIRE(iommu.registers().write(offset, &value, size) == base::Answer::ok);
  }
  std::uint64_t get(std::uint64_t offset, unsigned size = 4) {
    std::uint64_t v = 0;
    REQUIRE(iommu.registers().read(offset, &v, size) == base::Answer::ok);
    return v;
  }
  /// Writes an entry of the table at `table`.
  void put(std::uint64_t table, std::uint64_t index, std::uint64_t entry) {
    memory.ram.write(table + index * 8, &entry, 8);
  }
  void map(std::uint64_t address, std::uint64_t frame, unsigned leaf = 0, std::uint64_t rights = kRights) {
    std::uint64_t table = kTables;
    for (unsigned level = IOMMU_LEVELS - 1; level > leaf; --level) {
      const std::uint64_t index = address >> IOMMU_PAGE_SHIFT(level) & (IOMMU_TABLE_ENTRIES - 1);
      std::uint64_t entry = 0;
      memory.ram.read(table + index * 8, &entry, 8);
      if (!(entry & IOMMU_PTE_VALID)) {
        entry = next_table >> 12 << IOMMU_PTE_ADDRESS_SHIFT | IOMMU_PTE_VALID;
        put(table, index, entry);
        next_table += 4096;
      }
      table = entry >> IOMMU_PTE_ADDRESS_SHIFT << 12;
    }
    put(table, address >> IOMMU_PAGE_SHIFT(leaf) & (IOMMU_TABLE_ENTRIES - 1),
        frame >> 12 << IOMMU_PTE_ADDRESS_SHIFT | rights | IOMMU_PTE_VALID);
  }
  Translation read(std::uint64_t address) { return iommu.translate(0x100, address, 64, false); }
  Translation write(std::uint64_t address) { return iommu.translate(0x100, address, 64, true); }
  void pass(base::Time t) {
    base::calendar().at(base::now() + t, base::path_key("test"), [] {});
    scheduler.run_until(base::Time::max());
  }
};

}  // namespace

TEST_CASE("an IOMMU that is off translates nothing and takes no time", "[iommu]") {
  Bench b;
  b.set(IOMMU_CONTROL, 0);
  const Translation t = b.read(0x1234);
  REQUIRE((t.address == 0x1234 && !t.fault && t.latency == 0_ns));
}

TEST_CASE("a miss costs a memory read for each level, a hit the lookup", "[iommu]") {
  const unsigned leaf = GENERATE(0u, 1u, 2u);
  Bench b;
  const std::uint64_t frame = std::uint64_t{3} << 30;
  b.map(0x4000'0000, frame, leaf);
  const Translation miss = b.read(0x4000'0123);
  REQUIRE(!miss.fault);
  REQUIRE(miss.address == frame + 0x123);
  const base::Time step = 20_ns + b.memory.read;
  REQUIRE(miss.latency == 5_ns + step * (IOMMU_LEVELS - leaf));
  REQUIRE(b.iommu.counters().table_reads == IOMMU_LEVELS - leaf);
  b.pass(1_us);
  REQUIRE(b.write(0x4000'0fff).latency == 5_ns);
  REQUIRE(b.iommu.counters().hits == 1);
}

TEST_CASE("a walk starts at the lowest table that the table cache has", "[iommu]") {
  Iommu::Parameters p;
  p.tables = GENERATE(0u, 2u);
  Bench b(p);
  for (const std::uint64_t a : {0x1000ull, 0x2000ull, 0x20'0000ull, 0x40'0000ull, 0x3000ull}) b.map(a, kRam);
  const auto reads = [&](std::uint64_t address) {
    const auto before = b.iommu.counters().table_reads;
    REQUIRE(!b.read(address).fault);
    b.pass(1_us);
    return b.iommu.counters().table_reads - before;
  };
  const bool cached = p.tables != 0;
  REQUIRE(reads(0x1000) == 3);
  REQUIRE(reads(0x2000) == (cached ? 1 : 3));
  REQUIRE(reads(0x20'0000) == (cached ? 2 : 3));  // it has a last-level table of its own
  REQUIRE(reads(0x40'0000) == (cached ? 2 : 3));
  REQUIRE(reads(0x3000) == (cached ? 2 : 3));  // the cache has displaced the first table
  b.set(IOMMU_COMMAND, IOMMU_COMMAND_INVALIDATE);
  REQUIRE(reads(0x2000) == 3);
}

TEST_CASE("requests for a page whose walk is under way wait for that walk, and start no other", "[iommu]") {
  Bench b;
  b.map(0x1000, kRam);
  const base::Time all = b.read(0x1000).latency;
  b.pass(100_ns);
  REQUIRE(b.read(0x1800).latency == all - 100_ns);
  REQUIRE(b.iommu.counters().misses == 1);
  REQUIRE(b.iommu.counters().joined == 1);
}

TEST_CASE("walks beyond the walkers' number wait for one another", "[iommu]") {
  Iommu::Parameters p;
  p.walkers = 2;
  p.tables = 0;
  Bench b(p);
  for (unsigned i = 0; i < 3; ++i) b.map(0x1000 * (i + 1), kRam);
  const base::Time one = b.read(0x1000).latency;
  REQUIRE(b.read(0x2000).latency == one);
  REQUIRE(b.read(0x3000).latency == one + one - 5_ns);
  REQUIRE(b.iommu.counters().waits == 1);
}

TEST_CASE("the IOTLB holds its entries, the least recently used of a set goes, and pages of a size are one",
          "[iommu]") {
  Iommu::Parameters p;
  p.entries = 4;
  p.ways = 2;
  Bench b(p);
  for (unsigned i = 0; i < 8; ++i) b.map(0x1000 * i, kRam + 0x1000 * i);
  b.map(0x4000'0000, kRam & ~0x1f'ffffull, 1);
  const auto misses = [&](std::uint64_t address) {
    const auto before = b.iommu.counters().misses;
    b.read(address);
    b.pass(1_us);
    return b.iommu.counters().misses - before;
  };
  REQUIRE(misses(0x0000) == 1);  // set 0
  REQUIRE(misses(0x2000) == 1);  // set 0
  REQUIRE(misses(0x1000) == 1);  // set 1
  REQUIRE(misses(0x0000) == 0);
  REQUIRE(misses(0x4000) == 1);  // set 0: 0x2000 goes
  REQUIRE(misses(0x0000) == 0);
  REQUIRE(misses(0x2000) == 1);
  REQUIRE(misses(0x1000) == 0);
  REQUIRE(misses(0x4000'0000) == 1);
  REQUIRE(misses(0x401f'f000) == 0);
  b.set(IOMMU_COMMAND, IOMMU_COMMAND_INVALIDATE);
  REQUIRE(misses(0x1000) == 1);
}

TEST_CASE("what is not mapped, not allowed or malformed is refused and recorded once", "[iommu]") {
  Bench b;
  b.map(0x1000, kRam, 0, IOMMU_PTE_READ);
  b.map(0x2000, kRam, 0, IOMMU_PTE_WRITE);
  b.map(0x4020'0000, 0x1000, 1);                      // a misaligned superpage
  b.put(kTables, 5, 0x7f'ffff'ffff >> 12 << 10 | 1);  // a table outside memory
  REQUIRE(!b.read(0x1000).fault);
  REQUIRE(b.write(0x1000).fault);
  REQUIRE(b.get(IOMMU_FAULT) == IOMMU_FAULT_PENDING);
  REQUIRE(b.get(IOMMU_FAULT_REQUESTER) == (IOMMU_CAUSE_PERMISSION << 16 | 0x100));
  REQUIRE(b.get(IOMMU_FAULT_ADDRESS, 8) == 0x1000);

  const auto cause = [&](bool write, std::uint64_t address) {
    b.set(IOMMU_FAULT, IOMMU_FAULT_PENDING);
    REQUIRE((write ? b.write(address) : b.read(address)).fault);
    REQUIRE(b.get(IOMMU_FAULT_ADDRESS, 8) == address);
    return b.get(IOMMU_FAULT_REQUESTER) >> 16;
  };
  REQUIRE(cause(false, 0x2000) == IOMMU_CAUSE_PERMISSION);
  REQUIRE(cause(false, 0x3000) == IOMMU_CAUSE_NOT_MAPPED);
  REQUIRE(cause(true, 0x8000'0000) == IOMMU_CAUSE_NOT_MAPPED);
  REQUIRE(cause(true, 0x4020'0000) == IOMMU_CAUSE_NOT_MAPPED);
  REQUIRE(cause(false, std::uint64_t{5} << 30) == IOMMU_CAUSE_TABLE);
  REQUIRE(cause(false, std::uint64_t{1} << 39) == IOMMU_CAUSE_TABLE);
  b.set(IOMMU_ROOT, 0, 8);
  b.set(IOMMU_COMMAND, IOMMU_COMMAND_INVALIDATE);
  REQUIRE(cause(false, 0x5000) == IOMMU_CAUSE_TABLE);

  REQUIRE(b.read(0x6000).fault);  // the first one stays
  REQUIRE(b.get(IOMMU_FAULT_ADDRESS, 8) == 0x5000);
  REQUIRE(b.iommu.counters().faults == 9);
}

TEST_CASE("behind a root complex, a device reads and writes what its page maps, later by the translation", "[iommu]") {
  PcieBench b;
  Iommu iommu("iommu", {}, b.memory);
  Initiator initiator("initiator", iommu);
  b.root.set_translator(&iommu);
  b.enumerate();
  const std::uint64_t root = kTables, value[2] = {kTables, IOMMU_CONTROL_TRANSLATE};
  const std::uint64_t leaf = kRam >> 12 << IOMMU_PTE_ADDRESS_SHIFT | kRights | IOMMU_PTE_VALID;
  b.memory.ram.write(root, &leaf, 8);  // the first GiB
  const auto latency = [&] {
    base::Time took;
    b.device.dma_read(0x23'4560, 16, {}, [&](const DmaCompletion& c) {
      REQUIRE(c.status == DmaStatus::kOk);
      took = base::now() - c.issued;
    });
    b.settle();
    return took;
  };
  iommu.registers().write(IOMMU_ROOT, &value[0], 8);
  b.device.dma_read(0x23'4560, 16, {}, [](const DmaCompletion& c) { REQUIRE(c.status != DmaStatus::kOk); });
  b.settle();
  iommu.registers().write(IOMMU_CONTROL, &value[1], 4);
  const std::uint8_t bytes[4] = {1, 2, 3, 4};
  b.device.dma_write(0x456, bytes, {});
  b.settle();
  REQUIRE(*b.memory.ram.at(kRam + 0x457) == 2);
  const base::Time hit = latency();
  const std::uint64_t all = IOMMU_COMMAND_INVALIDATE;
  iommu.registers().write(IOMMU_COMMAND, &all, 4);
  REQUIRE(latency() == hit + 20_ns + b.memory.read);
}
