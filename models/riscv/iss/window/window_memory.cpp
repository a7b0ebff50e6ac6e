// SPDX-License-Identifier: Apache-2.0
// What loads, stores and prefetches wait for, where L1D and the store buffer do not answer them at once.

#include <algorithm>

#include "models/riscv/iss/window/instruction_window.h"

namespace sluice::riscv {

using base::LineUse;

namespace {

constexpr std::uint64_t kPage = 4096;

}  // namespace

/// As load(), for any load. Where a store that is not written yet has all of its bytes, the load gets them; where
/// stores have some, it waits until they are written.
std::uint64_t InstructionWindow::load_any(std::uint64_t address, unsigned size, std::uint64_t start, unsigned latency) {
  const unsigned bytes = bytes_of(address, size);
  bool forwarded = true;
  std::uint64_t ready = start, written = start;
  for (unsigned n = 0; n < 2; ++n) {
    const unsigned part = bytes >> 8 * n & 0xff;
    if (part == 0) continue;
    const StoreForwarding::Store* s = forwarding_.find(address / 8 + n, part, start);
    if (!s || (part & ~unsigned{s->bytes}) != 0) forwarded = false;
    if (!s) continue;
    ready = std::max(ready, s->ready);
    written = std::max(written, s->written);
  }
  if (forwarded) {
    ++counters_.forwarded;
    ++counters_.l1d_accesses;
    touch_l1d(address, false);
    return ready + latency;
  }
  start = written;
  std::uint64_t done = read_line(address, start, latency);
  if (crosses_line(address, size)) [[unlikely]]
    done = std::max(done, read_line(address + size - 1, start + 1, latency));
  return done;
}

/// The line of L1D that is under way, or was a short time ago; null: it is not known.
InstructionWindow::Pending* InstructionWindow::pending_of(std::uint64_t line) {
  for (Pending& p : pending_[set_of(line)])
    if (p.line == line) return &p;
  return nullptr;
}

std::uint64_t InstructionWindow::read_line(std::uint64_t address, std::uint64_t start, unsigned latency) {
  ++counters_.l1d_accesses;
  if (touch_l1d(address, false)) [[likely]] {
    if (is_there(address, start + latency)) [[likely]]
      return start + latency;
    const std::uint64_t line = l1d_.line_of(address);
    Pending* const p = pending_of(line);
    if (!p) return start + latency;
    const std::uint64_t ready = std::max(start + latency, p->ready);
    if (p->ahead) {
      p->ahead = false;
      note_awaited(set_of(line));
      prefetch_behind(line, start);
    }
    return ready;
  }
  ++counters_.l1d_misses;
  const std::uint64_t ready = std::max(start + latency, memory_.fill(address, LineUse::load, start));
  const std::uint64_t line = l1d_.line_of(address);
  note_pending(line, ready, false);
  if (shape_.l1d_prefetch && misses_ascend(line)) prefetch_behind(line, start);
  return ready;
}

void InstructionWindow::note_pending(std::uint64_t line, std::uint64_t ready, bool ahead) {
  last_pending_ = std::max(last_pending_, ready);
  const std::size_t set = set_of(line);
  Pending* place = nullptr;
  Pending* oldest = pending_[set].data();
  for (Pending& p : pending_[set]) {
    if (p.line == line) place = &p;
    if (p.ready < oldest->ready) oldest = &p;
  }
  if (place)
    ready = std::max(ready, place->ready);
  else
    place = oldest;
  const bool leaves_others = !ahead && !place->ahead && place->ready <= ready;
  *place = {line, ready, ahead};
  if (leaves_others)
    awaited_[set] = std::max(awaited_[set], ready);
  else
    note_awaited(set);
}

/// The lines of this set under way have changed.
void InstructionWindow::note_awaited(std::size_t set) {
  awaited_[set] = 0;
  for (const Pending& p : pending_[set]) awaited_[set] = std::max(awaited_[set], p.ahead ? kNever : p.ready);
  const std::uint64_t bit = std::uint64_t{1} << set;
  ahead_ = awaited_[set] == kNever ? ahead_ | bit : ahead_ & ~bit;
}

/// Notes a load miss. Returns whether the line before it has missed, or has been prefetched, a short time ago.
bool InstructionWindow::misses_ascend(std::uint64_t line) {
  const bool ascend = std::find(recent_.begin(), recent_.end(), line - l1d_.line_bytes()) != recent_.end();
  note_recent(line);
  return ascend;
}

void InstructionWindow::note_recent(std::uint64_t line) { recent_[next_recent_++ % kRecent] = line; }

/// Brings the line behind this one to L1D. The next page's frame is unknown to the hardware.
void InstructionWindow::prefetch_behind(std::uint64_t line, std::uint64_t cycle) {
  const std::uint64_t next = line + l1d_.line_bytes();
  if (next % kPage == 0 || l1d_.state(next) != base::LineState::kInvalid) return;
  ++counters_.l1d_prefetches;
  note_pending(next, memory_.fill(next, LineUse::prefetch, cycle), true);
  note_recent(next);
}

/// Whether a prefetch instruction asks for its line.
bool InstructionWindow::brings(std::uint64_t address, LineUse use) const {
  if (address == ExecutionLog::kNoCache) return false;
  const base::LineState& l1 = use == LineUse::fetch ? l1i_ : l1d_;
  return l1.state(address) < (use == LineUse::store ? base::LineState::kExclusive : base::LineState::kShared);
}

/// A prefetch instruction is issued in this cycle.
void InstructionWindow::prefetch(std::uint64_t address, LineUse use, std::uint64_t cycle) {
  if (touched_ || !brings(address, use)) return;
  ++counters_.l1d_prefetches;
  const std::uint64_t ready = memory_.fill(address, use, cycle);
  if (use != LineUse::fetch) return note_pending(l1d_.line_of(address), ready, false);
  instructions_[next_instructions_++ % instructions_.size()] = {l1i_.line_of(address), ready, false};
  last_instructions_ = std::max(last_instructions_, ready);
}

/// As store(), for any store.
void InstructionWindow::store_any(std::uint64_t address, unsigned size, std::uint64_t ready, std::uint64_t retired) {
  const bool cached = address != ExecutionLog::kNoCache;
  std::uint64_t written = std::max(retired + 1, last_written_ + 1);
  if (cached) written = std::max(written, own_line(address, retired + 1));
  if (cached && crosses_line(address, size)) [[unlikely]]
    written = std::max(written + 1, own_line(address + size - 1, retired + 1));
  note_written(written);
  if (!cached) return;
  const unsigned bytes = bytes_of(address, size);
  forwarding_.note(address / 8, bytes & 0xff, ready, written);
  if (bytes > 0xff) forwarding_.note(address / 8 + 1, bytes >> 8, ready, written);
}

/// Makes L1D own the line of a store that has retired. Returns from when on it does.
std::uint64_t InstructionWindow::own_line(std::uint64_t address, std::uint64_t cycle) {
  ++counters_.l1d_accesses;
  const std::uint64_t line = l1d_.line_of(address);
  if (touch_l1d(address, true)) [[likely]] {
    if (is_there(address, cycle)) [[likely]]
      return cycle;
    const Pending* const p = pending_of(line);
    return p ? std::max(cycle, p->ready) : cycle;
  }
  ++counters_.l1d_misses;
  const std::uint64_t ready = memory_.fill(address, LineUse::store, cycle);
  note_pending(line, ready, false);
  return ready;
}

void InstructionWindow::delay_store(std::uint64_t cycle) {
  make_exact();
  if (cycle <= last_written_) return;
  last_written_ = cycle;
  stores_[(next_store_ - 1) % kRing] = cycle + 1;
}

}  // namespace sluice::riscv
