// SPDX-License-Identifier: Apache-2.0
/// Lines with a home of their own, behind a link: who waits for what, what a home takes back, and what is evicted.
#include <deque>
#include <functional>

#include <catch2/catch.hpp>

#include "models/base/systemc/model.h"
#include "models/coherence/lines/homed_lines.h"
#include "tests/unit/fresh_kernel.h"

using namespace sluice;
using namespace sluice::base::literals;
using coherence::CoherentLatencies;
using coherence::CoherentLink;
using coherence::HomedLines;

namespace {

constexpr std::uint64_t kBase = 0x1000'0000;

/// Answers a request after `latency` with a line full of `value`, if `answers` is set. What comes back is its value.
struct Home : base::LineHome {
  base::LineCaches* caches = nullptr;
  base::Time latency = 1_us;
  bool answers = true, refuses = false, refuses_own = false, alone = true, unlocks = true;
  std::uint8_t value = 1;
  unsigned resets = 0;
  std::uint64_t last = 0;  ///< number of the latest request
  bool taken = false;
  std::vector<std::pair<std::uint64_t, bool>> asked;
  std::vector<unsigned> by;
  std::vector<std::pair<std::uint64_t, std::uint8_t>> back;
  std::vector<std::pair<base::Time, std::uint64_t>> recalled;

  void attach(base::LineCaches& c, std::uint64_t) override { caches = &c; }
  void caches_reset() override { ++resets; }
  void line_requested(const base::LineRequest& r) override {
    asked.emplace_back(r.line - kBase, r.own);
    by.push_back(r.hart);
    last = r.number;
    if (!answers) return;
    if (latency == base::Time{}) return answer(r.number, r.own);
    base::calendar().after(latency, base::path_key("home"), [this, n = r.number, own = r.own] { answer(n, own); });
  }
  void line_written(std::uint64_t line, std::span<const std::uint8_t> bytes) override {
    back.emplace_back(line - kBase, bytes[3]);
    value = bytes[3];
  }
  void line_recalled(std::uint64_t line) override {
    recalled.emplace_back(base::now(), line - kBase);
    if (unlocks) caches->unlock(line);
  }
  void answer(std::uint64_t request, bool own) {
    if (refuses || (refuses_own && own)) return void(caches->refuse(request));
    const std::vector<std::uint8_t> bytes(caches->line_bytes(), value);
    taken = caches->grant(request, bytes, alone);
  }
};

struct Hart : sc_core::sc_module {
  base::Runner runner;
  HomedLines& lines;
  unsigned number;
  std::function<void(Hart&)> script;
  SC_HAS_PROCESS(Hart);
  Hart(sc_core::sc_module_name name, base::Scheduler& s, HomedLines& l, unsigned n, std::function<void(Hart&)> f)
      : sc_module(name), runner(s, this->name()), lines(l), number(n), script(std::move(f)) {
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
  /// -1: refused.
  int load(std::uint64_t offset) {
    const std::uint8_t* bytes = lines.hold(number, kBase + offset, false);
    if (!bytes) return -1;
    const int value = *bytes;
    lines.let_go(number);
    return value;
  }
  bool store(std::uint64_t offset, std::uint8_t value) {
    std::uint8_t* bytes = lines.hold(number, kBase + offset, true);
    if (!bytes) return false;
    *bytes = value;
    lines.let_go(number);
    return true;
  }
};

constexpr CoherentLatencies kNone{0_ns, 0_ns, 0_ns, 0_ns, 0_ns, 0_ns, 0_ns, 0, 0_ns};

struct FreshKernel {
  FreshKernel() { fresh_kernel(); }
};

/// The link takes no time unless a test says so.
struct Bench {
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 100_ns};
  HomedLines lines;
  CoherentLink link;
  Home home;
  std::deque<std::unique_ptr<Hart>> harts;

