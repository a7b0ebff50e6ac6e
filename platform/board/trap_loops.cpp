#include "platform/board/trap_loops.h"

#include <fmt/format.h>

#include "platform/board/diagnosis.h"

namespace sluice::platform {
namespace {

constexpr unsigned kMtvec = 0x305, kStvec = 0x105;

std::string describe(const Firmware& firmware, riscv::Core& core, std::uint64_t traps, bool returns) {
  const bool machine = in_machine_trap(core);
  std::uint64_t vector = 0;
  core.hart().privileged().csr_peek(machine ? kMtvec : kStvec, vector);
  const std::string symbol = firmware.symbols().at(vector);
  return fmt::format("{} is in a trap loop: {} traps and {}; {}; {} is {:#x}{}{}\n", core.path(), traps,
                     returns ? "each return to the instruction that traps again" : "no return from one",
                     describe_trap(firmware, core), machine ? "mtvec" : "stvec", vector, symbol.empty() ? "" : " ",
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
      const std::uint64_t traps = now.traps - seen->traps;
      // The first trap of all has none before it.
      const bool fruitless = now.fruitless - seen->fruitless + 1 >= traps;
      const bool returns = now.returns != seen->returns;
      if (traps >= least && (fruitless || !returns)) text += describe(c.firmware, *core, traps, returns);
      *seen++ = {now.traps, now.returns, now.fruitless};
    }
  }
  return text;
}

}  // namespace sluice::platform
