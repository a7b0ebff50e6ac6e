// SPDX-License-Identifier: Apache-2.0
/// Lines with a home of their own: who waits for what, what a home takes back, and what is displaced.
#include <deque>
#include <functional>

#include <catch2/catch.hpp>

#include "models/base/systemc/model.h"
#include "models/coherence/homed_lines.h"
#include "tests/unit/fresh_kernel.h"

using namespace sluice;
using namespace sluice::base::literals;
using base::LineState;
using coherence::HomedLines;

namespace {

constexpr std::uint64_t kBase = 0x1000'0000;

/// Answers a request after `latency` with a line full of `value`, if `answers` is set.
struct Home : base::LineHome {
  base::LineCaches* caches = nullptr;
  base::Time latency = 1_us;
  bool answers = true, refuses = false;
  std::uint8_t value = 1;
  unsigned resets = 0;
  std::uint64_t last = 0;  ///< number of the latest request
  bool refuses_own = false, taken = false, recalls_at_once = false;
  std::vector<std::pair<std::uint64_t, bool>> asked;
  std::vector<std::pair<std::uint64_t, std::uint8_t>> back;

  void attach(base::LineCaches& c, std::uint64_t) override { caches = &c; }
  void caches_reset() override { ++resets; }
  void line_requested(const base::LineRequest& r) override {
    asked.emplace_back(r.line - kBase, r.own);
    last = r.number;
    if (!answers) return;
    if (latency == base::Time{}) return answer(r.number, r.own);
    base::calendar().after(latency, base::path_key("home"), [this, n = r.number, own = r.own] { answer(n, own); });
  }
  void line_written_back(std::uint64_t line, std::span<const std::uint8_t> bytes) override {
    back.emplace_back(line - kBase, bytes[0]);
  }
  void answer(std::uint64_t request, bool own) {
    if (refuses || (refuses_own && own)) return void(caches->refuse(request));
    const std::vector<std::uint8_t> bytes(64, value);
    taken = caches->grant(request, bytes, own);
    if (recalls_at_once) caches->recall(kBase, LineState::kInvalid);
  }
};

struct Hart : sc_core::sc_module {
  base::Runner runner;
  std::function<void(Hart&)> script;
  SC_HAS_PROCESS(Hart);
  Hart(sc_core::sc_module_name name, base::Scheduler& s, std::function<void(Hart&)> f)
      : sc_module(name), runner(s, this->name()), script(std::move(f)) {
    SC_THREAD(run);
  }
  void run() {
    runner.begin();
    script(*this);
    base::Event never;
    base::wait_for(never, "end", "nobody");
  }
  void at(base::Time t) {
    runner.advance_to(t);
    while (runner.time() >= runner.bound()) runner.yield();
    runner.synchronise();
    base::calendar().set_now(runner.time());
  }
};

struct Bench {
  base::Scheduler scheduler{"scheduler", 100_ns};
  HomedLines lines{64, 2};
  Home home;
  std::deque<std::unique_ptr<Hart>> harts;

  Bench() { lines.add(home, kBase, 4096, "device.home"); }
  void hart(std::function<void(Hart&)> f) {
    harts.push_back(std::make_unique<Hart>(("hart" + std::to_string(harts.size())).c_str(), scheduler, std::move(f)));
  }
  void run() { scheduler.run_until(base::Time::max()); }
  void at(base::Time t, std::function<void()> f) {
    base::calendar().at(t, base::path_key("test"),
                        [f = std::make_shared<std::function<void()>>(std::move(f))] { (*f)(); });
  }
};

struct Watcher : base::LineWatcher {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> told;
  void line_changed(std::uint64_t address, std::uint64_t length) override {
    told.emplace_back(address - kBase, length);
  }
};

}  // namespace

TEST_CASE("a hart waits until its line has come, and not again", "[homed]") {
  Bench b;
  base::Time first, second;
  std::uint8_t value = 0;
  b.hart([&](Hart& h) {
    h.at(500_ns);
    value = *b.lines.hold(0, kBase + 70, false);
    first = h.runner.time();
    b.lines.hold(0, kBase + 127, false);
    second = h.runner.time();
  });
  b.run();
  REQUIRE(value == 1);
  REQUIRE(first == 1500_ns);
  REQUIRE(second == first);
  REQUIRE(b.home.asked == std::vector<std::pair<std::uint64_t, bool>>{{64, false}});
  REQUIRE(b.lines.requests() == 1);
}

