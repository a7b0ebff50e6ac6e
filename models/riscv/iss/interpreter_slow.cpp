// Instructions that leave straight execution: accesses without a shortcut, atomics, CSRs, system instructions, hints.

#include <algorithm>
#include <cstring>

#include "models/base/measure/stages.h"
#include "models/riscv/iss/fp.h"
#include "models/riscv/iss/interpreter.h"

namespace sluice::riscv {
namespace {

constexpr bool is_store(Opcode op) { return op >= Opcode::sb && op <= Opcode::fsd; }

std::uint64_t sign_extend_word(std::uint64_t v) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(v)));
}

/// Operands of word AMOs come sign-extended; only the low half of the result counts then.
std::uint64_t amo_result(unsigned funct5, bool word, std::uint64_t memory, std::uint64_t operand) {
  const auto sm = static_cast<std::int64_t>(memory);
  const auto so = static_cast<std::int64_t>(operand);
  const std::uint64_t um = word ? static_cast<std::uint32_t>(memory) : memory;
  const std::uint64_t uo = word ? static_cast<std::uint32_t>(operand) : operand;
  switch (funct5) {
    case 0x00:
      return memory + operand;
    case 0x04:
      return memory ^ operand;
    case 0x08:
      return memory | operand;
    case 0x0c:
      return memory & operand;
    case 0x10:
      return sm < so ? memory : operand;
    case 0x14:
      return sm > so ? memory : operand;
    case 0x18:
      return um < uo ? memory : operand;
    case 0x1c:
      return um > uo ? memory : operand;
    default:
      return operand;  // swap
  }
}

}  // namespace

/// Executes one operation with exact state: state_ is at its start. `address` is the effective address of a load or
/// store.
Interpreter::Outcome Interpreter::slow(Block* block, const Op* op, std::uint64_t slots, std::uint64_t instret,
                                       std::uint64_t address) {
  block_ = block;
  site_ = &block->site(op);
  frame_.slots = slots;
  state_.pc = block->pc + site_->pc_offset;
  state_.slots = slots + site_->cost_before;
  state_.instret = instret + site_->index;
  bus_called_ = false;
  if (site_->opcode >= kFall) return pseudo(site_->opcode, *op);
  const auto opcode = static_cast<Opcode>(site_->opcode);
  if (opcode >= Opcode::lb && opcode <= Opcode::fsd) return memory(opcode, *op, address);
  if (opcode >= Opcode::lr_w && opcode <= Opcode::amo_d) return atomic(opcode, *op);
  if (opcode >= Opcode::probe && opcode <= Opcode::account) return hint(opcode, *op);
  if (opcode >= Opcode::csrrw && opcode <= Opcode::csrrci) return csr(opcode, *op);
  return system(opcode, *op);  // also floating point with a reserved dynamic rounding mode
}

/// The limit is reached in front of this operation.
Interpreter::Outcome Interpreter::stop_at(const Block* block, const Op* op, std::uint64_t slots,
                                          std::uint64_t instret) {
  const Site& site = block->site(op);
  state_.pc = block->pc + site.pc_offset;
  state_.slots = slots + site.cost_before;
  state_.instret = instret + site.index;
  from_ = kNowhere;
  uncut();
  return Outcome::dispatch;
}

/// The operation is done; goes on within the block if nothing speaks against it. Also for pseudo-operations, which
/// cost nothing and do not count.
Interpreter::Outcome Interpreter::retire() {
  if (!bus_called_ && !attention_) return Outcome::next;
  const std::uint64_t base = state_.slots - site_->cost_before;
  const std::uint64_t limit = slot_limit();
  const bool fits = cut_op_ ? base == frame_.slots && limit == frame_.limit : base + block_->last_start < limit;
  if (!fits || attention_ || privileged_.interrupt_takeable()) return retire_and_dispatch();
  frame_.slots = base;
  frame_.limit = limit;
  return Outcome::next;
}

Interpreter::Outcome Interpreter::retire_and_dispatch() {
  from_ = block_->pc + site_->pc_offset;
  state_.pc += site_->length;
  state_.slots += site_->cost;
  state_.instret += site_->opcode < kFall;
  uncut();
  return Outcome::dispatch;
}

