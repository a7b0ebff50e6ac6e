// SPDX-License-Identifier: Apache-2.0
/// When timers and messages reach a hart that runs, sleeps, or is about to do something that others see.
#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/multihart/circumstances.h"

using namespace sluice;
using namespace sluice::multihart;

TEST_CASE("a timer wakes a hart that sleeps at its edge, and one that runs at the end of its window", "[multihart]") {
  everywhere([](const MachineParameters& p, bool disturbed) {
    for (const bool sleeps : {true, false}) {
      for (const unsigned due : {2'000u, 2'001u, 2'050u, 2'099u}) {
        CAPTURE(sleeps, due);
        run(
            p, disturbed, 20_us,
            [&](Machine& m) {
              for (unsigned h = 0; h < p.harts; ++h) {
                Code c;
                c.nops(3 * h);
                c.csrw(kStimecmp, a1);
                c.csrw(kMie, a2);
                if (sleeps) {
                  c.wfi();
                  c.csrr(a0, kCycle);
                }
                m.load(h, c);
                Code handler;
                handler.csrr(a0, kCycle);
                m.handle_traps(h, handler);
                if (!sleeps) m.set_csr(h, kMstatus, 8);
                m.x(h, a1) = due + h;
                m.x(h, a2) = riscv::irq::bit(riscv::irq::kSti);
              }
            },
            [&](Machine& m) {
              const std::uint64_t window = p.quantum / 1_ns;
              for (unsigned h = 0; h < p.harts; ++h) {
                const std::uint64_t edge = due + h;
                const std::uint64_t seen = (edge + window - 1) / window * window;
                if (sleeps)
                  REQUIRE(m.x(h, a0) == edge);
                else if (!p.timed())  // the trap's entry takes a cycle
                  REQUIRE(m.x(h, a0) == seen + 1);
              }
            });
      }
    }
  });
}

TEST_CASE("a hart sets its timer for a time at which another hart has already been", "[multihart]") {
  everywhere([](const MachineParameters& p, bool disturbed) {
    if (p.timed()) return;
    run(
        p, disturbed, 20_us,
        [&](Machine& m) {
          for (unsigned h = 0; h < p.harts; ++h) {
            Code c;
            c.csrw(kMie, a2);
            if (h == 0) {
              c.nops(60);
              c.sw(zero, s0);  // a device's register: base::now() is the 61st cycle
            } else {
              c.nops(40);
              c.csrw(kStimecmp, a1);
              c.wfi();
              c.csrr(a0, kCycle);
            }
            m.load(h, c);
            m.x(h, s0) = Machine::kClint;
            m.x(h, a1) = 50;
            m.x(h, a2) = riscv::irq::bit(riscv::irq::kSti);
          }
        },
        [&](Machine& m) {
          for (unsigned h = 1; h < p.harts; ++h) REQUIRE(m.x(h, a0) == 50);
        });
  });
}

