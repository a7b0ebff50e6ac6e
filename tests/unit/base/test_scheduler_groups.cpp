// SPDX-License-Identifier: Apache-2.0
/// Run-ahead of harts that share no memory: groups of runners.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "models/base/systemc/scheduler.h"
#include "models/base/time/key.h"
#include "tests/unit/base/scheduler_core.h"
#include "tests/unit/fresh_kernel.h"

using namespace sluice;
using namespace sluice::base;
using namespace sluice::base::literals;

namespace {

constexpr Time kLink = 150_ns;  ///< from a hart's write to the other system's memory

/// Two systems with memory each, whose harts write to the other's over a link; the second waits for the first at times.
struct Pair {
  explicit Pair(std::vector<unsigned> harts, Time separation, std::vector<Time> quanta)
      : scheduler("scheduler", quanta[0]), second(scheduler, quanta[1]) {
    scheduler.set_separation(separation);
    for (unsigned system = 0; system < 2; ++system)
      for (unsigned h = 0; h < harts[system]; ++h)
        cores.push_back(std::make_unique<Core>(("s" + std::to_string(system) + "h" + std::to_string(h)).c_str(),
                                               system == 0 ? scheduler.first_group() : second,
                                               Time::ps(333 + 100 * system + 7 * h), 20'000,
                                               [this, system](Core& c, std::uint64_t n) { step(c, system, n); }));
  }

  void step(Core& c, unsigned system, std::uint64_t n) {
    c.see(memory[system]);
    if (n % 1201 == 7 * system) {
      c.runner.synchronise();
      c.see(n);
      calendar().at(now() + kLink, path_key(c.runner.path()), [this, system, n] {
        memory[1 - system] = memory[1 - system] * 31 + n;
        arrived[1 - system].notify();
      });
    }
    if (system == 1 && n % 5003 == 1000) wait_for(arrived[system], "message", "link");
  }

  std::vector<std::uint64_t> run() {
    scheduler.run_until(Time::max());
    std::vector<std::uint64_t> traces;
    for (const auto& c : cores) traces.push_back(c->trace);
    traces.push_back(memory[0]);
    traces.push_back(memory[1]);
    return traces;
  }

  Scheduler scheduler;
  RunnerGroup second;
  std::uint64_t memory[2] = {1, 2};
  Event arrived[2];
  std::vector<std::unique_ptr<Core>> cores;
};

std::vector<std::uint64_t> fresh(std::vector<unsigned> harts, Time separation, std::vector<Time> quanta) {
  fresh_kernel();
  return Pair(std::move(harts), separation, std::move(quanta)).run();
}

}  // namespace

TEST_CASE("two systems of one hart give the same result however far each may run ahead", "[scheduler]") {
  const auto reference = fresh({1, 1}, 1_ns, {10_us, 10_us});
  for (const Time separation : {Time{}, 10_ns, 149_ns, kLink})
    for (const Time quantum : {3_ns, 100_ns, 10_us}) {
      CAPTURE(separation.nanoseconds(), quantum.nanoseconds());
      REQUIRE(fresh({1, 1}, separation, {quantum, 10_us}) == reference);
    }
}

TEST_CASE("harts that may run ahead by more than their link takes miss what comes over it", "[scheduler]") {
  REQUIRE(fresh({1, 1}, kLink * 4, {10_us, 10_us}) != fresh({1, 1}, 1_ns, {10_us, 10_us}));
}

TEST_CASE("a system of several harts gives the same result beside one hart however far that runs ahead",
          "[scheduler]") {
  const auto reference = fresh({4, 1}, 32_ns, {32_ns, 10_us});
  REQUIRE(fresh({4, 1}, 64_ns, {32_ns, 10_us}) == reference);
  REQUIRE(fresh({4, 1}, kLink, {32_ns, 10_us}) == reference);
  REQUIRE(fresh({4, 1}, kLink, {32_ns, 100_ns}) == reference);
}

TEST_CASE("a lone hart sees a message at its time, beside a system of four harts", "[scheduler]") {
  fresh_kernel();
  Scheduler scheduler("scheduler", 32_ns);
  RunnerGroup second(scheduler, 10_us);
  scheduler.set_separation(kLink);
  bool landed = false;
  Time seen = Time::max();
  std::vector<std::unique_ptr<Core>> all;
  for (unsigned i = 0; i < 4; ++i)
    all.push_back(std::make_unique<Core>(("h" + std::to_string(i)).c_str(), scheduler, 1_ns, 3000,
                                         [&, i](Core& c, std::uint64_t n) {
                                           if (i != 3 || n != 1234) return;
                                           c.runner.synchronise();
                                           calendar().at(now() + kLink, 1, [&] { landed = true; });
                                         }));
  Core lone("lone", second, 1_ns, 3000, [&](Core& c, std::uint64_t) {
    if (landed) seen = std::min(seen, c.runner.time());
  });
  scheduler.run_until(Time::max());
  REQUIRE(seen == 1234_ns + kLink);
}

TEST_CASE("systems take turns no more often than their separation asks for", "[scheduler]") {
  for (const Time separation : {25_ns, 100_ns}) {
    fresh_kernel();
    Scheduler scheduler("scheduler", 10_us);
    RunnerGroup second(scheduler, 10_us);
    scheduler.set_separation(separation);
    const Core* last = nullptr;
    unsigned turns = 0;
    const auto step = [&](Core& c, std::uint64_t) {
      turns += last != &c;
      last = &c;
    };
    Core a("a", scheduler, 1_ns, 10'000, step);
    Core b("b", second, 1_ns, 10'000, step);
    scheduler.run_until(Time::max());
    REQUIRE(turns <= 10000_ns / separation + 2);
  }
}
