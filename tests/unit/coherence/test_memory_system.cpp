// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

#include "models/base/parameters/random_table.h"
#include "models/base/parameters/spread.h"
#include "models/coherence/memory_system.h"

using namespace sluice;
using namespace sluice::base::literals;
using base::LineState;
using base::Time;
using coherence::MemorySystem;

namespace {

constexpr std::uint64_t kBase = 0x8000'0000;

struct Bench {
  explicit Bench(const MemorySystem::Parameters& q = cached(), unsigned harts = 2)
      : ram(kBase, 64 << 20), memory("memory", q, harts, 1_us), p(q) {
    memory.add(ram);
    memory.publish_statistics();
  }
  static MemorySystem::Parameters cached() {
    MemorySystem::Parameters p;
    p.timing = MemorySystem::Timing::cached;
    p.prefetch_depth = 0;
    return p;
  }
  /// As a hart does it: asks its L1 first.
  Time load(unsigned hart, std::uint64_t address, Time at) {
    return memory.l1d(hart)->hit(address, false) ? at : memory.miss(hart, address, base::LineUse::load, at);
  }
  Time store(unsigned hart, std::uint64_t address, Time at) {
    return memory.l1d(hart)->hit(address, true) ? at : memory.miss(hart, address, base::LineUse::store, at);
  }
  base::GuestRam ram;
  MemorySystem memory;
  MemorySystem::Parameters p;
};

}  // namespace

TEST_CASE("a load costs the latency of the level that has its line", "[memory]") {
  Bench b;
  REQUIRE(b.load(0, kBase, 0_ns) == b.p.dram_latency);
  REQUIRE(b.load(0, kBase + 63, 200_ns) == 200_ns);
  // 9 lines of one L1 set evict the first from L1, not from L2.
  for (unsigned i = 1; i <= 8; ++i) b.load(0, kBase + i * 4096, Time::ns(1000 * i));
  REQUIRE(b.load(0, kBase, 20_us) == 20_us + b.p.l2_latency);
  REQUIRE(b.memory.counters(0).l2_misses == 9);
}

TEST_CASE("with windows, a fill waits for the channel however much later another one was that came before",
          "[memory]") {
  MemorySystem::Parameters p = Bench::cached();
  p.timing = MemorySystem::Timing::interval;
  p.dram_rate = base::BitRate(512'000'000);  // a line takes 1 us
  Bench b(p);
  const auto fill = [&](unsigned hart, unsigned line, Time at) {
    return b.memory.fill(hart, kBase + line * 64, base::LineUse::load, at, 5_us);
  };
  REQUIRE(fill(0, 0, 10_us) == 10_us + p.dram_latency);
  REQUIRE(fill(1, 1, 5000_us) == 5000_us + p.dram_latency);
  REQUIRE(fill(0, 2, 10_us) == 11_us + p.dram_latency);
  // DMA at this time: no hart is more than a window behind, so what ended before needs no place any more.
  base::calendar().set_now(20_us);
  b.memory.read_latency(kBase + 64 * 64, 64);
  REQUIRE(fill(0, 3, 20_us) == 21_us + p.dram_latency);
}

