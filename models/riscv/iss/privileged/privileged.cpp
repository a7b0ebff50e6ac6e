// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/privileged/privileged.h"

#include <algorithm>

namespace sluice::riscv {

namespace {

constexpr std::uint64_t kInterruptFlag = std::uint64_t{1} << 63;

std::uint64_t vector_address(std::uint64_t tvec, std::uint64_t cause, bool interrupt) {
  const std::uint64_t base = tvec & ~std::uint64_t{3};
  return interrupt && (tvec & 1) ? base + 4 * cause : base;
}

/// Sets `to` in status when `from` is set, else clears it.
std::uint64_t copy_bit(std::uint64_t status, std::uint64_t from, std::uint64_t to) {
  return status & from ? status | to : status & ~to;
}

}  // namespace

Privileged::Privileged(HartState& state, Bus& bus, const PrivilegedConfig& config)
    : state_(state), bus_(bus), config_(config), pmp_(config.pmp_regions) {
  config_.issue_width = std::max(config_.issue_width, 1u);
  initialise();
}

void Privileged::reset() {
  const bool timer_set = csr_.stimecmp != CsrRegisters{}.stimecmp;
  lines_ &= ~irq::bit(irq::kSti);
  initialise();
  // A new hart resets before its bus is complete, so the bus is told only of a timer that was set before.
  if (timer_set) bus_.set_stimecmp(csr_.stimecmp);
}

void Privileged::initialise() {
  csr_ = CsrRegisters{};
  csr_.mstatus = mstatus::kUxl64 | mstatus::kSxl64;
  pmp_.reset();
  traps_ = {};
  return_ = {};
  soft_mip_ = 0;
  cycle_base_ = 0 - cycle_now();
  instret_base_ = 0 - state_.instret;
  state_.pc = config_.reset_pc;
  state_.fflags = 0;
  state_.frm = 0;
  state_.privilege = Privilege::machine;
  state_.reservation = false;
  drop_translations();
  update_interrupts();
}

void Privileged::set_privilege(Privilege privilege) {
  enter(privilege);
  update_interrupts();
}

void Privileged::enter(Privilege privilege) {
  // While MPRV is set, the effective data privilege follows MPP, which every trap and return changes.
  if (csr_.mstatus & mstatus::kMprv) ++epoch_;
  state_.privilege = privilege;
  // A reservation must not survive into another context.
  state_.reservation = false;
}

void Privileged::note_trap() {
  last_trap_ = (last_trap_ + 1) % traps_.size();
  traps_[last_trap_] = {state_.pc, user_space(state_.pc)};
}

void Privileged::note_return() { return_ = {state_.pc, state_.instret + 1}; }

std::uint64_t Privileged::user_space(std::uint64_t pc) const {
  // A return that leads to user mode is no instruction of it.
  const bool returns = pc == return_.pc && state_.instret == return_.instret;
  return state_.privilege == Privilege::user && !returns ? fetch_key().satp : 0;
}

std::optional<std::uint64_t> Privileged::user_space_of_trap(std::uint64_t pc) const {
  for (std::size_t back = 0; back < traps_.size(); ++back) {
    const Origin& t = traps_[(last_trap_ + traps_.size() - back) % traps_.size()];
    if (t.pc == pc) return t.user_space;
  }
  return {};
}

void Privileged::trap(Cause cause, std::uint64_t tval) {
  const bool ecall = cause == Cause::ecall_user || cause == Cause::ecall_supervisor || cause == Cause::ecall_machine;
  if (ecall) tval = 0;
  const auto code = static_cast<std::uint64_t>(cause);
  const bool delegated = code < 64 && ((csr_.medeleg >> code) & 1);
  if (delegated && state_.privilege != Privilege::machine)
    enter_supervisor(code, tval, false);
  else
    enter_machine(code, tval, false);
}

void Privileged::enter_machine(std::uint64_t cause, std::uint64_t tval, bool interrupt) {
  csr_.mcause = interrupt ? cause | kInterruptFlag : cause;
  csr_.mepc = state_.pc;
  csr_.mtval = tval;
  note_trap();
  const Privilege from = state_.privilege;
  enter(Privilege::machine);
  std::uint64_t status = copy_bit(csr_.mstatus, mstatus::kMie, mstatus::kMpie) & ~(mstatus::kMie | mstatus::kMpp);
  csr_.mstatus = status | static_cast<std::uint64_t>(from) << mstatus::kMppShift;
  state_.pc = vector_address(csr_.mtvec, cause, interrupt);
  update_interrupts();
}

void Privileged::enter_supervisor(std::uint64_t cause, std::uint64_t tval, bool interrupt) {
  csr_.scause = interrupt ? cause | kInterruptFlag : cause;
  csr_.sepc = state_.pc;
  csr_.stval = tval;
  note_trap();
  const Privilege from = state_.privilege;
  enter(Privilege::supervisor);
  std::uint64_t status = copy_bit(csr_.mstatus, mstatus::kSie, mstatus::kSpie) & ~(mstatus::kSie | mstatus::kSpp);
  csr_.mstatus = from == Privilege::supervisor ? status | mstatus::kSpp : status;
  state_.pc = vector_address(csr_.stvec, cause, interrupt);
  update_interrupts();
}

bool Privileged::mret() {
  if (state_.privilege != Privilege::machine) return false;
  const Privilege to = mpp();
  note_return();
  enter(to);
  std::uint64_t status = copy_bit(csr_.mstatus, mstatus::kMpie, mstatus::kMie) | mstatus::kMpie;
  status &= ~mstatus::kMpp;
  if (to != Privilege::machine) status &= ~mstatus::kMprv;
  csr_.mstatus = status;
  state_.pc = csr_.mepc;
  update_interrupts();
  return true;
}

bool Privileged::sret() {
  if (state_.privilege == Privilege::user) return false;
  if (state_.privilege == Privilege::supervisor && (csr_.mstatus & mstatus::kTsr)) return false;
  const Privilege to = csr_.mstatus & mstatus::kSpp ? Privilege::supervisor : Privilege::user;
  note_return();
  enter(to);
  std::uint64_t status = copy_bit(csr_.mstatus, mstatus::kSpie, mstatus::kSie) | mstatus::kSpie;
  csr_.mstatus = status & ~(mstatus::kSpp | mstatus::kMprv);
  state_.pc = csr_.sepc;
  update_interrupts();
  return true;
}

bool Privileged::wfi_allowed() const {
  if (state_.privilege == Privilege::machine) return true;
  return state_.privilege == Privilege::supervisor && !(csr_.mstatus & mstatus::kTw);
}

/// Whether menvcfg and senvcfg allow instructions that a field of both is for.
bool Privileged::may_use_blocks(std::uint64_t field) const {
  if (state_.privilege == Privilege::machine) return true;
  return (csr_.menvcfg & field) && (state_.privilege == Privilege::supervisor || (csr_.senvcfg & field));
}

bool Privileged::sfence_vma(std::uint64_t, bool, std::uint64_t, bool has_asid) {
  if (state_.privilege == Privilege::user) return false;
  if (state_.privilege == Privilege::supervisor && (csr_.mstatus & mstatus::kTvm)) return false;
  ++epoch_;
  if (!has_asid) ++translation_version_;
  return true;
}

TranslationKey Privileged::key_of(Privilege privilege) const {
  const bool translates = privilege != Privilege::machine && csr_.satp >> 60 != 0;
  return {translates ? csr_.satp : 0, privilege, 0};
}

TranslationKey Privileged::fetch_key() const { return key_of(state_.privilege); }

TranslationKey Privileged::data_key() const {
  TranslationKey key = key_of(effective_data_privilege());
  if (key.translates())
    key.rules =
        static_cast<std::uint8_t>((csr_.mstatus & mstatus::kSum ? 1 : 0) | (csr_.mstatus & mstatus::kMxr ? 2 : 0));
  return key;
}

}  // namespace sluice::riscv
