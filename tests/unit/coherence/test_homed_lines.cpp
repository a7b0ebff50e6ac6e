// SPDX-License-Identifier: Apache-2.0
/// Lines with a home of their own, behind a link: who waits for what, what a home takes back, and what is evicted.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "models/base/time/who_waits.h"
#include "tests/unit/coherence/homed_bench.h"

using namespace sluice;

namespace {

using Asked = std::vector<std::pair<std::uint64_t, bool>>;

}  // namespace

TEST_CASE("a hart waits until its line has come, and not again", "[homed]") {
  Bench b;
  base::Time first, second;
  int value = 0;
  b.hart([&](Hart& h) {
    h.at(500_ns);
    value = h.load(kBase + 70);
    first = h.runner.time();
    h.load(kBase + 127);
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
    h.store(kBase, 5);
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
    h.load(kBase);
    loaded = h.runner.time();
    h.store(kBase + 3, 9);  // the line is there: an upgrade, which has no bytes
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
      h.load(kBase);
      h.store(kBase, 3);
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
      h.store(kBase + 3, 77);
      h.at(5_us);
      h.store(kBase + 3, 78);
      written = h.runner.time();
    });
    b.hart([&](Hart& h) {
      h.at(2_us);
      second = h.load(kBase + 3);
      read = h.runner.time();
      h.at(8_us);
      again = h.load(kBase + 3);
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
    h.store(kBase + 3, 77);
    h.at(5_us);
    later = h.load(kBase + 3);
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
    value = h.load(kBase);
    done = h.runner.time();
    h.load(kBase);
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
    h.load(kBase);
    h.at(3_us);
    value = h.load(kBase);
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
      h.store(kBase + 3, 10);
      h.store(kBase + line + 3, 11);
      h.load(kBase + 3);
      h.load(kBase + 2 * line);  // evicts the second line
      h.load(kBase + 3 * line);  // and the first
      h.load(kBase + 4 * line);  // and the third, which nobody has changed
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
    h.store(kBase + 3, 10);
    h.load(kBase + 64);
    h.load(kBase + 128);  // evicts the first line as it asks: both are answered after 200 ns
    start = h.runner.time();
    h.load(kBase + 64);
    h.load(kBase + 192);  // evicts the third
    h.load(kBase + 128);  // asks again for the third, whose eviction is over
    value = h.load(kBase + 3);
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
    loaded = h.load(kBase);
    b.home.refuses = false;
    again = h.load(kBase);
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
    h.load(kBase);
    stored = h.store(kBase, 4);
    refused = h.runner.time();
    h.load(kBase);
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
    h.store(kBase, 5);
    b.home.answers = false;
    loaded = h.load(kBase + 64);
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
    h.load(kBase);  // ended by the reset
    value = h.load(kBase);
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
  REQUIRE_THROWS_WITH(caches.recall(kBase + 32, base::Recall::nothing),
                      fmt::format("it recalls what is no line of its own, {:#x}", kBase + 32));
  REQUIRE_THROWS_WITH(caches.recall(kBase + 4096, base::Recall::nothing),
                      fmt::format("it recalls what is no line of its own, {:#x}", kBase + 4096));
  REQUIRE_THROWS_WITH(
      caches.unlock(kBase),
      fmt::format("it unlocks a line that it has not recalled, {:#x}: its home knows of nobody who has it", kBase));
  REQUIRE_THROWS_WITH(b.lines.add(b.home, kBase, 4096, "device.other", b.link),
                      "the lines of device.other overlap those of device.home");
  REQUIRE_THROWS_WITH(b.lines.add(b.home, 0, 128, "device.other", b.link),
                      "the lines of device.other are no whole pages of 4096 bytes");
  std::vector<std::string> what;
  b.home.answers = b.home.unlocks = false;
  b.hart([&](Hart& h) { h.store(kBase, 1); });
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
  const std::string open =
      "hart 0 has it asked for to write, its home takes hart 0 to hold nothing; it serves hart 0: read unique, which "
      "the "
      "device has to answer; the device has recalled it";
  REQUIRE(what ==
          std::vector<std::string>{
              fmt::format("it grants a line that it has recalled, {:#x}: {}", kBase, open),
              fmt::format("it recalls a line that it has recalled, {:#x}: {}", kBase, open),
              fmt::format("it grants a line for which it has answered already, {:#x}: hart 0 has it asked for to "
                          "write, its home takes hart 0 to hold exclusive; under way: grant exclusive to hart 0",
                          kBase)});
}

TEST_CASE("caches with lines of another size than a link's are refused", "[homed]") {
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 100_ns};
  HomedLines lines(1, 64, 2, false);
  CoherentLink link("link", coherence::kEci, base::Ratio(0), kNoLatencies);
  Home home;
  REQUIRE_THROWS_WITH(lines.add(home, kBase, 4096, "device.home", link),
                      "ECI has lines of 128 B, and the caches have lines of 64 B");
}

TEST_CASE("a hart gives up a line that does not come in time, and finds it there later", "[homed]") {
  Bench b;
  b.home.latency = 10_us;
  bool first = true;
  std::string why;
  base::Time gave_up, again, written;
  b.hart([&](Hart& h) {
    first = b.lines.hold(0, kBase, false, 4_us) != nullptr;
    gave_up = h.runner.time();
    why = b.lines.why_refused(0);
    h.load(kBase);  // waits for the same answer
    again = h.runner.time();
    h.store(kBase, 1);  // which gave it the line alone
    written = h.runner.time();
  });
  b.run();
  REQUIRE_FALSE(first);
  REQUIRE(gave_up == 4_us);
  REQUIRE(why == "no answer has come within 4 us");
  REQUIRE(again == 10_us);
  REQUIRE(written == 10_us);
  REQUIRE(b.home.asked == Asked{{0, false}});
}

TEST_CASE("what answers a load that was given up is not taken for the answer to a store", "[homed]") {
  Bench b;
  b.home.latency = 10_us;
  b.home.alone = false;
  base::Time written;
  b.hart([&](Hart& h) {
    b.lines.hold(0, kBase, false, 4_us);
    h.store(kBase, 1);
    written = h.runner.time();
  });
  b.run();
  REQUIRE(b.home.asked == Asked{{0, false}, {0, true}});
  REQUIRE(written == 20_us);
}

TEST_CASE("a given up line may be recalled, and refused", "[homed]") {
  for (const bool refuses : {false, true}) {
    Bench b;
    b.home.latency = 10_us;
    b.home.refuses = refuses;
    b.hart([&](Hart&) { b.lines.hold(0, kBase, true, 1_us); });
    b.at(20_us, [&] { b.home.caches->recall(kBase, base::Recall::nothing); });
    b.run();
    REQUIRE(b.home.recalled.size() == 1);
    REQUIRE(b.lines.held(0, kBase, false) == nullptr);
  }
}

TEST_CASE("a link that goes down ends every wait and takes every line, and works again when it is up", "[homed]") {
  Bench b(2);
  Watcher watcher;
  b.lines.add_watcher(0, watcher);
  std::vector<int> loaded;
  std::vector<std::string> why;
  std::vector<base::Time> times;
  const auto load = [&](Hart& h, std::uint64_t address) {
    loaded.push_back(h.load(address));
    why.push_back(b.lines.why_refused(h.number));
    times.push_back(h.runner.time());
  };
  b.hart([&](Hart& h) {
    h.store(kBase + 3, 7);
    b.home.answers = false;
    load(h, kBase + 64);  // held when the link goes down
    load(h, kBase);       // the link is down
    h.at(9_us);
    b.home.answers = true;
    load(h, kBase + 3);
  });
  b.at(5_us, [&] { b.link.hold_down(true); });
  b.at(6_us, [&] { b.link.hold_down(true); });
  b.at(7_us, [&] { b.link.hold_down(false); });
  b.at(8_us, [&] { b.link.hold_down(false); });
  b.run();
  REQUIRE(loaded == std::vector<int>{-1, -1, 1});  // what was stored is lost
  REQUIRE(why == std::vector<std::string>{"link went down", "link is down", ""});
  REQUIRE(times == std::vector<base::Time>{5_us, 5_us, 10_us});
  REQUIRE(b.home.resets == 1);
  REQUIRE(watcher.told == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 64}, {64, 64}});
}

