// SPDX-License-Identifier: Apache-2.0
/// How a run ends: with everybody waiting, with an exception, because time stands still, or because somebody stops it.
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "models/base/systemc/model.h"
#include "models/base/systemc/scheduler.h"
#include "models/base/time/who_waits.h"
#include "tests/unit/base/scheduler_core.h"
#include "tests/unit/fresh_kernel.h"

using namespace sluice;
using namespace sluice::base;
using namespace sluice::base::literals;

TEST_CASE("the diagnosis of a stall names who waits for whom, and the cycle", "[scheduler]") {
  fresh_kernel();
  Scheduler scheduler("scheduler", 100_ns);
  Event never;
  Core a("a", scheduler, 1_ns, 10, [&](Core&, std::uint64_t n) {
    if (n == 5) wait_for(never, "answer", "b");
  });
  Core b("b", scheduler, 1_ns, 10, [&](Core&, std::uint64_t n) {
    if (n == 7) wait_for(never, "credit", "a");
  });
  REQUIRE(scheduler.run_until(Time::max()) == Scheduler::End::exhausted);
  const std::string text = describe_waits();
  REQUIRE(text.find("since 5 ns: a waits for b: answer") != std::string::npos);
  REQUIRE(text.find("since 7 ns: b waits for a: credit") != std::string::npos);
  REQUIRE(text.find("cycle: a -> b -> a") != std::string::npos);
}

TEST_CASE("what an entry throws leaves run_until, with its component", "[scheduler]") {
  struct Part : Model {
    explicit Part(sc_core::sc_module_name name) : Model(name) {}
  };
  fresh_kernel();
  Scheduler scheduler("scheduler", 1_us);
  Part part("accel__part");
  Core c("c", scheduler, 1_ns, 1000, [](Core&, std::uint64_t) {});
  calendar().at(40_ns, part.key(), [] { throw std::runtime_error("no luck"); });
  calendar().at(50_ns, 1, [] { throw 5; });
  calendar().at(60_ns, 1, [] { name_what_is_thrown("a.b", [] { throw 5; }); });
  calendar().at(70_ns, 1, [] { throw std::bad_alloc(); });
  const auto thrown = [&scheduler](Time at) {
    try {
      scheduler.run_until(Time::max());
    } catch (const ComponentError& e) {
      REQUIRE(now() == at);
      return e.component() + ": " + e.what();
    }
    return std::string("nothing");
  };
  REQUIRE(thrown(40_ns) == "accel.part: no luck");
  REQUIRE(thrown(50_ns) == ": something that is no std::exception");
  REQUIRE(thrown(60_ns) == "a.b: something that is no std::exception");
  REQUIRE(thrown(70_ns) == ": this machine has no more memory for it, or its limit (ulimit -v) allows no more");
  REQUIRE(c.runner.time() == 70_ns);
}

namespace {
/// A model with a thread that never lets time go on, or only by a little each time.
struct Restless : Model {
  SC_HAS_PROCESS(Restless);
  Restless(sc_core::sc_module_name name, Time step) : Model(name), step_(step) { SC_THREAD(spin); }
  void spin() {
    wait(to_sc_time(50_ns));
    for (;;) wait(to_sc_time(step_));
  }
  Time step_;
};
}  // namespace

TEST_CASE("whoever looks at the kernel ends a run in which time stands still or creeps", "[scheduler]") {
  for (unsigned cores : {0u, 1u, 2u}) {
    for (const Time step : {0_ns, Time::fs(1)}) {
      fresh_kernel();
      Scheduler scheduler("scheduler", 1_us);
      Restless part("accel__part", step);
      std::vector<std::unique_ptr<Core>> all;
      for (unsigned i = 0; i < cores; ++i)
        all.push_back(std::make_unique<Core>(("c" + std::to_string(i)).c_str(), scheduler, 1_ns, 1000,
                                             [](Core&, std::uint64_t) {}));
      unsigned looks = 0;
      scheduler.on_look([&] {
        if (++looks == 3) scheduler.stop();
      });
      REQUIRE(scheduler.run_until(1_ms) == Scheduler::End::stopped);
      REQUIRE(looks == 3);
      const Time reached = from_sc_time(sc_core::sc_time_stamp());
      REQUIRE(reached >= 50_ns);
      REQUIRE(reached <= 50_ns + step * (4 * Scheduler::kLookInterval));
      REQUIRE(scheduler.foreign_processes() == std::vector<std::string>{"accel.part.spin"});
    }
  }
}

