// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "models/coherence/memory_system.h"

namespace sluice::coherence {
namespace {

constexpr unsigned kMostWays = 64;

struct Limits {
  base::Bytes least, most;
};
constexpr Limits kL1Sizes{4_KiB, 1_MiB}, kL2Sizes{64_KiB, 16_MiB}, kLlcSizes{256_KiB, 1_GiB};

/// What is wrong with the size of a cache that has no whole number of sets; empty: nothing.
std::string broken_size(base::Bytes size, unsigned ways, base::Bytes line, const std::string& ways_key,
                        const Limits& limits) {
  const std::uint64_t set = ways * line.count(), below = size.count() / set * set;
  if (below == size.count()) return {};
  std::string nearest;
  for (const base::Bytes n : {base::Bytes(below), base::Bytes(below + set)})
    if (n >= limits.least && n <= limits.most) nearest += (nearest.empty() ? "" : " and ") + base::to_text(n);
  return fmt::format("must be a multiple of {}, which is {} x line; nearest: {}", base::to_text(base::Bytes(set)),
                     ways_key, nearest);
}

}  // namespace

void MemorySystem::Parameters::describe(base::Schema<Parameters>& s) {
  using P = Parameters;
  constexpr const char* kSkylake =
      "Intel 64 and IA-32 Architectures Optimization Reference Manual (248966): Skylake Server microarchitecture";
  constexpr const char* kTypical = "vendor-typical; no modelled system publishes it";
  const auto timed = [](const P& p) { return p.timing == Timing::functional ? "timing is functional" : ""; };
  const auto with_l2 = [timed](const P& p) { return p.l2_size == 0_B ? "l2_size is 0" : timed(p); };
  const auto refreshed = [timed](const P& p) {
    return p.timing != Timing::functional && p.refresh_interval == 0_ns ? "refresh_interval is 0 ns" : timed(p);
  };
  const auto ddio = [timed](const P& p) -> std::string {
    if (p.timing == Timing::functional || p.ddio_ways <= p.llc_ways) return timed(p);
    return fmt::format("llc_ways is {}, and more count as that", p.llc_ways);
  };
  s.summary("private caches, last-level cache, DRAM channels");
  s.add("timing", &P::timing,
        "functional: no cache timing; cached: caches, prefetcher, outstanding misses; interval: as cached, with "
        "out-of-order cores")
      .choices({{"functional", Timing::functional}, {"cached", Timing::cached}, {"interval", Timing::interval}})
      .setting();
  s.add("line", &P::line, "cache line")
      .range(64_B, 128_B)
      .power_of_two()
      .acts_with({"l2_accesses", "home_requests"}, "there are no caches, and no part has lines of its own")
      .stated(kSkylake);
  s.add("protocol", &P::protocol,
        "of lines with a home of their own; moesi: a cache that others read from keeps what it has changed")
      .choices({{"mesi", Protocol::mesi}, {"moesi", Protocol::moesi}})
      .acts_with({"home_shares"}, "no hart was asked to share a line that a device is the home of")
      .setting();
  s.add("l1i_size", &P::l1i_size, "instruction cache of a hart")
      .range(kL1Sizes.least, kL1Sizes.most)
      .stated(kSkylake)
      .acts_with({"l1i_displaced"}, "L1I was never full where a line was to come")
      .without_effect(timed);
  s.add("l1i_ways", &P::l1i_ways, "its ways")
      .range(1, kMostWays)
      .unit("ways")
      .stated(kSkylake)
      .acts_with({"l1i_displaced"}, "L1I was never full where a line was to come")
      .without_effect(timed);
  s.add("l1d_size", &P::l1d_size, "data cache of a hart")
      .range(kL1Sizes.least, kL1Sizes.most)
      .stated(kSkylake)
      .acts_with({"l1d_displaced"}, "L1D was never full where a line was to come")
      .without_effect(timed);
  s.add("l1d_ways", &P::l1d_ways, "its ways")
      .range(1, kMostWays)
      .unit("ways")
      .stated(kSkylake)
      .acts_with({"l1d_displaced"}, "L1D was never full where a line was to come")
      .without_effect(timed);
  s.add("l2_size", &P::l2_size, "private second-level cache of a hart; 0: it has none")
      .range(0_B, kL2Sizes.most)
      .stated(kSkylake)
      .acts_with({"l2_displaced"}, "L2 was never full where a line was to come")
      .without_effect(timed);
  s.add("l2_ways", &P::l2_ways, "its ways")
      .range(1, kMostWays)
      .unit("ways")
      .stated(kSkylake)
      .acts_with({"l2_displaced"}, "L2 was never full where a line was to come")
      .without_effect(with_l2);
  s.add("l2_latency", &P::l2_latency, "L1 miss to data from L2")
      .range(0_ns, 1_us)
      .assumed("14 cycles at 3.1 GHz, vendor-typical; no modelled system publishes it")
      .acts_with({"l2_hits"}, "L2 had no line that L1 missed")
      .without_effect(with_l2);
  s.add("llc_size", &P::llc_size, "shared last-level cache")
      .range(kLlcSizes.least, kLlcSizes.most)
      .stated("Enso thesis, section 3.3.1: 22 MB")
      .acts_with({"llc_displaced", "ddio_displaced"}, "the LLC was never full where a line was to come")
      .without_effect(timed);
  s.add("llc_ways", &P::llc_ways, "its ways")
      .range(1, kMostWays)
      .unit("ways")
      .stated(kSkylake)
      .acts_with({"llc_displaced", "ddio_displaced"}, "the LLC was never full where a line was to come")
      .without_effect(timed);
  s.add("llc_latency", &P::llc_latency, "L1 miss to data from the LLC")
      .range(0_ns, 1_us)
      .assumed("68 cycles at 3.1 GHz, of vendor-typical 50 to 70")
      .uncertainty("27 %")
      .acts_with({"llc_waits", "prefetches"}, "no load waited for the LLC, and nothing was prefetched")
      .without_effect(timed);
  s.add("dram_latency", &P::dram_latency, "L1 miss to data from DRAM, channels idle")
      .range(0_ns, 10_us)
      .assumed("vendor-typical 80 to 100 ns")
      .uncertainty("18 %")
      .without_effect(timed);
  s.add("dram_rate", &P::dram_rate, "all channels together")
      .range(1_Gbps, 100'000_Gbps)
      .derived("four channels of DDR4-2666, 8 B wide: the i9-9960X's most, by Intel's product specification")
      .without_effect(timed)
      .acts_with({"dram_busy"}, "no line came from DRAM or went there");
  s.add("refresh_interval", &P::refresh_interval,
        "between refreshes of a DRAM rank, tREFI, where run.spread is drawn; 0: no refresh")
      .range(0_ns, 1_ms)
      .assumed("no refresh; JESD79-4 says 7.8 us")
      .without_effect(timed);
  s.add("refresh_time", &P::refresh_time, "in which the rank is busy with it, tRFC")
      .range(1_ns, 10_us)
      .stated("JESD79-4: devices of 8 Gb")
      .without_effect(refreshed);
  s.add("dram_ranks", &P::dram_ranks, "ranks of all channels; lines are in one after the other")
      .range(1, 256)
      .unit("ranks")
      .assumed("four channels of two ranks")
      .without_effect(refreshed);
  s.add("snoop_latency", &P::snoop_latency, "L1 miss to data from another hart's cache")
      .range(1_ns, 1_us)
      .assumed("100 cycles at 3.1 GHz: more than the LLC's; no modelled system publishes it")
      .acts_with({"snoops"}, "no hart waited for a line of another")
      .without_effect(timed);
  s.add("miss_registers", &P::miss_registers, "outstanding L1 misses of a hart")
      .range(1, 64)
      .unit("misses")
      .assumed(kTypical)
      .without_effect(timed);
  s.add("prefetch_depth", &P::prefetch_depth, "lines that the stream prefetcher runs ahead; 0: none")
      .range(0, 32)
      .unit("lines")
      .assumed(kTypical)
      .without_effect(timed);
  s.add("ddio_ways", &P::ddio_ways, "LLC ways that DMA writes may fill; 0: DMA writes go to DRAM")
      .range(0, kMostWays)
      .unit("ways")
      .assumed("two ways after reset of Intel's MSR 0xc8b")
      .acts_with({"ddio_displaced"}, "the LLC was never full where DMA wrote a line")
      .without_effect(ddio);
  s.add("dma_read", &P::dma_read, "DMA read of lines that caches have, or any in functional timing")
      .range(0_ns, 10_us)
      .acts_with({"dma_reads"}, "nothing was read by DMA")
      .assumed("about the LLC's latency; pcie-bench measures only the whole read");
  s.add("dma_write", &P::dma_write, "DMA write until visible to the harts")
      .range(0_ns, 10_us)
      .acts_with({"dma_writes"}, "nothing was written by DMA")
      .assumed("half of dma_read: a write allocates without reading");
  s.add("dma_dram_adder", &P::dma_dram_adder, "more, when no cache has a line of a DMA read, channels idle")
      .range(0_ns, 10_us)
      .measured("pcie-bench: DMA reads with a cold against a warm LLC, about 40 ns")
      .acts_with({"dma_read_misses"}, "no DMA read came to DRAM")
      .without_effect(timed);
  s.rule("l2_size", [](const P& p) -> std::string {
    if (p.l2_size == 0_B || p.l2_size >= kL2Sizes.least) return {};
    return "must be 0, or at least " + base::to_text(kL2Sizes.least);
  });
  s.rule("refresh_time", [](const P& p) -> std::string {
    if (p.refresh_interval == base::Time{} || p.refresh_time < p.refresh_interval) return {};
    return "must be less than refresh_interval, " + base::to_text(p.refresh_interval);
  });
  const auto has_whole_sets = [&s](const std::string& cache, base::Bytes P::*size, unsigned P::*ways,
                                   const Limits& limits) {
    s.rule(cache + "_size", [=](const P& p) { return broken_size(p.*size, p.*ways, p.line, cache + "_ways", limits); });
  };
  has_whole_sets("l1i", &P::l1i_size, &P::l1i_ways, kL1Sizes);
  has_whole_sets("l1d", &P::l1d_size, &P::l1d_ways, kL1Sizes);
  has_whole_sets("l2", &P::l2_size, &P::l2_ways, kL2Sizes);
  has_whole_sets("llc", &P::llc_size, &P::llc_ways, kLlcSizes);
}

}  // namespace sluice::coherence
