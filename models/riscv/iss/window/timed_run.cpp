// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/window/timed_run.h"

#include <algorithm>
#include <bit>

#include "models/riscv/iss/window/window_memo.h"

namespace sluice::riscv {

void TimedRun::complete(std::uint32_t number) {
  end = records[count - 1].is_transfer() ? records[count - 1].kind : TimingRecord::kPlain;
  accesses = 0;
  for (unsigned n = 0; n < count; ++n) {
    const TimingRecord& r = records[n];
    if (r.kind >= TimingRecord::kLoad) accesses |= std::uint64_t{1} << n;
    if (r.kind == TimingRecord::kPrefetch && r.detail == static_cast<std::uint8_t>(base::LineUse::fetch))
      prefetches_code = true;
  }
  access_count = static_cast<std::uint8_t>(std::popcount(accesses));
  whole = WindowMemo::Key::step_of(number, 0, count, end != TimingRecord::kPlain);
}

/// Whether L1I has all lines of the run.
bool ExecutionLog::find_lines(const TimedRun& run) const {
  const auto* const end = run.addresses.begin() + run.lines;
  const bool all = std::all_of(run.addresses.begin(), end,
                               [this](std::uint64_t line) { return l1i_->state(line) != base::LineState::kInvalid; });
  if (all) run.present = l1i_->removals();
  return all;
}

}  // namespace sluice::riscv
