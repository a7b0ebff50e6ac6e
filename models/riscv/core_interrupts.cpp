// SPDX-License-Identifier: Apache-2.0
/// How interrupts reach a core and wake it, and what the requests that wait for them spend their time on.

#include <algorithm>

#include "models/riscv/core.h"

namespace sluice::riscv {

using base::Time;

void Core::set_interrupt(unsigned bit, bool level) {
  hart_.privileged().set_mip(bit, level);
  if (!level) return;
  take_requests();
  wake_.notify();
}

void Core::set_stimecmp(std::uint64_t due) {
  base::calendar().cancel(timer_);
  base::InterruptLine& line = local_[irq::kSti];
  if (due <= time()) {
    hart_.privileged().set_mip(irq::kSti, line.arrived());  // the ISS, which knows no delivery, has set it
    return line.set(true);
  }
  line.set(false);
  // A time beyond the end of representable time needs no entry.
  if (due / parameters_.timebase.hertz() >= 18'000) return;
  // now() may be later than `due`: a debugger may write stimecmp while a hart that is ahead of this one is stopped.
  const Time at = std::max(timebase_.time_of(due), base::now());
  timer_ = base::calendar().at(at, key(), [&line] { line.set(true); });
}

/// Lets time pass without executing, until an interrupt is pending, the reservation of a wrs is lost, the deadline has
/// come or a reset has restarted the hart; and then until the hart has left its idle state.
void Core::park(sluice_account account, std::uint64_t deadline_slots) {
  publish_time();
  const unsigned before = account_;
  this->account(account);
  const bool in_wrs = account == SLUICE_ACCOUNT_parked;
  reservation_lost_ = in_wrs && !hart_.state().reservation;
  const bool bounded = deadline_slots != ~std::uint64_t{0};
  const Time deadline = bounded ? slot_clock_.time_of(deadline_slots) : Time::max();
  if (bounded && runner_.time() < deadline)
    deadline_ = base::calendar().at(deadline, key(), [this] { wake_.notify(); });
  parked_ = true;
  if (!in_wrs) idle_.fall_asleep(hart_.state().slots);
  while (!hart_.privileged().interrupt_pending() && !reservation_lost_ && runner_.time() < deadline && !restarted_)
    base::wait_for(wake_, in_wrs ? "a store to its reservation (wrs)" : "an interrupt (wfi)",
                   in_wrs ? "another hart or a device" : "a device, a timer or another hart");
  base::calendar().cancel(deadline_);
  stall_until(runner_.time());
  parked_ = false;
  ++(in_wrs ? reservation_waits_ : sleeps_);
  const Time exit = in_wrs ? parameters_.idle.wrs_exit_latency : idle_.wake(hart_.state().slots);
  if (!restarted_) leave_idle(exit, in_wrs);
  if (!restarted_) this->account(before);
}

void Core::leave_idle(Time exit, bool in_wrs) {
  if (exit != Time{}) {
    const Time end = runner_.time() + exit;
    leaving_ = true;
    if (!in_wrs) idle_.leave(hart_.state().slots);
    wake_up_.begin_exit(runner_.time());
    move_requests(SLUICE_STAGE_idle_exit, runner_.time());
    deadline_ = base::calendar().at(end, key(), [this] { wake_.notify(); });
    while (runner_.time() < end && !restarted_)
      base::wait_for(wake_, "the end of its idle state's exit latency", "its clock");
    base::calendar().cancel(deadline_);
    stall_until(runner_.time());
    leaving_ = false;
    wake_up_.end_exit(runner_.time());
    if (!in_wrs) idle_.left(hart_.state().slots);
  }
  if (!restarted_) move_requests(SLUICE_STAGE_interrupt, runner_.time());
}

IdleUse Core::idle_use(Time until) const {
  runner_.settle();
  return idle_.use(std::max(hart_.state().slots, slot_clock_.next_cycle(until)));
}

// Requests that wait for an interrupt of this hart. Their stages change on edges of its clock of slots.

namespace {

bool waits_for_interrupt(base::RequestId id) {
  const base::Ledger::Request* r = base::ledger().find(id);
  if (!r) return false;
  const base::Stage stage = r->tiles.back().stage;
  return stage == SLUICE_STAGE_interrupt || stage == SLUICE_STAGE_interrupt_delivery || stage == SLUICE_STAGE_idle_exit;
}

}  // namespace

/// An interrupt has arrived. A hart that it wakes goes on with its requests when it has woken.
void Core::take_requests() {
  const auto more = base::InterruptRequests::now();
  if (more.empty()) return;
  std::erase_if(interrupted_, [](base::RequestId id) { return !waits_for_interrupt(id); });
  const bool wakes = parked_ && hart_.privileged().interrupt_pending();
  const Time edge = slot_clock_.time_of(slot_clock_.next_cycle(base::now()));
  for (const base::RequestId id : more) {
    if (!waits_for_interrupt(id)) continue;
    interrupted_.push_back(id);
    if (wakes) continue;
    enter(id, leaving_ ? SLUICE_STAGE_idle_exit : SLUICE_STAGE_interrupt, edge, {});
  }
}

void Core::move_requests(base::Stage stage, Time t) {
  for (const base::RequestId id : interrupted_)
    if (waits_for_interrupt(id)) enter(id, stage, t, {});
}

void Core::interrupt_taken(std::uint64_t handler) {
  end_trap_entry();
  const Time taken = slot_clock_.time_of(hart_.state().slots);
  wake_up_.take(taken, slot_clock_.time_of(handler));
  if (interrupted_.empty()) return;
  execute_for(interrupted_.front());
  move_requests(SLUICE_STAGE_trap_entry, taken);
  entering_.swap(interrupted_);
  handler_begins_ = slot_clock_.time_of(handler);
}

/// A request that has no interrupt of its own has waited for a core until now: some of this may have been the way from
/// another interrupt to the software that serves both.
void Core::divide_wait(base::RequestId id, Time until) {
  if (!wake_up_.has_parts()) return;  // a polling hart asks for each request
  const base::Ledger::Request* r = base::ledger().find(id);
  if (r && r->tiles.back().stage == SLUICE_STAGE_wait_core)
    wake_up_.divide(r->tiles.back().start, until, [&](base::Stage stage, Time begin) { enter(id, stage, begin, {}); });
  wake_up_.work(until);
}

/// The end of a trap's entry is written into the ledger late: a tile must not begin in the future.
void Core::end_trap_entry() {
  for (const base::RequestId id : entering_) {
    const base::Ledger::Request* r = base::ledger().find(id);
    if (r && r->tiles.back().stage == SLUICE_STAGE_trap_entry)
      enter(id, SLUICE_STAGE_interrupt, handler_begins_, {{}, base::Owner::kernel});
  }
  entering_.clear();
}

bool Core::imsic_write(unsigned file, std::uint64_t select, std::uint64_t value) {
  if (!files_[file]) return false;
  publish_own_time();
  return files_[file]->write(select, value);
}

bool Core::imsic_claim(unsigned file, std::uint64_t identity) {
  if (!files_[file]) return false;
  publish_own_time();
  files_[file]->claim(identity);
  return true;
}

/// Sets now() for what makes calendar entries. A debugger may call this on the thread of another hart, whose time
/// stands.
void Core::publish_own_time() {
  if (base::Scheduler::instance().running() == &runner_) publish_time();
}

}  // namespace sluice::riscv
