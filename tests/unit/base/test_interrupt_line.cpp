// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <catch2/catch.hpp>

#include "models/base/fabric/interrupt_line.h"

using namespace sluice::base;
using namespace sluice::base::literals;

namespace {

struct Bench {
  explicit Bench(Time delivery) {
    calendar().clear();
    ledger() = Ledger{};
    line.set_delivery(delivery, "imsic");
    line.on_change = [this](bool level) {
      seen.emplace_back(now(), level);
      for (const RequestId id : InterruptRequests::now()) told.push_back(id);
    };
  }
  void at(Time t, bool level) {
    calendar().at(t, 1, [this, level] { line.set(level); });
  }
  void run() {
    while (calendar().size() > 0) calendar().dispatch();
  }
  InterruptLine line;
  std::vector<std::pair<Time, bool>> seen;
  std::vector<RequestId> told;
};

using Seen = std::vector<std::pair<Time, bool>>;

}  // namespace

TEST_CASE("a rise reaches the hart a delivery later, and a fall at once", "[interrupt_line]") {
  Bench b(20_ns);
  b.at(100_ns, true);
  b.at(105_ns, true);
  b.at(200_ns, false);
  b.run();
  REQUIRE(b.seen == Seen{{120_ns, true}, {200_ns, false}});
}

TEST_CASE("a rise that is taken back on its way never arrives, and the next one takes its own time",
          "[interrupt_line]") {
  Bench b(20_ns);
  b.at(100_ns, true);
  b.at(110_ns, false);
  b.at(115_ns, true);
  b.run();
  REQUIRE(b.seen == Seen{{135_ns, true}});
}

TEST_CASE("requests whose interrupt is taken back on its way wait for one as before", "[interrupt_line]") {
  Bench b(20_ns);
  const auto nic = ledger().component("nic");
  const RequestId waits = ledger().open(SLUICE_STAGE_interrupt, nic, 0_ns);
  const RequestId served = ledger().open(SLUICE_STAGE_interrupt, nic, 0_ns);
  calendar().at(100_ns, 1, [&] {
    const RequestId ids[] = {waits, served};
    const InterruptRequests waiting(ids);
    b.line.set(true);
  });
  // Software has found one of them by itself.
  calendar().at(105_ns, 1, [&] { ledger().enter(served, SLUICE_STAGE_poll, ledger().component("hart"), 105_ns); });
  b.at(110_ns, false);
  b.run();
  CHECK(b.seen.empty());
  const auto& tiles = ledger().find(waits)->tiles;
  REQUIRE(tiles.size() == 3);
  CHECK(tiles[1].stage == SLUICE_STAGE_interrupt_delivery);
  CHECK(tiles[2].stage == SLUICE_STAGE_interrupt);
  CHECK(tiles[2].component == nic);
  CHECK(tiles[2].start == 110_ns);
  CHECK(ledger().find(served)->tiles.back().stage == SLUICE_STAGE_poll);
}

TEST_CASE("without a delivery the hart sees each change at once", "[interrupt_line]") {
  Bench b(0_ns);
  b.at(100_ns, true);
  b.at(100_ns, false);
  b.run();
  REQUIRE(b.seen == Seen{{100_ns, true}, {100_ns, false}});
}

TEST_CASE("requests that wait for an interrupt arrive with it, and later ones at once", "[interrupt_line]") {
  Bench b(20_ns);
  std::vector<RequestId> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(ledger().open(SLUICE_STAGE_interrupt, ledger().component("nic"), 0_ns));
  const RequestId polled = ledger().open(SLUICE_STAGE_poll, ledger().component("hart"), 0_ns);
  const auto raise = [&](Time t, RequestId id) {
    calendar().at(t, 1, [&b, id] {
      const InterruptRequests waiting(Spans(0, 0, id));
      b.line.set(true);
    });
  };
  raise(100_ns, ids[0]);
  raise(110_ns, ids[1]);
  raise(112_ns, polled);
  raise(150_ns, ids[2]);
  b.run();
  REQUIRE(b.told == ids);
  REQUIRE(b.seen == Seen{{120_ns, true}, {150_ns, true}});
  const auto since = [](RequestId id) { return ledger().find(id)->tiles.back().start; };
  REQUIRE(since(ids[0]) == 100_ns);
  REQUIRE(since(ids[1]) == 110_ns);
  REQUIRE(ledger().find(ids[0])->tiles.back().stage == SLUICE_STAGE_interrupt_delivery);
  REQUIRE(ledger().find(ids[2])->tiles.size() == 1);
  REQUIRE(ledger().find(polled)->tiles.size() == 1);
}
