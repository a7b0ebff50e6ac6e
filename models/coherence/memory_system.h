// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The host's memory system: private caches of each hart, a shared last-level cache and DRAM channels. It models tags,
/// states and time; the data always lies in GuestRam.

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/base/fabric/server.h"
#include "models/base/measure/statistics.h"
#include "models/base/memory/hart_memory.h"
#include "models/base/memory/line_state.h"
#include "models/base/memory/memory_path.h"
#include "models/base/parameters/quantity.h"
#include "models/base/parameters/schema.h"
#include "models/base/systemc/model.h"
#include "models/base/systemc/reset.h"
#include "models/coherence/directory.h"
#include "models/coherence/lines/homed_lines.h"

namespace sluice::coherence {

using namespace base::literals;

/// timing = "functional": DMA takes fixed latencies; accesses by harts take no time beyond their instruction's cost.
/// timing = "cached": L1I, L1D and, if it has a size, L2 per hart, a shared non-inclusive LLC, DDIO, a stream
/// prefetcher and a limited number of outstanding misses per hart. A miss is issued when a miss register is free, and
/// holds the register until its data arrives. A load or fetch miss stalls the hart until the data arrives; a store miss
/// stalls it only until the miss is issued.
///
/// Where base::spread() is drawn, each DRAM rank is refreshed once in an interval, the ranks in turn, at any time in
/// its turn, and an access that asks for a line of a rank while that is refreshed waits for the end of it; write-backs
/// do not.
///
/// timing = "interval": as cached, for harts whose instruction windows overlap their misses. Accesses come at the times
/// of their issue, which are not in order.
///
/// Lines with a home of their own take no place in these caches: HomedLines holds them, whatever the timing.
class MemorySystem : public base::Model, public base::MemoryPath, public base::HartMemory, public base::Resettable {
 public:
  enum class Timing { functional, cached, interval };
  enum class Protocol { mesi, moesi };
  struct Parameters {
    Timing timing = Timing::functional;
    base::Bytes line = 64_B;
    Protocol protocol = Protocol::mesi;  ///< of lines with a home of their own
    base::Bytes l1i_size = 32_KiB;
    unsigned l1i_ways = 8;
    base::Bytes l1d_size = 32_KiB;
    unsigned l1d_ways = 8;
    base::Bytes l2_size = 1_MiB;  ///< 0: a hart has no L2, and what misses its L1 goes to the LLC
    unsigned l2_ways = 16;
    base::Time l2_latency = base::Time::ps(4'516);  ///< L1 miss to data from L2
    base::Bytes llc_size = 22_MiB;
    unsigned llc_ways = 11;
    base::Time llc_latency = base::Time::ps(21'935);  ///< L1 miss to data from the LLC
    base::Time dram_latency = 85_ns;                  ///< L1 miss to data from DRAM, channel idle
    base::BitRate dram_rate = base::BitRate(680'000'000'000);
    base::Time refresh_interval = 0_ns;                 ///< of a rank, tREFI; 0: no refresh
    base::Time refresh_time = 350_ns;                   ///< in which the rank is busy with it, tRFC
    unsigned dram_ranks = 8;                            ///< lines in turn
    base::Time snoop_latency = base::Time::ps(32'258);  ///< L1 miss to data from another hart's cache
    unsigned miss_registers = 12;
    unsigned prefetch_depth = 4;        ///< lines ahead of a stream; 0: no prefetcher
    unsigned ddio_ways = 2;             ///< LLC ways that DMA writes may fill; 0: DMA writes go to DRAM
    base::Time dma_read = 20_ns;        ///< when a cache has the line, or timing is functional
    base::Time dma_write = 10_ns;       ///< when it goes to the LLC, or timing is functional
    base::Time dma_dram_adder = 40_ns;  ///< added if no cache has the line; channel idle
    static void describe(base::Schema<Parameters>&);
  };

  struct HartCounters {
    std::uint64_t l2_accesses = 0;
    std::uint64_t l2_misses = 0;
    std::uint64_t llc_misses = 0;
    std::uint64_t prefetches = 0;
    // Loads and fetches that made the hart wait, by what they waited for.
    std::uint64_t l2_waits = 0;
    std::uint64_t llc_waits = 0;
    std::uint64_t snoop_waits = 0;
    std::uint64_t dram_waits = 0;
    std::uint64_t prefetch_waits = 0;
    std::uint64_t snoops = 0;  ///< lines that came from another hart's cache
    // Lines that made room for others.
    std::uint64_t l1i_displaced = 0;
    std::uint64_t l1d_displaced = 0;
    std::uint64_t l2_displaced = 0;
  };

  /// harts: number of harts in all clusters that share this memory. window: how far one hart may run ahead of another.
  MemorySystem(const sc_core::sc_module_name&, const Parameters&, unsigned harts, base::Time window);
  void add(base::GuestRam& ram) { rams_.push_back(&ram); }

  /// Empties the caches. Memory is unchanged, as the data of cached lines always lies there.
  void reset() override;

  bool cached() const { return parameters_.timing != Timing::functional; }
  const HartCounters& counters(unsigned hart) const { return harts_[hart].counters; }
  /// Adds a home behind a link. A hart holds as many lines with homes of their own as its L1D.
  void add_home(base::LineHome& home, std::uint64_t base, std::uint64_t size, std::string path, CoherentLink& link) {
    homed_lines_.add(home, base, size, std::move(path), link);
  }

  /// Checks every access to lines with a home of their own (HomedLines::check()).
  void check_homed_lines() { homed_lines_.check(); }

  /// Path of the home of the line at an address; empty: the line has no home.
  std::string home_at(std::uint64_t address) const { return homed_lines_.home_at(address); }

  // base::HartMemory. Functional timing has no L1.
  base::LineState* l1i(unsigned hart) override { return cached() ? &harts_[hart].l1i : nullptr; }
  base::LineState* l1d(unsigned hart) override { return cached() ? &harts_[hart].l1d : nullptr; }
  base::Time miss(unsigned hart, std::uint64_t address, base::LineUse use, base::Time at) override;
  bool windowed() const override { return parameters_.timing == Timing::interval; }
  base::Time fill(unsigned hart, std::uint64_t address, base::LineUse use, base::Time at, base::Time earliest) override;
  base::Time uncached(unsigned hart, std::uint64_t address, bool write, base::Time at) override;
  base::Time clean(unsigned hart, std::uint64_t address, bool keep, base::Time at) override;
  bool homed(std::uint64_t address) const override { return homed_lines_.homed(address); }
  unsigned line_bytes() const override { return homed_lines_.line_bytes(); }
  std::uint8_t* held(unsigned hart, std::uint64_t address, base::LineUse use) override {
    return homed_lines_.held(hart, address, base::writes(use));
  }
  std::uint8_t* hold(unsigned hart, std::uint64_t address, base::LineUse use, base::Time most) override {
    return homed_lines_.hold(hart, address, base::writes(use), most);
  }
  std::pair<base::Time, base::Time> held_back(unsigned hart, base::Time until) const override {
    return homed_lines_.held_back(hart, until);
  }
  base::RequestId request_of(unsigned hart, std::uint64_t address) override {
    return homed_lines_.request_of(hart, address);
  }
  void set_request_of(unsigned hart, std::uint64_t address, base::RequestId id) override {
    homed_lines_.set_request_of(hart, address, id);
  }
  std::string why_refused(unsigned hart) const override { return homed_lines_.why_refused(hart); }
  void let_go(unsigned hart) override { homed_lines_.let_go(hart); }
  void give_back(unsigned hart, std::uint64_t line) override { homed_lines_.give_back(hart, line); }
  void add_watcher(unsigned hart, base::LineWatcher& w) override { homed_lines_.add_watcher(hart, w); }
  void register_hart_statistics(unsigned hart, base::StatisticsGroup&) override;

  // For harts and devices.
  base::GuestRam* ram_at(std::uint64_t address, std::uint64_t length) override;
  base::Time read_latency(std::uint64_t address, std::uint64_t length) override;
  base::Time write_latency(std::uint64_t address, std::uint64_t length) override;
  void written(std::uint64_t address, std::uint64_t length) override;

 private:
  bool has_l2() const { return parameters_.l2_size.count() != 0; }
  void register_statistics(base::StatisticsGroup&) override;
  struct Stream {
    std::uint64_t next = ~std::uint64_t{0};  ///< the line that would continue the stream
    std::uint64_t ahead = 0;                 ///< first line not yet prefetched
  };
  struct Pending {
    std::uint64_t line;
    base::Time ready;
  };
  struct Hart {
    explicit Hart(const Parameters&);
    base::LineState l1i, l1d, l2;         ///< without an L2, the smallest possible one, which is never used
    std::vector<Pending> miss_registers;  ///< the line of each, and when it is free: the line has arrived
    /// When a line has arrived that the hart has asked for; 0: it is not under way.
    base::Time arrives(std::uint64_t line) const;
    Pending& next_miss_register();
    std::array<Stream, 16> streams;
    unsigned next_stream = 0;
    std::deque<Pending> prefetched;  ///< lines under way
    HartCounters counters;
  };

  struct Fill {
    base::Time ready;
    std::uint64_t HartCounters::*waits;                       ///< counter for a hart that waits for this fill
    base::Time start = {};                                    ///< when a miss register was free
    base::LineState::State state = base::LineState::kShared;  ///< in which the line comes to the hart's caches
  };
  Fill bring(unsigned hart, std::uint64_t address, base::LineUse use, base::Time at);
  base::Time prefetch_below_l1(unsigned hart, std::uint64_t line, base::Time at);
  bool is_in_a_cache(std::uint64_t line) const;
  base::Time fetch_to_llc(unsigned hart, std::uint64_t line, base::Time at);
  Fill fetch_line(unsigned hart, std::uint64_t line, bool write, base::Time at);
  void prefetch(unsigned hart, std::uint64_t line, base::Time at);
  void fill_l1(unsigned hart, std::uint64_t line, base::LineState::State, bool fetch, base::Time at);
  void fill_l2(unsigned hart, std::uint64_t line, base::LineState::State, base::Time at);
  base::LineState::Line put(unsigned hart, base::LineState& cache, std::uint64_t line, base::LineState::State);
  base::LineState::State take(unsigned hart, std::uint64_t line, base::LineState::State to);
  Directory empty_directory(std::size_t harts) const;
  /// ways: of a set, that whoever writes may use; 0: all.
  void put_in_llc(std::uint64_t line, bool dirty, base::Time at, unsigned ways = 0);
  base::LineState::State take_from_others(unsigned hart, std::uint64_t line, base::LineState::State to);
  base::Time take_channel(base::Time at);
  base::Time refreshed(std::uint64_t line, base::Time at) const;
  base::Time dram(std::uint64_t line, base::Time at);
  base::Time dma_channel(std::uint64_t line);
  bool dma_finds(std::uint64_t line);

  Parameters parameters_;
  base::Time window_;
  std::vector<Hart> harts_;
  Directory directory_;  ///< of L1I and L2, which has what L1D has
  base::LineState llc_;
  base::GapServer channel_;
  base::Time line_time_;
  bool refreshes_;
  base::Time refresh_phase_;   ///< when rank 0's first turn to be refreshed begins
  std::uint64_t refresh_key_;  ///< of random_at(), for when in its turn a rank is refreshed
  std::vector<base::GuestRam*> rams_;
  HomedLines homed_lines_;
  std::uint64_t dma_reads_ = 0;
  std::uint64_t dma_writes_ = 0;
  std::uint64_t dma_read_hits_ = 0;
  std::uint64_t dma_read_misses_ = 0;
  std::uint64_t llc_displaced_ = 0;
  std::uint64_t ddio_displaced_ = 0;
  base::Time dram_busy_;
};

}  // namespace sluice::coherence