TEST_CASE("an answer at the instant of the timeout is one or the other, and the line is free afterwards", "[homed]") {
  // Which of the two comes first at one time follows from the names of the link and the home.
  for (const char* name : {"link", "eci0", "b", "coherent__x", "other", "z9"}) {
    fresh_kernel();
    base::Scheduler scheduler{"scheduler", 100_ns};
    HomedLines lines(2, 64, 2, false);
    CoherentLink link(name, coherence::kOnDie, base::Ratio(0), kNoLatencies);
    Home home;
    lines.add(home, kBase, 4096, "device.home", link);
    base::Time stored;
    Hart first("first", scheduler, lines, 0, [&](Hart&) {
      if (lines.hold(0, kBase, false, 1_us)) lines.let_go(0);
    });
    Hart second("second", scheduler, lines, 1, [&](Hart& h) {
      h.at(5_us);
      h.store(kBase, 3);
      stored = h.runner.time();
    });
    scheduler.run_until(base::Time::max());
    INFO(name);
    REQUIRE(stored == 6_us);
  }
}

TEST_CASE("a refusal of a load that was given up is none of the store that waits for it", "[homed]") {
  Bench b;
  b.home.latency = 10_us;
  b.home.refuses = true;
  bool stored = false;
  b.hart([&](Hart& h) {
    b.lines.hold(0, kBase, false, 4_us);
    stored = h.store(kBase, 1);
  });
  b.at(11_us, [&] { b.home.refuses = false; });
  b.run();
  REQUIRE(stored);
  REQUIRE(b.home.asked == Asked{{0, false}, {0, true}});
}

