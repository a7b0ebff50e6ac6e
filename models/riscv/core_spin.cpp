// SPDX-License-Identifier: Apache-2.0
/// How a core that waits in a loop takes its turns without executing it.

#include <algorithm>
#include <utility>

#include "models/riscv/core.h"

namespace sluice::riscv {

using base::Time;

/// Bytes between the ends of two turns within which the core may be in a loop that waits.
constexpr std::uint64_t kNear = 128;

/// Of turns that end near the one before, but where no loop has been found before: one in so many is followed by a
/// search.
constexpr unsigned kSeldom = 8;

/// Called when the core gives its turn away. A search costs as much as some hundred instructions, so most are made
/// where a loop has been found before.
void Core::begin_spin() {
  if (!runner_.may_spin() || !undisturbed()) return;
  const std::uint64_t pc = hart_.state().pc, before = std::exchange(turn_ended_at_, pc);
  if (!spun_at_[(pc >> 1) % spun_at_.size()]) {
    if (pc - before + kNear > 2 * kNear || ++unsearched_ % kSeldom != 0) return;
  }
  Refusals& r = refusals_[(pc >> 1) % refusals_.size()];
  if (r.pc == pc && r.left > 0) {
    --r.left;
    return;
  }
  const Spin search = hart_.engine().find_spin(spin_);
  if (search == Spin::later) return;
  const bool spins = search == Spin::found;
  runner_.set_spinning(spins);
  if (spins)
    for (const SpinLoop::Stop& stop : spin_.stops()) spun_at_[(stop.pc >> 1) % spun_at_.size()] = true;
  if (r.pc != pc) r = {pc, 0, 0};
  r.failed = spins ? 0 : std::min<unsigned>(r.failed + 1u, 6);
  r.left = spins ? 0 : static_cast<std::uint8_t>((1u << r.failed) - 1);
}

void Core::end_spin() {
  if (!runner_.spinning()) return;
  runner_.settle();
  runner_.set_spinning(false);
  hart_.engine().leave_spin(spin_);
}

/// Somebody looks at the hart, whose loop goes on unless he may change it.
void Core::show_spin() {
  if (!undisturbed()) return end_spin();
  runner_.settle();
  spin_.show(hart_.state());
}

/// Stands for the turns of the hart's thread up to `until`.
void Core::pass_turns(Time until) {
  spin_.advance(hart_.state(), hart_.counters(), slot_clock_.next_cycle(until));
  runner_.set_time(slot_clock_.time_of(hart_.state().slots));
}

}  // namespace sluice::riscv
