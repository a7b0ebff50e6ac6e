// SPDX-License-Identifier: Apache-2.0
/// When an interrupt reaches a hart, and what it costs a hart to wake. Harts run at 1 GHz, and each instruction takes a
/// cycle: a hart's cycle counter reads nanoseconds.
#include <catch2/catch.hpp>

#include "tests/multihart/machine.h"
#include "tests/unit/fresh_kernel.h"

using namespace sluice;
using namespace sluice::multihart;

namespace {

riscv::IdleStates states() {
  riscv::IdleStates s;
  s.exit_latency = {300_ns, 5_us};
  s.enter_after = {100_ns, 2_us};
  s.wrs_exit_latency = 40_ns;
  return s;
}

/// Hart 0 waits in wfi for MSIP or its timer and notes when it goes on.
void sleep_in_wfi(Machine& m, unsigned hart) {
  Code c;
  c.csrw(kMie, a2);
  c.wfi();
  c.csrr(a0, kCycle);
  m.load(hart, c);
  m.x(hart, a2) = riscv::irq::bit(riscv::irq::kMsi) | riscv::irq::bit(riscv::irq::kMti);
}

void interrupt_at(Machine& m, unsigned hart, Time t) {
  base::calendar().at(t, 1, [&m, hart] { m.cores[hart]->set_interrupt(riscv::irq::kMsi, true); });
}

std::uint64_t idle_slots(const Machine& m, Time until) { return m.cores[0]->accounts(until)[SLUICE_ACCOUNT_idle]; }

void check_that_it_tiles(const Machine& m, Time until) {
  const riscv::IdleUse use = m.cores[0]->idle_use(until);
  std::uint64_t sum = use.before + use.leaving;
  for (const auto& state : use.states) sum += state.slots;
  REQUIRE(sum == idle_slots(m, until));
}

}  // namespace

TEST_CASE("the state in which an interrupt finds a hart says how long the hart takes to wake", "[core][idle]") {
  struct Case {
    Time interrupt, exit;
    std::uint64_t first, second;  ///< times that each state was entered
  };
  // The hart is asleep from cycle 2 on.
  for (const Case& c : {Case{50_ns, 0_ns, 0, 0}, Case{101_ns, 0_ns, 0, 0}, Case{102_ns, 300_ns, 1, 0},
                        Case{2'001_ns, 300_ns, 1, 0}, Case{2'002_ns, 5_us, 1, 1}, Case{9_us, 5_us, 1, 1}}) {
    for (const unsigned harts : {1u, 2u}) {
      for (const Time quantum : {3_ns, 100_ns, 1_us}) {
        CAPTURE(c.interrupt.nanoseconds(), harts, quantum.nanoseconds());
        fresh_kernel();
        MachineParameters p{harts, quantum};
        p.idle = states();
        Machine m(p);
        for (unsigned h = 0; h < harts; ++h) sleep_in_wfi(m, h);
        interrupt_at(m, 0, c.interrupt);
        m.run(20_us);
        REQUIRE(Time::ns(m.x(0, a0)) == c.interrupt + c.exit);
        const riscv::IdleUse use = m.cores[0]->idle_use(20_us);
        REQUIRE(use.states[0].entered == c.first);
        REQUIRE(use.states[1].entered == c.second);
        REQUIRE(use.leaving == c.exit / 1_ns);
        check_that_it_tiles(m, 20_us);
      }
    }
  }
}

