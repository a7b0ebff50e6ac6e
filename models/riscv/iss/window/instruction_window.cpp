// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/window/instruction_window.h"

#include <algorithm>
#include <bit>

namespace sluice::riscv {

using base::LineUse;

namespace {

/// Whether more than operands and a port decides when an instruction is issued and done.
bool has_more(TimingRecord::Kind k) { return k >= TimingRecord::kThree && k <= TimingRecord::kLoad; }

/// An instruction that is not pipelined has one port, whose unit it keeps.
unsigned unit_of(const TimingRecord& r) { return static_cast<unsigned>(std::countr_zero(r.ports)); }

}  // namespace

InstructionWindow::InstructionWindow(const CoreShape& shape, base::LineState& l1i, base::LineState& l1d, Memory& memory,
                                     TimingCounters& counters)
    : shape_(shape),
      l1i_(l1i),
      l1d_(l1d),
      memory_(memory),
      predictor_(shape.history, shape.return_stack),
      slots_(shape.scheduler),
      counters_(counters),
      loads_(shape.load_queue, 0),
      stores_(shape.store_buffer, 0) {}

void InstructionWindow::consume(ExecutionLog& log, unsigned executed, std::uint64_t next_pc) {
  const std::uint64_t* at = log.entries_.data();
  const std::uint64_t* const last = at + log.last_;
  const std::uint64_t* const end = log.entries_.data() + log.end_;
  while (at != end) {
    const bool is_last = at == last;
    const TimedRun& run = *reinterpret_cast<const TimedRun*>(at[0]);  // NOLINT(performance-no-int-to-ptr)
    const unsigned to = is_last ? executed : run.count;
    at = execute_run(run, static_cast<unsigned>(at[1]), to, at + 2);
    if (to != run.count) continue;
    predict(run, is_last ? next_pc : reinterpret_cast<const TimedRun*>(at[0])->pc);  // NOLINT
  }
  log.end_ = 0;
}

const std::uint64_t* InstructionWindow::execute_run(const TimedRun& run, unsigned first, unsigned end,
                                                    const std::uint64_t* access) {
  unsigned at = first;
  for (unsigned n = 0; n < run.lines; ++n) {
    if (run.starts[n] >= end) break;
    if (run.starts[n] < first) continue;
    if (run.starts[n] > at) access = execute(run.records + at, run.records + run.starts[n], access);
    at = run.starts[n];
    fetch_line(run.addresses[n]);
  }
  return at < end ? execute(run.records + at, run.records + end, access) : access;
}

/// The next instruction lies in this line. A line that L1I does not hold stops fetch.
void InstructionWindow::fetch_line(std::uint64_t address) {
  if (address == line_) return;
  line_ = address;
  ++counters_.l1i_accesses;
  if (l1i_.hit(address, false)) return;
  ++counters_.l1i_misses;
  end_fetch_group();
  fetch_cycle_ = std::max(fetch_cycle_, memory_.fill(address, LineUse::fetch, fetch_cycle_));
}

/// The next instruction is not fetched in the cycle of the last one.
void InstructionWindow::end_fetch_group() {
  if (fetched_ == 0) return;
  fetched_ = 0;
  ++fetch_cycle_;
}

/// Instructions of a straight run are fetched. Fetch is at most a queue ahead of dispatch.
void InstructionWindow::fetch(unsigned instructions) {
  const std::uint64_t lead = shape_.fetch_queue / shape_.dispatch_width;
  if (fetch_cycle_ + lead < cycle_) {
    fetch_cycle_ = cycle_ - lead;
    fetched_ = 0;
  }
  if (fetch_cycle_ > cycle_) {
    cycle_ = fetch_cycle_;
    dispatched_ = 0;
  }
  fetched_ += instructions;
  fetch_cycle_ += fetched_ / shape_.fetch_width;
  fetched_ %= shape_.fetch_width;
}

const std::uint64_t* InstructionWindow::execute(const TimingRecord* record, const TimingRecord* end,
                                                const std::uint64_t* access) {
  fetch(static_cast<unsigned>(end - record));
  // The loop's state is in locals, because stores into the arrays might change members for all that a compiler knows.
  std::uint64_t cycle = cycle_, last_retired = last_retired_, completed = completed_;
  unsigned dispatched = dispatched_;
  std::size_t n = next_;
  const unsigned width = shape_.dispatch_width;
  const std::size_t window = shape_.reorder_buffer, retire_width = shape_.retire_width;
  const auto not_before = [&](std::uint64_t then) {
    if (then <= cycle) return;
    cycle = then;
    dispatched = 0;
  };
  for (; record != end; ++record, ++n) {
    const TimingRecord r = *record;
    if (dispatched == width) not_before(cycle + 1);
    not_before(room_[(n - window) % kRing]);
    if (slots_.full()) [[unlikely]]
      not_before(slots_.make_room(cycle));
    if (r.kind == TimingRecord::kLoad) not_before(loads_[load_head_]);
    if (r.kind == TimingRecord::kStore) not_before(stores_[store_head_]);
    const std::uint64_t ready = std::max(cycle + 1, std::max(ready_[r.rs1], ready_[r.rs2]));
    const std::uint64_t start = slots_.issue(cycle, has_more(r.kind) ? may_issue(r, ready) : ready, r.ports);
    completed = start + r.latency;
    if (r.kind == TimingRecord::kLoad)
      completed = load(*access++, r.detail, start, r.latency);
    else if (has_more(r.kind))
      completed = note_issued(r, start);
    ++dispatched;
    if (r.kind == TimingRecord::kPause) not_before(cycle + r.latency);
    ready_[r.rd] = completed;
    last_retired = std::max(std::max(completed, last_retired), room_[(n - retire_width) % kRing]);
    room_[n % kRing] = last_retired + 1;
    if (r.kind == TimingRecord::kLoad) {
      loads_[load_head_] = last_retired + 1;
      load_head_ = load_head_ + 1 == loads_.size() ? 0 : load_head_ + 1;
    } else if (r.kind == TimingRecord::kStore) {
      store(*access++, r.detail, completed, last_retired);
    }
  }
  cycle_ = cycle;
  dispatched_ = dispatched;
  completed_ = completed;
  last_retired_ = last_retired;
  next_ = n;
  return access;
}

/// When an instruction of a kind that has_more() may issue at the earliest. ready: when its operands are there.
std::uint64_t InstructionWindow::may_issue(const TimingRecord& r, std::uint64_t ready) const {
  if (r.kind == TimingRecord::kLoad) return std::max(ready, loads_from_);
  if (r.kind == TimingRecord::kUnpipelined) return std::max(ready, units_[unit_of(r)]);
  return r.kind == TimingRecord::kThree ? std::max(ready, ready_[r.detail]) : ready;
}

/// An instruction of a kind that has_more() has been issued. Returns when it has its result.
std::uint64_t InstructionWindow::note_issued(const TimingRecord& r, std::uint64_t start) {
  if (r.kind == TimingRecord::kUnpipelined) units_[unit_of(r)] = start + r.detail;
  if (r.kind == TimingRecord::kFence) return loads_from_ = std::max(start + r.latency, last_written_ + 1);
  return start + (r.kind == TimingRecord::kPause ? 1 : r.latency);
}

/// A load that is issued in the cycle `start`. Returns when its value is there.
std::uint64_t InstructionWindow::load(std::uint64_t address, unsigned size, std::uint64_t start, unsigned latency) {
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
    const Pending& p = pending_[line / l1d_.line_bytes() % kPending];
    return p.line == line ? std::max(start + latency, p.ready) : start + latency;
  }
  ++counters_.l1d_misses;
  const std::uint64_t ready = std::max(start + latency, memory_.fill(address, LineUse::load, start));
  note_pending(l1d_.line_of(address), ready);
  return ready;
}

