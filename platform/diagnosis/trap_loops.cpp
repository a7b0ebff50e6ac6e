// SPDX-License-Identifier: Apache-2.0
#include "platform/diagnosis/trap_loops.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/riscv/iss/privileged/csr.h"
#include "platform/diagnosis/diagnosis.h"

namespace sluice::platform {
namespace {

std::string describe(const Cluster& cluster, riscv::Core& core, std::uint64_t traps, bool returns) {
  const bool machine = in_machine_trap(core);
  std::uint64_t vector = 0;
  core.hart().privileged().csr_peek(machine ? riscv::csr::kMtvec : riscv::csr::kStvec, vector);
  const std::string symbol = cluster.firmware.symbols().at(vector);
  return fmt::format("{} is in a trap loop: {} traps and {}; {}; {} is {:#x}{}{}\n", core.path(), traps,
                     returns ? "each return leads to the same again" : "no return from one",
                     describe_trap(cluster, core), machine ? "mtvec" : "stvec", vector, symbol.empty() ? "" : " ",
                     symbol);
}

}  // namespace

TrapLoops::TrapLoops(Board& board) : board_(board) {
  for (const Cluster& c : board.clusters()) seen_.resize(seen_.size() + c.cores.size());
}

std::string TrapLoops::look(std::uint64_t least) {
  std::string text;
  auto seen = seen_.begin();
  for (Cluster& c : board_.clusters()) {
    for (auto& core : c.cores) {
      const riscv::HartCounters& now = core->hart().counters();
      const std::uint64_t traps = std::min(now.repeated, now.traps - *seen);
      // Software may repeat the same call of a service (ecall) until something else has happened: that is no loop.
      const bool asks = now.served > now.repeated / 4 * 3;
      if (traps >= least && !asks) text += describe(c, *core, traps, now.returns != now.returns_before);
      *seen++ = now.traps;
    }
  }
  return text;
}

}  // namespace sluice::platform
