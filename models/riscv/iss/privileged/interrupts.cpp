// SPDX-License-Identifier: Apache-2.0
// Interrupt state and priority: the parts of Privileged around mip, mie and the lines from outside.
#include "models/riscv/iss/privileged/privileged.h"

namespace sluice::riscv {

namespace {
constexpr unsigned kPriority[] = {irq::kMei, irq::kMsi, irq::kMti, irq::kSei, irq::kSsi, irq::kSti};
}

std::uint64_t Privileged::mip() const {
  // With STCE the timer comparator owns STIP; without it machine-mode software does.
  const std::uint64_t sti = csr_.menvcfg & kMenvcfgStce ? lines_ : soft_mip_;
  constexpr std::uint64_t kLines = irq::kMachine | irq::bit(irq::kSei);
  constexpr std::uint64_t kSoft = irq::bit(irq::kSsi) | irq::bit(irq::kSei);
  return (lines_ & kLines) | (soft_mip_ & kSoft) | (sti & irq::bit(irq::kSti));
}

std::uint64_t Privileged::soft_writable_mip() const {
  return csr_.menvcfg & kMenvcfgStce ? irq::kSupervisor & ~irq::bit(irq::kSti) : irq::kSupervisor;
}

void Privileged::set_mip(unsigned bit, bool level) {
  constexpr std::uint64_t kWired = irq::kMachine | irq::bit(irq::kSei) | irq::bit(irq::kSti);
  if (bit >= 64 || !(irq::bit(bit) & kWired)) return;
  lines_ = level ? lines_ | irq::bit(bit) : lines_ & ~irq::bit(bit);
  update_interrupts();
}

void Privileged::update_interrupts() {
  const std::uint64_t ready = mip() & csr_.mie;
  const Privilege now = state_.privilege;
  const bool machine = now != Privilege::machine || (csr_.mstatus & mstatus::kMie);
  const bool supervisor = now == Privilege::user || (now == Privilege::supervisor && (csr_.mstatus & mstatus::kSie));
  takeable_ = (machine && (ready & ~csr_.mideleg)) || (supervisor && (ready & csr_.mideleg));
}

unsigned Privileged::highest_interrupt(bool machine) const {
  const std::uint64_t ready = mip() & csr_.mie & (machine ? ~csr_.mideleg : csr_.mideleg);
  if (!ready) return 0;
  for (const unsigned number : kPriority)
    if (ready & irq::bit(number)) return number;
  return 0;
}

bool Privileged::take_interrupt() {
  if (!takeable_) return false;
  const bool machine_enabled = state_.privilege != Privilege::machine || (csr_.mstatus & mstatus::kMie);
  // Interrupts for M mode come before those delegated to S mode, whatever their numbers.
  const unsigned number = machine_enabled ? highest_interrupt(true) : 0;
  if (number)
    enter_machine(number, 0, true);
  else
    enter_supervisor(highest_interrupt(false), 0, true);
  return true;
}

}  // namespace sluice::riscv
