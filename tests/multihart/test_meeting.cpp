// SPDX-License-Identifier: Apache-2.0
/// When harts see each other's accesses to shared memory, exactly as docs/models/base-time.md says. Each case runs with
/// every order of the harts, at several quanta, and with and without calendar entries that concern no hart.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>

#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/multihart/circumstances.h"

using namespace sluice;
using namespace sluice::multihart;

TEST_CASE("a store wakes those who wait for it at its very time", "[multihart]") {
  everywhere([](const MachineParameters& p, bool disturbed) {
    for (unsigned waker = 0; waker < p.harts; ++waker) {
      // The other harts execute their LR in the first window. A store in that window could come before an LR.
      const auto window = static_cast<unsigned>(p.quantum / 1_ns);
      for (const unsigned at : {window, window + 1, window + window / 2, 2 * window - 1, 3'001u, 4'001u}) {
        CAPTURE(waker, at);
        run(
            p, disturbed, 20_us,
            [&](Machine& m) {
              for (unsigned h = 0; h < p.harts; ++h) {
                Code c = waiter();
                if (h == waker) {
                  c = {};
                  c.nops(at - 1);
                  c.csrr(a0, kCycle);
                  c.sd(s0, s0);
                }
                m.load(h, c);
                m.x(h, s0) = kFlag + 8 * h;  // any byte of the line
              }
            },
            [&](Machine& m) {
              // The store is the instruction after the stamp. With caches, fetches take time too.
              const std::uint64_t stored = m.x(waker, a0) + 1;
              if (!p.timed()) REQUIRE(stored == at);
              for (unsigned h = 0; h < p.harts; ++h)
                if (h != waker && (!p.timed() || at > 3'000)) REQUIRE(m.x(h, a0) == stored);
            });
      }
    }
  });
}

TEST_CASE("a DMA write wakes those who wait for it on the first edge behind it", "[multihart]") {
  everywhere([](const MachineParameters& p, bool disturbed) {
    run(
        p, disturbed, 20_us,
        [&](Machine& m) {
          for (unsigned h = 0; h < p.harts; ++h) {
            m.load(h, waiter());
            m.x(h, s0) = kFlag;
          }
          m.write_at(Time::ps(5'000'400), kFlag, 1);
        },
        [&](Machine& m) {
          for (unsigned h = 0; h < p.harts; ++h) REQUIRE(m.x(h, a0) == 5'001);
        });
  });
}

TEST_CASE("atomics of all harts happen in order of time", "[multihart]") {
  everywhere([](const MachineParameters& p, bool disturbed) {
    if (p.timed()) return;
    std::array<unsigned, 4> order{0, 1, 2, 3};
    do {
      CAPTURE(order[0], order[1], order[2], order[3]);
      run(
          p, disturbed, 20_us,
          [&](Machine& m) {
            for (unsigned h = 0; h < p.harts; ++h) {
              Code c;
              c.nops(95 + 2 * order[h]);
              c.amoadd(3, a0, a1, s0);
              m.load(h, c);
              m.x(h, s0) = kFlag;
              m.x(h, a1) = 1;
            }
          },
          [&](Machine& m) {
            for (unsigned h = 0; h < p.harts; ++h) {
              std::uint64_t before = 0;
              for (unsigned other = 0; other < p.harts; ++other) before += order[other] < order[h];
              REQUIRE(m.x(h, a0) == before);
            }
          });
    } while (std::next_permutation(order.begin(), order.begin() + p.harts));
  });
}

TEST_CASE("caches see atomics in order of time: the first waits for DRAM, the second for the first", "[multihart]") {
  for (const unsigned harts : {2u, 4u}) {
    std::array<std::uint64_t, 2> expected{};
    for (unsigned first = 0; first < harts; ++first) {
      for (unsigned second = 0; second < harts; ++second) {
        if (first == second) continue;
        CAPTURE(harts, first, second);
        fresh_kernel();
        Machine m({harts, 1_us, Timing::cached});
        for (unsigned h = 0; h < harts; ++h) {
          Code c;
          const int again = c.csrr(a1, kCycle);
          c.blt(a1, s1, again);
          c.csrr(a1, kCycle);
          if (h == first || h == second) c.amoadd(3, t1, a1, s0);
          c.csrr(a0, kCycle);
          m.load(h, c);
          m.x(h, s0) = kFlag;
          m.x(h, s1) = h == first ? 5'200 : 5'700;
        }
        m.run(20_us);
        const std::array<std::uint64_t, 2> cycles{m.x(first, a0) - m.x(first, a1), m.x(second, a0) - m.x(second, a1)};
        if (expected[0] == 0) expected = cycles;
        REQUIRE(cycles == expected);
        REQUIRE(cycles[0] != cycles[1]);
      }
    }
  }
}

TEST_CASE("of two SCs to one line the first in time wins, whichever hart it is", "[multihart]") {
  everywhere([](const MachineParameters& p, bool disturbed) {
    if (p.timed()) return;
    for (unsigned first = 0; first < p.harts; ++first) {
      CAPTURE(first);
      run(
          p, disturbed, 20_us,
          [&](Machine& m) {
            for (unsigned h = 0; h < p.harts; ++h) {
              Code c;
              c.nops(60);
              c.lr(3, t0, s0);
              c.nops(h == first ? 1 : 5 + h);
              c.sc(3, a0, s0, s0);
              m.load(h, c);
              m.x(h, s0) = kFlag;
            }
          },
          [&](Machine& m) {
            for (unsigned h = 0; h < p.harts; ++h) REQUIRE(m.x(h, a0) == (h == first ? 0 : 1));
          });
    }
  });
}

TEST_CASE("a plain store is seen early within its window by later harts, and behind it by earlier ones",
          "[multihart]") {
  everywhere([](const MachineParameters& p, bool disturbed) {
    if (p.timed()) return;
    const std::uint64_t window = p.quantum / 1_ns;
    for (unsigned writer = 0; writer < p.harts; ++writer) {
      for (const unsigned at : {2'000u, 2'001u, 2'050u, 2'099u}) {
        CAPTURE(writer, at);
        run(
            p, disturbed, 20_us,
            [&](Machine& m) {
              for (unsigned h = 0; h < p.harts; ++h) {
                Code c;
                if (h == writer) {
                  c.nops(at);
                  c.sd(s0, s0);
                } else {
                  const int again = c.ld(t0, s0);
                  c.beq(t0, zero, again);
                  c.csrr(a0, kCycle);
                }
                m.load(h, c);
                m.x(h, s0) = kFlag;
              }
            },
            [&](Machine& m) {
              for (unsigned h = 0; h < p.harts; ++h) {
                if (h == writer) continue;
                // The hart's loads start at even cycles, and its stamp two cycles after the load that saw the store.
                const std::uint64_t from = at / window * window + (h < writer ? window : 0);
                REQUIRE(m.x(h, a0) == (from + 1) / 2 * 2 + 2);
              }
            });
      }
    }
  });
}

TEST_CASE("a page-table walk that sets A and D wakes those who wait for the entry at its time", "[multihart]") {
  everywhere([](const MachineParameters& p, bool disturbed) {
    if (p.timed()) return;
    for (unsigned walker = 0; walker < p.harts; ++walker) {
      CAPTURE(walker);
      constexpr std::uint64_t kTable = Machine::kRam + 0x8'0000, kEntry = kTable + 2 * 8;
      run(
          p, disturbed, 20_us,
          [&](Machine& m) {
            constexpr std::uint64_t kGigapage = (Machine::kRam >> 12) << 10 | 0xf;
            m.ram.write(kEntry, &kGigapage, 8);
            for (unsigned h = 0; h < p.harts; ++h) {
              Code c = waiter();
              if (h == walker) {
                c = {};
                c.nops(2'500);
                c.csrr(a0, kCycle);
                c.sd(s0, s1);
              }
              m.load(h, c);
              m.x(h, s0) = kEntry;
            }
            m.x(walker, s1) = Machine::kRam + 0x9'0000;
            m.set_csr(walker, 0x180, std::uint64_t{8} << 60 | kTable >> 12);    // satp: Sv39
            m.set_csr(walker, kMstatus, std::uint64_t{1} << 17 | 1 << 11);      // MPRV, MPP = S: data as in S mode
            m.set_csr(walker, riscv::csr::kPmpaddr0, ~std::uint64_t{0} >> 10);  // PMP: S mode may use all memory
            m.set_csr(walker, riscv::csr::kPmpcfg0, 0x1f);
          },
          [&](Machine& m) {
            REQUIRE((m.word(kEntry) & 0xc0) == 0xc0);
            for (unsigned h = 0; h < p.harts; ++h)
              if (h != walker) REQUIRE(m.x(h, a0) == m.x(walker, a0) + 1);
          });
    }
  });
}

TEST_CASE("a store across pages wakes those who wait for either", "[multihart]") {
  everywhere([](const MachineParameters& p, bool disturbed) {
    if (p.timed()) return;
    for (const bool upper : {false, true}) {
      CAPTURE(upper);
      run(
          p, disturbed, 20_us,
          [&](Machine& m) {
            for (unsigned h = 0; h < p.harts; ++h) {
              Code c = waiter();
              if (h == 0) {
                c = {};
                c.nops(2'550);
                c.csrr(a0, kCycle);
                c.sd(s0, s0);
              }
              m.load(h, c);
              m.x(h, s0) = kFlag + 4096 - (h == 0 ? 4 : upper ? 0 : 64);
            }
          },
          [&](Machine& m) {
            for (unsigned h = 1; h < p.harts; ++h) REQUIRE(m.x(h, a0) == m.x(0, a0) + 1);
          });
    }
  });
}

#ifndef NDEBUG
TEST_CASE("now() of a hart that executes straight on is read by nobody", "[multihart]") {
  const pid_t child = fork();
  if (child == 0) {
    std::fclose(stderr);
    base::calendar().set_now(5_ns);
    base::calendar().leave_now();
    base::now();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(WTERMSIG(status) == SIGABRT);
}
#endif
