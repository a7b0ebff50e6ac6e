// SPDX-License-Identifier: Apache-2.0
/// Requests of the ledger whose bytes lie in lines with homes of their own, and harts that wait for such lines on
/// behalf of one.

#include <catch2/catch.hpp>

#include "models/base/measure/journey.h"
#include "models/base/measure/mistakes.h"
#include "tests/unit/coherence/homed_bench.h"

using namespace sluice;

namespace {

constexpr CoherentLatencies kLatencies{5_ns, 10_ns, 40_ns, 30_ns, 20_ns, {}, {}, 0, {}};
constexpr base::Time kDown = 10_ns + 5_ns + 20_ns, kUp = 30_ns + 5_ns + 40_ns;

struct Tile {
  base::Stage stage;
  std::string component;
  base::Time start;
  bool operator==(const Tile&) const = default;
};

std::vector<Tile> tiles_of(base::RequestId id) {
  std::vector<Tile> tiles;
  for (const auto& t : base::ledger().find(id)->tiles)
    tiles.push_back({t.stage, base::ledger().path(t.component), t.start});
  return tiles;
}

base::RequestId open(base::Stage stage, const char* component) {
  return base::ledger().open(stage, base::ledger().component(component), base::now());
}

/// Grants lines as bytes of the request `of`, and notes what it is told.
struct LedgerHome : Home {
  base::RequestId of = 0;
  std::vector<base::RequestId> served, written;
  base::Journey brought;  ///< of the latest line that came back
  std::function<void(const base::LineRequest&)> on_request;

  void line_requested(const base::LineRequest& r) override {
    served.push_back(r.serves);
    last = r.number;
    if (on_request) on_request(r);
    if (!answers) return;
    base::calendar().after(latency, base::path_key("home"), [this, n = r.number] { give(n); });
  }
  void give(std::uint64_t request) {
    const std::vector<std::uint8_t> bytes(caches->line_bytes(), value);
    caches->grant(request, bytes, alone, of);
  }
  void line_written(const base::LineWritten& w) override {
    written.push_back(w.request);
    brought = w.journey;
  }
};

struct LedgerBench : Bench {
  LedgerHome home;
  explicit LedgerBench(unsigned n = 1, bool has_owned = false) : Bench(n, coherence::kOnDie, has_owned, kLatencies) {
    lines.add(home, kBase + 0x1000, 4096, "device.ledger", link);
  }
};

constexpr std::uint64_t kLine = kBase + 0x1000;

/// Loads on behalf of a request.
int load_for(Hart& h, base::RequestId id, std::uint64_t address = kLine) {
  static const std::string name = "hart";
  const base::AccessSiteScope by({&name, 0, id});
  return h.load(address);
}

}  // namespace

TEST_CASE("a request whose hart waits for a line is where the line's messages are") {
  LedgerBench b;
  base::RequestId x = 0;
  b.hart([&](Hart& h) {
    x = open(SLUICE_STAGE_handler, "hart0");
    h.at(100_ns);
    REQUIRE(load_for(h, x) == 1);
    CHECK(base::now() == 100_ns + kDown + 1_us + kUp);
    CHECK(tiles_of(x) == std::vector<Tile>{{SLUICE_STAGE_handler, "hart0", 0_ns},
                                           {SLUICE_STAGE_coherence_message, "link", 100_ns},
                                           {SLUICE_STAGE_cache_fill, "device.ledger", 100_ns + kDown},
                                           {SLUICE_STAGE_coherence_message, "link", 100_ns + kDown + 1_us}});
    REQUIRE(load_for(h, x, kLine + 8) == 1);  // a hit
    CHECK(tiles_of(x).size() == 4);
  });
  b.run();
  CHECK(b.home.served == std::vector<base::RequestId>{x});
}

TEST_CASE("a home that answers at once holds no request") {
  LedgerBench b;
  b.home.latency = {};
  b.hart([&](Hart& h) {
    const base::RequestId x = open(SLUICE_STAGE_handler, "hart0");
    h.at(100_ns);
    load_for(h, x);
    CHECK(tiles_of(x) ==
          std::vector<Tile>{{SLUICE_STAGE_handler, "hart0", 0_ns}, {SLUICE_STAGE_coherence_message, "link", 100_ns}});
    CHECK(b.lines.held_back(0, 10_us) == std::pair(10_us, 10_us));
  });
  b.run();
}

