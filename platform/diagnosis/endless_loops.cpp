// SPDX-License-Identifier: Apache-2.0
#include "platform/diagnosis/endless_loops.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "models/riscv/iss/decode/decode.h"
#include "models/riscv/iss/privileged/csr.h"
#include "platform/diagnosis/code_place.h"

namespace sluice::platform {
namespace {

using riscv::Opcode;

constexpr std::uint64_t kSie = 1 << 1, kMachineIe = 1 << 3;
constexpr std::uint64_t kByHarts = riscv::irq::bit(riscv::irq::kMsi) | riscv::irq::bit(riscv::irq::kSsi);
constexpr std::size_t kLongestLoop = 16;  // instructions

/// Whether an interrupt could lead the hart elsewhere: one that is pending, or one that a device may raise.
bool can_be_interrupted(riscv::Core& core) {
  riscv::Privileged& p = core.hart().privileged();
  if (p.interrupt_takeable()) return true;
  std::uint64_t mstatus = 0, mideleg = 0, mie = 0;
  p.csr_peek(riscv::csr::kMstatus, mstatus);
  p.csr_peek(riscv::csr::kMideleg, mideleg);
  p.csr_peek(riscv::csr::kMie, mie);
  mie &= ~kByHarts;  // harts send no software interrupts while all of them hang
  const riscv::Privilege now = core.hart().state().privilege;
  const bool machine = now != riscv::Privilege::machine || (mstatus & kMachineIe) != 0;
  const bool supervisor =
      now == riscv::Privilege::user || (now == riscv::Privilege::supervisor && (mstatus & kSie) != 0);
  return (machine && (mie & ~mideleg) != 0) || (supervisor && (mie & mideleg) != 0);
}

bool is_taken(const riscv::Instruction& i, const riscv::HartState& s) {
  const std::uint64_t a = s.x[i.rs1], b = s.x[i.rs2];
  const auto signed_a = static_cast<std::int64_t>(a), signed_b = static_cast<std::int64_t>(b);
  switch (i.op) {
    case Opcode::beq:
      return a == b;
    case Opcode::bne:
      return a != b;
    case Opcode::blt:
      return signed_a < signed_b;
    case Opcode::bge:
      return signed_a >= signed_b;
    case Opcode::bltu:
      return a < b;
    default:
      return a >= b;
  }
}

/// Moves pc past an instruction that changes neither registers nor memory. False: the instruction may change something.
bool follow(const riscv::Instruction& i, const riscv::HartState& s, std::uint64_t& pc) {
  const auto offset = static_cast<std::uint64_t>(static_cast<std::int64_t>(i.imm));
  if (riscv::is_branch(i.op)) {
    pc += is_taken(i, s) ? offset : i.length;
    return true;
  }
  switch (i.op) {
    case Opcode::jal:
      pc += offset;
      return i.rd == 0;
    case Opcode::jalr:
      pc = (s.x[i.rs1] + offset) & ~std::uint64_t{1};
      return i.rd == 0;
    case Opcode::wfi:
    case Opcode::fence:
    case Opcode::pause:
    case Opcode::account:
      pc += i.length;
      return true;
    case Opcode::addi:
      pc += i.length;
      return i.rd == 0;
    default:
      return false;
  }
}

/// Whether the hart comes back to where it was with nothing changed.
bool runs_in_a_circle(riscv::Core& core) {
  riscv::Hart& hart = core.hart();
  std::vector<std::uint64_t> seen;
  for (std::uint64_t pc = hart.state().pc; seen.size() <= kLongestLoop;) {
    if (std::find(seen.begin(), seen.end(), pc) != seen.end()) return true;
    seen.push_back(pc);
    std::uint16_t halves[2] = {};
    if (!hart.debug_read(pc, &halves[0], 2)) return false;
    if (!riscv::is_compressed(halves[0]) && !hart.debug_read(pc + 2, &halves[1], 2)) return false;
    if (!follow(riscv::decode(halves[0] | std::uint32_t{halves[1]} << 16), hart.state(), pc)) return false;
  }
  return false;
}

}  // namespace

std::string describe_hang(Board& board) {
  std::string text;
  for (Cluster& c : board.clusters()) {
    for (auto& core : c.cores) {
      if (core->stopped() || core->reset_due() || can_be_interrupted(*core) || !runs_in_a_circle(*core)) return {};
      text += fmt::format("{} is in a loop without an end, with interrupts off, at {}\n", core->path(),
                          describe(c, place_of(*core)));
    }
  }
  return text;
}

}  // namespace sluice::platform
