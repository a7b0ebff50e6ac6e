// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/core.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/base/measure/software_requests.h"
#include "models/base/time/access_time.h"

namespace sluice::riscv {

using base::Time;

namespace {
HartConfig hart_config(const ClusterParameters& p, const CoreShape& shape, unsigned hart_id, std::uint64_t reset_pc,
                       base::HartMemory& memory, unsigned cache) {
  HartConfig c;
  c.privileged.aia = p.interrupts == Interrupts::aia;
  c.privileged.hart_id = hart_id;
  c.privileged.reset_pc = reset_pc;
  c.privileged.issue_width = p.issue_width;
  c.costs = p.costs.table();
  c.l1d = memory.l1d(cache);
  c.l1i = memory.l1i(cache);
  if (memory.windowed()) c.shape = &shape;
  if (c.l1d) c.translation = p.tlb.shape();
  c.prefetch_hints = p.core.prefetch_hints;
  c.combining = {p.uncached.combining_buffers, static_cast<unsigned>(p.uncached.combining_block.count())};
  c.write_through = {p.uncached.write_through_lines, std::max(1u, p.uncached.combining_buffers)};
  c.read_block = static_cast<unsigned>(p.uncached.read_block.count());
  return c;
}

constexpr std::array<std::pair<const char*, const char*>, kLosses> kLossTitles = {{
    {"lost_fetch", "fetch width, taken branches, or L1I"},
    {"lost_misprediction", "the refill after a mispredicted branch"},
    {"lost_reorder_buffer", "a full reorder buffer"},
    {"lost_scheduler", "a full scheduler"},
    {"lost_load_queue", "a full load queue"},
    {"lost_store_buffer", "a full store buffer"},
    {"lost_drain", "instructions that wait until the window is empty, and pause"},
}};
}  // namespace

Core::Core(const sc_core::sc_module_name& name, const ClusterParameters& p, unsigned hart_id, std::uint64_t reset_pc,
           base::RunnerGroup& group, base::HartMemory& memory, unsigned cache)
    : Model(name),
      socket("socket"),
      parameters_(p),
      slot_clock_(p.slot_clock(path().substr(0, path().rfind('.')))),
      timebase_(p.timebase.hertz()),
      memory_(memory),
      cache_(cache),
      shape_(p.core.shape(p.issue_width)),
      runner_(group, path()),
      hart_(*this, hart_config(p, shape_, hart_id, reset_pc, memory, cache)),
      idle_(p.idle, slot_clock_),
      reset_pc_(reset_pc) {
  for (const unsigned bit : {irq::kMsi, irq::kSti, irq::kMti}) {
    local_[bit].set_delivery(p.local_delivery, path());
    local_[bit].on_change = [this, bit](bool level) {
      local_interrupts_ += level;
      set_interrupt(bit, level);
    };
  }
  hart_.on_reservation_lost([this] {
    reservation_lost_ = true;
    wake_.notify();
  });
  memory_.add_watcher(cache_, *this);
  runner_.on_spin([this] { return undisturbed() && hart_.engine().spins(spin_); },
                  [this](Time until) { pass_turns(until); });
  base::ledger().tells(component(), {SLUICE_STEP_interrupt});  // of which cores and controllers tell themselves
  SC_HAS_PROCESS(Core);
  SC_THREAD(execute);
}

void Core::register_statistics(base::StatisticsGroup& group) {
  group.before_reading([this] { runner_.settle(); });
  group.counter("instructions", "instructions", "retired", hart_.state().instret);
  group.counter_of("busy_instructions", "instructions",
                   "of these, in accounts other than polling, batch, parked and idle",
                   [this] { return busy_instructions(); });
  group.resource(
      "work", "", "in accounts other than polling, parked and idle",
      [this] { return worked(base::now()).femtoseconds(); }, true);
  group.counter("slots", "slots", "issue slots of its clock, stalls included", hart_.state().slots);
  group.counter_of("stall_slots", "slots", "of these, waiting for memory or a device",
                   [this] { return stall_slots(); });
  group.counter("l1d_accesses", "lines", "data accesses", hart_.counters().l1d_accesses);
  group.counter("l1d_misses", "lines", "data accesses that L1D did not hold", hart_.counters().l1d_misses);
  group.counter("l1i_accesses", "lines", "changes of the line that instructions come from",
                hart_.counters().l1i_accesses);
  group.counter("l1i_misses", "lines", "of these, lines that L1I did not hold", hart_.counters().l1i_misses);
  memory_.register_hart_statistics(cache_, group);
  if (memory_.windowed())
    register_window_statistics(group);
  else
    group.hidden_level("fences", hart_.counters().decoded[static_cast<std::size_t>(CostClass::fence)]);
  group.counter("traps", "traps", "exceptions, environment calls included", hart_.counters().traps);
  group.counter("interrupts", "interrupts", "taken", hart_.counters().interrupts);
  group.counter("local_interrupts", "interrupts", "of the CLINT and of stimecmp that came to the hart",
                local_interrupts_);
  group.counter("trap_returns", "returns", "mret and sret", hart_.counters().returns);
  group.counter("sleeps", "sleeps", "in wfi that have ended", sleeps_);
  group.counter("reservation_waits", "waits", "in wrs that have ended", reservation_waits_);
  group.counter("csr_accesses", "accesses", "to CSRs", hart_.counters().csr_accesses);
  group.counter("atomics", "instructions", "AMO, LR and SC", hart_.counters().atomics);
  group.counter("waits", "instructions", "wfi and wrs", hart_.counters().waits);
  for (std::size_t n = static_cast<std::size_t>(CostClass::mul); n < kCostClassNames.size(); ++n)
    group.hidden_level(decoded_counter(static_cast<CostClass>(n)), hart_.counters().decoded[n]);
  register_uncached_statistics(group);
  const TranslationBuffers::Counters& t = hart_.counters();
  group.counter("tlb_misses", "accesses", "loads, stores and atomics whose page the first TLB did not have",
                t.tlb_misses);
  group.counter("tlb_code_misses", "pages", "that instructions came from and their first TLB did not have",
                t.tlb_code_misses);
  group.counter("tlb_walks", "walks", "for pages that neither TLB had", t.tlb_walks);
  group.counter("tlb_reads", "reads", "of page-table entries by these walks", t.tlb_reads);
  group.counter("tlb_displaced", "pages", "that made room for others in the first TLB of data", t.tlb_displaced);
  group.counter("tlb_code_displaced", "pages", "that made room for others in the first TLB of fetches",
                t.tlb_code_displaced);
  group.counter("tlb_second_displaced", "pages", "that made room for others in the second TLB", t.tlb_second_displaced);
  group.counter("tlb_walks_displaced", "entries", "that made room for others in the page-walk cache",
                t.tlb_walks_displaced);
  group.counter("device_accesses", "accesses", "loads and stores outside RAM", device_accesses_);
  group.counter("lines_unanswered", "accesses",
                "to lines whose home is a device that had no answer in time, or no link", lines_unanswered_);
  group.counter("bus_errors", "accesses", "accesses that nothing answered", bus_errors_);
}

void Core::register_uncached_statistics(base::StatisticsGroup& group) {
  const HartCounters& c = hart_.counters();
  group.counter("uncached_reads", "reads", "of memory whose pages are of type NC or IO, devices on the bus apart",
                c.uncached_reads);
  group.counter("block_loads", "loads", "that got bytes which the load before had read with its own", c.block_loads);
  group.counter("combined_stores", "stores", "that came into write-combining buffers", c.combined_stores);
  group.counter("combined_full", "buffers", "for write-combining that were written with all their bytes",
                c.combined_full);
  group.counter("combined_parts", "buffers", "for write-combining that were written before", c.combined_parts);
  group.counter("combined_waits", "stores", "that waited for a free buffer", c.combined_waits);
  group.counter("combined_displaced", "buffers", "for write-combining that made room for other bytes",
                c.combined_displaced);
  group.counter("line_reads", "lines", "of write-through memory that loads had read", c.line_reads);
  group.counter("line_loads", "loads", "of write-through memory from lines that were there, or under way",
                c.line_loads);
  group.counter("line_prefetches", "lines", "of write-through memory that prefetch instructions had read",
                c.line_prefetches);
  group.counter("block_operations", "instructions", "cbo.inval, cbo.clean, cbo.flush and cbo.zero", c.block_operations);
}

void Core::register_window_statistics(base::StatisticsGroup& group) {
  const HartCounters& c = hart_.counters();
  group.counter("l1d_prefetches", "lines", "brought to L1D ahead of a stream, or by prefetch instructions",
                c.l1d_prefetches);
  group.counter("drained_loads", "loads", "of devices and of lines with homes, for which the window drained",
                c.drained_loads);
  group.counter("drained_stores", "stores", "likewise", c.drained_stores);
  group.counter("fences", "instructions", "fence.i and sfence.vma", c.fences);
  group.counter("forwarded_loads", "loads", "that got their value from the store buffer", c.forwarded);
  group.counter("branches", "branches", "and jumps", c.branches);
  group.counter("mispredictions", "branches", "of these, predicted wrongly", c.mispredictions);
  for (std::size_t n = 0; n < kLosses; ++n)
    group.counter(kLossTitles[n].first, "slots",
                  std::string("in which nothing was dispatched because of ") + kLossTitles[n].second, c.lost[n]);
}

void Core::set_boot_arguments(std::uint64_t device_tree, std::uint64_t fw_dynamic_info) {
  device_tree_ = device_tree;
  fw_dynamic_info_ = fw_dynamic_info;
  hart_.state().x[10] = hart_.privileged().config().hart_id;
  hart_.state().x[11] = device_tree;
  hart_.state().x[12] = fw_dynamic_info;
}

void Core::reset() {
  reset_due_ = suspended_;
  if (reset_due_)
    limit_ = 0;
  else
    restart();
}

void Core::restart() {
  reset_due_ = false;
  restarted_ = true;
  end_spin();
  // The slots of a waiting hart may lag behind now().
  hart_.state().slots = std::max(hart_.state().slots, slot_clock_.next_cycle(base::now()));
  hart_.reset();
  hart_.state().pc = reset_pc_;
  set_boot_arguments(device_tree_, fw_dynamic_info_);
  account(SLUICE_ACCOUNT_kernel);
  serving_ = executing_for_ = 0;
  does_ = {};
  has_users_ = false;
  brought_ = {};
  interrupted_.clear();
  entering_.clear();
  wake_up_ = {};
  limit_ = slots_allowed();
  wake_.notify();
}

void Core::execute() {
  try {
    execute_forever();
  } catch (const sc_core::sc_unwind_exception&) {
    throw;  // the kernel ends the thread
  } catch (...) {
    base::Scheduler::instance().keep_exception();
    throw;
  }
}

void Core::execute_forever() {
  runner_.begin();
  for (;;) {
    if (runner_.time() >= runner_.bound() && !hart_.engine().between_timing_points()) {
      if (!runner_.spinning()) begin_spin();
      runner_.yield();
      end_spin();
    }
    if (reset_due_) [[unlikely]]
      restart();
    if (stops_ > 0) [[unlikely]] {
      stand_still();
      continue;
    }
    restarted_ = false;
    switch (run()) {
      case StopReason::wait_for_interrupt:
        park(SLUICE_ACCOUNT_idle, ~std::uint64_t{0});
        break;
      case StopReason::wait_on_reservation:
        park(SLUICE_ACCOUNT_parked, hart_.wait_deadline());
        break;
      case StopReason::slot_limit:
      case StopReason::breakpoint:
      case StopReason::stepped:
        break;
    }
  }
}

StopReason Core::run() {
  if (!observers_.empty()) return run_observed();
  const StopReason reason = hart_.run();
  publish_time();
  return reason;
}

StopReason Core::run_observed() {
  std::uint64_t pause = CoreObserver::kFree;
  for (CoreObserver* o : observers_) pause = std::min(pause, o->before(*this));
  restarted_ = false;
  // With an instruction window, a run meets a slot limit at its timing points only; steps end at every instruction.
  const bool single = pause == CoreObserver::kOneEvent || (pause != CoreObserver::kFree && memory_.windowed());
  pause_at(single ? CoreObserver::kFree : pause);
  inside_ = true;
  const StopReason reason = single ? hart_.run_one() : hart_.run();
  inside_ = false;
  publish_time();
  for (CoreObserver* o : observers_) o->after(*this, reason);
  return reason;
}

void Core::pause_at(std::uint64_t slots) {
  pause_ = slots;
  limit_ = slots_allowed();
  hart_.engine().ask_limit_again();
}

void Core::stall_until(Time t) {
  std::uint64_t& slots = hart_.state().slots;
  const std::uint64_t then = slot_clock_.next_cycle(t);
  if (then > slots) slots = then;
  publish_time();
}

void Core::stall(Time t) {
  const std::uint64_t before = hart_.state().slots;
  stall_until(t);
  stall_slots_ += hart_.state().slots - before;
}

void Core::stop(const char* why, const char* who) {
  if (stops_++ == 0) {
    stopped_why_ = why;
    stopped_by_ = who;
  }
  limit_ = 0;
}

void Core::resume() {
  if (--stops_ > 0) return;
  limit_ = slots_allowed();
  resumed_.notify();
}

void Core::stand_still() {
  runner_.synchronise();
  while (stops_ > 0) base::wait_for(resumed_, stopped_why_, stopped_by_);
  stall(runner_.time());
}

/// The engine calls this at its start, and before it goes on after a bus call that does more than measure, or after an
/// instruction that took time.
std::uint64_t Core::slot_limit() {
  base::calendar().leave_now();
  const Time bound = runner_.bound();
  if (bound != bound_) {
    bound_ = bound;
    limit_ = slots_allowed();
  }
  return limit_;
}

/// A hart that is alone dispatches the entries that precede its next instruction without leaving its engine.
bool Core::move_limit() {
  if (!runner_.alone() || !undisturbed()) return false;
  publish_time();
  begin_spin();
  return !runner_.spinning() && runner_.dispatch_due() && undisturbed() && !restarted_;
}

bool Core::synchronise() {
  publish_time();
  suspended_ = true;
  runner_.synchronise();
  suspended_ = false;
  return !reset_due_;
}

std::uint64_t Core::time() { return timebase_.cycles_at(slot_clock_.time_of(hart_.state().slots)); }

/// A hint belongs to the retirement of the instruction before it.
Time Core::time_of_hint() const { return slot_clock_.time_of(std::max(hart_.state().slots, hart_.state().retired)); }

void Core::enter(base::RequestId id, base::Stage stage, Time t, base::Mark mark) {
  base::ledger().try_enter(id, stage, component(), t, runner_.ahead(t), mark);
}

void Core::probe(unsigned stage, std::uint64_t address) {
  if (stage >= SLUICE_STAGE_COUNT) return;
  const base::RequestId id = request_at(address);
  if (id == 0) return;
  if (!entering_.empty()) end_trap_entry();
  serving_ = id;
  const Time t = time_of_hint();
  divide_wait(id, t);
  execute_for(id);
  enter(id, static_cast<base::Stage>(stage), t);
}

void Core::drop(unsigned reason, std::uint64_t address) {
  if (reason >= SLUICE_DROP_COUNT) return;
  if (!entering_.empty()) end_trap_entry();
  publish_time();  // whoever hears of the drop may act on it now
  base::ledger().drop(request_at(address), base::drop_title(static_cast<sluice_drop>(reason)), time_of_hint());
}

void Core::complete(std::uint64_t address) {
  if (!entering_.empty()) end_trap_entry();
  publish_time();
  base::ledger().complete(request_at(address), time_of_hint());
}

/// The request's first stage stands in the lowest byte.
void Core::open(std::uint64_t what, std::uint64_t address) {
  const std::uint64_t stage = what & 0xff;
  if (stage >= SLUICE_STAGE_COUNT || !base::software_opens_requests) return;
  if (!entering_.empty()) end_trap_entry();
  serving_ = base::ledger().open(static_cast<base::Stage>(stage), component(), time_of_hint(), 0, what >> 8);
  belongs_to(address, serving_);
}

bool Core::imsic_read(unsigned file, std::uint64_t select, std::uint64_t& value) {
  return files_[file] && files_[file]->read(select, value);
}

bool Core::imsic_top(unsigned file, std::uint64_t& value) {
  if (!files_[file]) return false;
  value = files_[file]->top();
  return true;
}

}  // namespace sluice::riscv
