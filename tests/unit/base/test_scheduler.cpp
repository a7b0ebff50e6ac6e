// SPDX-License-Identifier: Apache-2.0
/// Run-ahead with synthetic cores and requesters: the properties that every board's determinism rests on.
#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include "models/base/fabric/server.h"
#include "models/base/systemc/model.h"
#include "models/base/systemc/scheduler.h"
#include "models/base/time/key.h"
#include "models/base/time/who_waits.h"
#include "tests/unit/base/scheduler_core.h"
#include "tests/unit/fresh_kernel.h"

using namespace sluice;
using namespace sluice::base;
using namespace sluice::base::literals;

namespace {

/// A device whose state changes some time after a core's write: after a queueing delay and 37 ns more.
struct Device {
  ComponentKey key;
  Server server{8'000'000'000};
  std::uint64_t state = 1;
  void poke(std::uint64_t v) {
    const auto r = server.reserve(16 + v % 48);
    calendar().at(r.end + 37_ns, key, [this, v] { state = state * 31 + v; });
  }
};

struct Outcome {
  std::vector<std::uint64_t> traces;
  std::uint64_t device;
  Time end;
  bool operator==(const Outcome&) const = default;
};

/// `cores` cores that share a device and a shared counter; `dummies` unrelated entries.
Outcome run_board(unsigned cores, Time quantum, unsigned dummies, unsigned slices = 1) {
  Scheduler scheduler("scheduler", quantum);
  Device device{path_key("device")};
  std::uint64_t shared = 0;
  auto step = [&](Core& c, std::uint64_t n) {
    if (n % 7 == 3) {  // a posted write: an entry at the core's time
      calendar().at(now(), path_key(c.runner.path()), [&device, n] { device.poke(n); });
    }
    if (n % 13 == 5) c.see(device.state);
    if (n % 5 == 1) c.see(shared = shared * 7 + n);  // cores share memory
    if (n % 31 == 2) {                               // a register access that must be in order with other effects
      c.runner.synchronise();
      c.see(device.state);
    }
    if (n % 29 == 11) {  // a blocking read
      bool done = false;
      calendar().at(now() + 55_ns, path_key(c.runner.path()), [&] {
        done = true;
        c.wake.notify();
      });
      while (!done) wait_for(c.wake, "read", "device");
      c.see(n);
    }
  };
  std::vector<std::unique_ptr<Core>> all;
  for (unsigned i = 0; i < cores; ++i)
    all.push_back(
        std::make_unique<Core>(("core" + std::to_string(i)).c_str(), scheduler, Time::ps(333 + 7 * i), 20'000, step));
  for (unsigned i = 0; i < dummies; ++i)
    calendar().at(Time::ns(17 * i + 1), path_key("dummy" + std::to_string(i)), [] {});
  for (unsigned i = 1; i < slices; ++i) REQUIRE(scheduler.run_until(Time::ns(500 * i)) == Scheduler::End::limit);
  REQUIRE(scheduler.run_until(Time::max()) == Scheduler::End::exhausted);
  Outcome o{{}, device.state, now()};
  for (auto& c : all) o.traces.push_back(c->trace);
  return o;
}

/// Each run needs a kernel of its own.
Outcome fresh(unsigned cores, Time quantum, unsigned dummies = 0, unsigned slices = 1) {
  fresh_kernel();
  return run_board(cores, quantum, dummies, slices);
}

}  // namespace

TEST_CASE("one core gives the same result at any quantum", "[scheduler]") {
  const Outcome reference = fresh(1, 10_us);
  REQUIRE(fresh(1, 3_ns) == reference);
  REQUIRE(fresh(1, 100_ns) == reference);
  REQUIRE(fresh(1, 1_ms) == reference);
}

TEST_CASE("dummy entries change nothing, for one core and for four", "[scheduler]") {
  for (unsigned cores : {1u, 4u}) {
    const Outcome reference = fresh(cores, 100_ns);
    REQUIRE(fresh(cores, 100_ns) == reference);
    REQUIRE(fresh(cores, 100_ns, 100) == reference);
  }
}

TEST_CASE("stopping at limits and going on changes nothing, for one core and for four", "[scheduler]") {
  for (unsigned cores : {1u, 4u}) REQUIRE(fresh(cores, 100_ns, 0, 5) == fresh(cores, 100_ns));
}

TEST_CASE("between cores a store is seen late by at most a quantum, and never early by more", "[scheduler]") {
  for (Time quantum : {20_ns, 100_ns, 1_us}) {
    fresh_kernel();
    Scheduler scheduler("scheduler", quantum);
    std::vector<Time> stored, seen;
    std::uint64_t flag = 0;
    Core writer("writer", scheduler, 1_ns, 5000, [&](Core& c, std::uint64_t n) {
      if (n % 137 != 0) return;
      flag = n / 137 + 1;
      stored.push_back(c.runner.time());
    });
    std::uint64_t last = 0;
    Core reader("reader", scheduler, 1_ns, 5000, [&](Core& c, std::uint64_t) {
      for (; last < flag; ++last) seen.push_back(c.runner.time());
    });
    scheduler.run_until(Time::max());
    REQUIRE(seen.size() == stored.size());
    for (std::size_t i = 0; i < seen.size(); ++i) {
      REQUIRE(seen[i] + quantum > stored[i]);
      REQUIRE(seen[i] <= stored[i] + quantum + 1_ns);
    }
  }
}

TEST_CASE("a DMA write is seen by one of four cores within a quantum, by a lone core at once", "[scheduler]") {
  for (unsigned cores : {1u, 4u}) {
    fresh_kernel();
    Scheduler scheduler("scheduler", 100_ns);
    bool landed = false;
    Time seen = Time::max();
    calendar().at(1234_ns, path_key("nic"), [&] { landed = true; });
    std::vector<std::unique_ptr<Core>> all;
    for (unsigned i = 0; i < cores; ++i)
      all.push_back(
          std::make_unique<Core>(("c" + std::to_string(i)).c_str(), scheduler, 1_ns, 3000, [&](Core& c, std::uint64_t) {
            if (landed) seen = std::min(seen, c.runner.time());
          }));
    scheduler.run_until(Time::max());
    if (cores == 1) REQUIRE(seen == 1234_ns);
    REQUIRE(seen >= 1234_ns);
    REQUIRE(seen < 1334_ns);
  }
}

TEST_CASE("a blocked core goes on at the very time of its answer, beside three others", "[scheduler]") {
  fresh_kernel();
  Scheduler scheduler("scheduler", 100_ns);
  std::vector<Time> answered;
  std::vector<std::unique_ptr<Core>> all;
  for (unsigned i = 0; i < 4; ++i)
    all.push_back(std::make_unique<Core>(("c" + std::to_string(i)).c_str(), scheduler, 1_ns, 1000,
                                         [&, i](Core& c, std::uint64_t n) {
                                           if (i != 2 || n != 500) return;
                                           bool done = false;
                                           calendar().at(now() + 37_ns, 1, [&] {
                                             done = true;
                                             c.wake.notify();
                                           });
                                           while (!done) wait_for(c.wake, "read", "device");
                                           answered.push_back(c.runner.time());
                                         }));
  scheduler.run_until(Time::max());
  REQUIRE(answered == std::vector<Time>{537_ns});
}

TEST_CASE("now() is a core's own time when its wait ends, whoever has run in between", "[scheduler]") {
  fresh_kernel();
  Scheduler scheduler("scheduler", 100_ns);
  Event answer;
  std::vector<Time> seen;
  const auto step = [&](Core& c, std::uint64_t n) {
    if (n != 10) return;
    wait_for(answer, "answer", "device");
    REQUIRE(now() == c.runner.time());
    seen.push_back(now());
  };
  Core a("a", scheduler, 1_ns, 1000, step), b("b", scheduler, 1_ns, 1000, step);
  calendar().at(110_ns, 1, [&] { answer.notify(); });
  scheduler.run_until(Time::max());
  REQUIRE(seen == std::vector<Time>{110_ns, 110_ns});
}

TEST_CASE("a core that wakes another wakes it at its own time, whatever entries there were", "[scheduler]") {
  for (const bool disturbed : {false, true}) {
    for (const unsigned waker : {0u, 1u}) {
      fresh_kernel();
      Scheduler scheduler("scheduler", 100_ns);
      Event event;
      Time woken;
      for (unsigned i = 1; disturbed && i < 50; ++i) calendar().at(Time::ns(31 * i), path_key("nobody"), [] {});
      std::vector<std::unique_ptr<Core>> all;
      for (unsigned i = 0; i < 2; ++i)
        all.push_back(std::make_unique<Core>(("c" + std::to_string(i)).c_str(), scheduler, 1_ns, 2000,
                                             [&, i](Core& c, std::uint64_t n) {
                                               if (i == waker && n == 1234) {
                                                 c.runner.synchronise();
                                                 event.notify();
                                               }
                                               if (i == waker || n != 10) return;
                                               wait_for(event, "a store", "the other");
                                               woken = c.runner.time();
                                             }));
      scheduler.run_until(Time::max());
      REQUIRE(woken == 1234_ns);
    }
  }
}

namespace {
/// A Sluice module with a thread of its own, as an adapter to plain SystemC has.
struct Adapter : sc_core::sc_module {
  sc_core::sc_event asked;
  Event answer;
  Time answered;
  SC_HAS_PROCESS(Adapter);
  explicit Adapter(sc_core::sc_module_name name) : sc_module(name) { SC_THREAD(serve); }
  void serve() {
    wait(asked);
    REQUIRE(Scheduler::instance().running() == nullptr);
    wait_for(answer, "answer", "device");
    answered = now();
  }
};
}  // namespace

TEST_CASE("an adapter's thread that runs while a core is given its turn waits for itself", "[scheduler]") {
  fresh_kernel();
  Scheduler scheduler("scheduler", 100_ns);
  Adapter adapter("adapter");
  std::vector<Time> starts;
  Core a("a", scheduler, 1_ns, 1000, [&](Core&, std::uint64_t n) {
    // The adapter's thread becomes runnable now. It runs as soon as this core waits for the other core's turn.
    if (n == 5) adapter.asked.notify();
  });
  Core b("b", scheduler, 1_ns, 1000, [&](Core& c, std::uint64_t) { starts.push_back(c.runner.time()); });
  calendar().at(510_ns, 1, [&] { adapter.answer.notify(); });
  REQUIRE(scheduler.run_until(Time::max()) == Scheduler::End::exhausted);
  REQUIRE(adapter.answered == 510_ns);
  REQUIRE(starts.size() == 1000);
  for (std::size_t n = 0; n < starts.size(); ++n) REQUIRE(starts[n] == Time::ns(n));
}

namespace {
/// A plain TLM-2.0 style module that knows nothing of Sluice: own thread, own events, a target that waits.
struct Foreign : sc_core::sc_module {
  sc_core::sc_event tick;
  std::vector<Time> ticks, served;
  SC_HAS_PROCESS(Foreign);
  explicit Foreign(sc_core::sc_module_name name) : sc_module(name) {
    SC_THREAD(generate);
    SC_METHOD(on_tick);
    sensitive << tick;
    dont_initialize();
  }
  void generate() {
    for (int i = 0; i < 10; ++i) {
      wait(sc_core::sc_time(70, sc_core::SC_NS));
      tick.notify(sc_core::SC_ZERO_TIME);
    }
  }
  void on_tick() { ticks.push_back(from_sc_time(sc_core::sc_time_stamp())); }
  void serve() {
    wait(sc_core::sc_time(25, sc_core::SC_NS));
    served.push_back(from_sc_time(sc_core::sc_time_stamp()));
  }
};
}  // namespace

TEST_CASE("a plain SystemC module with its own events runs beside cores, at its own times", "[scheduler]") {
  for (unsigned cores : {1u, 2u}) {
    fresh_kernel();
    Scheduler scheduler("scheduler", 100_ns);
    Foreign foreign("foreign");
    std::size_t seen = 0;
    std::vector<Time> noticed, returned;
    std::vector<std::unique_ptr<Core>> all;
    for (unsigned i = 0; i < cores; ++i)
      all.push_back(std::make_unique<Core>(("c" + std::to_string(i)).c_str(), scheduler, 1_ns, 1000,
                                           [&, i](Core& c, std::uint64_t n) {
                                             if (i != 0) return;
                                             for (; seen < foreign.ticks.size(); ++seen)
                                               noticed.push_back(c.runner.time());
                                             if (n != 333) return;
                                             c.runner.enter_foreign();
                                             foreign.serve();
                                             c.runner.leave_foreign();
                                             returned.push_back(c.runner.time());
                                           }));
    REQUIRE(scheduler.run_until(Time::max()) == Scheduler::End::exhausted);
    REQUIRE(foreign.ticks.size() == 10);
    for (std::size_t i = 0; i < 10; ++i) {
      REQUIRE(foreign.ticks[i] == Time::ns(70 * (i + 1)));
      REQUIRE(noticed[i] >= foreign.ticks[i]);
      if (cores == 1 && foreign.ticks[i] != 350_ns) REQUIRE(noticed[i] == foreign.ticks[i]);
      REQUIRE(noticed[i] <= foreign.ticks[i] + 100_ns);
    }
    REQUIRE(foreign.served == returned);
    REQUIRE(returned[0] >= 358_ns);
  }
}

TEST_CASE("a runner that an entry wakes runs before the entries that follow", "[scheduler]") {
  fresh_kernel();
  Scheduler scheduler("scheduler", 1_us);
  std::vector<std::string> order;
  std::vector<std::unique_ptr<Core>> all;
  for (unsigned i = 0; i < 3; ++i)
    all.push_back(std::make_unique<Core>(("c" + std::to_string(i)).c_str(), scheduler, 1_ns, 2,
                                         [&order, i](Core& self, std::uint64_t n) {
                                           if (n == 0) wait_for(self.wake, "an entry", "the test");
                                           if (n == 1) order.push_back("core " + std::to_string(i));
                                         }));
  const unsigned woken[] = {1, 2, 0};
  for (unsigned i = 0; i < 3; ++i) {
    calendar().at(100_ns + 10_ns * i, 1, [&, i] { all[woken[i]]->wake.notify(); });
    calendar().at(105_ns + 10_ns * i, 1, [&, i] { order.push_back("entry " + std::to_string(i)); });
  }
  REQUIRE(scheduler.run_until(Time::max()) == Scheduler::End::exhausted);
  REQUIRE(order == std::vector<std::string>{"core 1", "entry 0", "core 2", "entry 1", "core 0", "entry 2"});
}