TEST_CASE("a device that takes a hart's request on has it from then") {
  LedgerBench b;
  base::Journey journey;
  b.home.on_request = [&](const base::LineRequest& r) {
    r.journey.apply(r.serves);
    base::ledger().enter(r.serves, SLUICE_STAGE_transmit, base::ledger().component("device"), base::now());
  };
  b.hart([&](Hart& h) {
    const base::RequestId x = open(SLUICE_STAGE_doorbell, "hart0");
    h.at(100_ns);
    load_for(h, x);
    CHECK(tiles_of(x) == std::vector<Tile>{{SLUICE_STAGE_doorbell, "hart0", 0_ns},
                                           {SLUICE_STAGE_coherence_message, "link", 100_ns},
                                           {SLUICE_STAGE_transmit, "device", 100_ns + kDown}});
  });
  b.run();
  CHECK(base::ledger().clamped() == 0);
}

TEST_CASE("a line brings the request that its bytes belong to") {
  LedgerBench b;
  b.home.answers = false;
  base::RequestId x = 0, y = 0;
  b.hart([&](Hart& h) {
    x = open(SLUICE_STAGE_handler, "hart0");
    h.at(100_ns);
    load_for(h, x);
    CHECK(b.lines.request_of(0, kLine + 8) == y);
    CHECK(b.lines.request_of(0, kLine + 64) == 0);
    CHECK(tiles_of(y) ==
          std::vector<Tile>{{SLUICE_STAGE_wait_core, "nic", 1_us}, {SLUICE_STAGE_coherence_message, "link", 2_us}});
    CHECK(tiles_of(x).size() == 4);
  });
  b.at(1_us, [&] { y = open(SLUICE_STAGE_wait_core, "nic"); });
  b.at(2_us, [&] {
    b.home.of = y;
    b.home.give(b.home.last);
  });
  b.run();
}

TEST_CASE("a hart that waits for bytes of the request that it works on waits once") {
  LedgerBench b;
  base::RequestId x = 0;
  b.home.on_request = [&](const base::LineRequest&) { b.home.of = x; };
  b.hart([&](Hart& h) {
    x = open(SLUICE_STAGE_copy, "hart0");
    h.at(100_ns);
    load_for(h, x);
    CHECK(tiles_of(x).size() == 4);
    CHECK(tiles_of(x).back() == Tile{SLUICE_STAGE_coherence_message, "link", 100_ns + kDown + 1_us});
    CHECK(b.lines.request_of(0, kLine) == x);
  });
  b.run();
}

TEST_CASE("a request in a line that nobody waits for any more waits for a core") {
  LedgerBench b;
  b.home.answers = false;
  base::RequestId y = 0;
  b.hart([&](Hart& h) {
    h.at(100_ns);
    CHECK(b.lines.hold(0, kLine, false, 1_us) == nullptr);
    h.at(3_us);
    CHECK(tiles_of(y) == std::vector<Tile>{{SLUICE_STAGE_nic_queue, "nic", 2_us},
                                           {SLUICE_STAGE_coherence_message, "link", 2_us},
                                           {SLUICE_STAGE_wait_core, "link", 2_us + kUp}});
  });
  b.at(2_us, [&] {
    y = b.home.of = open(SLUICE_STAGE_nic_queue, "nic");
    b.home.give(b.home.last);
  });
  b.run();
}

TEST_CASE("what comes back of a line belongs to the request that software has bound it to") {
  LedgerBench b;
  base::RequestId x = 0;
  b.hart([&](Hart& h) {
    x = open(SLUICE_STAGE_doorbell, "hart0");
    h.at(100_ns);
    h.store(kLine, 7);
    b.lines.set_request_of(0, kLine + 8, x);
    h.at(5_us);
    b.home.caches->recall(kLine, base::Recall::nothing);
    h.at(6_us);
    REQUIRE(b.home.written == std::vector<base::RequestId>{x});
    CHECK(b.home.brought.start() == 5_us);
    b.home.brought.apply(x);
    // Its snoop and its answer are two hops, and one stage.
    CHECK(tiles_of(x) ==
          std::vector<Tile>{{SLUICE_STAGE_doorbell, "hart0", 0_ns}, {SLUICE_STAGE_coherence_message, "link", 5_us}});
  });
  b.run();
}

TEST_CASE("a line that is evicted takes its request along") {
  LedgerBench b;
  base::RequestId x = 0;
  b.hart([&](Hart& h) {
    x = open(SLUICE_STAGE_doorbell, "hart0");
    h.store(kLine, 7);
    b.lines.set_request_of(0, kLine, x);
    h.load(kLine + 64);
    h.at(20_us);
    h.load(kLine + 128);  // a hart holds two
    h.at(30_us);
    REQUIRE(b.home.written == std::vector<base::RequestId>{x});
    CHECK(b.home.brought.start() == 20_us);
    CHECK(b.lines.request_of(0, kLine) == 0);
  });
  b.run();
}

