/// Where harts meet, and when each sees the other: exactly, as docs/models/base-time.md says. Each case runs with every
/// order of the harts, at several quanta, and with entries that concern nobody.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <functional>
#include <numeric>

#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/multihart/machine.h"
#include "tests/unit/fresh_kernel.h"

using namespace sluice;
using namespace sluice::multihart;

namespace {

/// Calls check(parameters, disturbed) for two and four harts, quanta, timings, and with other entries.
void everywhere(const std::function<void(const MachineParameters&, bool)>& check) {
  for (const unsigned harts : {2u, 4u}) {
    for (const Time quantum : {3_ns, 100_ns, 1_us}) {
      for (const bool cached : {false, true}) {
        for (const bool disturbed : {false, true}) {
          CAPTURE(harts, quantum.nanoseconds(), cached, disturbed);
          check({harts, quantum, cached}, disturbed);
        }
      }
    }
  }
}

/// Runs a machine whose harts are loaded by `load`, and calls `look` at its end. Nothing may have been made for the
/// past.
void run(const MachineParameters& p, bool disturbed, Time until, const std::function<void(Machine&)>& load,
         const std::function<void(Machine&)>& look) {
  fresh_kernel();
  Machine m(p);
  if (disturbed) m.disturb(Time::ps(7'301), until);
  load(m);
  m.run(until);
  REQUIRE(base::calendar().late() == 0);
  look(m);
}

constexpr std::uint64_t kFlag = Machine::kData;

/// Waits in wrs until another writes to the line at s0; a0: the cycle at which it goes on.
Code waiter() {
  Code c;
  c.lr(3, t0, s0);
  c.wrs_nto();
  c.csrr(a0, kCycle);
  return c;
}

}  // namespace

TEST_CASE("a store wakes those who wait for it at its very time", "[multihart]") {
  everywhere([](const MachineParameters& p, bool disturbed) {
    for (unsigned waker = 0; waker < p.harts; ++waker) {
      // The others' LR is in the first window: a store in the same one may be in front of it.
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
              // The store is the instruction behind the stamp; fetches take time where there are caches.
              const std::uint64_t stored = m.x(waker, a0) + 1;
              if (!p.cached) REQUIRE(stored == at);
              for (unsigned h = 0; h < p.harts; ++h)
                if (h != waker && (!p.cached || at > 3'000)) REQUIRE(m.x(h, a0) == stored);
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
                const std::uint64_t at = Machine::kRam + (h + 1) * Machine::kCodeBytes - 64;
                handler.stay();
                m.ram.write(at, handler.words.data(), handler.words.size() * 4);
                m.set_csr(h, kMtvec, at);
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
                else if (!p.cached)  // the trap's entry takes a cycle
                  REQUIRE(m.x(h, a0) == seen + 1);
              }
            });
      }
    }
  });
}

TEST_CASE("a hart sets its timer for a time at which another hart has already been", "[multihart]") {
  everywhere([](const MachineParameters& p, bool disturbed) {
    if (p.cached) return;
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

TEST_CASE("atomics of all harts happen in order of time", "[multihart]") {
  everywhere([](const MachineParameters& p, bool disturbed) {
    if (p.cached) return;
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

TEST_CASE("of two SCs to one line the first in time wins, whichever hart it is", "[multihart]") {
  everywhere([](const MachineParameters& p, bool disturbed) {
    if (p.cached) return;
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
    if (p.cached) return;
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
                // Its loads start at even cycles, its stamp two behind the one that saw the store.
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
    if (p.cached) return;
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
            m.set_csr(walker, kMstatus, std::uint64_t{1} << 17 | 1 << 11);      // data as in supervisor mode
            m.set_csr(walker, riscv::csr::kPmpaddr0, ~std::uint64_t{0} >> 10);  // which may use all memory
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
    if (p.cached) return;
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

TEST_CASE("an interrupt that came before an instruction in order of time is taken in front of it", "[multihart]") {
  everywhere([](const MachineParameters& p, bool disturbed) {
    if (p.cached) return;
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
              handler.stay();
              const std::uint64_t at = Machine::kRam + (h + 1) * Machine::kCodeBytes - 64;
              m.ram.write(at, handler.words.data(), handler.words.size() * 4);
              m.set_csr(h, kMtvec, at);
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

namespace {

/// Writes to RAM at a time of its own, some delta cycles into it.
struct ForeignWriter : sc_core::sc_module {
  SC_HAS_PROCESS(ForeignWriter);
  ForeignWriter(const sc_core::sc_module_name& name, Machine& m, Time at) : sc_module(name), m_(m), at_(at) {
    SC_THREAD(write);
  }
  void write() {
    wait(base::to_sc_time(at_));
    for (unsigned n = 0; n < 3; ++n) wait(sc_core::SC_ZERO_TIME);
    const std::uint64_t one = 1;
    m_.ram.write(kFlag, &one, 8);
  }
  Machine& m_;
  Time at_;
};

}  // namespace

TEST_CASE("foreign activity comes before an atomic of its instant, on one hart and on several", "[multihart]") {
  for (const unsigned harts : {1u, 2u, 4u}) {
    for (const unsigned at : {2'049u, 2'050u, 2'051u, 2'100u}) {
      CAPTURE(harts, at);
      fresh_kernel();
      Machine m({harts, 100_ns, false});
      ForeignWriter writer("writer", m, Time::ns(at));
      const unsigned start = at == 2'100 ? 2'100 : 2'050;
      for (unsigned h = 0; h < harts; ++h) {
        Code c;
        c.nops(start);
        c.amoadd(3, a0, zero, s0);
        m.load(h, c);
        m.x(h, s0) = kFlag;
      }
      m.run(20_us);
      for (unsigned h = 0; h < harts; ++h) REQUIRE(m.x(h, a0) == (at <= start ? 1 : 0));
    }
  }
}

TEST_CASE("harts that are reset by an entry, or by one of them, start again", "[multihart]") {
  for (const unsigned harts : {1u, 2u, 3u}) {
    for (const bool by_hart : {false, true}) {
      CAPTURE(harts, by_hart);
      fresh_kernel();
      Machine m({harts, 100_ns, false});
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
      // One that waited starts at once, one in an access behind it: the store takes 10 ns on the bus and its own cycle.
      for (unsigned h = 0; h < harts; ++h) REQUIRE(m.x(h, a1) == (!by_hart ? 5'033u : h == 0 ? 3'013u : 3'002u));
    }
  }
}

TEST_CASE("a run ends at its limit, whatever is left of the window", "[multihart]") {
  for (const unsigned harts : {1u, 2u}) {
    fresh_kernel();
    Machine m({harts, 1_us, false});
    for (unsigned h = 0; h < harts; ++h) m.load(h, {});
    m.run(2'100_ns);
    REQUIRE(base::now() == 2'100_ns);
    base::calendar().at(2'100_ns, 1, [] {});
    REQUIRE(base::calendar().late() == 0);
  }
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
