// SPDX-License-Identifier: Apache-2.0
/// What a core's time is spent on.

#include <algorithm>
#include <numeric>

#include "models/riscv/core.h"

namespace sluice::riscv {

using base::Time;

namespace {
bool serves_nobody(std::uint64_t account) {
  return account == SLUICE_ACCOUNT_polling || account == SLUICE_ACCOUNT_idle || account == SLUICE_ACCOUNT_batch;
}
}  // namespace

bool Core::is_busy(unsigned account) { return !serves_nobody(account) && account != SLUICE_ACCOUNT_parked; }

/// With an instruction window, a slot is also a stall if nothing was dispatched in it.
std::uint64_t Core::stall_slots() const {
  const auto& lost = hart_.counters().lost;
  return std::accumulate(lost.begin(), lost.end(), stall_slots_ + hart_.counters().uncached_slots);
}

void Core::account(unsigned account) {
  if (account >= SLUICE_ACCOUNT_COUNT) return;
  const std::uint64_t slots = hart_.state().slots;
  account_slots_[account_] += slots - account_since_;
  account_since_ = slots;
  const std::uint64_t instructions = hart_.state().instret;
  if (is_busy(account_)) busy_instructions_ += instructions - account_instructions_;
  account_instructions_ = instructions;
  if (account_ == SLUICE_ACCOUNT_interrupt && account != account_) wake_up_.work(slot_clock_.time_of(slots));
  account_ = account;
  if (!serves_nobody(account)) return;
  execute_for(0);
  serving_ = 0;
}

std::uint64_t Core::busy_instructions() const {
  return busy_instructions_ + (is_busy(account_) ? hart_.state().instret - account_instructions_ : 0);
}

bool Core::in_account(std::uint64_t account) {
  return account >= SLUICE_ACCOUNT_COUNT || (account == account_ && (serving_ == 0 || !serves_nobody(account)));
}

Core::Accounts Core::accounts(Time until) const {
  runner_.settle();
  Accounts slots = account_slots_;
  slots[account_] += std::max(hart_.state().slots, slot_clock_.next_cycle(until)) - account_since_;
  const std::uint64_t held_back = slots_held_back(until);
  slots[account_] -= held_back;
  slots[SLUICE_ACCOUNT_parked] += held_back;
  return slots;
}

/// Up to `until`, in the present load from a device or wait for a line.
std::uint64_t Core::slots_held_back(Time until) const {
  const auto [from, to] = waits_for_line_ ? memory_.held_back(cache_, until) : device_load_.held_back(until);
  return slot_clock_.next_cycle(to) - slot_clock_.next_cycle(from);
}

/// The wait is over.
void Core::count_parked() {
  const std::uint64_t held_back = slots_held_back(runner_.time());
  account_since_ += held_back;
  account_slots_[SLUICE_ACCOUNT_parked] += held_back;
}

Time Core::worked(Time until) const {
  const Accounts slots = accounts(until);
  std::uint64_t sum = std::accumulate(slots.begin(), slots.end(), std::uint64_t{0});
  for (unsigned a = 0; a < SLUICE_ACCOUNT_COUNT; ++a)
    if (!is_busy(a)) sum -= slots[a];
  return slot_clock_.time_of(sum);
}

// Who does which step of receiving a request (models/base/measure/steps.h).

void Core::begins(unsigned step, std::uint64_t address) {
  const base::RequestId id = request_at(address);
  const base::Ledger::Request* const r = base::ledger().find(id);
  if (!r || r->tiles.back().component != component()) return;
  execute_for(id);
  const base::Stage stage = r->tiles.back().stage;
  enter(id, stage, time_of_hint(), {{static_cast<base::Step>(step)}, mark(stage).owner});
}

void Core::does(unsigned step, std::uint64_t stage) {
  if (stage >= SLUICE_STAGE_COUNT) return;
  has_users_ = has_users_ || in_user_mode();
  does_[in_user_mode()][stage].add(static_cast<base::Step>(step));
}

void Core::tells(unsigned step) { base::ledger().tells(component(), {static_cast<base::Step>(step)}); }

/// What software says that enters a stage now. Where there are programs in user mode, all else is a kernel; else it is
/// a program with its drivers, but for what kernels do.
base::Mark Core::mark(base::Stage stage) const {
  const bool is_program = account_ == SLUICE_ACCOUNT_application || account_ == SLUICE_ACCOUNT_networking ||
                          account_ == SLUICE_ACCOUNT_polling;
  const bool is_kernel = !in_user_mode() && (has_users_ || !is_program);
  const base::StepSet steps = does_[in_user_mode()][stage];
  return {steps.empty() ? base::steps_of(stage) : steps, is_kernel ? base::Owner::kernel : base::Owner::application};
}

/// The instructions that have been retired since the last call belong to the request of that call.
void Core::execute_for(base::RequestId id) {
  const std::uint64_t instructions = hart_.state().instret;
  base::ledger().executed(executing_for_, component(), instructions - executed_);
  executed_ = instructions;
  executing_for_ = id;
}

}  // namespace sluice::riscv
