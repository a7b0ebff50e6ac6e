// SPDX-License-Identifier: Apache-2.0
/// Resets, stops and ends of runs among several harts.
#include <array>

#include <catch2/catch.hpp>

#include "tests/multihart/circumstances.h"

using namespace sluice;
using namespace sluice::multihart;

TEST_CASE("harts that are reset by an entry, or by one of them, start again", "[multihart]") {
  for (const unsigned harts : {1u, 2u, 3u}) {
    for (const bool by_hart : {false, true}) {
      CAPTURE(harts, by_hart);
      fresh_kernel();
      Machine m({harts, 100_ns});
      for (unsigned h = 0; h < harts; ++h) {
        Code c;
        c.csrr(a1, kTime);
        c.csrw(kStimecmp, a2);
        if (h == 0 && by_hart) {
          c.nops(3'000);
          c.sw(a0, s0);
        }
        c.wfi();
        m.load(h, c);
        m.x(h, a0) = 1;
        m.x(h, a2) = 100'000;
        m.x(h, s0) = Machine::kClint;
      }
      unsigned resets = 0;
      const auto reset = [&] {
        if (++resets > 1) return;
        for (auto& core : m.cores) core->reset();
      };
      m.clint.software(0).on_change = [&](bool) { reset(); };
      if (!by_hart) base::calendar().at(5'033_ns, 1, reset);
      bool later = false;
      base::calendar().at(7_us, 1, [&] { later = true; });
      m.run(20_us);
      REQUIRE(later);
      REQUIRE(base::calendar().late() == 0);
      // A hart that waited starts again at once, a hart in an access after that: its store takes 10 ns on the bus and a
      // cycle of its own.
      for (unsigned h = 0; h < harts; ++h) REQUIRE(m.x(h, a1) == (!by_hart ? 5'033u : h == 0 ? 3'013u : 3'002u));
    }
  }
}

TEST_CASE("a run ends at its limit, whatever is left of the window", "[multihart]") {
  for (const unsigned harts : {1u, 2u}) {
    fresh_kernel();
    Machine m({harts, 1_us});
    for (unsigned h = 0; h < harts; ++h) m.load(h, {});
    m.run(2'100_ns);
    REQUIRE(base::now() == 2'100_ns);
    base::calendar().at(2'100_ns, 1, [] {});
    REQUIRE(base::calendar().late() == 0);
  }
}

TEST_CASE("a run that an access stops stops behind it, and goes on as if nothing had been", "[multihart]") {
  for (const unsigned harts : {1u, 2u, 4u}) {
    for (unsigned stopper = 0; stopper < harts; ++stopper) {
      CAPTURE(harts, stopper);
      std::array<std::uint64_t, 4> with{}, without{};
      for (const bool stops : {true, false}) {
        fresh_kernel();
        Machine m({harts, 1_us});
        m.clint.software(stopper).on_change = [&m, stops](bool) {
          if (stops) m.scheduler.stop();
        };
        for (unsigned h = 0; h < harts; ++h) {
          Code c;
          c.nops(h == stopper ? 2'050 : 2'550);
          if (h == stopper)
            c.sw(a1, s0, static_cast<int>(4 * h));
          else
            c.amoadd(3, a2, a1, s1);
          c.csrr(a0, kCycle);
          m.load(h, c);
          m.x(h, a1) = 1;
          m.x(h, a0) = 0;
          m.x(h, s0) = Machine::kClint;
          m.x(h, s1) = kFlag;
        }
        if (stops) {
          REQUIRE(m.scheduler.run_until(20_us) == base::Scheduler::End::stopped);
          // The store is over, the instruction behind it has not begun.
          REQUIRE(m.cores[stopper]->hart().state().instret == 2'051);
          REQUIRE(m.x(stopper, a0) == 0);
        }
        REQUIRE(m.scheduler.run_until(20_us) == base::Scheduler::End::limit);
        for (unsigned h = 0; h < harts; ++h) (stops ? with : without)[h] = m.x(h, a0);
        REQUIRE(m.word(kFlag) == harts - 1);
      }
      REQUIRE(with == without);
      REQUIRE(with[stopper] == 2'050 + 10 + 1);
    }
  }
}

TEST_CASE("a hart that is stopped sees every stop and resumption up to its time", "[multihart]") {
  for (const unsigned harts : {1u, 2u, 4u}) {
    for (unsigned stopped = 0; stopped < harts; ++stopped) {
      CAPTURE(harts, stopped);
      fresh_kernel();
      Machine m({harts, 1_us});
      riscv::Core& core = *m.cores[stopped];
      m.clint.software(stopped).on_change = [&core](bool) { core.stop("a test", "the test"); };
      for (unsigned h = 0; h < harts; ++h) {
        Code c;
        c.nops(2'050);
        if (h == stopped) c.sw(a1, s0, static_cast<int>(4 * h));
        c.csrr(a0, kCycle);
        m.load(h, c);
        m.x(h, a1) = 1;
        m.x(h, s0) = Machine::kClint;
      }
      // The access lasts until 2,061: the hart is stopped then, by the second stop.
      base::calendar().at(2'055_ns, 1, [&core] { core.resume(); });
      base::calendar().at(2'057_ns, 1, [&core] { core.stop("a test", "the test"); });
      base::calendar().at(2'090_ns, 1, [&core] { core.resume(); });
      m.run(20_us);
      for (unsigned h = 0; h < harts; ++h) REQUIRE(m.x(h, a0) == (h == stopped ? 2'090 : 2'050));
    }
  }
}

TEST_CASE("a reset reaches a hart that is about to sleep", "[multihart]") {
  for (const unsigned harts : {1u, 2u, 4u}) {
    CAPTURE(harts);
    fresh_kernel();
    Machine m({harts, 100_ns});
    for (unsigned h = 0; h < harts; ++h) {
      Code c;
      c.csrr(a1, kTime);
      c.nops(2'049);
      c.wfi();
      m.load(h, c);
    }
    base::calendar().at(2'020_ns, 1, [&m] {
      for (auto& core : m.cores) core->reset();
    });
    m.run(20_us);
    // Each of several harts has run ahead to its wfi by then, and starts again from there.
    for (unsigned h = 0; h < harts; ++h) {
      REQUIRE(m.x(h, a1) == (harts == 1 ? 2'020 : 2'050));
      REQUIRE(m.cores[h]->hart().state().pc == Machine::kRam + h * Machine::kCodeBytes + 2'051 * 4);
    }
  }
}

TEST_CASE("what a hart was about to do does not happen behind a reset", "[multihart]") {
  constexpr std::uint64_t kSecondLife = kFlag + 512;
  for (const unsigned harts : {2u, 4u}) {
    for (const unsigned way : {0u, 1u, 2u, 3u}) {
      for (const unsigned reset_at : {2'020u, 2'049u, 2'050u}) {
        CAPTURE(harts, way, reset_at);
        fresh_kernel();
        Machine m({harts, 100_ns});
        for (unsigned h = 0; h < harts; ++h) {
          Code c;
          c.ld(t0, s1);
          const int second = 2'054;
          c.bne(t0, zero, second);
          // In way 1 the other harts reserve the line that hart 0 stores to.
          if (way == 1 && h != 0)
            c.lr(3, t0, s0);
          else
            c.addi(zero, zero, 0);
          c.nops(2'047);
          if (way == 0) c.amoadd(3, t1, a1, s0);
          if (way == 1) h == 0 ? c.sd(a1, s0) : c.wfi();
          if (way == 2) c.sw(a1, s2, static_cast<int>(4 * h));
          if (way == 3) c.csrw(kStimecmp, a1);
          while (c.here() < second) c.wfi();
          c.wfi();
          m.load(h, c);
        }
        const auto give = [&m, harts] {
          for (unsigned h = 0; h < harts; ++h) {
            m.x(h, s0) = kFlag;
            m.x(h, s1) = kSecondLife;
            m.x(h, s2) = Machine::kClint;
            m.x(h, a1) = 1;
          }
        };
        give();
        base::calendar().at(Time::ns(reset_at), 1, [&m] {
          const std::uint64_t second = 1;
          m.ram.write(kSecondLife, &second, 8);
          for (auto& core : m.cores) core->reset();
        });
        unsigned messages = 0;
        for (unsigned h = 0; h < harts; ++h) m.clint.software(h).on_change = [&](bool) { ++messages; };
        m.run(20_us);
        REQUIRE(m.word(kFlag) == 0);
        REQUIRE(messages == 0);
        for (unsigned h = 0; h < harts; ++h) {
          std::uint64_t pending = ~std::uint64_t{0};
          m.cores[h]->hart().privileged().csr_peek(riscv::csr::kMip, pending);
          REQUIRE(pending == 0);
        }
      }
    }
  }
}
