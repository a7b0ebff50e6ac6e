// SPDX-License-Identifier: Apache-2.0
#include "platform/debug/insn_trace.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/riscv/iss/decode/decode.h"
#include "models/riscv/iss/decode/disassemble.h"
#include "platform/diagnosis/diagnosis.h"

namespace sluice::debug {
namespace {

using riscv::Instruction;
using riscv::Opcode;

constexpr const char* kColumns =
    "# time/ns hart privilege pc <function> code instruction | results, [address]=value, trap, request\n";

bool is_atomic(Opcode op) { return op >= Opcode::lr_w && op <= Opcode::amo_d; }
bool is_memory(Opcode op) { return (op >= Opcode::lb && op <= Opcode::fsd) || is_atomic(op); }
bool is_csr(Opcode op) { return op >= Opcode::csrrw && op <= Opcode::csrrci; }

/// Whether an instruction writes rd. Stores, branches and some others have no result in a register.
bool has_destination(Opcode op) {
  using enum Opcode;
  if ((op >= sb && op <= fsd) || riscv::is_branch(op) || op == fence || op == pause) return false;
  if (op == probe || op == bind || op == account) return false;
  return !(op >= fence_i);
}

std::string with_symbol(std::uint64_t address, const platform::SymbolTable* symbols) {
  return platform::with_symbol(address, symbols ? *symbols : platform::SymbolTable());
}

/// "U:kv(3)"; of an address space that belongs to no known process, "U:asid-3".
std::string user_mode_of(const std::string& process, unsigned asid) {
  return process.empty() ? fmt::format("U:asid-{}", asid) : fmt::format("U:{}({})", process, asid);
}

}  // namespace

InsnTrace::InsnTrace(platform::Board& board, const std::string& path, const TraceWindow& window)
    : window_(window), file_(path) {
  file_.write(kColumns);
  for (platform::Cluster& cluster : board.clusters()) {
    for (auto& core : cluster.cores) {
      const base::Clock& clock = core->slot_clock();
      const std::uint64_t end = window.until == base::Time::max() ? ~std::uint64_t{0} : clock.next_cycle(window.until);
      harts_.push_back({core.get(), &cluster, clock.next_cycle(window.from), end, {}, {}});
      harts_.back().codes[0].symbols = &cluster.firmware.symbols();
      core->observe(*this);
    }
  }
}

InsnTrace::Hart& InsnTrace::hart_of(const riscv::Core& core) {
  return *std::find_if(harts_.begin(), harts_.end(), [&](const Hart& h) { return h.core == &core; });
}

std::uint64_t InsnTrace::before(riscv::Core& core) {
  Hart& h = hart_of(core);
  const std::uint64_t slots = core.hart().state().slots;
  h.before.valid = slots >= h.first_slot && slots < h.end_slot;
  if (!h.before.valid) return slots < h.first_slot ? h.first_slot : kFree;
  take(h.before, core);
  enter(h);
  return kOneEvent;
}

/// Another process may have the address space when the hart comes back to it.
void InsnTrace::enter(Hart& h) {
  const std::uint64_t space = h.before.user_space;
  if (std::exchange(h.last_space, space) == space || space == 0) return;
  platform::Processes& processes = *h.cluster->processes;
  const auto process = processes.find(space);
  Code now{user_mode_of(process ? process->name : "", platform::asid_of(space)), nullptr,
           process ? processes.symbols(*process) : nullptr};
  now.symbols = now.own.get();
  Code& code = h.codes[space];
  if (code.privilege != now.privilege || code.own != now.own) code = std::move(now);
}

void InsnTrace::take(Before& b, riscv::Core& core) {
  riscv::Hart& hart = core.hart();
  const riscv::HartState& state = hart.state();
  b.time = core.slot_clock().time_of(state.slots);
  std::copy_n(state.x, 32, b.x);
  b.pc = state.pc;
  b.privilege = state.privilege;
  b.user_space = hart.privileged().user_space(state.pc);
  b.instructions = state.instret;
  b.traps = hart.counters().traps;
  b.interrupts = hart.counters().interrupts;
  b.word = 0;
  std::uint16_t halves[2] = {};
  const auto fetch = [&](unsigned n) {
    riscv::Privileged::Translation t;
    if (hart.privileged().translate_hint(b.pc + 2 * n, t, riscv::Access::fetch) != riscv::Cause::none) return false;
    base::GuestRam* ram = core.ram_at(t.physical);
    if (ram) ram->read(t.physical, &halves[n], 2);
    return ram != nullptr;
  };
  b.fetched = fetch(0) && (riscv::is_compressed(halves[0]) || fetch(1));
  b.word = halves[0] | static_cast<std::uint32_t>(halves[1]) << 16;
}

void InsnTrace::after(riscv::Core& core, riscv::StopReason) {
  Hart& h = hart_of(core);
  if (!std::exchange(h.before.valid, false)) return;
  const riscv::HartCounters& counters = core.hart().counters();
  const bool interrupt = counters.interrupts != h.before.interrupts;
  const bool trapped = counters.traps != h.before.traps;
  // The core may have reached its slot limit before it executed the instruction.
  if (!interrupt && !trapped && core.hart().state().instret == h.before.instructions) return;
  const std::uint64_t fs = h.before.time.femtoseconds();
  constexpr char letters[] = {'U', 'S', '?', 'M'};
  std::string line = fmt::format("{:>12}.{:06} {} ", fs / 1'000'000, fs % 1'000'000, core.path());
  line += h.code().privilege.empty() ? std::string(1, letters[static_cast<unsigned>(h.before.privilege)])
                                     : h.code().privilege;
  line += ' ';
  if (interrupt)
    line += fmt::format("{} |", with_symbol(h.before.pc, h.code().symbols));
  else
    line += instruction_text(h);
  if (interrupt || trapped)
    line += trap(h, interrupt);
  else
    line += results(h);
  if (core.serving() != 0) line += fmt::format(" request {}", core.serving());
  line += '\n';
  empty_ = false;
  file_.write(line);
}

const std::string& InsnTrace::instruction_text(Hart& h) {
  Code::Text& t = h.codes.at(h.before.user_space).texts[h.before.pc];
  if (!t.text.empty() && t.word == h.before.word) return t.text;
  t.word = h.before.word;
  const std::string place = with_symbol(h.before.pc, h.code().symbols);
  if (!h.before.fetched) return t.text = place + " |";
  const bool compressed = riscv::is_compressed(t.word);
  const std::string code = compressed ? fmt::format("{:04x}", t.word & 0xffff) : fmt::format("{:08x}", t.word);
  return t.text = fmt::format("{} {} {} |", place, code, riscv::disassemble(t.word, h.before.pc));
}

std::string InsnTrace::results(Hart& h) {
  const Instruction i = riscv::decode(h.before.word);
  const riscv::HartState& state = h.core->hart().state();
  std::string text;
  const bool to_float = riscv::writes_float(i.op) && !riscv::float_to_integer(i.op);
  if (has_destination(i.op) && to_float)
    text += fmt::format(" {}={:#x}", riscv::float_register(i.rd), state.f[i.rd]);
  else if (has_destination(i.op) && i.rd != 0)
    text += fmt::format(" {}={:#x}", riscv::integer_register(i.rd), state.x[i.rd]);
  if (is_memory(i.op)) text += memory(h);
  const bool csr_written = is_csr(i.op) && (i.op == Opcode::csrrw || i.op == Opcode::csrrwi || i.rs1 != 0);
  std::uint64_t value = 0;
  if (csr_written && h.core->hart().privileged().csr_peek(static_cast<unsigned>(i.imm), value))
    text += fmt::format(" {}={:#x}", riscv::csr_name(static_cast<unsigned>(i.imm)), value);
  return text;
}

/// The bytes in RAM after the access or, for a device, the bytes loaded or stored.
std::string InsnTrace::memory(Hart& h) {
  const Instruction i = riscv::decode(h.before.word);
  const riscv::HartState& state = h.core->hart().state();
  const bool store = i.op >= Opcode::sb && i.op <= Opcode::fsd;
  const std::uint64_t address =
      h.before.x[i.rs1] + (is_atomic(i.op) ? 0 : static_cast<std::uint64_t>(std::int64_t{i.imm}));
  const unsigned size = riscv::access_size(i.op);
  std::uint64_t value = 0;
  if (!h.core->hart().debug_read(address, &value, size)) {
    const bool in_float = riscv::uses_float(i.op);
    const unsigned n = store ? i.rs2 : i.rd;
    value = in_float ? state.f[n] : store ? h.before.x[n] : state.x[n];
    if (size < 8) value &= (std::uint64_t{1} << 8 * size) - 1;
  }
  return fmt::format(" [{:#x}]={:#0{}x}", address, value, 2 + 2 * size);
}

std::string InsnTrace::trap(Hart& h, bool interrupt) {
  riscv::Privileged& p = h.core->hart().privileged();
  const riscv::HartState& state = h.core->hart().state();
  const bool machine = state.privilege == riscv::Privilege::machine;
  std::uint64_t cause = 0, tval = 0;
  p.csr_peek(machine ? riscv::csr::kMcause : riscv::csr::kScause, cause);
  p.csr_peek(machine ? riscv::csr::kMtval : riscv::csr::kStval, tval);
  const std::string to = with_symbol(state.pc, h.codes.at(0).symbols);  // handlers are the firmware's
  if (interrupt) return fmt::format(" interrupt {} to {}", cause & 0xff, to);
  return fmt::format(" trap {} ({}), tval {:#x}, to {}", cause, platform::exception_name(cause), tval, to);
}

}  // namespace sluice::debug