TEST_CASE("a home may answer at once", "[homed]") {
  Bench b;
  b.home.latency = base::Time{};
  base::Time done = base::Time::max();
  b.hart([&](Hart& h) {
    b.lines.hold(0, kBase, true);
    done = h.runner.time();
  });
  b.run();
  REQUIRE(done == base::Time{});
}

TEST_CASE("a second hart waits for the same request, and asks again where it wants more", "[homed]") {
  for (const bool own : {false, true}) {
    fresh_kernel();
    Bench b;
    base::Time first, second;
    b.hart([&](Hart& h) {
      b.lines.hold(0, kBase, false);
      first = h.runner.time();
    });
    b.hart([&](Hart& h) {
      h.at(300_ns);
      b.lines.hold(0, kBase, own);
      second = h.runner.time();
    });
    b.run();
    REQUIRE(first == 1_us);
    REQUIRE(second == (own ? 2_us : 1_us));
    REQUIRE(b.home.asked.size() == (own ? 2 : 1));
    REQUIRE(b.lines.probe(kBase).state == (own ? LineState::kModified : LineState::kShared));
  }
}

TEST_CASE("a home takes back what was stored, and the next access asks again", "[homed]") {
  Bench b;
  std::uint8_t recalled = 0, kept = 0, later = 0;
  LineState::State had = LineState::kInvalid, left = LineState::kInvalid;
  b.hart([&](Hart& h) {
    *b.lines.hold(0, kBase + 3, true) = 77;
    h.at(5_us);
    later = *b.lines.hold(0, kBase + 3, false);
  });
  b.at(2_us, [&] { kept = b.lines.recall(kBase, LineState::kShared).bytes[3]; });
  b.at(3_us, [&] {
    left = b.lines.probe(kBase).state;
    const auto held = b.lines.recall(kBase, LineState::kInvalid);
    had = held.state;
    recalled = held.bytes[3];
    b.home.value = 5;
  });
  b.run();
  REQUIRE(kept == 77);
  REQUIRE(left == LineState::kShared);
  REQUIRE(had == LineState::kShared);
  REQUIRE(recalled == 77);
  REQUIRE(later == 5);
  REQUIRE(b.lines.recalls() == 2);
  REQUIRE(b.lines.recall(kBase + 64, LineState::kInvalid).state == LineState::kInvalid);
  REQUIRE(b.lines.probe(kBase + 64).bytes.empty());
}

TEST_CASE("a line that is recalled as it comes is asked for again", "[homed]") {
  Bench b;
  base::Time done;
  std::uint8_t value = 0;
  b.hart([&](Hart& h) {
    value = *b.lines.hold(0, kBase, false);
    done = h.runner.time();
  });
  // After the grant, which also comes at 1 us, and before the hart's turn.
  b.at(1_us, [&] {
    b.home.value = 9;
    b.lines.recall(kBase, LineState::kInvalid);
  });
  b.run();
  REQUIRE(b.home.asked.size() == 2);
  REQUIRE(value == 9);
  REQUIRE(done == 2_us);
}

TEST_CASE("the least recently used line goes, to its home where it was changed", "[homed]") {
  Bench b;
  Watcher watcher;
  b.lines.add_watcher(watcher);
  b.hart([&](Hart&) {
    *b.lines.hold(0, kBase, true) = 10;
    *b.lines.hold(0, kBase + 64, true) = 11;
    b.lines.hold(0, kBase, false);
    b.lines.hold(0, kBase + 128, false);  // displaces +64
    b.lines.hold(0, kBase + 192, false);  // displaces +0
    b.lines.hold(0, kBase + 256, false);  // displaces +128, which nobody has changed
  });
  b.run();
  REQUIRE(b.home.back == std::vector<std::pair<std::uint64_t, std::uint8_t>>{{64, 11}, {0, 10}});
  REQUIRE(b.lines.written_back() == 2);
  REQUIRE(watcher.told == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{64, 64}, {0, 64}, {128, 64}});
}

