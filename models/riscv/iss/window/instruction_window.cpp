// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/window/instruction_window.h"

#include <algorithm>
#include <bit>

namespace sluice::riscv {

using base::LineUse;

namespace {

/// An instruction that is not pipelined has one port, whose unit it keeps.
unsigned unit_of(const TimingRecord& r) { return static_cast<unsigned>(std::countr_zero(r.ports)); }

}  // namespace

InstructionWindow::InstructionWindow(const CoreShape& shape, base::LineState& l1i, base::LineState& l1d, Memory& memory,
                                     TimingCounters& counters, unsigned remember_after)
    : shape_(shape),
      l1i_(l1i),
      l1d_(l1d),
      memory_(memory),
      predictor_(shape.history, shape.return_stack),
      slots_(shape.scheduler),
      counters_(counters),
      lead_(shape.fetch_lead()),
      forwarding_(shape.store_buffer),
      uses_(remember_after),
      remember_after_(remember_after) {
  recent_.fill(~std::uint64_t{0});
  // The most that a state can have: see window_state.cpp.
  numbers_.resize(16 + 2 * ready_.size() + 2 * units_.size() + shape.reorder_buffer + shape.load_queue +
                  shape.store_buffer + 2 * forwarding_.capacity() + 3 * shape.scheduler);
}

/// Whether the step by this run, which could be remembered, is executed with the window's state not captured: see
/// may_capture().
inline bool InstructionWindow::passes_over(const TimedRun& run) {
  if (captured_at_ || run.worth >= 0 || uses_ == 0 || (skipped_ + 1) % kRetry == 0) return false;
  ++skipped_;
  return true;
}

const std::uint64_t* InstructionWindow::execute_step(Step& step, const std::uint64_t* access) {
  Progress p = at_;
  if (refetches_ && step.first < step.end) [[unlikely]] {
    p.fetch_cycle = std::max(p.fetch_cycle, p.cycle);
    p.fetched = 0;
    refetches_ = false;
  }
  access = execute_lines(p, step, access);
  if (!step.is_foreseen) foresee(step);
  if (step.transfers) redirect(p, step);
  at_ = p;
  return access;
}

/// Executes the step line by line.
SLUICE_HOT const std::uint64_t* InstructionWindow::execute_lines(Progress& p, const Step& step,
                                                                 const std::uint64_t* access) {
  const TimedRun& run = step.run;
  unsigned first = step.first, n = 0;
  while (first < step.end) {
    while (n < run.lines && run.starts[n] < first) ++n;
    if (n < run.lines && run.starts[n] == first) {
      if (run.addresses[n] != line_) fetch_line(p, run.addresses[n]);
      ++n;
    }
    const unsigned to = n < run.lines ? std::min<unsigned>(run.starts[n], step.end) : step.end;
    access = execute(p, run.records + first, run.records + to, access);
    first = to;
  }
  return access;
}

/// Executes steps from `next` on as long as the window's state need not be captured before them; sets `next` to the
/// first of the others. `end`: of all steps; `executed`: see consume(). Those up to `touched` have touched their lines.
const std::uint64_t* InstructionWindow::execute_steps(const std::uint64_t*& next, const std::uint64_t* end,
                                                      const std::uint64_t* touched, unsigned executed,
                                                      const std::uint64_t* access) {
  if (refetches_) return access;
  Progress p = at_;
  const std::uint64_t* at = next;
  for (; at != end; ++at) {
    const TimedRun& run = ExecutionLog::run_at(*at);
    if (run.uses >= remember_after_ && !passes_over(run)) break;
    Step step = step_at(at, end, executed);
    touched_ = at < touched;
    access = execute_lines(p, step, access);
    foresee(step);
    if (step.transfers) redirect(p, step);
    note_use(run);
  }
  at_ = p;
  next = at;
  return access;
}

/// The next instruction lies in another line. A line that L1I does not hold stops fetch.
inline void InstructionWindow::fetch_line(Progress& p, std::uint64_t address) {
  line_ = address;
  keep_up(p);
  ++counters_.l1i_accesses;
  if (again_.passed != again_.count || l1i_.hit(address, false)) [[likely]] {
    if (next_instructions_ != 0) [[unlikely]]
      for (const Pending& i : instructions_)
        if (i.line == address && i.ready > p.fetch_cycle) p.fetch_cycle = i.ready;
    return;
  }
  ++counters_.l1i_misses;
  end_fetch_group(p);
  const std::uint64_t ready = memory_.fill(address, LineUse::fetch, p.fetch_cycle);
  if (ready <= p.fetch_cycle) return;
  p.fetch_cycle = ready;
  p.fetch_waits = Loss::fetch;
}

/// The next instruction is not fetched in the cycle of the last one.
inline void InstructionWindow::end_fetch_group(Progress& p) {
  if (p.fetched == 0) return;
  p.fetched = 0;
  ++p.fetch_cycle;
}

/// Nothing is dispatched before this cycle.
inline void InstructionWindow::not_before(Progress& p, std::uint64_t cycle, Loss why) {
  if (cycle <= p.cycle) return;
  lose(why, (cycle - p.cycle) * shape_.dispatch_width - p.dispatched);
  p.cycle = cycle;
  p.dispatched = 0;
}

/// Fetch is at most a queue ahead of dispatch. Called where the instructions alone say, so that it does not matter how
/// a log is divided.
inline void InstructionWindow::keep_up(Progress& p) const {
  if (p.fetch_cycle + lead_ >= p.cycle) return;
  p.fetch_cycle = p.cycle - lead_;
  p.fetched = 0;
}

/// Instructions of a straight run are fetched.
inline void InstructionWindow::fetch(Progress& p, unsigned instructions) {
  not_before(p, p.fetch_cycle, p.fetch_waits);
  p.fetch_waits = Loss::fetch;
  p.fetched += instructions;
  for (; p.fetched >= shape_.fetch_width; p.fetched -= shape_.fetch_width) ++p.fetch_cycle;
}

/// An instruction retires behind the one before it.
inline void InstructionWindow::retire(Progress& p, std::uint64_t completed) {
  constexpr std::uint64_t kSlots = Progress::kRetireSlots;
  p.completed = completed;
  std::uint64_t next = p.retire_slot + 1;
  if (next % kSlots == shape_.retire_width) next = (next | (kSlots - 1)) + 1;
  p.retire_slot = std::max(completed * kSlots, next);
  room_[p.next++ % kRing] = p.last_retired() + 1;
}

/// Executes instructions of one line.
SLUICE_HOT const std::uint64_t* InstructionWindow::execute(Progress& p, const TimingRecord* record,
                                                           const TimingRecord* end, const std::uint64_t* access) {
  const auto count = static_cast<unsigned>(end - record);
  fetch(p, count);
  // The places of later instructions are free later.
  const bool has_room = slots_.room() >= count && count <= shape_.reorder_buffer &&
                        room_[(p.next + count - 1 - shape_.reorder_buffer) % kRing] <= p.cycle;
  return has_room ? dispatch<true>(p, record, end, access) : dispatch<false>(p, record, end, access);
}

/// kHasRoom: reorder buffer and scheduler have room for all of them.
template <bool kHasRoom>
const std::uint64_t* InstructionWindow::dispatch(Progress& progress, const TimingRecord* record,
                                                 const TimingRecord* end, const std::uint64_t* access) {
  Progress p = progress;
  for (; record != end; ++record) {
    const TimingRecord& r = *record;
    if (p.dispatched == shape_.dispatch_width) ++p.cycle, p.dispatched = 0;
    if constexpr (!kHasRoom) {
      not_before(p, room_[(p.next - shape_.reorder_buffer) % kRing], Loss::reorder_buffer);
      if (slots_.full()) [[unlikely]]
        not_before(p, slots_.make_room(p.cycle), Loss::scheduler);
    }
    if (r.kind < TimingRecord::kThree) [[likely]] {
      ++p.dispatched;
      const std::uint64_t done = r.latency + slots_.issue(p.cycle, operands(p, r), r.ports);
      ready_[r.rd] = done;
      retire(p, done);
    } else {
      access = dispatch_special(p, r, access);
    }
  }
  progress = p;
  return access;
}

/// When an instruction that is dispatched now may issue by its first two operands.
inline std::uint64_t InstructionWindow::operands(const Progress& p, const TimingRecord& r) const {
  const std::uint64_t first = ready_[r.rs1], second = ready_[r.rs2];  // not the larger one's place: it would be loaded
  return std::max(p.cycle + 1, std::max(first, second));
}

/// Dispatches an instruction of which more than two operands and a port decide when it is issued and done.
SLUICE_HOT const std::uint64_t* InstructionWindow::dispatch_special(Progress& p, const TimingRecord& r,
                                                                    const std::uint64_t* access) {
  if (r.kind == TimingRecord::kLoad) {
    not_before(p, load_place(), Loss::load_queue);
    ++p.dispatched;
    const std::uint64_t start = slots_.issue(p.cycle, std::max(operands(p, r), loads_from_), r.ports);
    const std::uint32_t late = reach(access, start);
    const std::uint64_t done = load(ExecutionLog::address_of(*access), r.detail, start, r.latency) + late;
    ready_[r.rd] = done;
    retire(p, done);
    loads_[next_load_++ % kRing] = p.last_retired() + 1;
    return access + 1;
  }
  if (r.kind == TimingRecord::kStore) {
    not_before(p, store_place(), Loss::store_buffer);
    ++p.dispatched;
    const std::uint64_t done = r.latency + slots_.issue(p.cycle, operands(p, r), r.ports);
    retire(p, done);
    const std::uint32_t late = reach(access, p.last_retired() + 1);
    store(ExecutionLog::address_of(*access), r.detail, done, p.last_retired() + late);
    return access + 1;
  }
  ++p.dispatched;
  const std::uint64_t start = slots_.issue(p.cycle, may_issue(r, operands(p, r)), r.ports);
  const std::uint64_t done = note_issued(r, start);
  if (r.kind == TimingRecord::kPause) not_before(p, p.cycle + r.latency, Loss::drain);
  ready_[r.rd] = done;
  retire(p, done);
  if (r.kind != TimingRecord::kPrefetch) return access;
  reach(access, start);
  prefetch(ExecutionLog::address_of(*access), static_cast<LineUse>(r.detail), start);
  return access + 1;
}

/// A load that is issued in the cycle `start`. Returns when its value is there.
SLUICE_HOT std::uint64_t InstructionWindow::load(std::uint64_t address, unsigned size, std::uint64_t start,
                                                 unsigned latency) {
  const std::uint64_t done = start + latency;
  if ((touched_ || (is_simple(address, size) && l1d_.hit(address, false))) && is_there(address, done) &&
      !forwarding_.may_have(address / 8, start)) [[likely]] {
    ++counters_.l1d_accesses;
    return done;
  }
  return load_any(address, size, start, latency);
}

/// A store whose operands are there in the cycle `ready`. It is written after it has retired, behind earlier stores.
SLUICE_HOT void InstructionWindow::store(std::uint64_t address, unsigned size, std::uint64_t ready,
                                         std::uint64_t retired) {
  if (is_simple(address, size) && touch_l1d(address, true) && is_there(address, retired + 1)) [[likely]] {
    ++counters_.l1d_accesses;
    const std::uint64_t written = std::max(retired, last_written_) + 1;
    note_written(written);
    forwarding_.note(address / 8, bytes_of(address, size), ready, written);
    return;
  }
  store_any(address, size, ready, retired);
}

/// When an instruction may issue at the earliest. ready: when its first two operands are there.
std::uint64_t InstructionWindow::may_issue(const TimingRecord& r, std::uint64_t ready) const {
  if (r.kind == TimingRecord::kUnpipelined) return std::max(ready, units_[unit_of(r)]);
  return r.kind == TimingRecord::kThree ? std::max(ready, ready_[r.detail]) : ready;
}

/// An instruction has been issued. Returns when it has its result.
std::uint64_t InstructionWindow::note_issued(const TimingRecord& r, std::uint64_t start) {
  if (r.kind == TimingRecord::kUnpipelined) units_[unit_of(r)] = start + r.detail;
  if (r.kind == TimingRecord::kFence) return loads_from_ = std::max(start + r.latency, last_written_ + 1);
  return start + (r.kind == TimingRecord::kPause ? 1 : r.latency);
}

/// After a misprediction, the instructions of the right path are dispatched when the branch is done and the front end
/// has been refilled.
SLUICE_HOT void InstructionWindow::redirect(Progress& p, const Step& step) {
  if (step.taken) {
    keep_up(p);
    end_fetch_group(p);
  }
  if (step.right) [[likely]]
    return;
  p.fetch_cycle = std::max(p.fetch_cycle, p.completed + shape_.refill);
  p.fetch_waits = Loss::misprediction;
  p.fetched = 0;
}

void InstructionWindow::wait_until(std::uint64_t cycle) {
  if (cycle <= at_.cycle) return;
  make_exact();
  at_.cycle = cycle;
  at_.dispatched = 0;
}

void InstructionWindow::drain() {
  make_exact();
  drain_to(at_.last_retired() + 1);
}

void InstructionWindow::drain_stores() {
  make_exact();
  drain_to(std::max(at_.last_retired(), last_written_) + 1);
}

/// Nothing is dispatched before this cycle, nor in the present one if something has been.
void InstructionWindow::drain_to(std::uint64_t cycle) {
  cycle = std::max(cycle, at_.cycle + (at_.dispatched == 0 ? 0 : 1));
  lose(Loss::drain, (cycle - at_.cycle) * shape_.dispatch_width - at_.dispatched);
  wait_until(cycle);
  slots_.forget(at_.cycle);
}

void InstructionWindow::reset() {
  make_exact();
  predictor_.reset();
  slots_.restart(at_.cycle);
  forwarding_.clear();
  for (auto& set : pending_) set.fill({});
  awaited_.fill(0);
  ahead_ = 0;
  instructions_.fill({});
  recent_.fill(~std::uint64_t{0});
  ready_.fill(0);
  units_.fill(0);
  room_.fill(0);
  loads_.fill(0);
  stores_.fill(0);
  line_ = ~std::uint64_t{0};
  last_written_ = last_pending_ = last_instructions_ = loads_from_ = 0;
  at_.fetch_cycle = at_.cycle;
  at_.fetched = 0;
  at_.fetch_waits = Loss::fetch;
  at_.retire_slot =
      std::min(at_.last_retired(), at_.cycle - std::min<std::uint64_t>(at_.cycle, 1)) * Progress::kRetireSlots;
  refetches_ = false;
}

void BranchPredictor::reset() {
  std::fill(counters_.begin(), counters_.end(), kWeaklyTaken);
  std::fill(targets_.begin(), targets_.end(), 0);
  std::fill(returns_.begin(), returns_.end(), 0);
  path_ = {};
}

}  // namespace sluice::riscv
