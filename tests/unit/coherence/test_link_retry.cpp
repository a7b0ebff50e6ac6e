// SPDX-License-Identifier: Apache-2.0
/// A coherent link some of whose messages are damaged, and sent again.
#include <deque>
#include <set>

#include <catch2/catch.hpp>

#include "models/base/fabric/replay.h"
#include "models/base/parameters/random.h"
#include "tests/unit/coherence/homed_bench.h"

using namespace sluice;
using coherence::CoherentProtocol;

namespace {

constexpr CoherentLatencies kLatencies{5_ns, 10_ns, 40_ns, 30_ns, 20_ns, {}, {}, 0, {}};
constexpr base::Time kDown = 10_ns + 5_ns + 20_ns, kUp = 30_ns + 5_ns + 40_ns;
constexpr base::ReplayTiming kTiming{25_ns, 25_ns, 5_us, 2_us, 8};
/// A byte takes 100 ps on the wire: 8 B 0.8 ns, a line behind them 7.2 ns.
const base::Ratio kRate(100'000);
constexpr base::Time kWord = base::Time::ps(800), kLine = base::Time::ps(7200);

/// Damages the messages of these numbers, counted from 1, replays included.
struct Script : base::FaultPlan<CoherentProtocol> {
  std::set<unsigned> hits;
  unsigned seen = 0;
  std::deque<base::MessageFault> faults;
  base::MessageFault* next(const coherence::CoherentMessage&, bool) override {
    return hits.contains(++seen) ? &faults.emplace_back() : nullptr;
  }
};

struct RetryBench : Bench {
  Script up, down;
  base::ReplayLayer<CoherentProtocol> up_layer{"link.up", link.up(), link.down(), kTiming, up};
  base::ReplayLayer<CoherentProtocol> down_layer{"link.down", link.down(), link.up(), kTiming, down};
  explicit RetryBench(unsigned n = 1, const coherence::Dialect& dialect = coherence::kOnDie)
      : Bench(n, dialect, false, kLatencies, kRate) {
    home.latency = {};
  }
};

/// When the first load of a line ends, with these messages damaged.
base::Time load_ends(std::set<unsigned> up, std::set<unsigned> down) {
  RetryBench b;
  b.up.hits = std::move(up);
  b.down.hits = std::move(down);
  base::Time end;
  b.hart([&](Hart& h) {
    h.at(1_us);
    CHECK(h.load(kBase) == 1);
    end = base::now();
  });
  b.run();
  return end - 1_us;
}

}  // namespace

TEST_CASE("a damaged message arrives after a request to send it again, and again after its time on the wire") {
  const base::Time whole = kWord + kDown + kLine + kUp;
  CHECK(load_ends({}, {}) == whole);
  // The request to send again is a word on the other direction, and its flight.
  const base::Time asked = 25_ns + kWord + 5_ns;
  CHECK(load_ends({}, {1}) == whole + asked + kWord + kDown);
  CHECK(load_ends({1}, {}) == whole + asked + kLine + kUp);
  CHECK(load_ends({1}, {1}) == whole + asked * 2 + kWord + kDown + kLine + kUp);
}

TEST_CASE("a message that is damaged twice waits for the sender's timer") {
  const base::Time whole = kWord + kDown + kLine + kUp;
  const base::Time first = load_ends({}, {1}) - whole;
  const base::Time twice = load_ends({}, {1, 2});
  CHECK(twice > whole + first + 5_us);
  CHECK(twice < whole + first + 5_us + 1_us);
}

TEST_CASE("what is behind a damaged message is sent again with it, in order") {
  RetryBench b(2);
  b.down.hits = {1};
  std::vector<unsigned> order;
  b.hart([&](Hart& h) {
    h.at(1_us);
    h.load(kBase);
    order.push_back(0);
  });
  b.hart([&](Hart& h) {
    h.at(1_us + base::Time::ps(1));
    h.load(kBase + 64);
    order.push_back(1);
  });
  b.run();
  CHECK(order == std::vector<unsigned>{0, 1});
  REQUIRE(b.down.faults.size() == 1);
  CHECK(b.down.faults[0].replayed == 2);
  CHECK(b.down.faults[0].replayed_bytes == 16);
  CHECK(b.down.faults[0].naks == 1);
}

TEST_CASE("a message that is to be sent again is under way for a diagnosis") {
  RetryBench b;
  b.down.hits = {1};
  b.hart([&](Hart& h) {
    h.at(1_us);
    h.load(kBase);
  });
  std::vector<std::string> told;
  const auto note = [&] { told.push_back(b.link.describe(kBase)); };
  b.at(1_us + kWord + kDown - 1_ns, note);
  b.at(1_us + kWord + kDown + 1_ns, note);  // damaged
  b.at(1_us + kWord + kDown + 25_ns + kWord + 5_ns + kWord, note);
  b.at(5_us, note);
  b.run();
  CHECK(told ==
        std::vector<std::string>{"read shared from hart 0", "read shared from hart 0", "read shared from hart 0", ""});
}

TEST_CASE("whatever is damaged, harts and home agree", "[slow]") {
  for (const auto* dialect : {&coherence::kOnDie, &coherence::kEci, &coherence::kCxl})
    for (unsigned seed = 1; seed <= 10; ++seed) {
      base::RandomStream random({seed, 0}, "test", "damage");
      RetryBench b(3, *dialect);
      for (auto* script : {&b.up, &b.down})
        for (unsigned n = 1; n < 2000; ++n)
          if (random.below(5) == 0) script->hits.insert(n);
      b.lines.check();
      unsigned sum = 0;
      for (unsigned n = 0; n < 3; ++n)
        b.hart([&, n](Hart& h) {
          for (unsigned i = 0; i < 40; ++i) {
            h.at(10_us * i + 1_ns * n);
            ++b.lines.hold(n, kBase, true)[3];
            b.lines.let_go(n);
          }
        });
      b.run();
      sum = b.home.value;
      for (unsigned n = 0; n < 3; ++n)
        if (const std::uint8_t* const held = b.lines.held(n, kBase, false)) sum = held[3];
      CHECK(sum == 1 + 3 * 40);
      CHECK(b.up.faults.size() + b.down.faults.size() > 50);
    }
}
