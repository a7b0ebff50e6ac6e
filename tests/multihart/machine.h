// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Harts on shared RAM, with a CLINT for their messages and writes to RAM as by a device: the parts of a board that
/// decide when harts see each other, in one process and without a board file.
///
/// Unless clocks are mixed, harts run at 1 GHz, an instruction takes one cycle, and `time` counts cycles: a hart's
/// cycle counter reads the nanoseconds at which an instruction starts, if nothing has stalled the hart.

#include <memory>
#include <string>
#include <vector>

#include "models/coherence/memory_system.h"
#include "models/irq/clint.h"
#include "models/memory/soc_bus.h"
#include "models/riscv/core.h"
#include "tests/multihart/assembler.h"

namespace sluice::multihart {

using namespace base::literals;
using base::Time;

using Timing = coherence::MemorySystem::Timing;

inline const char* name_of(Timing t) {
  return t == Timing::functional ? "functional" : t == Timing::cached ? "cached" : "interval";
}

struct MachineParameters {
  unsigned harts = 2;
  Time quantum = 100_ns;
  Timing timing = Timing::functional;
  bool mixed = false;  ///< clocks and issue widths differ
  Time local_delivery{};
  riscv::IdleStates idle{};
  bool timed() const { return timing != Timing::functional; }  ///< accesses take more than their instruction's slot
};

class Machine {
 public:
  static constexpr std::uint64_t kRam = 0x8000'0000, kRamSize = 1 << 20, kClint = 0x200'0000;
  static constexpr std::uint64_t kCodeBytes = 0x4000;  ///< of each hart, from kRam
  static constexpr std::uint64_t kHandlerAt = 0x3c00;  ///< from a hart's code
  static constexpr std::uint64_t kData = kRam + 0x4'0000;

  explicit Machine(const MachineParameters& p)
      : quantum(p.quantum),
        scheduler("scheduler", p.quantum),
        memory("memory", caches(p), p.harts, p.quantum),
        bus("bus", {}),
        clint("clint", {base::Frequency(1'000'000'000)}, p.harts),
        ram(kRam, kRamSize) {
    memory.add(ram);
    bus.map({"clint", kClint, 0x1'0000, true, false}, clint.socket);
    for (unsigned h = 0; h < p.harts; ++h) {
      const std::string name = "hart" + std::to_string(h);
      cores.push_back(std::make_unique<riscv::Core>(name.c_str(), cluster(p, h), h, kRam + h * kCodeBytes,
                                                    scheduler.first_group(), memory, h));
      cores[h]->socket.bind(bus.from_initiators);
      clint.software(h).on_change = [this, h](bool level) { cores[h]->set_local_interrupt(riscv::irq::kMsi, level); };
      clint.timer(h).on_change = [this, h](bool level) { cores[h]->set_local_interrupt(riscv::irq::kMti, level); };
      set_csr(h, riscv::csr::kMenvcfg, riscv::kMenvcfgStce);
    }
  }

  void load(unsigned hart, Code code) {
    code.stay();
    ram.write(kRam + hart * kCodeBytes, code.words.data(), code.words.size() * 4);
  }
  /// Traps go to `code`, at whose end the hart stays.
  void handle_traps(unsigned hart, Code code) {
    code.stay();
    const std::uint64_t at = kRam + hart * kCodeBytes + kHandlerAt;
    ram.write(at, code.words.data(), code.words.size() * 4);
    set_csr(hart, kMtvec, at);
  }
  std::uint64_t& x(unsigned hart, unsigned number) { return cores[hart]->hart().state().x[number]; }
  void set_csr(unsigned hart, unsigned number, std::uint64_t value) {
    cores[hart]->hart().privileged().csr_poke(number, value);
  }
  std::uint64_t word(std::uint64_t address) const {
    std::uint64_t value = 0;
    ram.read(address, &value, 8);
    return value;
  }
  /// Writes as a DMA write that lands at `t`.
  void write_at(Time t, std::uint64_t address, std::uint64_t value) {
    base::calendar().at(t, base::path_key("device"), [this, address, value] {
      memory.written(address, 8);
      ram.write(address, &value, 8);
    });
  }
  /// Makes calendar entries that do nothing, one every `period` until `end`.
  void disturb(Time period, Time end) {
    for (Time t = period; t < end; t += period) base::calendar().at(t, base::path_key("nobody"), [] {});
  }
  void run(Time until) { scheduler.run_until(until); }

  const Time quantum;
  base::Scheduler scheduler;
  coherence::MemorySystem memory;
  memory::SocBus bus;
  irq::Clint clint;
  base::GuestRam ram;
  std::vector<std::unique_ptr<riscv::Core>> cores;

 private:
  static coherence::MemorySystem::Parameters caches(const MachineParameters& p) {
    coherence::MemorySystem::Parameters caches;
    caches.timing = p.timing;
    return caches;
  }
  static riscv::ClusterParameters cluster(const MachineParameters& machine, unsigned hart) {
    constexpr std::uint64_t kMegahertz[] = {1'000, 3'100, 700, 2'500};
    constexpr unsigned kWidth[] = {1, 4, 2, 3};
    riscv::ClusterParameters p;
    p.clock = base::Frequency((machine.mixed ? kMegahertz[hart % 4] : 1'000) * 1'000'000);
    p.timebase = base::Frequency(1'000'000'000);
    p.issue_width = machine.mixed ? kWidth[hart % 4] : 1;
    p.local_delivery = machine.local_delivery;
    p.idle = machine.idle;
    auto& c = p.costs;
    c.alu = c.branch = c.jump = c.jump_indirect = c.load = c.store = c.mul = c.div32 = c.div64 = c.atomic = c.fence =
        c.csr = c.system = c.pause = c.exception = c.interrupt = c.trap_return = 1;
    c.branch_taken = 0;
    return p;
  }
};

}  // namespace sluice::multihart