TEST_CASE("a refused line is nobody's", "[homed]") {
  Bench b;
  b.home.refuses = true;
  std::uint8_t* bytes = &b.home.value;
  b.hart([&](Hart&) { bytes = b.lines.hold(0, kBase, false); });
  b.run();
  REQUIRE(bytes == nullptr);
  REQUIRE(b.lines.probe(kBase).state == LineState::kInvalid);
}

TEST_CASE("a reset ends every wait and drops every line", "[homed]") {
  Bench b;
  std::uint8_t* bytes = &b.home.value;
  base::Time done;
  b.hart([&](Hart& h) {
    b.lines.hold(0, kBase, true);
    b.home.answers = false;
    bytes = b.lines.hold(0, kBase + 64, false);
    done = h.runner.time();
  });
  b.at(5_us, [&] { b.lines.reset(); });
  b.run();
  REQUIRE(bytes == nullptr);
  REQUIRE(done == 5_us);
  REQUIRE(b.lines.probe(kBase).state == LineState::kInvalid);
  REQUIRE(b.home.back.empty());
  REQUIRE(b.home.resets == 1);
}

TEST_CASE("what a reset has withdrawn is answered without effect, and the hart asks under another number", "[homed]") {
  Bench b;
  std::uint8_t value = 0;
  base::Time done;
  b.hart([&](Hart& h) {
    b.lines.hold(0, kBase, false);  // ended by the reset
    value = *b.lines.hold(0, kBase, false);
    done = h.runner.time();
  });
  bool first = true;
  b.at(500_ns, [&] { b.lines.reset(); });
  b.at(1200_ns, [&] {
    first = b.home.taken;  // whether the answer that came at 1 us had an effect
    b.home.value = 8;
  });
  b.run();
  REQUIRE_FALSE(first);
  REQUIRE(value == 8);
  REQUIRE(done == 1500_ns);
}

TEST_CASE("a refusal to one hart is none to another that wants less", "[homed]") {
  Bench b;
  b.home.refuses_own = true;
  std::uint8_t* stored = &b.home.value;
  std::uint8_t* loaded = nullptr;
  base::Time at;
  b.hart([&](Hart&) { stored = b.lines.hold(0, kBase, true); });
  b.hart([&](Hart& h) {
    h.at(300_ns);
    loaded = b.lines.hold(1, kBase, false);
    at = h.runner.time();
  });
  b.run();
  REQUIRE(stored == nullptr);
  REQUIRE(loaded != nullptr);
  REQUIRE(at == 2_us);
}

TEST_CASE("a home that takes each line back as it grants it is told so", "[homed]") {
  Bench b;
  b.home.latency = base::Time{};
  b.home.recalls_at_once = true;
  std::string component, what;
  b.hart([&](Hart&) {
    try {
      b.lines.hold(0, kBase, false);
    } catch (const base::ComponentError& e) {
      component = e.component();
      what = e.what();
    }
  });
  b.run();
  REQUIRE(component == "device.home");
  REQUIRE(what == "it takes each line back as it grants it, and time stands still");
}

TEST_CASE("a home's mistakes are told", "[homed]") {
  Bench b;
  const std::vector<std::uint8_t> bytes(64, 0);
  REQUIRE_THROWS_WITH(b.lines.grant(1, bytes, true), "it grants a line that nobody waits for");
  REQUIRE_THROWS_WITH(b.lines.refuse(1), "it refuses a line that nobody waits for");
  REQUIRE_THROWS_WITH(b.lines.grant(1, {bytes.data(), 8}, true), "it grants a line with 8 bytes, not 64");
  REQUIRE_THROWS_WITH(b.lines.add(b.home, kBase, 4096, "device.other"),
                      "the lines of device.other overlap those of device.home");
  REQUIRE_THROWS_WITH(b.lines.add(b.home, 0, 128, "device.other"),
                      "the lines of device.other are no whole pages of 4096 bytes");
  std::string what;
  b.home.answers = false;
  b.hart([&](Hart&) { b.lines.hold(0, kBase, true); });
  b.at(1_us, [&] {
    try {
      b.lines.grant(b.home.last, bytes, false);
    } catch (const std::logic_error& e) {
      what = e.what();
    }
  });
  b.run();
  REQUIRE(what == "it grants a line to read that a hart is to change");
}