void InstructionWindow::note_pending(std::uint64_t line, std::uint64_t ready) {
  pending_[line / l1d_.line_bytes() % kPending] = {line, ready};
  last_pending_ = std::max(last_pending_, ready);
}

/// A store whose operands are there in the cycle `ready`. It is written after it has retired, behind earlier stores.
void InstructionWindow::store(std::uint64_t address, unsigned size, std::uint64_t ready, std::uint64_t retired) {
  std::uint64_t written = std::max({retired + 1, last_written_ + 1, own_line(address, retired + 1)});
  const std::uint64_t last = address + size - 1;
  if (l1d_.line_of(last) != l1d_.line_of(address)) [[unlikely]]
    written = std::max(written + 1, own_line(last, retired + 1));
  last_written_ = written;
  stores_[store_head_] = written + 1;
  store_head_ = store_head_ + 1 == stores_.size() ? 0 : store_head_ + 1;
  const std::uint64_t granule = address / 8;
  forwards_[granule % kForwards] = {granule, ready, written,
                                    static_cast<std::uint8_t>(((1u << size) - 1) << address % 8)};
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
  note_pending(line, ready);
  return ready;
}

/// The run's last instruction has been executed and next_pc follows. After a misprediction, the instructions of the
/// right path are dispatched when the branch is done and the front end has been refilled.
void InstructionWindow::predict(const TimedRun& run, std::uint64_t next_pc) {
  const TimingRecord::Kind kind = run.records[run.count - 1].kind;
  if (kind < TimingRecord::kBranch) return;
  const bool taken = next_pc != run.end_pc;
  bool right = true;
  switch (kind) {
    case TimingRecord::kBranch:
      right = predictor_.conditional(run.last_pc, taken);
      break;
    case TimingRecord::kReturn:
      right = predictor_.returns(next_pc);
      break;
    case TimingRecord::kIndirect:
    case TimingRecord::kIndirectCall:
      right = predictor_.indirect(run.last_pc, next_pc);
      break;
    default:
      break;
  }
  if (kind == TimingRecord::kCall || kind == TimingRecord::kIndirectCall) predictor_.calls(run.end_pc);
  ++counters_.branches;
  if (taken) end_fetch_group();
  if (right) return;
  ++counters_.mispredictions;
  fetch_cycle_ = std::max(fetch_cycle_, completed_ + shape_.refill);
  fetched_ = 0;
}

void InstructionWindow::wait_until(std::uint64_t cycle) {
  if (cycle <= cycle_) return;
  cycle_ = cycle;
  dispatched_ = 0;
}

void InstructionWindow::drain() {
  wait_until(std::max(cycle_, last_retired_) + 1);
  slots_.forget(cycle_);
}

void InstructionWindow::drain_stores() {
  wait_until(last_written_ + 1);
  drain();
}

void InstructionWindow::reset() {
  predictor_.reset();
  line_ = ~std::uint64_t{0};
}

void BranchPredictor::reset() {
  std::fill(counters_.begin(), counters_.end(), kWeaklyTaken);
  std::fill(targets_.begin(), targets_.end(), 0);
  std::fill(returns_.begin(), returns_.end(), 0);
  history_ = 0;
  top_ = 0;
}

}  // namespace sluice::riscv