TEST_CASE("a line that a hart may only read keeps its request") {
  LedgerBench b;
  b.home.alone = false;
  base::RequestId y = 0;
  b.home.on_request = [&](const base::LineRequest&) { b.home.of = y; };
  b.hart([&](Hart& h) {
    y = open(SLUICE_STAGE_wait_core, "nic");
    h.load(kLine);
    b.lines.set_request_of(0, kLine, y + 1);
    CHECK(b.lines.request_of(0, kLine) == y);
    // To write it, the hart gets no bytes, and the request stays.
    b.home.of = 0;
    h.store(kLine, 7);
    CHECK(b.lines.request_of(0, kLine) == y);
  });
  b.run();
}

TEST_CASE("bytes that one hart shares with another belong to the request that they belonged to") {
  LedgerBench b(2, true);
  base::RequestId x = 0;
  b.hart([&](Hart& h) {
    x = open(SLUICE_STAGE_doorbell, "hart0");
    h.store(kLine, 7);
    b.lines.set_request_of(0, kLine, x);
  });
  b.hart([&](Hart& h) {
    h.at(20_us);
    CHECK(h.load(kLine) == 7);
    CHECK(b.lines.request_of(1, kLine) == x);
  });
  b.run();
}

TEST_CASE("a hart that may not read a line any more does not know whose bytes it had") {
  // Two harts that share a line ask to write it at once: one of them loses it while it waits.
  LedgerBench b(2);
  b.home.alone = false;
  base::RequestId x = 0;
  for (unsigned n = 0; n < 2; ++n)
    b.hart([&, n](Hart& h) {
      if (n == 0) b.home.of = x = open(SLUICE_STAGE_handler, "device");
      h.at(10_us * n);
      h.load(kLine);
      CHECK(b.lines.request_of(n, kLine) == x);
      h.at(30_us);
      h.store(kLine, 1);
    });
  unsigned lost = 0;
  for (base::Time t = 30_us; t < 34_us; t += 10_ns)
    b.at(t, [&] {
      for (unsigned n = 0; n < 2; ++n) {
        if (b.lines.held(n, kLine, false)) continue;
        ++lost;
        CHECK(b.lines.request_of(n, kLine) == 0);
      }
    });
  b.run();
  CHECK(lost > 10);
}

TEST_CASE("a home is asked by the instruction that waits, also where that asks a second time") {
  // The answer to a load that was given up does not let the store write, which asks again, itself.
  static const std::string name = "hart";
  LedgerBench b;
  b.home.answers = false;
  b.home.alone = false;
  std::vector<std::uint64_t> asked;
  b.home.on_request = [&](const base::LineRequest&) { asked.push_back(base::access_site().pc); };
  b.hart([&](Hart& h) {
    {
      const base::AccessSiteScope by({&name, 0x40, 0});
      CHECK(b.lines.hold(0, kLine, false, 1_us) == nullptr);
    }
    h.at(5_us);
    const base::AccessSiteScope by({&name, 0x44, 0});
    h.store(kLine, 1);
  });
  b.at(6_us, [&] { b.home.give(b.home.last); });
  b.at(7_us, [&] { b.home.give(b.home.last); });
  b.run();
  CHECK(asked == std::vector<std::uint64_t>{0x40, 0x44});
}

TEST_CASE("the time for which a home holds a hart back is that between question and answer") {
  LedgerBench b;
  b.hart([&](Hart& h) {
    CHECK(b.lines.held_back(0, 1_us) == std::pair(1_us, 1_us));
    h.at(100_ns);
    h.load(kLine);
    const base::Time asked = 100_ns + kDown;
    CHECK(b.lines.held_back(0, base::now()) == std::pair(asked, asked + 1_us));
    CHECK(b.lines.held_back(0, asked + 300_ns) == std::pair(asked, asked + 300_ns));
    CHECK(b.lines.held_back(0, asked) == std::pair(asked, asked));
    h.load(kLine);  // a hit: it has waited for nothing
    CHECK(b.lines.held_back(0, base::now()) == std::pair(base::now(), base::now()));
  });
  b.run();
}

TEST_CASE("a home that never answers holds a hart back until that gives up") {
  LedgerBench b;
  b.home.answers = false;
  b.hart([&](Hart& h) {
    h.at(100_ns);
    CHECK(b.lines.hold(0, kLine, false, 3_us) == nullptr);
    CHECK(b.lines.held_back(0, base::now()) == std::pair(100_ns + kDown, base::now()));
  });
  b.run();
}

TEST_CASE("what a home has held back before is not held back again") {
  LedgerBench b;
  b.hart([&](Hart& h) {
    h.at(100_ns);
    h.load(kLine);
    h.at(10_us);
    h.load(kLine + 64);
  });
  // The request is on its way until 10.035 us.
  for (const base::Time t : {10_us + 1_ns, 10_us + 34_ns})
    b.at(t, [&, t] { CHECK(b.lines.held_back(0, t) == std::pair(t, t)); });
  b.at(10_us + 40_ns, [&] { CHECK(b.lines.held_back(0, base::now()) == std::pair(10_us + kDown, base::now())); });
  b.run();
}

