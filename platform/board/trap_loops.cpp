#include "platform/board/trap_loops.h"

#include <fmt/format.h>

#include "platform/board/diagnosis.h"

namespace sluice::platform {
namespace {

constexpr std::uint64_t kMany = 1000;
constexpr unsigned kMtvec = 0x305, kStvec = 0x105;

std::string describe(const Firmware& firmware, riscv::Core& core, std::uint64_t traps) {
  const bool machine = core.hart().state().privilege == riscv::Privilege::machine;
  std::uint64_t vector = 0;
  core.hart().privileged().csr_peek(machine ? kMtvec : kStvec, vector);
  const std::string symbol = firmware.symbols().at(vector);
  return fmt::format("{} is in a trap loop: {} traps and no return from one; {}; {} is {:#x}{}{}\n", core.path(), traps,
                     describe_trap(firmware, core), machine ? "mtvec" : "stvec", vector, symbol.empty() ? "" : " ",
                     symbol);
}

}  // namespace

TrapLoops::TrapLoops(Board& board) : board_(board) {
  for (const Cluster& c : board.clusters()) seen_.resize(seen_.size() + c.cores.size());
}

std::string TrapLoops::look() {
  std::string text;
  auto seen = seen_.begin();
  for (Cluster& c : board_.clusters()) {
    for (auto& core : c.cores) {
      const riscv::HartCounters& now = core->hart().counters();
      const std::uint64_t traps = now.traps - seen->traps;
      if (traps >= kMany && now.returns == seen->returns) text += describe(c.firmware, *core, traps);
      *seen++ = {now.traps, now.returns};
    }
  }
  return text;
}

}  // namespace sluice::platform
