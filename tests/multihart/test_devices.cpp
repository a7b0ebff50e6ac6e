// SPDX-License-Identifier: Apache-2.0
/// When harts meet at devices, and when foreign SystemC processes see them and are seen.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/multihart/circumstances.h"
#include "tests/multihart/target.h"

using namespace sluice;
using namespace sluice::multihart;

namespace {

/// A process that makes a call at a time of its own, some delta cycles after others of that time.
struct ForeignCall : sc_core::sc_module {
  SC_HAS_PROCESS(ForeignCall);
  std::function<void()> call;
  ForeignCall(const sc_core::sc_module_name& name, Time at, std::function<void()> what)
      : sc_module(name), call(std::move(what)), at_(at) {
    SC_THREAD(run);
  }
  void run() {
    wait(base::to_sc_time(at_));
    for (unsigned n = 0; n < 3; ++n) wait(sc_core::SC_ZERO_TIME);
    call();
  }
  Time at_;
};

}  // namespace

TEST_CASE("foreign activity comes before an atomic of its instant, on one hart and on several", "[multihart]") {
  for (const unsigned harts : {1u, 2u, 4u}) {
    for (const bool all : {true, false}) {
      for (const unsigned at : {2'049u, 2'050u, 2'051u, 2'100u}) {
        CAPTURE(harts, all, at);
        fresh_kernel();
        Machine m({harts, 100_ns});
        ForeignCall writer("writer", Time::ns(at), [&m] {
          const std::uint64_t one = 1;
          m.ram.write(kFlag, &one, 8);
        });
        const unsigned start = at == 2'100 ? 2'100 : 2'050;
        for (unsigned h = 0; h < harts; ++h) {
          Code c;
          c.nops(start);
          if (h == 0 || all) c.amoadd(3, a0, zero, s0);
          m.load(h, c);
          m.x(h, s0) = kFlag;
        }
        m.run(20_us);
        for (unsigned h = 0; h < (all ? harts : 1); ++h) REQUIRE(m.x(h, a0) == (at <= start ? 1 : 0));
      }
    }
  }
}

namespace {

/// Every hart `h` loads from the target at the cycle start[h].
void load_at(Machine& m, const std::vector<unsigned>& start) {
  for (unsigned h = 0; h < m.cores.size(); ++h) {
    Code c;
    c.nops(start[h]);
    c.ld(a0, s0);
    c.csrr(a1, kCycle);
    m.load(h, c);
    m.x(h, s0) = Target::kAt;
  }
}

}  // namespace

TEST_CASE("accesses of all harts to a device happen in order of time", "[multihart]") {
  everywhere([](const MachineParameters& p, bool disturbed) {
    if (p.timed()) return;
    for (const bool own : {true, false}) {
      for (const Time busy : {0_ns, 4_ns, 150_ns}) {
        if (own && busy > Time{}) continue;
        std::array<unsigned, 4> order{0, 1, 2, 3};
        do {
          CAPTURE(own, busy.nanoseconds(), order[0], order[1], order[2], order[3]);
          std::unique_ptr<Target> target;
          run(
              p, disturbed, 20_us,
              [&](Machine& m) {
                target = std::make_unique<Target>("target", m, own);
                target->busy = [busy](std::uint64_t) { return busy; };
                std::vector<unsigned> start;
                for (unsigned h = 0; h < p.harts; ++h) start.push_back(95 + 2 * order[h]);
                load_at(m, start);
              },
              [&](Machine& m) {
                for (unsigned h = 0; h < p.harts; ++h) {
                  REQUIRE(m.x(h, a0) == order[h]);
                  REQUIRE(target->came[order[h]] == Time::ns(95 + 2 * order[h]));
                  // The bus takes 10 ns, the instruction itself a cycle.
                  REQUIRE(Time::ns(m.x(h, a1)) == target->came[order[h]] + busy + 11_ns);
                }
              });
        } while (std::next_permutation(order.begin(), order.begin() + p.harts));
      }
    }
  });
}

TEST_CASE("what happens before an access, or at its instant, is seen by it, and what happens later is not",
          "[multihart]") {
  for (const unsigned harts : {1u, 2u, 4u}) {
    for (const bool own : {true, false}) {
      for (const bool by_entry : {true, false}) {
        for (const unsigned at : {2'049u, 2'050u, 2'051u}) {
          CAPTURE(harts, own, by_entry, at);
          fresh_kernel();
          Machine m({harts, 100_ns});
          Target target("target", m, own);
          ForeignCall changer("changer", Time::ns(at), [&target] { target.value = 77; });
          if (by_entry) {
            changer.call = [] {};
            base::calendar().at(Time::ns(at), base::path_key("changer"), [&target] { target.value = 77; });
          }
          load_at(m, {2'050, 2'050, 2'050, 2'050});
          m.run(20_us);
          for (unsigned h = 0; h < harts; ++h) {
            CAPTURE(h);
            if (at <= 2'050)
              REQUIRE(m.x(h, a0) == 77);
            else
              REQUIRE(m.x(h, a0) == h);
          }
        }
      }
    }
  }
}

namespace {

/// A process that waits for base::Event and for a SystemC event by turns, as an adapter's does, and notes when it woke.
struct Adapter : sc_core::sc_module {
  SC_HAS_PROCESS(Adapter);
  base::Event asked;
  std::vector<Time> woke;
  std::function<void()> on_wake;
  explicit Adapter(const sc_core::sc_module_name& name) : sc_module(name) { SC_THREAD(serve); }
  void serve() {
    for (;;) {
      base::wait_for(asked, "a test's request", "a hart");
      woke.push_back(base::now());
      if (on_wake) on_wake();
    }
  }
};

}  // namespace

TEST_CASE("a process that waits for a hart's access runs at its time, and so does a hart that it wakes",
          "[multihart]") {
  everywhere([](const MachineParameters& p, bool disturbed) {
    if (p.timed()) return;
    for (unsigned asker = 0; asker < p.harts; ++asker) {
      for (const bool others_sleep : {true, false}) {
        CAPTURE(asker, others_sleep);
        std::unique_ptr<Target> target;
        std::unique_ptr<Adapter> adapter;
        const unsigned last = asker == p.harts - 1 ? 0 : p.harts - 1;
        run(
            p, disturbed, 20_us,
            [&](Machine& m) {
              target = std::make_unique<Target>("target", m, true);
              adapter = std::make_unique<Adapter>("adapter");
              target->on_access = [&a = *adapter](std::uint64_t) { a.asked.notify(); };
              adapter->on_wake = [&m] {
                const std::uint64_t one = 1;
                m.ram.write(kFlag, &one, 8);
              };
              for (unsigned h = 0; h < p.harts; ++h) {
                Code c;
                if (h == asker) {
                  c.nops(2'550);
                  c.sd(a0, s0);
                } else if (h == last) {
                  c = waiter();
                } else if (others_sleep) {
                  c.wfi();
                }
                m.load(h, c);
                m.x(h, s0) = h == asker ? Target::kAt : kFlag;
              }
            },
            [&](Machine& m) {
              REQUIRE(adapter->woke == std::vector<Time>{2'550_ns});
              REQUIRE(m.x(last, a0) == 2'550);
            });
      }
    }
  });
}
