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
  if (account_ == SLUICE_ACCOUNT_interrupt && account != account_) wake_up_.work(slot_clock_.time_of(slots));
  account_ = account;
  if (serves_nobody(account)) serving_ = 0;
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
  for (const auto a : {SLUICE_ACCOUNT_polling, SLUICE_ACCOUNT_batch, SLUICE_ACCOUNT_parked, SLUICE_ACCOUNT_idle})
    sum -= slots[a];
  return slot_clock_.time_of(sum);
}

}  // namespace sluice::riscv