TEST_CASE("a component that calls sc_stop() ends the run", "[scheduler]") {
  fresh_kernel();
  Scheduler scheduler("scheduler", 1_us);
  calendar().at(40_ns, 1, [] { sc_core::sc_stop(); });
  REQUIRE(scheduler.run_until(1_ms) == Scheduler::End::sc_stop);
}

TEST_CASE("what a process throws leaves run_until, with its model", "[scheduler]") {
  struct Thrower : Model {
    SC_HAS_PROCESS(Thrower);
    Thrower(sc_core::sc_module_name name, unsigned what) : Model(name), what_(what) { SC_THREAD(run); }
    void run() {
      wait(to_sc_time(50_ns));
      if (what_ == 0) throw std::runtime_error("no luck");
      if (what_ == 1) throw 5;
      if (what_ == 2) SC_REPORT_ERROR("part", "an error");
      SC_REPORT_FATAL("part", "the end");
    }
    unsigned what_;
  };
  const char* const texts[] = {"no luck", "something that is no std::exception", "part: an error", "part: the end"};
  for (unsigned what = 0; what < 4; ++what) {
    fresh_kernel();
    Scheduler scheduler("scheduler", 1_us);
    Thrower part("accel__part", what);
    Core c("c", scheduler, 1_ns, 1000, [](Core&, std::uint64_t) {});
    Core d("d", scheduler, 1_ns, 1000, [](Core&, std::uint64_t) {});
    std::string told;
    try {
      scheduler.run_until(Time::max());
    } catch (const ComponentError& e) {
      told = e.component() + ": " + e.what();
    }
    REQUIRE(told == std::string("accel.part: ") + texts[what]);
    REQUIRE(now() == 50_ns);
  }
}

TEST_CASE("stop ends the run after the instruction that asked for it", "[scheduler]") {
  fresh_kernel();
  Scheduler scheduler("scheduler", 1_us);
  std::uint64_t executed = 0;
  Core c("c", scheduler, 1_ns, 1000, [&](Core&, std::uint64_t n) {
    ++executed;
    if (n == 41) scheduler.stop();
  });
  REQUIRE(scheduler.run_until(Time::max()) == Scheduler::End::stopped);
  REQUIRE(executed == 42);
  scheduler.run_until(Time::max());
  REQUIRE(executed == 1000);
}

TEST_CASE("stop ends the run after the entry that asked for it, whoever waits", "[scheduler]") {
  for (const unsigned cores : {0u, 1u, 2u, 4u}) {
    CAPTURE(cores);
    fresh_kernel();
    Scheduler scheduler("scheduler", 1_us);
    std::vector<std::unique_ptr<Core>> all;
    for (unsigned i = 0; i < cores; ++i)
      all.push_back(
          std::make_unique<Core>(("c" + std::to_string(i)).c_str(), scheduler, 1_ns, 10, [](Core&, std::uint64_t) {}));
    std::vector<unsigned> order;
    for (unsigned i = 0; i < 4; ++i)
      calendar().at(100_ns + 1_ns * i, 1, [&, i] {
        order.push_back(i);
        if (i == 1) scheduler.stop();
      });
    REQUIRE(scheduler.run_until(1_us) == Scheduler::End::stopped);
    REQUIRE(order == std::vector<unsigned>{0, 1});
    REQUIRE(now() == 101_ns);
    REQUIRE(scheduler.run_until(103_ns) == Scheduler::End::limit);
    REQUIRE(order == std::vector<unsigned>{0, 1, 2});
    REQUIRE(scheduler.run_until(Time::max()) == Scheduler::End::exhausted);
    REQUIRE(order == std::vector<unsigned>{0, 1, 2, 3});
  }
}