  explicit Bench(unsigned n = 1, const coherence::Dialect& dialect = coherence::kOnDie, bool has_owned = false,
                 CoherentLatencies latencies = kNone, base::Ratio rate = base::Ratio(0))
      : lines(n, dialect.line_bytes == 0 ? 64 : dialect.line_bytes, 2, has_owned),
        link("link", dialect, rate, latencies) {
    lines.add(home, kBase, 4096, "device.home", link);
  }
  void hart(std::function<void(Hart&)> f) {
    const auto n = static_cast<unsigned>(harts.size());
    harts.push_back(std::make_unique<Hart>(("hart" + std::to_string(n)).c_str(), scheduler, lines, n, std::move(f)));
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

using Asked = std::vector<std::pair<std::uint64_t, bool>>;

}  // namespace

TEST_CASE("a hart waits until its line has come, and not again", "[homed]") {
  Bench b;
  base::Time first, second;
  int value = 0;
  b.hart([&](Hart& h) {
    h.at(500_ns);
    value = h.load(70);
    first = h.runner.time();
    h.load(127);
    second = h.runner.time();
  });
  b.run();
  REQUIRE(value == 1);
  REQUIRE(first == 1500_ns);
  REQUIRE(second == first);
  REQUIRE(b.home.asked == Asked{{64, false}});
  REQUIRE(b.lines.requests() == 1);
}

TEST_CASE("a home may answer at once", "[homed]") {
  Bench b;
  b.home.latency = base::Time{};
  base::Time done = base::Time::max();
  b.hart([&](Hart& h) {
    h.store(0, 5);
    done = h.runner.time();
  });
  b.run();
  REQUIRE(done == base::Time{});
}

TEST_CASE("messages take the link's latencies and its rate", "[homed]") {
  // 1 ns for each byte: 8 for a request; 72 for a line.
  Bench b(1, coherence::kOnDie, false, {3_ns, 10_ns, 20_ns, 30_ns, 40_ns, 0_ns, 0_ns, 0, 0_ns}, base::Ratio(1'000'000));
  base::Time loaded, stored, recalled;
  b.home.alone = false;
  b.hart([&](Hart& h) {
    h.load(0);
    loaded = h.runner.time();
    h.store(3, 9);  // the line is there: an upgrade, which has no bytes
    stored = h.runner.time();
  });
  b.at(10_us, [&] { b.home.caches->recall(kBase, base::Recall::nothing); });
  b.run();
  REQUIRE(loaded == 10_ns + 8_ns + 3_ns + 40_ns + 1_us + 30_ns + 72_ns + 3_ns + 20_ns);
  REQUIRE(stored - loaded == 10_ns + 8_ns + 3_ns + 40_ns + 1_us + 30_ns + 8_ns + 3_ns + 20_ns);
  // The snoop's way, and that of its answer with the line.
  REQUIRE(b.home.recalled.size() == 1);
  REQUIRE(b.home.recalled[0].first == 10_us + 30_ns + 8_ns + 3_ns + 20_ns + 10_ns + 72_ns + 3_ns + 40_ns);
  REQUIRE(b.home.back == std::vector<std::pair<std::uint64_t, std::uint8_t>>{{0, 9}});
  REQUIRE(b.link.down().statistics().bytes == 8 + 8 + 72);
  REQUIRE(b.link.up().statistics().bytes == 72 + 8 + 8);
}

TEST_CASE("a line that a hart has alone is written without a word", "[homed]") {
  for (const bool alone : {true, false}) {
    Bench b;
    b.home.alone = alone;
    base::Time stored;
    b.hart([&](Hart& h) {
      h.load(0);
      h.store(0, 3);
      stored = h.runner.time();
    });
    b.run();
    REQUIRE(stored == (alone ? 1_us : 2_us));
    REQUIRE(b.home.asked == (alone ? Asked{{0, false}} : Asked{{0, false}, {0, true}}));
  }
}

TEST_CASE("each hart has lines of its own, and a home sees who asks", "[homed]") {
  for (const bool has_owned : {false, true}) {
    Bench b(2, coherence::kOnDie, has_owned);
    int second = 0, again = 0;
    base::Time read, written;
    b.hart([&](Hart& h) {
      h.store(3, 77);
      h.at(5_us);
      h.store(3, 78);
      written = h.runner.time();
    });
    b.hart([&](Hart& h) {
      h.at(2_us);
      second = h.load(3);
      read = h.runner.time();
      h.at(8_us);
      again = h.load(3);
    });
    b.run();
    REQUIRE(second == 77);
    REQUIRE(again == 78);
    REQUIRE(read == 3_us);
    REQUIRE(written == 6_us);
    REQUIRE(b.home.asked == Asked{{0, true}, {0, false}, {0, true}, {0, false}});
    REQUIRE(b.home.by == std::vector<unsigned>{0, 1, 0, 1});
    // With MOESI the first hart keeps what it has written, and its bytes go to the other one.
    REQUIRE(b.home.back.size() == (has_owned ? 0 : 2));
  }
}

TEST_CASE("a home takes back what was stored, and the next access asks again", "[homed]") {
  Bench b;
  int later = 0;
  b.hart([&](Hart& h) {
    h.store(3, 77);
    h.at(5_us);
    later = h.load(3);
  });
  b.at(2_us, [&] { b.home.caches->recall(kBase, base::Recall::to_read); });
  b.at(3_us, [&] {
    b.home.caches->recall(kBase, base::Recall::nothing);
    b.home.value = 5;
  });
  b.run();
  REQUIRE(b.home.back == std::vector<std::pair<std::uint64_t, std::uint8_t>>{{0, 77}});
  REQUIRE(b.home.recalled == std::vector<std::pair<base::Time, std::uint64_t>>{{2_us, 0}, {3_us, 0}});
  REQUIRE(later == 5);
  REQUIRE(b.home.asked == Asked{{0, true}, {0, false}});
  REQUIRE(b.lines.recalls() == 2);
}

TEST_CASE("a line that is recalled as it comes is read once", "[homed]") {
  Bench b;
  base::Time done, second;
  int value = 0;
  b.hart([&](Hart& h) {
    value = h.load(0);
    done = h.runner.time();
    h.load(0);
    second = h.runner.time();
  });
  // After the grant, which also comes at 1 us, and before the hart's turn.
  b.at(1_us, [&] {
    b.home.value = 9;
    b.home.caches->recall(kBase, base::Recall::nothing);
  });
  b.run();
  REQUIRE(value == 1);
  REQUIRE(done == 1_us);
  REQUIRE(second == 2_us);
  REQUIRE(b.home.asked.size() == 2);
}

TEST_CASE("requests for a line wait while it is recalled", "[homed]") {
  Bench b;
  b.home.unlocks = false;
  int value = 0;
  base::Time done;
  b.hart([&](Hart& h) {
    h.load(0);
    h.at(3_us);
    value = h.load(0);
    done = h.runner.time();
  });
  b.at(2_us, [&] { b.home.caches->recall(kBase, base::Recall::nothing); });
  b.at(7_us, [&] {
    b.home.value = 6;
    b.home.caches->unlock(kBase);
  });
  b.run();
  REQUIRE(value == 6);
  REQUIRE(done == 8_us);
}

TEST_CASE("the least recently used line goes, to its home where it was changed", "[homed]") {
  // ECI tells the home of unchanged lines, too; CXL does not.
  for (const auto* dialect : {&coherence::kEci, &coherence::kCxl, &coherence::kOnDie}) {
    Bench b(1, *dialect);
    const std::uint64_t line = b.lines.line_bytes();
    Watcher watcher;
    b.lines.add_watcher(0, watcher);
    b.hart([&](Hart& h) {
      h.store(3, 10);
      h.store(line + 3, 11);
      h.load(3);
      h.load(2 * line);  // evicts the second line
      h.load(3 * line);  // and the first
      h.load(4 * line);  // and the third, which nobody has changed
    });
    b.run();
    REQUIRE(b.home.back == std::vector<std::pair<std::uint64_t, std::uint8_t>>{{line, 11}, {0, 10}});
    REQUIRE(b.lines.evictions() == 3);
    REQUIRE(watcher.told ==
            std::vector<std::pair<std::uint64_t, std::uint64_t>>{{line, line}, {0, line}, {2 * line, line}});
    const auto& sent = b.link.down().statistics().kinds;
    REQUIRE(sent[static_cast<unsigned>(coherence::protocol::Kind::write_back)] == 2);
    REQUIRE(sent[static_cast<unsigned>(coherence::protocol::Kind::evict)] == (dialect->has_conflicts ? 0 : 1));
  }
}

TEST_CASE("a hart waits for the end of an eviction before it asks again", "[homed]") {
  Bench b(1, coherence::kOnDie, false, {100_ns, 0_ns, 0_ns, 0_ns, 0_ns, 0_ns, 0_ns, 0, 0_ns});
  b.home.latency = base::Time{};
  base::Time start, done;
  int value = 0;
  b.hart([&](Hart& h) {
    h.store(3, 10);
    h.load(64);
    h.load(128);  // evicts the first line as it asks: both are answered after 200 ns
    start = h.runner.time();
    h.load(64);
    h.load(192);  // evicts the third
    h.load(128);  // asks again for the third, whose eviction is over
    value = h.load(3);
    done = h.runner.time();
  });
  b.run();
  REQUIRE(value == 10);
  REQUIRE(done - start == 600_ns);
}

TEST_CASE("a refused line is nobody's", "[homed]") {
  Bench b;
  b.home.refuses = true;
  int loaded = 0, again = 0;
  b.hart([&](Hart& h) {
    loaded = h.load(0);
    b.home.refuses = false;
    again = h.load(0);
  });
  b.run();
  REQUIRE(loaded == -1);
  REQUIRE(again == 1);
}

TEST_CASE("a refusal to write leaves what may be read", "[homed]") {
  Bench b;
  b.home.refuses_own = true;
  b.home.alone = false;
  bool stored = true;
  base::Time refused, read;
  b.hart([&](Hart& h) {
    h.load(0);
    stored = h.store(0, 4);
    refused = h.runner.time();
    h.load(0);
    read = h.runner.time();
  });
  b.run();
  REQUIRE_FALSE(stored);
  REQUIRE(refused == 2_us);
  REQUIRE(read == refused);
}

TEST_CASE("a reset ends every wait and drops every line", "[homed]") {
  Bench b;
  int loaded = 0;
  base::Time done;
  b.hart([&](Hart& h) {
    h.store(0, 5);
    b.home.answers = false;
    loaded = h.load(64);
    done = h.runner.time();
  });
  b.at(5_us, [&] { b.lines.reset(); });
  b.run();
  REQUIRE(loaded == -1);
  REQUIRE(done == 5_us);
  REQUIRE(b.lines.held(0, kBase, false) == nullptr);
  REQUIRE(b.home.back.empty());
  REQUIRE(b.home.resets == 1);
}

TEST_CASE("what a reset has withdrawn is answered without effect, and the hart asks under another number", "[homed]") {
  Bench b;
  int value = 0;
  base::Time done;
  b.hart([&](Hart& h) {
    h.load(0);  // ended by the reset
    value = h.load(0);
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

TEST_CASE("a home's mistakes are told", "[homed]") {
  Bench b;
  const std::vector<std::uint8_t> bytes(64, 0);
  base::LineCaches& caches = *b.home.caches;
  REQUIRE_THROWS_WITH(caches.grant(1, bytes, true), "it grants a line that nobody waits for");
  REQUIRE_THROWS_WITH(caches.refuse(1), "it refuses a line that nobody waits for");
  REQUIRE_THROWS_WITH(caches.grant(1, {bytes.data(), 8}, true), "it grants a line with 8 bytes, not 64");
  REQUIRE_THROWS_WITH(caches.recall(kBase + 32, base::Recall::nothing), "it recalls what is no line of its own");
  REQUIRE_THROWS_WITH(caches.recall(kBase + 4096, base::Recall::nothing), "it recalls what is no line of its own");
  REQUIRE_THROWS_WITH(caches.unlock(kBase), "it unlocks a line that it has not recalled");
  REQUIRE_THROWS_WITH(b.lines.add(b.home, kBase, 4096, "device.other", b.link),
                      "the lines of device.other overlap those of device.home");
  REQUIRE_THROWS_WITH(b.lines.add(b.home, 0, 128, "device.other", b.link),
                      "the lines of device.other are no whole pages of 4096 bytes");
  std::vector<std::string> what;
  b.home.answers = b.home.unlocks = false;
  b.hart([&](Hart& h) { h.store(0, 1); });
  const auto told = [&](auto f) {
    try {
      f();
    } catch (const std::logic_error& e) {
      what.push_back(e.what());
    }
  };
  b.at(1_us, [&] {
    caches.recall(kBase, base::Recall::nothing);
    told([&] { caches.grant(b.home.last, bytes, true); });
    told([&] { caches.recall(kBase, base::Recall::nothing); });
    caches.unlock(kBase);
    REQUIRE(caches.grant(b.home.last, bytes, true));
    told([&] { caches.grant(b.home.last, bytes, true); });
  });
  b.run();
  REQUIRE(what == std::vector<std::string>{"it grants a line that it has recalled",
                                           "it recalls a line that it has recalled",
                                           "it grants a line that nobody waits for"});
}

TEST_CASE("caches with lines of another size than a link's are refused", "[homed]") {
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 100_ns};
  HomedLines lines(1, 64, 2, false);
  CoherentLink link("link", coherence::kEci, base::Ratio(0), kNone);
  Home home;
  REQUIRE_THROWS_WITH(lines.add(home, kBase, 4096, "device.home", link),
                      "ECI has lines of 128 B, and the caches have lines of 64 B");
}