Interpreter::Outcome Interpreter::trap(Cause cause, std::uint64_t tval) {
  HartCounters& counters = hart_.counters();
  if (traps_.repeats(state_, cause, counters.returns))
    ++counters.repeated;
  else
    counters.repeated = counters.served = 0, counters.returns_before = counters.returns;
  privileged_.trap(cause, tval);
  state_.slots += costs_.trap;
  ++counters.traps;
  from_ = kNowhere;
  uncut();
  return Outcome::dispatch;
}

/// A trap that the software has brought about by mistake.
Interpreter::Outcome Interpreter::refuse(Refusal why, Cause cause, std::uint64_t tval, std::uint64_t address,
                                         unsigned size) {
  bus_.refused(why, state_.pc, address, size);
  return trap(cause, tval);
}

Interpreter::Outcome Interpreter::illegal() {
  std::uint32_t raw = 0;
  if (block_->second_page != Block::kNoPage) {
    raw = block_->crossing_raw;
  } else {
    const std::uint64_t physical = block_->physical + site_->pc_offset;
    hart_.ram_at(physical)->read(physical, &raw, 2);
    if (!is_compressed(raw)) hart_.ram_at(physical)->read(physical, &raw, 4);
  }
  // What a mode above handles is its service to the one below: emulation, a unit that is switched on late. And a CSR is
  // read to learn whether the hart has it.
  const bool reads_csr = (raw & 0x7f) == 0x73 && (raw >> 13 & 1) != 0 && (raw >> 15 & 0x1f) == 0;
  const std::uint64_t pc = state_.pc;
  const Privilege before = state_.privilege;
  const Outcome outcome = trap(Cause::illegal_instruction, raw);
  if (state_.privilege == before && !reads_csr) bus_.refused(Refusal::illegal, pc, raw, is_compressed(raw) ? 2 : 4);
  return outcome;
}

/// Translates a data access that lies within a page.
Cause Interpreter::locate(std::uint64_t address, unsigned size, Access access, Place& place) {
  const std::uint64_t page = address & ~std::uint64_t{0xfff};
  const TlbEntry& entry = tlb_->entries()[(address >> 12) % SoftTlb::kEntries];
  if ((access == Access::store ? entry.write_tag : entry.read_tag) == page) {
    place.physical = address + entry.physical;
    place.ram = hart_.ram_at(place.physical);
    return Cause::none;
  }
  PageTranslation& cached = tlb_->page(address);
  if (cached.page == page && (access == Access::store ? cached.writable : cached.readable)) {
    place = {cached.physical + (address - page), cached.ram};
  } else {
    Privileged::Translation t;
    bus_called_ = true;  // the walk's own writes may synchronise
    const Cause cause = privileged_.translate(address, size, access, t);
    if (cause != Cause::none) return cause;
    place = {t.physical, hart_.ram_at(t.physical)};
    if (t.region_size < base::GuestRam::kPage) return Cause::none;
    cached = {page, t.physical - (address - page), place.ram, t.readable, t.writable};
  }
  if (place.ram)
    tlb_->fill(address, place.physical, *place.ram,
               cached.readable && !(place.ram->watch(place.physical) & base::GuestRam::kReadWatch),
               cached.writable && !place.ram->watch(place.physical));
  return Cause::none;
}

void Interpreter::touch_l1d(std::uint64_t physical, unsigned size, base::LineUse use) {
  if (!l1d_) return;
  const std::uint64_t last = l1d_->line_of(physical + size - 1);
  for (std::uint64_t line = l1d_->line_of(physical);; line += l1d_->line_bytes()) {
    ++hart_.counters().l1d_accesses;
    if (!l1d_->hit(line, writes(use))) {
      ++hart_.counters().l1d_misses;
      bus_called_ = true;
      bus_.cache_miss(std::max(line, physical), use);
    }
    if (line == last) return;
  }
}

void Interpreter::read_ram(const Place& place, void* data, unsigned size) {
  std::memcpy(data, place.ram->at(place.physical), size);
  if (hart_.tells_reads()) [[unlikely]]
    hart_.own_read(*place.ram, place.physical, size);
}

/// Before an access that is to take place in order of time. False: an interrupt or a reset came before it, and
/// give_way() is due.
bool Interpreter::synchronise() {
  bus_called_ = true;
  return bus_.synchronise() && !privileged_.interrupt_takeable();
}