TEST_CASE("a hart that gives up before its home is asked has not been held back") {
  LedgerBench b;
  b.hart([&](Hart& h) {
    h.load(kLine);
    h.at(10_us);
    CHECK(b.lines.hold(0, kLine + 64, false, 20_ns) == nullptr);
    CHECK(b.lines.held_back(0, base::now()) == std::pair(base::now(), base::now()));
  });
  b.run();
}

TEST_CASE("a hart that waits again for a line is held back from then on") {
  LedgerBench b;
  b.home.answers = false;
  base::RequestId x = 0;
  b.hart([&](Hart& h) {
    h.at(100_ns);
    CHECK(b.lines.hold(0, kLine, false, 1_us) == nullptr);
    CHECK(b.lines.held_back(0, base::now()) == std::pair(100_ns + kDown, 1_us + 100_ns));
    h.at(5_us);
    x = open(SLUICE_STAGE_handler, "hart0");
    CHECK(load_for(h, x) == 1);
    CHECK(b.lines.held_back(0, base::now()) == std::pair(5_us, 6_us));
    // The messages were those of the first wait, for nobody.
    CHECK(tiles_of(x).size() == 1);
  });
  b.at(6_us, [&] { b.home.give(b.home.last); });
  b.run();
  CHECK(base::ledger().clamped() == 0);
}

TEST_CASE("a request that waits twice for a line is only where its own messages are") {
  LedgerBench b;
  b.home.answers = false;
  b.hart([&](Hart& h) {
    const base::RequestId x = open(SLUICE_STAGE_handler, "hart0");
    h.at(100_ns);
    {
      static const std::string name = "hart";
      const base::AccessSiteScope by({&name, 0, x});
      CHECK(b.lines.hold(0, kLine, false, 1_us) == nullptr);
    }
    base::ledger().enter(x, SLUICE_STAGE_copy, base::ledger().component("hart0"), base::now());
    h.at(5_us);
    CHECK(load_for(h, x) == 1);
    CHECK(tiles_of(x).size() == 2);
  });
  b.at(6_us, [&] { b.home.give(b.home.last); });
  b.run();
  CHECK(base::ledger().clamped() == 0);
}

TEST_CASE("a home is told of a request only with the line that it waits for") {
  LedgerBench b(2);
  b.home.answers = false;
  std::vector<std::uint64_t> numbers;
  base::RequestId x = 0;
  b.home.on_request = [&](const base::LineRequest& r) { numbers.push_back(r.number); };
  b.hart([&](Hart& h) {
    h.at(200_ns);
    CHECK(b.lines.hold(0, kLine, true, 1_us) == nullptr);
    h.at(3_us);
    x = open(SLUICE_STAGE_handler, "hart0");
    CHECK(load_for(h, x, kLine + 64) == 1);
  });
  b.hart([&](Hart& h) {
    h.at(100_ns);
    h.store(kLine, 7);
  });
  b.at(5_us, [&] { b.home.give(numbers[0]); });
  b.at(8_us, [&] {
    for (std::size_t n = 1; n < numbers.size(); ++n) b.home.give(numbers[n]);
  });
  b.run();
  // Of hart 1; of hart 0's second line; of its first, which it has given up.
  CHECK(b.home.served == std::vector<base::RequestId>{0, x, 0});
}

TEST_CASE("a hart has been held back until its caches are reset or its link goes down") {
  for (const bool down : {false, true}) {
    LedgerBench b;
    b.home.answers = false;
    b.hart([&](Hart& h) {
      h.at(100_ns);
      CHECK(h.load(kLine) == -1);
      CHECK(base::now() == 3_us);
      CHECK(b.lines.held_back(0, base::now()) == std::pair(100_ns + kDown, 3_us));
    });
    b.at(3_us, [&] { down ? b.link.hold_down(true) : b.lines.reset(); });
    b.run();
  }
}

TEST_CASE("a request stays with the hart that works on it when another reads its line") {
  LedgerBench b(2, true);
  base::RequestId x = 0;
  b.hart([&](Hart& h) {
    x = open(SLUICE_STAGE_handler, "hart0");
    h.at(100_ns);
    h.store(kLine, 7);
    b.lines.set_request_of(0, kLine, x);
    h.at(30_us);
    CHECK(tiles_of(x).size() == 1);
  });
  b.hart([&](Hart& h) {
    h.at(20_us);
    CHECK(h.load(kLine) == 7);
  });
  b.run();
}