TEST_CASE("a message from another hart wakes a hart at the time of the store", "[multihart]") {
  everywhere([](const MachineParameters& p, bool disturbed) {
    for (unsigned sender = 0; sender < p.harts; ++sender) {
      CAPTURE(sender);
      run(
          p, disturbed, 20_us,
          [&](Machine& m) {
            for (unsigned h = 0; h < p.harts; ++h) {
              Code c;
              c.csrw(kMie, a2);
              if (h == sender) {
                c.nops(2'000);
                for (unsigned to = 0; to < p.harts; ++to) {
                  if (to == sender) continue;
                  c.csrr(s2 + to, kCycle);
                  c.sw(a3, s0, static_cast<int>(4 * to));
                }
              } else {
                c.wfi();
                c.csrr(a0, kCycle);
              }
              m.load(h, c);
              m.x(h, a2) = riscv::irq::bit(riscv::irq::kMsi);
              m.x(h, a3) = 1;
              m.x(h, s0) = Machine::kClint;
            }
          },
          [&](Machine& m) {
            for (unsigned h = 0; h < p.harts; ++h)
              if (h != sender) REQUIRE(m.x(h, a0) == m.x(sender, s2 + h) + 1);
          });
    }
  });
}

TEST_CASE("an interrupt that came before an instruction in order of time is taken in front of it", "[multihart]") {
  everywhere([](const MachineParameters& p, bool disturbed) {
    if (p.timed()) return;
    for (const unsigned way : {0u, 1u, 2u}) {
      CAPTURE(way);
      const std::uint64_t window = p.quantum / 1_ns;
      run(
          p, disturbed, 20_us,
          [&](Machine& m) {
            for (unsigned h = 0; h < p.harts; ++h) {
              Code c;
              c.csrw(kStimecmp, a1);
              c.csrw(kMie, a2);
              c.nops(2'048);
              if (way == 0) c.csrw(kStimecmp, a3);  // which would take the interrupt back
              if (way == 1) c.amoadd(3, t1, a2, s0);
              if (way == 2) c.sw(zero, s1);
              c.nops(1'500);
              m.load(h, c);
              Code handler;
              handler.csrr(a0, kCycle);
              handler.csrr(a4, 0x341);
              m.handle_traps(h, handler);
              m.set_csr(h, kMstatus, 8);
              m.x(h, a1) = 2'049;
              m.x(h, a2) = riscv::irq::bit(riscv::irq::kSti);
              m.x(h, a3) = 1'000'000;
              m.x(h, s0) = kFlag;
              m.x(h, s1) = Machine::kClint + 4 * h;
            }
          },
          [&](Machine& m) {
            // The instruction is the one of cycle 2,050; the trap's entry takes a cycle.
            const std::uint64_t seen = std::min<std::uint64_t>(2'050, (2'049 + window - 1) / window * window);
            for (unsigned h = 0; h < p.harts; ++h) {
              REQUIRE(m.x(h, a0) == seen + 1);
              REQUIRE(m.x(h, a4) == Machine::kRam + h * Machine::kCodeBytes + seen * 4);
            }
          });
    }
  });
}

TEST_CASE("an interrupt that comes and goes before a hart sleeps does not wake it", "[multihart]") {
  for (const unsigned harts : {1u, 2u, 4u}) {
    for (const bool in_wrs : {false, true}) {
      for (const unsigned goes : {2'049u, 2'050u, 2'051u}) {
        CAPTURE(harts, in_wrs, goes);
        fresh_kernel();
        Machine m({harts, 100_ns});
        for (unsigned h = 0; h < harts; ++h) {
          Code c;
          c.csrw(kMie, a2);
          c.lr(3, t0, s0);
          c.nops(2'048);
          in_wrs ? c.wrs_nto() : c.wfi();
          c.csrr(a0, kCycle);
          m.load(h, c);
          m.x(h, a2) = riscv::irq::bit(riscv::irq::kMsi);
          m.x(h, s0) = kFlag;
          m.x(h, a0) = 0;
        }
        const auto set = [&m](bool level) {
          for (auto& core : m.cores) core->set_interrupt(riscv::irq::kMsi, level);
        };
        base::calendar().at(2'020_ns, 1, [&] { set(true); });
        base::calendar().at(Time::ns(goes), 1, [&] { set(false); });
        m.run(20_us);
        // The hart goes to sleep in cycle 2,050.
        for (unsigned h = 0; h < harts; ++h) REQUIRE(m.x(h, a0) == (goes <= 2'050 ? 0 : 2'051));
      }
    }
  }
}

TEST_CASE("wrs.sto waits as long as it may, and no longer", "[multihart]") {
  constexpr unsigned kShort = 4'000;
  for (const unsigned harts : {1u, 2u, 4u}) {
    for (const Time quantum : {3_ns, 100_ns, 1_us}) {
      CAPTURE(harts, quantum.nanoseconds());
      fresh_kernel();
      Machine m({harts, quantum});
      for (unsigned h = 0; h < harts; ++h) {
        Code c;
        c.nops(3 + h);
        c.lr(3, t0, s0);
        c.csrr(a1, kCycle);
        c.wrs_sto();
        c.csrr(a0, kCycle);
        m.load(h, c);
        m.x(h, s0) = kFlag;
      }
      m.run(20_us);
      // The instruction takes a cycle; the wait begins behind it.
      for (unsigned h = 0; h < harts; ++h) REQUIRE(m.x(h, a0) == m.x(h, a1) + 2 + kShort);
    }
  }
}