/// Before a store, which is to be in order of time where it wakes another hart or ends its reservation.
bool Interpreter::synchronise_store(const Place& place, unsigned size) {
  if (!place.ram->watch(place.physical) || !place.ram->awaited(place.physical, size, &hart_)) return true;
  return synchronise();
}

/// The instruction is not executed: an interrupt is taken in front of it, or the hart starts again.
Interpreter::Outcome Interpreter::give_way() {
  uncut();
  return Outcome::dispatch;
}

void Interpreter::write_ram(const Place& place, const void* data, unsigned size) {
  if (place.ram->watch(place.physical))
    hart_.own_write(*place.ram, place.physical, data, size);
  else
    std::memcpy(place.ram->at(place.physical), data, size);
}

void Interpreter::load_result(Opcode opcode, const Op& op, std::uint64_t value) {
  switch (opcode) {
    case Opcode::lb:
      state_.x[op.rd] = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int8_t>(value)});
      break;
    case Opcode::lh:
      state_.x[op.rd] = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int16_t>(value)});
      break;
    case Opcode::lw:
      state_.x[op.rd] = sign_extend_word(value);
      break;
    case Opcode::flw:
      state_.f[op.rd] = fp_box(static_cast<std::uint32_t>(value));
      break;
    case Opcode::fld:
      state_.f[op.rd] = value;
      break;
    default:
      state_.x[op.rd] = value;
      break;
  }
}

Interpreter::Outcome Interpreter::memory(Opcode opcode, const Op& op, std::uint64_t address) {
  const unsigned size = access_size(opcode);
  const bool store = is_store(opcode);
  if ((address & 0xfff) + size > 0x1000) return memory_crossing(opcode, op, address, size);
  Place place;
  const Cause fault = store ? Cause::store_access : Cause::load_access;
  const Cause cause = locate(address, size, store ? Access::store : Access::load, place);
  if (cause == fault) return refuse(Refusal::protection, cause, address, address, size);
  if (cause != Cause::none) return trap(cause, address);
  std::uint64_t value = 0;
  if (store) value = opcode >= Opcode::fsw ? state_.f[op.rs2] : state_.x[op.rs2];
  if (place.ram) {
    if (store && !synchronise_store(place, size)) return give_way();
    touch_l1d(place.physical, size, store ? base::LineUse::store : base::LineUse::load);
    if (store)
      write_ram(place, &value, size);
    else
      read_ram(place, &value, size);
  } else {
    if (address & (size - 1)) return refuse(Refusal::misaligned_device, fault, address, place.physical, size);
    if (!synchronise()) return give_way();
    const bool done = store ? bus_.store(place.physical, &value, size) : bus_.load(place.physical, &value, size);
    if (!done) return trap(fault, address);
  }
  if (!store) load_result(opcode, op, value);
  return retire();
}

/// Both pages are checked before anything is read or written.
Interpreter::Outcome Interpreter::memory_crossing(Opcode opcode, const Op& op, std::uint64_t address, unsigned size) {
  const bool store = is_store(opcode);
  const Access access = store ? Access::store : Access::load;
  const unsigned first = 0x1000 - static_cast<unsigned>(address & 0xfff);
  const std::uint64_t address2 = address + first;
  Place low, high;
  const Cause fault = store ? Cause::store_access : Cause::load_access;
  Cause cause = locate(address, first, access, low);
  if (cause == fault) return refuse(Refusal::protection, cause, address, address, size);
  if (cause == Cause::none && !low.ram) return refuse(Refusal::misaligned_device, fault, address, low.physical, size);
  if (cause != Cause::none) return trap(cause, address);
  cause = locate(address2, size - first, access, high);
  if (cause == fault) return refuse(Refusal::protection, cause, address2, address, size);
  if (cause == Cause::none && !high.ram) return refuse(Refusal::crossing, fault, address2, low.physical, size);
  if (cause != Cause::none) return trap(cause, address2);
  const base::LineUse use = store ? base::LineUse::store : base::LineUse::load;
  if (store && !(synchronise_store(low, first) && synchronise_store(high, size - first))) return give_way();
  touch_l1d(low.physical, first, use);
  touch_l1d(high.physical, size - first, use);
  std::uint8_t bytes[8] = {};
  std::uint64_t value = 0;
  if (store) {
    value = opcode >= Opcode::fsw ? state_.f[op.rs2] : state_.x[op.rs2];
    std::memcpy(bytes, &value, 8);
    write_ram(low, bytes, first);
    write_ram(high, bytes + first, size - first);
  } else {
    read_ram(low, bytes, first);
    read_ram(high, bytes + first, size - first);
    std::memcpy(&value, bytes, 8);
    load_result(opcode, op, value);
  }
  return retire();
}

