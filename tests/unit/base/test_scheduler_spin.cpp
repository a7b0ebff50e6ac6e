// SPDX-License-Identifier: Apache-2.0
/// Runners whose turns are arithmetic do, and are seen to do, what they do by themselves.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "models/base/systemc/runner_set.h"
#include "models/base/systemc/scheduler.h"
#include "models/base/time/key.h"
#include "tests/unit/base/scheduler_core.h"
#include "tests/unit/fresh_kernel.h"

using namespace sluice;
using namespace sluice::base;
using namespace sluice::base::literals;

namespace {

/// Reads a flag in each of its instructions, and works for a time when the flag has changed.
class Poller : public sc_core::sc_module {
 public:
  Poller(const sc_core::sc_module_name& name, RunnerGroup& group, Time cost, const std::uint64_t& flag)
      : sc_module(name), runner(group, this->name()), cost_(cost), flag_(flag) {
    runner.on_spin([this] { return flag_ == seen_; }, [this](Time until) { pass(until); });
    SC_HAS_PROCESS(Poller);
    SC_THREAD(run);
  }
  /// What somebody sees who looks at it.
  std::string look() {
    runner.settle();
    return std::to_string(instructions) + " at " + std::to_string(runner.time().femtoseconds());
  }

  Runner runner;
  std::uint64_t instructions = 0, passed = 0;
  std::vector<std::pair<Time, std::uint64_t>> changes;
  std::function<void(std::uint64_t)> on_change = [](std::uint64_t) {};

 private:
  void run() {
    runner.begin();
    for (;;) {
      if (runner.time() >= runner.bound()) {
        time_ = runner.time();
        runner.set_spinning(runner.may_spin() && flag_ == seen_);
        runner.yield();
        runner.settle();
        runner.set_spinning(false);
        continue;
      }
      calendar().set_now(runner.time());
      ++instructions;
      if (flag_ != seen_) {
        seen_ = flag_;
        changes.emplace_back(runner.time(), seen_);
        on_change(seen_);
        runner.advance_to(runner.time() + cost_ * (seen_ % 5));
      }
      runner.advance_to(runner.time() + cost_);
    }
  }
  void pass(Time until) {
    if (time_ < until) {
      const std::uint64_t n = (until - time_ + cost_ - 1_fs) / cost_;
      time_ += cost_ * n;
      instructions += n;
      passed += n;
    }
    runner.set_time(time_);
  }