TEST_CASE("a home learns whether caches have the line, and each home of a link of its reset once", "[homed]") {
  Bench b(2);
  Home other;
  b.lines.add(other, kBase + 0x10000, 4096, "device.other", b.link);
  b.home.alone = false;
  b.hart([&](Hart& h) { h.load(kBase); });
  b.hart([&](Hart& h) {
    h.at(3_us);
    h.load(kBase);
    h.load(kBase + 64);
  });
  b.at(10_us, [&] {
    b.link.hold_down(true);
    b.link.hold_down(false);
  });
  b.run();
  REQUIRE(b.home.unheld == std::vector<bool>{true, false, true});
  REQUIRE(b.home.resets == 1);
  REQUIRE(other.resets == 1);
  b.lines.reset();
  REQUIRE(b.home.resets == 2);
}

TEST_CASE("a reservation's line that is taken away is told, and one that is only shared is not", "[homed]") {
  Bench b;
  Watcher watcher;
  b.lines.add_watcher(0, watcher);
  b.hart([&](Hart& h) { h.store(kBase, 1); });
  b.at(2_us, [&] { b.home.caches->recall(kBase, base::Recall::to_read); });
  b.at(3_us, [&] { REQUIRE(watcher.told.empty()); });
  b.at(4_us, [&] { b.home.caches->recall(kBase, base::Recall::nothing); });
  b.run();
  REQUIRE(watcher.told == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 64}});
  REQUIRE(b.lines.shares() == 1);  // of two that a hart was asked for the line
}

TEST_CASE("a hart gives back what it holds, and nothing else", "[homed]") {
  for (const auto* dialect : {&coherence::kEci, &coherence::kCxl, &coherence::kOnDie}) {
    Bench b(2, *dialect);
    const std::uint64_t line = b.lines.line_bytes();
    b.hart([&](Hart& h) {
      h.store(kBase + 3, 10);
      h.load(kBase + line);
      b.lines.give_back(0, kBase);
      b.lines.give_back(0, kBase);  // it is under way
      b.lines.give_back(1, kBase + line);
      b.lines.give_back(0, kBase + 2 * line);
      CHECK(b.lines.held(0, kBase + line, false));
      CHECK(h.load(kBase + 3) == 10);
    });
    b.run();
    CHECK(b.home.back == std::vector<std::pair<std::uint64_t, std::uint8_t>>{{0, 10}});
    CHECK(b.lines.evictions() == 1);
    CHECK(b.lines.requests() == 3);
  }
}

TEST_CASE("a stall says which line a hart waits for, and whose", "[homed]") {
  Bench b;
  b.home.answers = false;
  b.hart([&](Hart& h) { h.load(kBase + 70); });
  std::string waits;
  b.at(5_us, [&] { waits = base::describe_waits(); });
  b.run();
  CHECK(waits.find(fmt::format("waits for device.home: cache line {:#x}", kBase + 64)) != std::string::npos);
}