Interpreter::Outcome Interpreter::atomic(Opcode opcode, const Op& op) {
  const unsigned size = access_size(opcode);
  const bool word = size == 4;
  const bool reserve = opcode == Opcode::lr_w || opcode == Opcode::lr_d;
  const bool conditional = opcode == Opcode::sc_w || opcode == Opcode::sc_d;
  const std::uint64_t address = state_.x[op.rs1];
  const std::uint64_t operand = word ? sign_extend_word(state_.x[op.rs2]) : state_.x[op.rs2];
  if (address & (size - 1))
    return refuse(Refusal::atomic_misaligned, reserve ? Cause::load_misaligned : Cause::store_misaligned, address,
                  address, size);
  Place place;
  const Cause fault = reserve ? Cause::load_access : Cause::store_access;
  const Cause cause = locate(address, size, reserve ? Access::load : Access::store, place);
  if (cause == fault) return refuse(Refusal::protection, cause, address, address, size);
  if (cause == Cause::none && !place.ram) return refuse(Refusal::atomic_device, fault, address, place.physical, size);
  if (cause != Cause::none) return trap(cause, address);
  // Harts contend by atomics: who comes first must be a matter of time, not of the order in which harts execute.
  if (!synchronise()) return give_way();
  touch_l1d(place.physical, size, reserve ? base::LineUse::load : base::LineUse::atomic);

  std::uint64_t memory = 0;
  read_ram(place, &memory, size);
  if (word) memory = sign_extend_word(memory);
  if (reserve) {
    hart_.reserve(*place.ram, place.physical);
    state_.x[op.rd] = memory;
  } else if (conditional) {
    const bool holds = state_.reservation && state_.reservation_address == (place.physical & ~std::uint64_t{63});
    state_.reservation = false;
    if (holds) write_ram(place, &operand, size);
    state_.x[op.rd] = holds ? 0 : 1;
  } else {
    const std::uint64_t result = amo_result(op.aux, word, memory, operand);
    write_ram(place, &result, size);
    state_.x[op.rd] = memory;
  }
  return retire();
}

Interpreter::Outcome Interpreter::csr(Opcode opcode, const Op& op) {
  const bool immediate = opcode >= Opcode::csrrwi;
  const unsigned kind =
      static_cast<unsigned>(opcode) - static_cast<unsigned>(immediate ? Opcode::csrrwi : Opcode::csrrw);
  constexpr CsrOp ops[3] = {CsrOp::write, CsrOp::set, CsrOp::clear};
  const std::uint64_t operand = immediate ? op.rs1 : state_.x[op.rs1];
  const bool write = kind == 0 || op.rs1 != 0;
  // A timer that was due before now must have been.
  if (write && op.imm == static_cast<std::int32_t>(csr::kStimecmp) && !synchronise()) return give_way();
  std::uint64_t old = 0;
  if (!privileged_.csr_access(static_cast<unsigned>(op.imm), ops[kind], operand, write, old)) return illegal();
  state_.x[op.rd] = old;
  return retire_and_dispatch();
}

