// SPDX-License-Identifier: Apache-2.0
#include "models/coherence/memory_system.h"

#include <algorithm>

#include "models/base/parameters/random_table.h"
#include "models/base/parameters/spread.h"

namespace sluice::coherence {

using base::LineState;
using base::LineUse;
using base::Time;

namespace {
constexpr unsigned kNobody = ~0u;  ///< as a hart
}  // namespace

MemorySystem::Hart::Hart(const Parameters& p)
    : l1i(p.l1i_size.count(), p.l1i_ways, static_cast<unsigned>(p.line.count())),
      l1d(p.l1d_size.count(), p.l1d_ways, static_cast<unsigned>(p.line.count())),
      l2(p.l2_size.count() != 0 ? p.l2_size.count() : p.line.count(), p.l2_size.count() != 0 ? p.l2_ways : 1,
         static_cast<unsigned>(p.line.count())),
      miss_registers(p.miss_registers, Pending{~std::uint64_t{0}, {}}) {}

Time MemorySystem::Hart::arrives(std::uint64_t line) const {
  Time latest;
  for (const Pending& p : miss_registers)
    if (p.line == line) latest = std::max(latest, p.ready);
  return latest;
}

/// The one that is free first.
MemorySystem::Pending& MemorySystem::Hart::next_miss_register() {
  return *std::min_element(miss_registers.begin(), miss_registers.end(),
                           [](const Pending& a, const Pending& b) { return a.ready < b.ready; });
}

MemorySystem::MemorySystem(const sc_core::sc_module_name& name, const Parameters& p, unsigned harts, Time window)
    : Model(name),
      parameters_(p),
      window_(window),
      directory_(empty_directory(cached() ? harts : 0)),
      // Functional timing never uses the LLC, so it gets the smallest possible one.
      llc_(cached() ? p.llc_size.count() : p.line.count(), cached() ? p.llc_ways : 1,
           static_cast<unsigned>(p.line.count())),
      channel_(p.timing == Timing::interval ? std::nullopt : std::optional(window)),
      line_time_(p.dram_rate.time_of(p.line)),
      refreshes_(p.refresh_interval != Time{} && base::spread().drawn()),
      refresh_phase_(base::spread().phase(p.refresh_interval, path(), "refresh")),
      refresh_key_(base::spread().key(path(), "refreshes")),
      homed_lines_(harts, static_cast<unsigned>(p.line.count()), p.l1d_size.count() / p.line.count(),
                   p.protocol == Protocol::moesi) {
  for (unsigned h = 0; cached() && h < harts; ++h) harts_.emplace_back(p);
}

void MemorySystem::register_statistics(base::StatisticsGroup& group) {
  group.counter("dma_reads", "reads", "of memory by DMA", dma_reads_);
  group.counter("dma_writes", "writes", "to memory by DMA", dma_writes_);
  group.counter("dma_read_hits", "lines", "lines that DMA reads found in the LLC, or modified in a hart's cache",
                dma_read_hits_);
  group.counter("dma_read_misses", "lines", "lines that DMA reads fetched from DRAM", dma_read_misses_);
  if (cached()) {
    group.counter("llc_displaced", "lines", "that made room in the LLC for lines of harts", llc_displaced_);
    group.counter("ddio_displaced", "lines", "that made room in the LLC for lines that DMA wrote", ddio_displaced_);
    group.resource("dram_busy", "DRAM channels", "all channels together, moving lines",
                   [this] { return dram_busy_.femtoseconds(); });
  }
  group.counter("home_requests", "lines", "that harts asked their homes for", homed_lines_.requests());
  group.counter("home_shares", "lines", "that harts were asked to share", homed_lines_.shares());
  if (homed_lines_.is_checked())
    group.counter_of("home_checked", "accesses", "to lines with a home of their own that run.check has checked",
                     [this] { return homed_lines_.checked(); });
  if (!homed_lines_.any()) return;
  group.counter_of("home_recalls", "lines", "that their homes took back, or left to be read only",
                   [this] { return homed_lines_.recalls(); });
  group.counter("home_evictions", "lines", "that made room for others", homed_lines_.evictions());
}

void MemorySystem::register_hart_statistics(unsigned hart, base::StatisticsGroup& group) {
  if (!cached()) return;
  const HartCounters& c = harts_[hart].counters;
  group.counter("l1i_displaced", "lines", "that made room for others in L1I", c.l1i_displaced);
  group.counter("l1d_displaced", "lines", "that made room for others in L1D", c.l1d_displaced);
  group.counter("l2_accesses", "lines", "L1 misses", c.l2_accesses);
  group.counter("llc_misses", "lines", "lines fetched from DRAM", c.llc_misses);
  group.counter("snoops", "lines", "that came from another hart's cache, or the permission to write them", c.snoops);
  group.counter("prefetches", "lines", "lines fetched ahead of a stream", c.prefetches);
  group.counter("llc_waits", "accesses", "loads and fetches that waited for the LLC", c.llc_waits);
  group.counter("snoop_waits", "accesses", "loads and fetches that waited for another hart's cache", c.snoop_waits);
  group.counter("dram_waits", "accesses", "loads and fetches that waited for DRAM", c.dram_waits);
  group.counter("prefetch_waits", "accesses", "loads and fetches that waited for a prefetch under way",
                c.prefetch_waits);
  if (!has_l2()) return;
  group.counter("l2_displaced", "lines", "that made room for others in L2", c.l2_displaced);
  group.counter("l2_misses", "lines", "of the L1 misses, lines that L2 did not hold", c.l2_misses);
  group.counter_of("l2_hits", "lines", "L1 misses that L2 held", [&c] { return c.l2_accesses - c.l2_misses; });
  group.counter("l2_waits", "accesses", "loads and fetches that waited for L2", c.l2_waits);
}

base::GuestRam* MemorySystem::ram_at(std::uint64_t address, std::uint64_t length) {
  for (base::GuestRam* ram : rams_)
    if (ram->contains(address, length)) return ram;
  return nullptr;
}

void MemorySystem::reset() {
  for (Hart& h : harts_) {
    for (LineState* cache : {&h.l1i, &h.l1d, &h.l2}) cache->clear();
    h.streams = {};
    h.prefetched.clear();
  }
  directory_ = empty_directory(harts_.size());
  llc_.clear();
  homed_lines_.reset();
}

Directory MemorySystem::empty_directory(std::size_t harts) const {
  const Parameters& p = parameters_;
  const std::uint64_t lines = ((has_l2() ? p.l2_size : p.l1d_size).count() + p.l1i_size.count()) / p.line.count();
  return {harts, harts == 0 ? 1 : lines, static_cast<unsigned>(p.line.count())};
}

/// Takes the channels for a line, and returns from when on.
Time MemorySystem::take_channel(Time at) {
  dram_busy_ += line_time_;
  return channel_.reserve_at(at, line_time_).start;
}

/// When a line's rank is free of refresh, at or after `at`. A controller may hold a refresh back (JESD79-4), so it
/// comes at any time of the rank's turn. Refreshes at regular times would lock with reads that follow each other.
Time MemorySystem::refreshed(std::uint64_t line, Time at) const {
  const Parameters& p = parameters_;
  if (!refreshes_) return at;
  const std::uint64_t rank = line / p.line.count() % p.dram_ranks;
  const Time first = (refresh_phase_ + p.refresh_interval * rank / p.dram_ranks) % p.refresh_interval;
  const std::uint64_t interval = (at + p.refresh_interval - first) / p.refresh_interval;
  const Time since = (at + p.refresh_interval - first) % p.refresh_interval;
  const Time turn = p.refresh_interval / p.dram_ranks;
  const Time most = turn - std::min(turn, p.refresh_time);
  const std::uint64_t drawn = base::random_at(refresh_key_, interval * p.dram_ranks + rank);
  const Time begin =
      Time::fs(static_cast<std::uint64_t>(static_cast<unsigned __int128>(drawn) * most.femtoseconds() >> 64));
  return since >= begin && since < begin + p.refresh_time ? at + (begin + p.refresh_time - since) : at;
}

Time MemorySystem::dram(std::uint64_t line, Time at) {
  return take_channel(refreshed(line, at)) + parameters_.dram_latency;
}

/// DMA takes the channel for a line. Returns from when on. A hart that executes has not yet come a window further.
Time MemorySystem::dma_channel(std::uint64_t line) {
  if (windowed() && base::now() > window_) channel_.forget(base::now() - window_);
  return take_channel(refreshed(line, base::now()));
}

/// Puts a line into the LLC. A displaced line goes to DRAM if it has been changed.
void MemorySystem::put_in_llc(std::uint64_t line, bool dirty, Time at, unsigned ways) {
  const bool modified = dirty || llc_.state(line) == LineState::kModified;
  const auto out = llc_.fill(line, modified ? LineState::kModified : LineState::kExclusive, ways);
  (ways == 0 ? llc_displaced_ : ddio_displaced_) += out.state != LineState::kInvalid;
  if (out.state == LineState::kModified) take_channel(at);
}

/// Takes a line from a hart, which keeps it shared or not at all. Returns the state that its caches for data had it in.
LineState::State MemorySystem::take(unsigned hart, std::uint64_t line, LineState::State to) {
  Hart& h = harts_[hart];
  const LineState::State in_l1d = h.l1d.downgrade(line, to);
  const LineState::State counted = has_l2() ? h.l2.downgrade(line, to) : in_l1d;
  const LineState::State had = std::max(in_l1d, counted);
  if (to != LineState::kInvalid) return had;
  if (counted != LineState::kInvalid) directory_.remove(hart, line);
  if (h.l1i.downgrade(line, to) != LineState::kInvalid) directory_.remove(hart, line);
  return had;
}

/// Takes a line from all harts but one, or kNobody. Returns the highest state that their caches for data had it in.
LineState::State MemorySystem::take_from_others(unsigned hart, std::uint64_t line, LineState::State to) {
  LineState::State had = LineState::kInvalid;
  directory_.for_each_holder(line, [&](std::size_t h) {
    if (h != hart) had = std::max(had, take(static_cast<unsigned>(h), line, to));
    return true;
  });
  return had;
}

/// Puts a line into one of a hart's caches that the directory counts. Returns what it displaced.
LineState::Line MemorySystem::put(unsigned hart, LineState& cache, std::uint64_t line, LineState::State state) {
  if (cache.state(line) == LineState::kInvalid) directory_.add(hart, line);
  const auto out = cache.fill(line, state);
  if (out.state != LineState::kInvalid) directory_.remove(hart, out.address);
  return out;
}

/// state: of the line in the caches below, or, without an L2, that in which it comes.
void MemorySystem::fill_l1(unsigned hart, std::uint64_t line, LineState::State state, bool fetch, Time at) {
  Hart& h = harts_[hart];
  const bool is_counted = fetch || !has_l2();
  LineState& l1 = fetch ? h.l1i : h.l1d;
  const auto out = is_counted ? put(hart, l1, line, fetch ? LineState::kShared : state) : l1.fill(line, state);
  (fetch ? h.counters.l1i_displaced : h.counters.l1d_displaced) += out.state != LineState::kInvalid;
  if (!has_l2() && out.state != LineState::kInvalid)
    put_in_llc(out.address, out.state == LineState::kModified, at);
  else if (out.state == LineState::kModified)
    h.l2.fill(out.address, LineState::kModified);  // L2 has it
}

/// What makes room goes to the LLC.
void MemorySystem::fill_l2(unsigned hart, std::uint64_t line, LineState::State state, Time at) {
  Hart& h = harts_[hart];
  const auto out = put(hart, h.l2, line, state);
  if (out.state == LineState::kInvalid) return;
  ++h.counters.l2_displaced;
  const bool dirty = h.l1d.downgrade(out.address, LineState::kInvalid) == LineState::kModified;
  put_in_llc(out.address, dirty || out.state == LineState::kModified, at);
}

/// Returns the time at which the line arrives for a hart whose L1 and L2 do not have it, or have it shared while the
/// hart writes.
MemorySystem::Fill MemorySystem::fetch_line(unsigned hart, std::uint64_t line, bool write, Time at) {
  Hart& h = harts_[hart];
  const LineState::State elsewhere = take_from_others(hart, line, write ? LineState::kInvalid : LineState::kShared);
  if (elsewhere == LineState::kModified) put_in_llc(line, true, at);
  const bool held = (has_l2() ? h.l2 : h.l1d).state(line) != LineState::kInvalid;
  // A hart that holds the line exclusively may have written it silently (E to M): it must be snooped for the data.
  const bool supplied = elsewhere >= LineState::kExclusive;
  const bool in_llc = llc_.hit(line, false);
  Fill fill;
  // A hart that holds the line shared needs the permission only: the others' copies are invalidated.
  if (supplied || (held && elsewhere != LineState::kInvalid))
    fill = {at + parameters_.snoop_latency, &HartCounters::snoop_waits}, ++h.counters.snoops;
  else if (in_llc || held)
    fill = {at + parameters_.llc_latency, &HartCounters::llc_waits};
  else
    fill = {dram(line, at), &HartCounters::dram_waits};
  h.counters.llc_misses += !supplied && !in_llc && !held;
  const auto alone = elsewhere == LineState::kInvalid ? LineState::kExclusive : LineState::kShared;
  fill.state = write ? LineState::kModified : alone;
  if (has_l2()) fill_l2(hart, line, fill.state, at);
  return fill;
}

Time MemorySystem::miss(unsigned hart, std::uint64_t address, LineUse use, Time at) {
  if (use == LineUse::prefetch) {
    Pending& free = harts_[hart].next_miss_register();
    const std::uint64_t line = llc_.line_of(address);
    free = {line, prefetch_below_l1(hart, line, std::max(at, free.ready))};
    return at;
  }
  const Fill fill = bring(hart, address, use, at);
  if (use == LineUse::store) return fill.start;
  ++(harts_[hart].counters.*fill.waits);
  return fill.ready;
}

Time MemorySystem::fill(unsigned hart, std::uint64_t address, LineUse use, Time at, Time earliest) {
  channel_.forget(earliest);
  const Fill fill = bring(hart, address, use, at);
  if (use == LineUse::load || use == LineUse::fetch) ++(harts_[hart].counters.*fill.waits);
  return fill.ready;
}

/// The caches are not asked: software that gives one page two types must clean them. Writes take a channel's time, but
/// nobody waits for it.
Time MemorySystem::uncached(unsigned, std::uint64_t address, bool write, Time at) {
  if (!cached()) return at;
  if (!write) return dram(llc_.line_of(address), at);
  take_channel(at);
  return at;
}

/// Takes a miss register, as a store does: the hart waits for that alone.
Time MemorySystem::clean(unsigned hart, std::uint64_t address, bool keep, Time at) {
  if (!cached()) return at;
  const std::uint64_t line = llc_.line_of(address);
  const LineState::State to = keep ? LineState::kShared : LineState::kInvalid;
  Pending& free = harts_[hart].next_miss_register();
  const Time start = std::max(at, free.ready);
  const LineState::State had = std::max(take_from_others(kNobody, line, to), llc_.downgrade(line, to));
  free = {line, had == LineState::kModified ? dram(line, start) : start + parameters_.llc_latency};
  return start;
}

/// Starts to bring a line to L2, or without one to the LLC, for a hart that does not wait for it. Returns when it
/// arrives.
Time MemorySystem::prefetch_below_l1(unsigned hart, std::uint64_t line, Time at) {
  Hart& h = harts_[hart];
  if (has_l2() ? h.l2.state(line) != LineState::kInvalid : is_in_a_cache(line)) return at;
  ++h.counters.prefetches;
  const Time ready = has_l2() ? fetch_line(hart, line, false, at).ready : fetch_to_llc(hart, line, at);
  h.prefetched.push_back({line, ready});
  if (h.prefetched.size() > 32) h.prefetched.pop_front();
  return ready;
}

/// Whether the LLC or a hart's cache for data has the line.
bool MemorySystem::is_in_a_cache(std::uint64_t line) const {
  if (llc_.state(line) != LineState::kInvalid) return true;
  bool found = false;
  directory_.for_each_holder(line, [&](std::size_t h) {
    found = harts_[h].l1d.state(line) != LineState::kInvalid;
    return !found;
  });
  return found;
}

Time MemorySystem::fetch_to_llc(unsigned hart, std::uint64_t line, Time at) {
  ++harts_[hart].counters.llc_misses;
  const Time ready = dram(line, at);
  put_in_llc(line, false, at);
  return ready;
}

/// Brings a line to L1, through L2 if there is one.
MemorySystem::Fill MemorySystem::bring(unsigned hart, std::uint64_t address, LineUse use, Time at) {
  const bool write = writes(use);
  Hart& h = harts_[hart];
  const std::uint64_t line = h.l1d.line_of(address);
  Pending& free = h.next_miss_register();
  const Time start = std::max(at, free.ready);
  ++h.counters.l2_accesses;
  Fill fill;
  auto under_way =
      std::find_if(h.prefetched.begin(), h.prefetched.end(), [&](const Pending& p) { return p.line == line; });
  if (has_l2() && h.l2.hit(line, write)) {
    fill = {
        start + parameters_.l2_latency, &HartCounters::l2_waits, {}, write ? LineState::kModified : h.l2.state(line)};
  } else {
    ++h.counters.l2_misses;
    fill = fetch_line(hart, line, write, start);
    if (has_l2()) under_way = h.prefetched.end();
  }
  if (under_way != h.prefetched.end()) {
    if (under_way->ready > fill.ready) fill.ready = under_way->ready, fill.waits = &HartCounters::prefetch_waits;
    h.prefetched.erase(under_way);
  }
  // Without a window, a hart waits for its misses, or pays only once for a line that it stores to.
  if (windowed()) fill.ready = std::max(fill.ready, h.arrives(line));
  fill_l1(hart, line, fill.state, use == LineUse::fetch, start);
  prefetch(hart, line, start);
  free = {line, fill.ready};
  fill.start = start;
  return fill;
}

void MemorySystem::prefetch(unsigned hart, std::uint64_t line, Time at) {
  if (parameters_.prefetch_depth == 0) return;
  Hart& h = harts_[hart];
  const std::uint64_t step = parameters_.line.count();
  const auto match = std::find_if(h.streams.begin(), h.streams.end(), [&](const Stream& s) { return s.next == line; });
  if (match == h.streams.end()) {
    // A miss of the next line would make this line the start of a stream.
    h.streams[h.next_stream] = {line + step, line + step};
    h.next_stream = (h.next_stream + 1) % h.streams.size();
    return;
  }
  match->next = line + step;
  match->ahead = std::max(match->ahead, line + step);
  const std::uint64_t end = line + step * (parameters_.prefetch_depth + 1);
  for (; match->ahead < end; match->ahead += step) {
    // A stream does not cross its page: the next page's frame is unknown to the hardware.
    if (match->ahead / base::GuestRam::kPage != line / base::GuestRam::kPage || !ram_at(match->ahead, step)) break;
    prefetch_below_l1(hart, match->ahead, at);
  }
}

/// Whether a cache has a line for a DMA read. A modified line is written to the LLC, and its hart keeps it clean.
bool MemorySystem::dma_finds(std::uint64_t line) {
  if (take_from_others(kNobody, line, LineState::kShared) == LineState::kModified) put_in_llc(line, true, base::now());
  return llc_.hit(line, false);
}

Time MemorySystem::read_latency(std::uint64_t address, std::uint64_t length) {
  ++dma_reads_;
  if (!cached()) return parameters_.dma_read;
  Time latency = parameters_.dma_read;
  for (std::uint64_t line = llc_.line_of(address); line < address + length; line += parameters_.line.count()) {
    if (dma_finds(line)) {
      ++dma_read_hits_;
      continue;
    }
    ++dma_read_misses_;
    const Time queued = dma_channel(line) - base::now();
    latency = std::max(latency, parameters_.dma_read + parameters_.dma_dram_adder + queued);
  }
  return latency;
}

/// With DDIO, the line gets its place in the LLC when the write is ordered, so that a read right after the write finds
/// it.
Time MemorySystem::write_latency(std::uint64_t address, std::uint64_t length) {
  ++dma_writes_;
  if (cached() && parameters_.ddio_ways != 0)
    for (std::uint64_t line = llc_.line_of(address); line < address + length; line += parameters_.line.count())
      put_in_llc(line, true, base::now(), parameters_.ddio_ways);
  return parameters_.dma_write;
}

void MemorySystem::written(std::uint64_t address, std::uint64_t length) {
  if (!cached()) return;
  for (std::uint64_t line = llc_.line_of(address); line < address + length; line += parameters_.line.count()) {
    take_from_others(kNobody, line, LineState::kInvalid);
    if (parameters_.ddio_ways == 0) {
      llc_.downgrade(line, LineState::kInvalid);
      dma_channel(line);
    } else {
      put_in_llc(line, true, base::now(), parameters_.ddio_ways);
    }
  }
}

}  // namespace sluice::coherence
