// SPDX-License-Identifier: Apache-2.0
#include "models/irq/clint.h"

#include "models/irq/clint_regs.h"

namespace sluice::irq {

void Clint::Parameters::describe(base::Schema<Parameters>& s) {
  s.summary("core-local interruptor (ACLINT layout)");
  s.add("timebase", &Parameters::timebase, "frequency of mtime and of the time CSR")
      .range(1_Hz, 1_GHz)
      .assumed("QEMU virt; RISC-V boards have 1 MHz to 100 MHz");
}

Clint::Clint(sc_core::sc_module_name name, const Parameters& parameters, unsigned harts)
    : Model(name),
      socket("socket", registers_),
      clock_(parameters.timebase.clock()),
      last_cycle_(clock_.cycles_at(base::Time::max())),
      registers_(path(), CLINT_SIZE),
      harts_(harts) {
  registers_.add({.name = "msip",
                  .offset = CLINT_MSIP(0),
                  .write_mask = 1,
                  .count = harts,
                  .on_write = [this](const base::RegisterWrite& w) { harts_[w.index].software.set(w.value != 0); }});
  mtimecmp_ = registers_.add({.name = "mtimecmp",
                              .offset = CLINT_MTIMECMP(0),
                              .width = 8,
                              .reset = ~std::uint64_t{0},
                              .halves = true,
                              .count = harts,
                              .on_write = [this](const base::RegisterWrite& w) { arm(w.index); }});
  registers_.add({.name = "mtime",
                  .offset = CLINT_MTIME,
                  .width = 8,
                  .halves = true,
                  .on_read = [this](unsigned) { return mtime(); },
                  .on_write = [this](const base::RegisterWrite& w) { write_mtime(w); }});
}

void Clint::register_statistics(base::StatisticsGroup& group) {
  group.counter("timer_interrupts", "interrupts", "times a timer line rose", timer_interrupts_);
  registers_.register_statistics(group);
}

void Clint::reset() {
  registers_.reset();
  written_ = 0;
  for (unsigned hart = 0; hart < harts_.size(); ++hart) {
    harts_[hart].software.set(false);
    arm(hart);
  }
}

void Clint::write_mtime(const base::RegisterWrite& w) {
  const std::uint64_t value = (mtime() & ~w.lanes) | (w.written & w.lanes);
  written_ = value - clock_.cycles_at(base::now());
  for (unsigned hart = 0; hart < harts_.size(); ++hart) arm(hart);
}

void Clint::arm(unsigned hart) {
  Hart& h = harts_[hart];
  base::calendar().cancel(h.due);
  const std::uint64_t due = registers_.value(mtimecmp_, hart);
  const std::uint64_t now = mtime();
  if (now >= due) {
    if (!h.timer.level()) ++timer_interrupts_;
    return h.timer.set(true);
  }
  h.timer.set(false);
  const std::uint64_t cycle = clock_.cycles_at(base::now());
  if (due - now > last_cycle_ - cycle) return;  // beyond the end of simulated time
  h.due = base::calendar().at(clock_.time_of(cycle + (due - now)), key(), [this, hart] { arm(hart); });
}

}  // namespace sluice::irq