Interpreter::Outcome Interpreter::system(Opcode opcode, const Op& op) {
  switch (opcode) {
    case Opcode::ecall:
      switch (state_.privilege) {
        case Privilege::user:
          return trap(Cause::ecall_user, 0);
        case Privilege::supervisor:
          return trap(Cause::ecall_supervisor, 0);
        default:
          return trap(Cause::ecall_machine, 0);
      }
    case Opcode::ebreak:
      return trap(Cause::breakpoint, state_.pc);
    case Opcode::fence_i:
      stale_.clear();
      return retire_and_dispatch();
    case Opcode::sfence_vma:
      if (!privileged_.sfence_vma(state_.x[op.rs1], op.rs1 != 0, state_.x[op.rs2], op.rs2 != 0)) return illegal();
      return retire_and_dispatch();
    case Opcode::mret:
    case Opcode::sret: {
      if (!(opcode == Opcode::mret ? privileged_.mret() : privileged_.sret())) return illegal();
      ++hart_.counters().returns;
      const std::uint64_t target = state_.pc;
      hart_.counters().served += traps_.serves(target);
      retire_and_dispatch();
      state_.pc = target;
      return Outcome::dispatch;
    }
    case Opcode::wfi:
      if (!privileged_.wfi_allowed()) return illegal();
      if (!synchronise()) return give_way();
      retire_and_dispatch();
      if (privileged_.interrupt_pending()) return Outcome::dispatch;
      stop_ = StopReason::wait_for_interrupt;
      return Outcome::stop;
    case Opcode::wrs_nto:
      if (!privileged_.wrs_nto_allowed()) return illegal();
      [[fallthrough]];
    case Opcode::wrs_sto:
      if (!synchronise()) return give_way();
      retire_and_dispatch();
      if (privileged_.interrupt_pending() || !state_.reservation) return Outcome::dispatch;
      hart_.start_wait(opcode == Opcode::wrs_nto ? ~std::uint64_t{0} : state_.slots + hart_.config().wrs_short_slots);
      stop_ = StopReason::wait_on_reservation;
      return Outcome::stop;
    default:
      return illegal();
  }
}

bool Interpreter::hint_place(std::uint64_t address, std::uint64_t& physical) {
  const std::uint64_t page = address & ~std::uint64_t{0xfff};
  const PageTranslation& cached = tlb_->page(address);
  if (cached.page == page && cached.readable) {
    physical = cached.physical + (address - page);
    return true;
  }
  return privileged_.translate_hint(address, physical) == Cause::none;
}

Interpreter::Outcome Interpreter::hint(Opcode opcode, const Op& op) {
  std::uint64_t to = 0, from = 0;
  if (opcode == Opcode::account) {
    const std::uint64_t account = state_.x[op.rs1] + static_cast<std::uint64_t>(std::int64_t{op.imm});
    if (account < SLUICE_ACCOUNT_COUNT) {
      bus_called_ = true;
      bus_.account(static_cast<unsigned>(account));
    }
  } else if (opcode == Opcode::bind) {
    if (hint_place(state_.x[op.rs1], to) && hint_place(state_.x[op.rs2], from)) {
      bus_called_ = true;
      bus_.bind(to, from);
    }
  } else if (op.imm >= 0 && op.imm < SLUICE_STAGE_COUNT && hint_place(state_.x[op.rs1], to)) {
    bus_called_ = true;
    bus_.probe(static_cast<unsigned>(op.imm), to);
  } else if (op.imm >= SLUICE_DROP(0) && op.imm < SLUICE_DROP(SLUICE_DROP_COUNT) && hint_place(state_.x[op.rs1], to)) {
    bus_called_ = true;
    bus_.drop(static_cast<unsigned>(op.imm - SLUICE_DROP(0)), to);
  }
  return retire();
}

Interpreter::Outcome Interpreter::pseudo(unsigned opcode, const Op& op) {
  switch (opcode) {
    case kFetchLine:
    case kFetchSecondPage: {
      const std::uint64_t line = opcode == kFetchSecondPage
                                     ? block_->second_page
                                     : block_->physical + static_cast<std::uint64_t>(std::int64_t{op.imm});
      if (line == fetch_line_) return Outcome::next;
      fetch_line_ = line;
      ++hart_.counters().l1i_accesses;
      if (!l1i_->hit(line, false)) {
        ++hart_.counters().l1i_misses;
        bus_called_ = true;
        bus_.cache_miss(line, base::LineUse::fetch);
      }
      const Outcome outcome = retire();
      // The miss has used up the allowance, and the instruction is still to come: its breakpoint is behind.
      if (outcome != Outcome::next && breakpoints_.count(state_.pc) != 0) passed_breakpoint_ = state_.pc;
      return outcome;
    }
    case kFloatUse:
      return illegal();
    case kBreakpoint:
      if (beyond_limit_ || passed_breakpoint_ == state_.pc) {
        passed_breakpoint_ = kNowhere;
        return Outcome::next;
      }
      passed_breakpoint_ = state_.pc;
      uncut();
      stop_ = StopReason::breakpoint;
      return Outcome::stop;
    default:
      return retire();
  }
}

}  // namespace sluice::riscv
