// SPDX-License-Identifier: Apache-2.0
// What loads, stores and prefetches wait for, where L1D and the store buffer do not answer them at once.

#include <algorithm>

#include "models/riscv/iss/window/instruction_window.h"

namespace sluice::riscv {

using base::LineUse;

namespace {

constexpr std::uint64_t kPage = 4096;

}  // namespace

/// As load(), for any load.
std::uint64_t InstructionWindow::load_any(std::uint64_t address, unsigned size, std::uint64_t start, unsigned latency) {
  const std::uint64_t granule = address / 8;
  const unsigned bytes = ((1u << size) - 1) << address % 8;
  const Forward& f = forwards_[granule % kForwards];
  if (f.granule == granule && f.written > start && (f.bytes & bytes) != 0) {
    if ((bytes & ~unsigned{f.bytes}) == 0) {
      ++counters_.forwarded;
      ++counters_.l1d_accesses;
      return std::max(start, f.ready) + latency;
    }
    start = f.written;  // part of the bytes is in the store buffer
  }
  std::uint64_t done = read_line(address, start, latency);
  const std::uint64_t last = address + size - 1;
  if (l1d_.line_of(last) != l1d_.line_of(address)) [[unlikely]]
    done = std::max(done, read_line(last, start + 1, latency));
  return done;
}

std::uint64_t InstructionWindow::read_line(std::uint64_t address, std::uint64_t start, unsigned latency) {
  ++counters_.l1d_accesses;
  if (l1d_.hit(address, false)) [[likely]] {
    if (start + latency >= last_pending_) [[likely]]
      return start + latency;
    const std::uint64_t line = l1d_.line_of(address);
    Pending& p = pending_[line / l1d_.line_bytes() % kPending];
    if (p.line != line) return start + latency;
    const std::uint64_t ready = std::max(start + latency, p.ready);
    if (p.ahead) {
      p.ahead = false;
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
  pending_[line / l1d_.line_bytes() % kPending] = {line, ready, ahead};
  last_pending_ = std::max(last_pending_, ready);
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

/// A prefetch instruction is issued in this cycle.
void InstructionWindow::prefetch(std::uint64_t address, LineUse use, std::uint64_t cycle) {
  if (address == ExecutionLog::kNoCache) return;
  base::LineState& l1 = use == LineUse::fetch ? l1i_ : l1d_;
  const base::LineState::State held = l1.state(address);
  if (held >= (use == LineUse::store ? base::LineState::kExclusive : base::LineState::kShared)) return;
  ++counters_.l1d_prefetches;
  const std::uint64_t ready = memory_.fill(address, use, cycle);
  if (use != LineUse::fetch) note_pending(l1d_.line_of(address), ready, false);
}

/// As store(), for any store.
void InstructionWindow::store_any(std::uint64_t address, unsigned size, std::uint64_t ready, std::uint64_t retired) {
  const bool cached = address != ExecutionLog::kNoCache;
  std::uint64_t written = std::max(retired + 1, last_written_ + 1);
  if (cached) written = std::max(written, own_line(address, retired + 1));
  const std::uint64_t last = address + size - 1;
  if (cached && l1d_.line_of(last) != l1d_.line_of(address)) [[unlikely]]
    written = std::max(written + 1, own_line(last, retired + 1));
  note_written(written);
  if (cached) note_forward(address, size, ready, written);
}

/// Makes L1D own the line of a store that has retired. Returns from when on it does.
std::uint64_t InstructionWindow::own_line(std::uint64_t address, std::uint64_t cycle) {
  ++counters_.l1d_accesses;
  const std::uint64_t line = l1d_.line_of(address);
  if (l1d_.hit(address, true)) [[likely]] {
    if (cycle >= last_pending_) [[likely]]
      return cycle;
    const Pending& p = pending_[line / l1d_.line_bytes() % kPending];
    return p.line == line ? std::max(cycle, p.ready) : cycle;
  }
  ++counters_.l1d_misses;
  const std::uint64_t ready = memory_.fill(address, LineUse::store, cycle);
  note_pending(line, ready, false);
  return ready;
}

void InstructionWindow::delay_store(std::uint64_t cycle) {
  if (cycle <= last_written_) return;
  last_written_ = cycle;
  stores_[(store_head_ == 0 ? stores_.size() : store_head_) - 1] = cycle + 1;
}

}  // namespace sluice::riscv