TEST_CASE("a sleep that lasts is counted up to now", "[core][idle]") {
  fresh_kernel();
  MachineParameters p{1, 100_ns};
  p.idle = states();
  Machine m(p);
  sleep_in_wfi(m, 0);
  m.run(10_us);
  const riscv::IdleUse early = m.cores[0]->idle_use(1'002_ns), late = m.cores[0]->idle_use(10_us);
  REQUIRE(early.before == 100);
  REQUIRE(early.states[0].slots == 900);
  REQUIRE(early.states[1].entered == 0);
  REQUIRE((late - early).states[0].slots == 1'000);
  REQUIRE((late - early).states[1].slots == 10'000 - 2'002);
  check_that_it_tiles(m, 10_us);
}

TEST_CASE("an interrupt that arrives while the hart is leaving costs nothing more", "[core][idle]") {
  fresh_kernel();
  MachineParameters p{1, 100_ns};
  p.idle = states();
  Machine m(p);
  sleep_in_wfi(m, 0);
  interrupt_at(m, 0, 1_us);
  base::calendar().at(1'100_ns, 1, [&m] { m.cores[0]->set_interrupt(riscv::irq::kMti, true); });
  // An interrupt that goes does not put the hart back to sleep.
  base::calendar().at(1'200_ns, 1, [&m] {
    m.cores[0]->set_interrupt(riscv::irq::kMti, false);
    m.cores[0]->set_interrupt(riscv::irq::kMsi, false);
  });
  m.run(20_us);
  REQUIRE(m.x(0, a0) == 1'300);
}

TEST_CASE("a reset ends an exit from an idle state at once", "[core][idle]") {
  fresh_kernel();
  MachineParameters p{1, 100_ns};
  p.idle = states();
  Machine m(p);
  Code c;
  c.csrr(a0, kTime);  // a reset sets the cycle counter to zero
  c.csrw(kMie, a2);
  c.wfi();
  m.load(0, c);
  m.x(0, a2) = riscv::irq::bit(riscv::irq::kMsi);
  interrupt_at(m, 0, 5_us);
  base::calendar().at(6_us, 1, [&m] { m.cores[0]->reset(); });
  m.run(20_us);
  REQUIRE(m.x(0, a0) == 6'000);
  REQUIRE(m.cores[0]->idle_use(20_us).leaving == 1'000);
}

TEST_CASE("a hart that is stopped while it leaves its idle state goes on when it is resumed", "[core][idle]") {
  for (const Time resumed : {5'500_ns, 15_us}) {
    fresh_kernel();
    MachineParameters p{1, 100_ns};
    p.idle = states();
    Machine m(p);
    sleep_in_wfi(m, 0);
    interrupt_at(m, 0, 5_us);
    base::calendar().at(5'200_ns, 1, [&m] { m.cores[0]->stop("a test", "the test"); });
    base::calendar().at(resumed, 1, [&m] { m.cores[0]->resume(); });
    m.run(20_us);
    REQUIRE(Time::ns(m.x(0, a0)) == std::max<Time>(10_us, resumed));
  }
}

TEST_CASE("a wait in wrs has an exit latency of its own, whatever ends it", "[core][idle]") {
  for (const bool stored : {true, false}) {
    fresh_kernel();
    MachineParameters p{1, 100_ns};
    p.idle = states();
    Machine m(p);
    Code c;
    c.csrw(kMie, a2);
    c.lr(3, t0, s0);
    c.wrs_nto();
    c.csrr(a0, kCycle);
    m.load(0, c);
    m.x(0, a2) = riscv::irq::bit(riscv::irq::kMsi);
    m.x(0, s0) = Machine::kData;
    if (stored)
      m.write_at(3_us, Machine::kData, 1);
    else
      interrupt_at(m, 0, 3_us);
    m.run(20_us);
    REQUIRE(m.x(0, a0) == 3'040);
    REQUIRE(m.cores[0]->idle_use(20_us).states[0].entered == 0);
  }
}

TEST_CASE("timers and messages take their delivery to a hart that sleeps, and to one that runs", "[core][idle]") {
  for (const bool sleeps : {true, false}) {
    for (const bool machine_timer : {true, false}) {
      for (const Time quantum : {3_ns, 100_ns, 1_us}) {
        CAPTURE(sleeps, machine_timer, quantum.nanoseconds());
        fresh_kernel();
        MachineParameters p{1, quantum};
        p.local_delivery = 70_ns;
        Machine m(p);
        Code c;
        c.csrw(kStimecmp, a1);
        c.csrw(kMie, a2);
        if (sleeps) {
          c.wfi();
          c.csrr(a0, kCycle);
        }
        m.load(0, c);
        Code handler;
        handler.csrr(a0, kCycle);
        m.handle_traps(0, handler);
        if (!sleeps) m.set_csr(0, kMstatus, 8);
        m.x(0, a1) = machine_timer ? ~std::uint64_t{0} : 2'000;
        m.x(0, a2) = riscv::irq::bit(machine_timer ? riscv::irq::kMti : riscv::irq::kSti);
        if (machine_timer)
          base::calendar().at(2_us, 1, [&m] { m.cores[0]->set_local_interrupt(riscv::irq::kMti, true); });
        m.run(20_us);
        REQUIRE(m.x(0, a0) == (sleeps ? 2'070 : 2'071));  // the trap's entry takes a cycle
      }
    }
  }
}

TEST_CASE("a timer that was due when it was set takes its delivery too", "[core][idle]") {
  for (const Time quantum : {3_ns, 1_us}) {
    fresh_kernel();
    MachineParameters p{1, quantum};
    p.local_delivery = 70_ns;
    Machine m(p);
    Code c;
    c.csrw(kMie, a2);
    c.nops(100);
    c.csrw(kStimecmp, zero);
    c.nops(1'000);
    m.load(0, c);
    Code handler;
    handler.csrr(a0, kCycle);
    m.handle_traps(0, handler);
    m.set_csr(0, kMstatus, 8);
    m.x(0, a2) = riscv::irq::bit(riscv::irq::kSti);
    m.run(20_us);
    REQUIRE(m.x(0, a0) == 101 + 70 + 1);
  }
}