TEST_CASE("with windows, a line that is under way is there for no use before it arrives", "[memory]") {
  MemorySystem::Parameters p = Bench::cached();
  p.timing = MemorySystem::Timing::interval;
  Bench b(p, 3);
  const auto fill = [&](unsigned hart, std::uint64_t address, base::LineUse use, Time at) {
    return b.memory.fill(hart, address, use, at, at);
  };
  // L1I and L1D miss the same line.
  REQUIRE(fill(0, kBase, base::LineUse::load, 10_us) == 10_us + p.dram_latency);
  REQUIRE(fill(0, kBase, base::LineUse::fetch, 10'010_ns) == 10_us + p.dram_latency);
  REQUIRE(fill(0, kBase, base::LineUse::fetch, 11_us) == 11_us + p.l2_latency);
  // Two harts share a line, and the third one's copy comes from DRAM. The permission to write would be there before it.
  fill(1, kBase + 64, base::LineUse::load, 20_us);
  fill(2, kBase + 64, base::LineUse::load, 21_us);
  REQUIRE(fill(0, kBase + 64, base::LineUse::load, 22_us) == 22_us + p.dram_latency);
  REQUIRE(fill(0, kBase + 64, base::LineUse::store, 22'001_ns) == 22_us + p.dram_latency);
  REQUIRE(fill(1, kBase + 64, base::LineUse::load, 23_us) == 23_us + p.snoop_latency);
}

TEST_CASE("a line that another hart has modified comes from it, and a store takes it away", "[memory]") {
  Bench b;
  b.store(0, kBase, 0_ns);
  REQUIRE(b.memory.l1d(0)->state(kBase) == LineState::kModified);
  REQUIRE(b.load(1, kBase, 1_us) == 1_us + b.p.snoop_latency);
  REQUIRE(b.memory.l1d(0)->state(kBase) == LineState::kShared);
  b.store(1, kBase, 2_us);
  REQUIRE(b.memory.l1d(0)->state(kBase) == LineState::kInvalid);
  REQUIRE(b.memory.l1d(1)->hit(kBase, true));
}

TEST_CASE("a line that another hart holds alone comes from it, since it may have written it silently", "[memory]") {
  const auto use = GENERATE(base::LineUse::load, base::LineUse::fetch, base::LineUse::store, base::LineUse::atomic);
  const bool in_llc = GENERATE(false, true);
  auto p = Bench::cached();
  p.miss_registers = 1;
  Bench b(p, 3);
  if (in_llc) b.memory.written(kBase, 64);
  b.load(0, kBase, 0_ns);
  REQUIRE(b.memory.l1d(0)->state(kBase) == LineState::kExclusive);
  const Time there = 1_us + p.snoop_latency;
  const bool waits = use != base::LineUse::store;
  REQUIRE(b.memory.miss(1, kBase, use, 1_us) == (waits ? there : 1_us));
  // A store does not wait, but its miss register is busy for as long.
  REQUIRE(b.load(1, kBase + 4096, 1_us) == there + p.dram_latency);
  REQUIRE(b.memory.counters(1).snoop_waits == waits);
  REQUIRE(b.memory.counters(1).llc_waits == 0);
  REQUIRE(b.memory.counters(1).llc_misses == 1);  // the second one
  if (base::writes(use)) {
    REQUIRE(b.memory.l1d(0)->state(kBase) == LineState::kInvalid);
    return;
  }
  REQUIRE(b.memory.l1d(0)->state(kBase) == LineState::kShared);
  // For a third hart, the line is shared: no hart can have written it silently.
  REQUIRE(b.load(2, kBase, 2_us) == 2_us + (in_llc ? p.llc_latency : p.dram_latency));
}

TEST_CASE("a line that another hart has fetched as code comes from it too", "[memory]") {
  Bench b;
  b.memory.miss(0, kBase, base::LineUse::fetch, 0_ns);
  REQUIRE(b.memory.miss(1, kBase, base::LineUse::fetch, 1_us) == 1_us + b.p.snoop_latency);
  REQUIRE(b.memory.l1i(0)->hit(kBase, false));
  REQUIRE(b.memory.l1i(1)->hit(kBase, false));
}

TEST_CASE("a prefetch of a line that another hart holds alone takes the snoop's latency", "[memory]") {
  auto p = Bench::cached();
  p.prefetch_depth = 1;
  Bench b(p);
  b.load(1, kBase + 128, 0_ns);
  b.load(0, kBase, 1_us);
  REQUIRE(b.load(0, kBase + 64, 2_us) == 2_us + p.dram_latency);
  REQUIRE(b.memory.l1d(1)->state(kBase + 128) == LineState::kShared);
  REQUIRE(b.load(0, kBase + 128, 2_us) == 2_us + p.snoop_latency);
  REQUIRE(b.memory.counters(0).prefetch_waits == 1);
}

TEST_CASE("a line that two harts share must be taken before it is written", "[memory]") {
  Bench b;
  b.load(0, kBase, 0_ns);
  b.load(1, kBase, 1_us);
  REQUIRE(b.memory.l1d(0)->hit(kBase, false));
  REQUIRE_FALSE(b.memory.l1d(0)->hit(kBase, true));
  b.store(0, kBase, 2_us);
  REQUIRE(b.memory.l1d(1)->state(kBase) == LineState::kInvalid);
}

TEST_CASE("a store to a line that its hart shares fetches nothing", "[memory]") {
  auto p = Bench::cached();
  p.miss_registers = 1;
  Bench b(p);
  b.load(0, kBase, 0_ns);
  b.load(1, kBase, 1_us);
  const auto fetched = b.memory.counters(0).llc_misses;
  b.store(0, kBase, 2_us);
  REQUIRE(b.memory.counters(0).llc_misses == fetched);
  // The one miss register is free when the other hart has given up the line, long before DRAM would have answered.
  REQUIRE(b.store(0, kBase + 4096, 2_us) == 2_us + b.p.snoop_latency);
}

TEST_CASE("an atomic operation takes the line and waits for it", "[memory]") {
  Bench b;
  const auto amo = [&b](unsigned hart, Time at) { return b.memory.miss(hart, kBase, base::LineUse::atomic, at); };
  CHECK(amo(0, 0_ns) == b.p.dram_latency);
  CHECK(b.memory.l1d(0)->state(kBase) == LineState::kModified);
  CHECK(amo(1, 1_us) == 1_us + b.p.snoop_latency);
  CHECK(b.memory.l1d(0)->state(kBase) == LineState::kInvalid);
  CHECK(b.memory.counters(1).snoop_waits == 1);
  CHECK(b.store(0, kBase, 2_us) == 2_us);  // a store of the same line goes on
}

TEST_CASE("stores stall only when every miss register is busy, each until one is free", "[memory]") {
  Bench b;
  const Time line = b.p.dram_rate.time_of(b.p.line);
  const unsigned n = b.p.miss_registers;
  Time t;
  for (unsigned i = 0; i < 3 * n; ++i) {
    // The first n queue for the channel; each of the others starts when the register of the one n before it is free.
    t = b.store(0, kBase + 64 * i, t);
    REQUIRE(t == (i < n ? 0_ns : b.p.dram_latency * (i / n) + line * (i % n)));
  }
}

TEST_CASE("a miss leaves when it has a register, whatever it then waits for", "[memory]") {
  auto p = Bench::cached();
  p.miss_registers = 1;
  Bench b(p);
  b.memory.written(kBase + (2 << 20), 64);
  REQUIRE(b.store(0, kBase, 0_ns) == 0_ns);
  REQUIRE(b.load(0, kBase + (1 << 20), 0_ns) == p.dram_latency * 2);
  const Time free = 1_us + p.dram_latency;
  REQUIRE(b.store(0, kBase + (3 << 20), 1_us) == 1_us);
  REQUIRE(b.load(0, kBase + (2 << 20), 1_us) == free + p.llc_latency);
}

TEST_CASE("what a prefetch brings comes after the miss that set it off has a register", "[memory]") {
  auto p = Bench::cached();
  p.miss_registers = 1;
  p.prefetch_depth = 1;
  Bench b(p);
  const Time line = p.dram_rate.time_of(p.line);
  b.load(0, kBase, 0_ns);
  b.store(0, kBase + (1 << 20), 1_us);
  // The load's miss and its prefetch leave when the store's register is free; the prefetch comes a line later.
  const Time free = 1_us + p.dram_latency;
  REQUIRE(b.load(0, kBase + 64, 1_us) == free + p.dram_latency);
  REQUIRE(b.load(0, kBase + 128, free + p.dram_latency) == free + p.dram_latency + p.l2_latency);
  REQUIRE(b.memory.counters(0).prefetches == 2);
  REQUIRE(line < p.l2_latency);
}

TEST_CASE("a DMA write takes the line from the harts and leaves it in the LLC", "[memory]") {
  Bench b;
  b.load(0, kBase, 0_ns);
  REQUIRE(b.memory.write_latency(kBase, 64) == b.p.dma_write);
  REQUIRE(b.load(0, kBase, 500_ns) == 500_ns);  // the DMA write is not yet visible: the old line stays
  b.memory.written(kBase, 64);
  REQUIRE(b.memory.l1d(0)->state(kBase) == LineState::kInvalid);
  REQUIRE(b.load(0, kBase, 1_us) == 1_us + b.p.llc_latency);
}

TEST_CASE("a DMA read behind a DMA write on its way finds the line in the LLC", "[memory]") {
  for (const unsigned ways : {2u, 0u}) {
    auto p = Bench::cached();
    p.ddio_ways = ways;
    Bench b(p);
    b.memory.write_latency(kBase, 64);
    CHECK(b.memory.read_latency(kBase, 64) == p.dma_read + (ways ? 0_ns : p.dma_dram_adder));
    if (ways) CHECK(b.memory.read_latency(kBase + 64, 64) == p.dma_read + p.dma_dram_adder);
  }
}

TEST_CASE("without DDIO a DMA write goes to DRAM", "[memory]") {
  auto p = Bench::cached();
  p.ddio_ways = 0;
  Bench b(p);
  b.memory.written(kBase, 64);
  REQUIRE(b.load(0, kBase, 1_us) == 1_us + b.p.dram_latency);
}

TEST_CASE("DMA writes stay within their ways of the LLC", "[memory]") {
  Bench b;
  const std::uint64_t sets = b.p.llc_size.count() / b.p.llc_ways / 64;
  for (unsigned i = 0; i < 8; ++i) {
    b.memory.write_latency(kBase + i * sets * 64, 64);
    b.memory.written(kBase + i * sets * 64, 64);
  }
  // The last two of one set are still there, the others are not.
  REQUIRE(b.load(0, kBase + 7 * sets * 64, 1_us) == 1_us + b.p.llc_latency);
  REQUIRE(b.load(0, kBase + 6 * sets * 64, 2_us) == 2_us + b.p.llc_latency);
  REQUIRE(b.load(0, kBase, 3_us) == 3_us + b.p.dram_latency);
}

TEST_CASE("a DMA read is slower by the DRAM adder when no cache has the line", "[memory]") {
  Bench b;
  REQUIRE(b.memory.read_latency(kBase, 64) == b.p.dma_read + b.p.dma_dram_adder);
  b.memory.written(kBase + 64, 64);
  REQUIRE(b.memory.read_latency(kBase + 64, 64) == b.p.dma_read);
  REQUIRE(base::statistics().value("memory.dma_read_misses") == 1);
  REQUIRE(base::statistics().value("memory.dma_read_hits") == 1);
}

TEST_CASE("a DMA read takes a modified line to the LLC and leaves it with its hart, clean", "[memory]") {
  Bench b;
  b.store(0, kBase, 0_ns);
  REQUIRE(b.memory.read_latency(kBase, 64) == b.p.dma_read);
  REQUIRE(b.memory.l1d(0)->state(kBase) == LineState::kShared);
  REQUIRE(b.memory.read_latency(kBase, 64) == b.p.dma_read);
  REQUIRE(b.load(1, kBase, 1_us) == 1_us + b.p.llc_latency);
}

TEST_CASE("DMA that goes to DRAM and harts' misses share its bandwidth", "[memory]") {
  auto p = Bench::cached();
  p.ddio_ways = 0;
  Bench b(p);
  const Time line = p.dram_rate.time_of(p.line);
  b.load(0, kBase, 0_ns);
  // The read's four lines queue behind the hart's line, so the last one waits for four transfers.
  REQUIRE(b.memory.read_latency(kBase + 4096, 256) == p.dma_read + p.dma_dram_adder + line * 4);
  REQUIRE(b.load(0, kBase + 8192, 0_ns) == p.dram_latency + line * 5);
  b.memory.written(kBase + 12288, 128);
  REQUIRE(b.load(0, kBase + 16384, 0_ns) == p.dram_latency + line * 8);
}

TEST_CASE("a changed line that the LLC displaces takes DRAM bandwidth, a clean one does not", "[memory]") {
  const Time line = Bench::cached().dram_rate.time_of(Bench::cached().line);
  for (const bool changed : {true, false}) {
    auto p = Bench::cached();
    p.llc_size = base::Bytes(p.llc_ways * 64);  // one set
    Bench b(p);
    // All lines fall into one set of L2, and L2 displaces into the LLC. There are twice as many as both hold.
    const std::uint64_t step = p.l2_size.count() / p.l2_ways;
    const unsigned lines = 2 * (p.l2_ways + p.llc_ways);
    for (unsigned i = 0; i < lines; ++i) {
      const std::uint64_t address = kBase + i * step;
      changed ? b.store(0, address, 1_us * i) : b.load(0, address, 1_us * i);
    }
    // The last miss has displaced a line from L2, and that line has displaced another from the LLC.
    const Time at = 1_us * (lines - 1);
    CHECK(b.load(1, kBase + (63ull << 19), at) == at + p.dram_latency + line * (changed ? 2 : 1));
  }
}

TEST_CASE("a hart's waits are counted by what it waited for", "[memory]") {
  Bench b;
  const auto& counters = b.memory.counters(0);
  b.load(0, kBase, 0_ns);
  REQUIRE(counters.dram_waits == 1);
  b.memory.written(kBase, 64);
  b.load(0, kBase, 1_us);
  REQUIRE(counters.llc_waits == 1);
  b.store(1, kBase, 2_us);
  b.load(0, kBase, 3_us);
  REQUIRE(counters.snoop_waits == 1);
  for (unsigned i = 1; i <= 8; ++i) b.load(0, kBase + i * 4096, Time::us(3 + i));
  b.load(0, kBase, 20_us);
  REQUIRE(counters.l2_waits == 1);
  REQUIRE(counters.dram_waits == 9);
  // A store's miss is counted, but no wait.
  b.store(0, kBase + (1 << 20), 30_us);
  REQUIRE(counters.llc_misses == 10);
  REQUIRE(counters.dram_waits == 9);
}

TEST_CASE("a load of a line whose prefetch is under way waits for the rest of it", "[memory]") {
  auto p = Bench::cached();
  p.prefetch_depth = 1;
  Bench b(p);
  b.load(0, kBase, 0_ns);
  b.load(0, kBase + 64, 1_us);
  // The prefetch is the second on the channel.
  REQUIRE(b.load(0, kBase + 128, 1_us + 10_ns) == 1_us + p.dram_rate.time_of(p.line) + p.dram_latency);
  REQUIRE(b.memory.counters(0).prefetch_waits == 1);
  REQUIRE(b.memory.counters(0).dram_waits == 2);
}

TEST_CASE("the prefetcher turns a stream's misses into hits, within its page", "[memory]") {
  auto p = Bench::cached();
  p.prefetch_depth = 4;
  Bench b(p);
  Time t;
  for (unsigned i = 0; i < 64; ++i) t = b.load(0, kBase + 64 * i, t + 100_ns);
  REQUIRE(b.memory.counters(0).prefetches == 62);  // all but the two that made the stream
  REQUIRE(b.memory.counters(0).l2_misses == 2);
  REQUIRE(b.load(0, kBase + 4096, t + 1_us) == t + 1_us + b.p.dram_latency);
}

TEST_CASE("functional timing has no caches and fixed DMA latencies", "[memory]") {
  MemorySystem::Parameters p;
  Bench b(p);
  REQUIRE(b.memory.l1d(0) == nullptr);
  REQUIRE(b.memory.read_latency(kBase, 4096) == p.dma_read);
  REQUIRE(b.memory.ram_at(kBase - 1, 1) == nullptr);
  REQUIRE(b.memory.ram_at(kBase + (64 << 20) - 4, 8) == nullptr);
  REQUIRE(b.memory.clean(0, kBase, false, 7_ns) == 7_ns);
}

TEST_CASE("an access waits for the refresh of its line's rank, where time is spread", "[memory]") {
  MemorySystem::Parameters p = Bench::cached();
  p.refresh_interval = 8_us;
  p.refresh_time = 400_ns;
  p.dram_ranks = 4;
  {
    Bench ideal(p);
    for (unsigned i = 0; i < 64; ++i)
      REQUIRE(ideal.load(0, kBase + i * 64, Time::ns(500 * i)) == Time::ns(500 * i) + p.dram_latency);
  }
  base::spread().draw_from(base::RandomSeed{1, 0});
  const Time phase = base::spread().phase(p.refresh_interval, "memory", "refresh");
  const std::uint64_t key = base::spread().key("memory", "refreshes");
  Bench b(p);
  base::spread().draw_from(std::nullopt);
  // Rank r's turn to be refreshed begins at phase + r * 2 us; line n is in rank n modulo 4.
  for (unsigned rank = 0; rank < 4; ++rank) {
    const Time turn = 80_us + (phase + 2_us * rank) % p.refresh_interval;
    const auto begin_of = [&](unsigned turns) {
      const std::uint64_t drawn = base::random_at(key, (11 + turns) * 4 + rank);
      const auto late = static_cast<unsigned __int128>(drawn) * Time(2_us - p.refresh_time).femtoseconds() >> 64;
      return turn + p.refresh_interval * turns + Time::fs(static_cast<std::uint64_t>(late));
    };
    const auto arrives = [&](Time at) {
      static unsigned next = 0;
      return b.load(0, kBase + (1024 + 4 * next++ + rank) * 64, at);
    };
    CHECK(arrives(begin_of(0) - 1_ns) == begin_of(0) - 1_ns + p.dram_latency);
    CHECK(arrives(begin_of(2)) == begin_of(2) + 400_ns + p.dram_latency);
    CHECK(arrives(begin_of(4) + 399_ns) == begin_of(4) + 400_ns + p.dram_latency);
    CHECK(arrives(begin_of(6) + 400_ns) == begin_of(6) + 400_ns + p.dram_latency);
    CHECK(begin_of(0) + p.refresh_interval * 2 != begin_of(2));
  }
}

TEST_CASE("no hart keeps what another has written or a DMA write has changed, whatever its caches' geometry",
          "[memory]") {
  std::mt19937_64 random(1);
  const auto below = [&](std::uint64_t n) { return static_cast<unsigned>(random() % n); };
  for (unsigned trial = 0; trial < 60; ++trial) {
    MemorySystem::Parameters p = Bench::cached();
    const auto cache = [&](base::Bytes& size, unsigned& ways) {
      ways = 1 + below(9);
      size = base::Bytes(std::uint64_t{64} * ways * (1 + below(40)));
    };
    cache(p.l1i_size, p.l1i_ways);
    cache(p.l1d_size, p.l1d_ways);
    cache(p.l2_size, p.l2_ways);
    cache(p.llc_size, p.llc_ways);
    if (trial % 3 == 0) p.l2_size = base::Bytes(0);
    p.prefetch_depth = below(3);
    p.ddio_ways = below(2);
    if (trial % 2) p.timing = MemorySystem::Timing::interval;
    const unsigned harts = 1 + below(5);
    Bench b(p, harts);
    const std::uint64_t lines = 1 + below(800), stride = below(2) ? 64 : 64 * (std::uint64_t{1} << below(14));
    CAPTURE(trial, harts, lines, stride);
    const auto states = [&](unsigned hart, std::uint64_t line) {
      return std::max(b.memory.l1i(hart)->state(line), b.memory.l1d(hart)->state(line));
    };
    for (unsigned n = 0; n < 4'000; ++n) {
      const unsigned hart = below(harts);
      const std::uint64_t line = kBase + stride * below(lines) % (32 << 20);
      const Time at = Time::ns(100 * n);
      switch (below(5)) {
        case 0:
          if (!b.memory.l1i(hart)->hit(line, false)) b.memory.miss(hart, line, base::LineUse::fetch, at);
          break;
        case 1:
        case 2:
          b.load(hart, line, at);
          break;
        case 3:
          b.store(hart, line, at);
          for (unsigned h = 0; h < harts; ++h)
            if (h != hart) REQUIRE(b.memory.l1d(h)->state(line) == LineState::kInvalid);
          break;
        default:
          if (below(2)) {
            b.memory.written(line, 64);
            for (unsigned h = 0; h < harts; ++h) REQUIRE(states(h, line) == LineState::kInvalid);
          } else {
            b.memory.read_latency(line, 64);
            for (unsigned h = 0; h < harts; ++h) REQUIRE(b.memory.l1d(h)->state(line) <= LineState::kShared);
          }
      }
    }
    b.memory.reset();
    for (unsigned h = 0; h < harts; ++h) REQUIRE(states(h, kBase) == LineState::kInvalid);
  }
}

TEST_CASE("a line that is cleaned goes to memory and stays, and one that is flushed goes", "[memory]") {
  for (const bool keep : {true, false}) {
    Bench b;
    b.store(0, kBase, 0_ns);
    b.load(1, kBase + 64, 0_ns);
    REQUIRE(b.memory.clean(1, kBase + 5, keep, 1_us) == 1_us);  // whoever has changed it
    CHECK(b.memory.l1d(0)->state(kBase) == (keep ? LineState::kShared : LineState::kInvalid));
    CHECK(b.load(0, kBase, 2_us) == 2_us + (keep ? 0_ns : b.p.dram_latency));
    b.memory.clean(1, kBase + 64, keep, 3_us);
    CHECK(b.load(1, kBase + 64, 4_us) == 4_us + (keep ? 0_ns : b.p.dram_latency));
  }
}

TEST_CASE("a changed line that is flushed takes the channel, a clean one does not, also from the LLC", "[memory]") {
  const Time line = Bench::cached().dram_rate.time_of(Bench::cached().line);
  for (const bool changed : {true, false}) {
    Bench b;
    if (changed)
      b.memory.written(kBase, 64);  // to the LLC
    else
      b.load(0, kBase, 0_ns);
    b.memory.clean(0, kBase, false, 1_us);
    CHECK(b.load(0, kBase + 8192, 1_us) == 1_us + b.p.dram_latency + (changed ? line : 0_ns));
    CHECK(b.load(0, kBase, 2_us) == 2_us + b.p.dram_latency);
  }
}

TEST_CASE("a hart that cleans lines waits for a miss register alone", "[memory]") {
  Bench b;
  for (unsigned i = 0; i < b.p.miss_registers; ++i) b.store(0, kBase + i * 64, 0_ns);
  b.load(1, kBase + 4096, 0_ns);
  for (unsigned i = 0; i < b.p.miss_registers; ++i) CHECK(b.memory.clean(0, kBase + i * 64, false, 1_us) == 1_us);
  CHECK(b.memory.clean(0, kBase + 4096, false, 1_us) == 1_us + b.p.dram_latency);
}

namespace {
MemorySystem::Parameters without_l2() {
  auto p = Bench::cached();
  p.l2_size = base::Bytes(0);
  return p;
}
}  // namespace

TEST_CASE("without an L2, what L1 displaces goes to the LLC, and comes from there", "[memory]") {
  for (const base::LineUse use : {base::LineUse::load, base::LineUse::store, base::LineUse::fetch}) {
    Bench b(without_l2());
    const std::uint64_t sets = b.p.l1d_size.count() / b.p.l1d_ways / 64;
    REQUIRE(b.p.l1i_size == b.p.l1d_size);
    const auto access = [&](std::uint64_t address, Time at) { return b.memory.miss(0, address, use, at); };
    CHECK(access(kBase, 0_ns) == (use == base::LineUse::store ? 0_ns : b.p.dram_latency));
    CHECK(b.memory.read_latency(kBase + 64, 64) > b.p.dma_read);
    for (unsigned i = 1; i <= b.p.l1d_ways; ++i) access(kBase + i * sets * 64, Time::ns(1000 * i));
    const base::LineState* const l1 = use == base::LineUse::fetch ? b.memory.l1i(0) : b.memory.l1d(0);
    CHECK(l1->state(kBase) == LineState::kInvalid);
    CHECK(b.memory.read_latency(kBase, 64) == b.p.dma_read);  // the LLC has it
    CHECK(b.memory.miss(0, kBase, base::LineUse::load, 20_us) == 20_us + b.p.llc_latency);
    // A changed line that the LLC does not keep is written to memory.
    b.memory.clean(0, kBase, false, 30_us);
    CHECK(b.load(0, kBase, 40_us) == 40_us + b.p.dram_latency);
    CHECK(base::statistics().value("memory.dma_read_hits") == 1);
  }
}

TEST_CASE("without an L2, harts take lines from each other as with one", "[memory]") {
  Bench b(without_l2());
  b.store(0, kBase, 0_ns);
  CHECK(b.load(1, kBase, 1_us) == 1_us + b.p.snoop_latency);
  CHECK(b.memory.l1d(0)->state(kBase) == LineState::kShared);
  CHECK(b.memory.l1d(1)->state(kBase) == LineState::kShared);
  b.store(1, kBase, 2_us);  // takes the permission
  CHECK(b.memory.l1d(0)->state(kBase) == LineState::kInvalid);
  CHECK(b.memory.l1d(1)->state(kBase) == LineState::kModified);
  CHECK(b.memory.counters(1).snoops == 2);
  b.load(0, kBase + 64, 3_us);
  CHECK(b.memory.l1d(0)->state(kBase + 64) == LineState::kExclusive);
  CHECK(b.load(1, kBase + 64, 4_us) == 4_us + b.p.snoop_latency);
  b.memory.written(kBase, 64);
  CHECK(b.memory.l1d(1)->state(kBase) == LineState::kInvalid);
  CHECK(b.load(1, kBase, 5_us) == 5_us + b.p.llc_latency);
}

TEST_CASE("without an L2, prefetches bring lines to the LLC, and a load waits for the rest of one", "[memory]") {
  auto p = without_l2();
  p.prefetch_depth = 2;
  Bench b(p);
  b.load(0, kBase, 0_ns);
  CHECK(b.load(0, kBase + 64, 1_us) == 1_us + p.dram_latency);  // asks for the next two
  const Time arrives = 1_us + p.dram_latency + p.dram_rate.time_of(p.line);
  CHECK(b.memory.l1d(0)->state(kBase + 128) == LineState::kInvalid);
  CHECK(b.load(0, kBase + 128, 1_us + 5_ns) == arrives);
  CHECK(b.memory.counters(0).prefetch_waits == 1);
  CHECK(b.load(0, kBase + 192, 10_us) == 10_us + p.llc_latency);
  CHECK(b.memory.counters(0).l2_misses == b.memory.counters(0).l2_accesses);
}
