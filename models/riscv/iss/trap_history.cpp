// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/trap_history.h"

namespace sluice::riscv {
namespace {

constexpr unsigned kSp = 2;

/// A hash of all registers but sp.
std::uint64_t digest_of(const HartState& state) {
  std::uint64_t digest = 0;
  const auto take = [&digest](std::uint64_t value) {
    digest = (digest ^ value) * 0x9e37'79b9'7f4a'7c15 + (digest >> 29);
  };
  for (unsigned i = 1; i < 32; ++i)
    if (i != kSp) take(state.x[i]);
  for (const std::uint64_t f : state.f) take(f);
  return digest;
}

}  // namespace

bool TrapHistory::repeats(const HartState& state, Cause cause, std::uint64_t returns) {
  last_pc_ = state.pc;
  const Trap now{state.pc, digest_of(state), state.x[kSp], returns, cause};
  for (Trap& t : traps_) {
    if (t.pc != now.pc || t.cause != now.cause || t.registers != now.registers) continue;
    if (t.sp != now.sp && t.returns != now.returns) continue;
    t = now;
    return true;
  }
  traps_[oldest_] = now;
  oldest_ = (oldest_ + 1) % traps_.size();
  return false;
}

}  // namespace sluice::riscv