  const Time cost_;
  const std::uint64_t& flag_;
  std::uint64_t seen_ = 0;
  Time time_;
};

/// Pollers, cores that change flags as they execute, and cores that sleep until an entry wakes them; in one group or
/// two, drawn by a number.
struct Board {
  Board(std::uint64_t seed, bool spins) : random(seed), scheduler("scheduler", Time::ns(1 + below(60))) {
    scheduler.let_spin(spins);
    scheduler.set_separation(kLink);
    if (below(4) == 0) second = std::make_unique<RunnerGroup>(scheduler, Time::ns(1 + below(60)));
    const unsigned count = 1 + below(6);
    // Alone in a group, nobody else meets its memory but by entries.
    const bool by_entries = second || count == 1;
    for (unsigned r = 0; r < count; ++r) {
      RunnerGroup& group = second && below(2) ? *second : scheduler.first_group();
      const std::string name = "r" + std::to_string(r);
      const Time cost = Time::ps(100 + below(9'000));
      if (r == 0 || below(3) != 0)
        pollers.push_back(std::make_unique<Poller>(name.c_str(), group, cost, flags[below(kFlags)]));
      else if (below(2))
        cores.push_back(std::make_unique<Core>(name.c_str(), group, cost, 1 + below(20'000),
                                               [this, by_entries, every = 5 + below(500)](Core& c, std::uint64_t n) {
                                                 for (const std::uint64_t& flag : flags) c.see(by_entries ? 0 : flag);
                                                 if (n % every == 0 && !by_entries) flags[n / every % kFlags] += n % 3;
                                                 if (n % (7 * every) != 3) return;
                                                 c.runner.synchronise();
                                                 calendar().at(now() + kLink, path_key(c.runner.path()),
                                                               [this, n] { flags[n % kFlags] += 1; });
                                               }));
      else
        cores.push_back(
            std::make_unique<Core>(name.c_str(), group, cost, 1 + below(20'000), [this](Core& c, std::uint64_t n) {
              c.see(n);
              if (n % 40 == 0) wait_for(wakes, "an entry", "the calendar");
            }));
    }
    for (auto& p : pollers)
      if (!by_entries && below(2))
        p->on_change = [this, of = below(kFlags)](std::uint64_t seen) { flags[of] += seen % 2; };
    for (unsigned n = 0; n < 60; ++n) {
      calendar().at(Time::ps(below(40'000'000)), 1 + n,
                    [this, flag = below(kFlags), by = below(2)] { flags[flag] += by; });
      calendar().at(Time::ps(below(40'000'000)), 100 + n, [this] { wakes.notify(); });
      calendar().at(Time::ps(below(40'000'000)), 200 + n, [this, which = below(8)] {
        if (which < pollers.size()) looks.push_back(pollers[which]->look());
        looks.push_back(std::to_string(scheduler.only_entries()));
      });
    }
  }
  unsigned below(std::uint64_t n) { return static_cast<unsigned>(random() % n); }

  std::vector<std::string> run() {
    for (const std::uint64_t end : {7'000'000u, 7'000'001u, 30'123'456u, 50'000'000u}) {
      scheduler.run_until(Time::ps(end));
      for (auto& p : pollers) looks.push_back(p->look());
    }
    for (auto& p : pollers)
      for (const auto& [time, flag] : p->changes)
        looks.push_back(std::to_string(flag) + " seen at " + std::to_string(time.femtoseconds()));
    for (auto& c : cores) looks.push_back(std::to_string(c->trace));
    return looks;
  }
  std::uint64_t passed() const {
    std::uint64_t sum = 0;
    for (const auto& p : pollers) sum += p->passed;
    return sum;
  }

  static constexpr unsigned kFlags = 4;
  static constexpr Time kLink = 150_ns;  ///< from one group to the other
  std::mt19937_64 random;
  Scheduler scheduler;
  std::unique_ptr<RunnerGroup> second;
  std::uint64_t flags[kFlags] = {};
  Event wakes;
  std::vector<std::unique_ptr<Poller>> pollers;
  std::vector<std::unique_ptr<Core>> cores;
  std::vector<std::string> looks;
};

}  // namespace

TEST_CASE("runners that spin are seen to do what they do by themselves", "[scheduler]") {
  std::uint64_t passed = 0, executed = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    fresh_kernel();
    std::vector<std::string> expected;
    {
      Board board(seed, false);
      expected = board.run();
      REQUIRE(board.passed() == 0);
    }
    fresh_kernel();
    Board board(seed, true);
    CAPTURE(seed);
    REQUIRE(board.run() == expected);
    passed += board.passed();
    for (const auto& p : board.pollers) executed += p->instructions - p->passed;
  }
  CHECK(passed > 5 * executed);
}

TEST_CASE("a set of runners has the places that were put in, in their order", "[scheduler]") {
  RunnerSet a, b, both;
  for (RunnerSet* s : {&a, &b, &both}) s->grow(130);
  CHECK(a.empty());
  CHECK(a.first() == RunnerSet::kNone);
  for (const std::size_t place : {129u, 64u, 63u}) a.put(place, true);
  b.put(0, true);
  b.put(64, true);
  CHECK(a.first() == 63);
  a.put(63, false);
  CHECK(a.first() == 64);
  both.put(7, true);
  both.assign_union(a, b);
  std::vector<std::size_t> places;
  CHECK(both.all([&](std::size_t place) { return places.push_back(place), true; }));
  CHECK(places == std::vector<std::size_t>{0, 64, 129});
  CHECK(!both.all([](std::size_t place) { return place < 64; }));
}
