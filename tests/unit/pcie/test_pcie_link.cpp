// SPDX-License-Identifier: Apache-2.0
/// One link between two bare ports: rates, closed forms, ordering rules, credits.
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "models/base/time/calendar.h"
#include "models/base/time/who_waits.h"
#include "models/pcie/link.h"
#include "tests/unit/fresh_kernel.h"

using namespace sluice;
using namespace sluice::base::literals;
using namespace sluice::pcie;

namespace {

struct Arrival {
  base::Time at;
  TlpType type;
  std::uint16_t tag;
};

struct LinkBench {
  std::unique_ptr<Link> link;
  Port upper{"host"};
  Port lower{"device"};
  std::vector<Arrival> arrivals;
  std::vector<TlpPtr> held;
  bool hold = false;

  explicit LinkBench(const Link::Parameters& p = {}) {
    fresh_kernel();
    link = std::make_unique<Link>(base::module_name("pcie.slot0").c_str(), p);
    link->connect(upper, lower);
    upper.on_receive = [this](TlpPtr t) {
      arrivals.push_back({base::now(), t->type, t->tag});
      if (hold)
        held.push_back(std::move(t));
      else
        t->release_buffer();
    };
  }
  void run() {
    while (base::calendar().next() != base::Time::max()) base::calendar().dispatch();
  }
  void run_until(base::Time t) {
    while (base::calendar().next() <= t) base::calendar().dispatch();
    base::calendar().set_now(t);
  }
  void send(TlpType type, std::uint16_t tag, std::uint32_t bytes = 64) {
    TlpPtr t = make_tlp(type);
    t->tag = tag;
    t->cover(0x1'0000'0000, bytes);
    t->resize_payload();
    lower.send(std::move(t));
  }
  std::vector<unsigned> tags() const {
    std::vector<unsigned> v;
    for (const Arrival& a : arrivals) v.push_back(a.tag);
    return v;
  }
};

double gigabits(base::Ratio femtoseconds_per_byte) { return 8e6 / femtoseconds_per_byte.real(); }

}  // namespace

TEST_CASE("rates are the calibration's", "[pcie]") {
  REQUIRE(gigabits(raw_femtoseconds_per_byte(3, 8)) == Approx(63.0).margin(0.05));
  REQUIRE(gigabits(raw_femtoseconds_per_byte(3, 16)) == Approx(126.0).margin(0.05));
  REQUIRE(gigabits(raw_femtoseconds_per_byte(4, 16)) == Approx(252.1).margin(0.05));
  REQUIRE(gigabits(raw_femtoseconds_per_byte(5, 16)) == Approx(504.1).margin(0.05));
  REQUIRE(gigabits(raw_femtoseconds_per_byte(1, 1)) == Approx(2.0));
  REQUIRE(gigabits(raw_femtoseconds_per_byte(2, 4)) == Approx(16.0));

  REQUIRE(gigabits(usable_femtoseconds_per_byte(3, 8, 256)) == Approx(57.9).margin(0.05));
  REQUIRE(gigabits(usable_femtoseconds_per_byte(3, 16, 256)) == Approx(113.7).margin(0.05));
  REQUIRE(gigabits(usable_femtoseconds_per_byte(4, 16, 256)) == Approx(227.5).margin(0.1));
  REQUIRE(gigabits(usable_femtoseconds_per_byte(5, 16, 256)) == Approx(455).margin(0.5));

  REQUIRE(update_limit_symbols(8, 256) == 203);
  REQUIRE(update_limit_symbols(16, 256) == 168);
  REQUIRE(update_limit_symbols(16, 128) == 144);
  REQUIRE(update_limit_symbols(16, 512) == 182);
}

TEST_CASE("a TLP on an idle link takes its wire time and the flight", "[pcie]") {
  LinkBench b;
  b.send(TlpType::kMWr, 1);
  b.run();
  REQUIRE(b.arrivals.size() == 1);
  REQUIRE(b.arrivals[0].at == b.link->up().wire_time(24 + 64) + 5_ns);
  REQUIRE(b.link->up().wire_time(24 + 64).nanoseconds() == Approx(88 * 8 / 113.7).epsilon(0.001));
}

TEST_CASE("effective bandwidth of 64 B writes is the arithmetic's", "[pcie]") {
  // Enso: 82.7 Gb/s with 64-bit addresses on gen3 x16.
  LinkBench b;
  for (unsigned i = 0; i < 100; ++i) b.send(TlpType::kMWr, static_cast<std::uint16_t>(i));
  b.run();
  const double gbps = 100 * 64 * 8 / (b.arrivals.back().at - 5_ns).nanoseconds();
  REQUIRE(gbps == Approx(82.7).epsilon(0.001));
  REQUIRE(b.link->up().statistics().bytes == 100 * 88);
  REQUIRE(b.link->up().statistics().metadata_bytes == 100 * 88);  // nobody said that it was packet payload
  REQUIRE(b.link->up().statistics().busy == b.arrivals.back().at - 5_ns);
  REQUIRE(b.link->up().statistics().tlps[static_cast<unsigned>(TlpType::kMWr)] == 100);
}

TEST_CASE("the ends' pipelines add to every TLP and overlap between TLPs", "[pcie]") {
  LinkBench b;
  b.lower.transmit_latency = 70_ns;
  b.upper.receive_latency = 30_ns;
  b.send(TlpType::kMWr, 1);
  b.send(TlpType::kMWr, 2);
  b.run();
  const base::Time wire = b.link->up().wire_time(88);
  REQUIRE(b.arrivals[0].at == wire + 105_ns);
  REQUIRE(b.arrivals[1].at == wire * 2 + 105_ns);
}

TEST_CASE("posted writes pass requests that wait for credits, nothing passes a posted write", "[pcie]") {
  LinkBench b({.non_posted_headers = 1});
  b.hold = true;
  b.send(TlpType::kMRd, 1);
  b.send(TlpType::kMRd, 2);  // no credit left for it
  b.send(TlpType::kMWr, 3);
  b.send(TlpType::kCpl, 4);
  b.run();
  REQUIRE(b.tags() == std::vector<unsigned>{1, 3, 4});
  REQUIRE(b.link->up().queued(TlpClass::kNonPosted) == 1);
  b.held[0]->release_buffer();
  b.run();
  REQUIRE(b.tags() == std::vector<unsigned>{1, 3, 4, 2});
}

TEST_CASE("requests and completions never pass an older posted write", "[pcie]") {
  LinkBench b({.posted_headers = 1});
  b.hold = true;
  b.send(TlpType::kMWr, 1);
  b.send(TlpType::kCpl, 2);
  b.send(TlpType::kMWr, 3);  // no credit
  b.send(TlpType::kMRd, 4);
  b.send(TlpType::kCpl, 5);
  b.run();
  REQUIRE(b.tags() == std::vector<unsigned>{1, 2});
  b.held[0]->release_buffer();
  b.run();
  REQUIRE(b.tags().size() == 5);
  REQUIRE(b.tags()[2] == 3);
}

TEST_CASE("classes share a busy link in turn", "[pcie]") {
  LinkBench b;
  for (std::uint16_t i = 0; i < 4; ++i) b.send(TlpType::kCpl, i);
  for (std::uint16_t i = 10; i < 12; ++i) b.send(TlpType::kMRd, i);
  b.send(TlpType::kMWr, 20);
  b.run();
  // The posted write waits for one TLP under way, not for the queue; requests and completions take turns.
  REQUIRE(b.tags()[0] == 0);
  REQUIRE(b.tags()[1] == 20);
  REQUIRE(b.tags()[2] == 10);
  REQUIRE(b.tags()[3] == 1);
}

TEST_CASE("header credits run out and come back after the update", "[pcie]") {
  LinkBench b({.posted_headers = 2, .credit_update = 100_ns});
  b.hold = true;
  for (std::uint16_t i = 1; i <= 3; ++i) b.send(TlpType::kMWr, i);
  b.run();
  REQUIRE(b.arrivals.size() == 2);
  REQUIRE(b.link->up().blocked());
  REQUIRE(b.link->up().available(TlpClass::kPosted).messages == 0);
  REQUIRE(base::describe_waits().find("device waits for host: flow-control credits") != std::string::npos);

  b.run_until(1_us);
  b.held[0]->release_buffer();
  b.run();
  // Update and flight to the sender, then the TLP.
  REQUIRE(b.arrivals.size() == 3);
  REQUIRE(b.arrivals[2].at == 1_us + 100_ns + 5_ns + b.link->up().wire_time(88) + 5_ns);
  REQUIRE(base::describe_waits().empty());
  REQUIRE(b.link->up().statistics().credit_stalls == 1);

  b.held[1]->release_buffer();
  b.held[2]->release_buffer();
  b.run_until(3_us);
  REQUIRE(b.link->up().available(TlpClass::kPosted).messages == 2);
}

TEST_CASE("data credits count units of 16 bytes", "[pcie]") {
  LinkBench b({.max_payload = 128_B, .posted_data = 8});
  b.hold = true;
  b.send(TlpType::kMWr, 1, 65);  // 5 units
  b.send(TlpType::kMWr, 2, 48);  // 3
  b.send(TlpType::kMWr, 3, 4);   // 1: too many
  b.run();
  REQUIRE(b.tags() == std::vector<unsigned>{1, 2});
  b.held[1]->release_buffer();
  b.run();
  REQUIRE(b.tags() == std::vector<unsigned>{1, 2, 3});
}

TEST_CASE("a journey tells waiting for credits from waiting for the link", "[pcie]") {
  LinkBench b({.posted_headers = 1, .credit_update = 100_ns});
  b.hold = true;
  const auto host = base::ledger().component("host");
  const base::RequestId id = base::ledger().open(SLUICE_STAGE_nic_queue, host, base::Time{});
  b.send(TlpType::kMWr, 1);
  TlpPtr t = make_tlp(TlpType::kMWr);
  t->cover(0x1000, 4);
  t->resize_payload();
  t->carries_journey = true;
  b.lower.send(std::move(t));
  b.run_until(50_ns);
  b.held[0]->release_buffer();
  b.run();
  b.held[1]->journey.apply(id);
  const auto& tiles = base::ledger().find(id)->tiles;
  const base::Time free = b.link->up().wire_time(88);
  REQUIRE(tiles.size() == 4);
  REQUIRE(tiles[tiles.size() - 3].stage == SLUICE_STAGE_upstream_link);
  REQUIRE(tiles[tiles.size() - 2].stage == SLUICE_STAGE_credit_wait);
  REQUIRE(tiles[tiles.size() - 2].start == free);
  REQUIRE(tiles[tiles.size() - 1].stage == SLUICE_STAGE_upstream_link);
  REQUIRE(tiles[tiles.size() - 1].start == 50_ns + 105_ns);
}

TEST_CASE("a journey has the waits for the credits of messages before it", "[pcie]") {
  LinkBench b({.posted_headers = 1, .credit_update = 100_ns});
  const auto host = base::ledger().component("host");
  const base::RequestId id = base::ledger().open(SLUICE_STAGE_nic_queue, host, base::Time{});
  b.hold = true;
  b.send(TlpType::kMWr, 1);
  b.send(TlpType::kMWr, 2);
  TlpPtr t = make_tlp(TlpType::kMWr);
  t->cover(0x1000, 4);
  t->resize_payload();
  t->carries_journey = true;
  b.lower.send(std::move(t));
  b.run_until(50_ns);
  b.held[0]->release_buffer();  // the second starts at 155 ns
  b.run_until(400_ns);
  b.held[1]->release_buffer();  // the third at 505 ns
  b.run();
  b.held[2]->journey.apply(id);
  const auto& tiles = base::ledger().find(id)->tiles;
  REQUIRE(tiles.size() == 4);
  REQUIRE(tiles[tiles.size() - 3].stage == SLUICE_STAGE_upstream_link);
  REQUIRE(tiles[tiles.size() - 2].stage == SLUICE_STAGE_credit_wait);
  REQUIRE(tiles[tiles.size() - 1].stage == SLUICE_STAGE_upstream_link);
  REQUIRE(tiles[tiles.size() - 1].start == 505_ns);
  const base::Time busy = b.link->up().wire_time(88) * 2;
  REQUIRE(tiles[tiles.size() - 1].start - tiles[tiles.size() - 2].start == 505_ns - busy);
}

TEST_CASE("a cut-through receiver sees the header first and the tail in time", "[pcie]") {
  LinkBench b;
  b.upper.cut_through = true;
  base::Time tail;
  b.upper.on_receive = [&](TlpPtr t) {
    b.arrivals.push_back({base::now(), t->type, t->tag});
    tail = t->tail;
    t->release_buffer();
  };
  b.send(TlpType::kMWr, 1, 256);
  b.run();
  REQUIRE(b.arrivals[0].at == b.link->up().wire_time(16) + 5_ns);
  REQUIRE(tail == b.link->up().wire_time(24 + 256) + 5_ns);
}

TEST_CASE("a tap sees every TLP with the times of its bits", "[pcie]") {
  LinkBench b;
  b.lower.transmit_latency = 70_ns;
  std::vector<std::pair<base::Time, base::Time>> seen;
  b.link->up().add_tap([&](const Tlp& t, base::Time first, base::Time last) {
    REQUIRE(t.encode_header()[0] == 0x60);
    seen.emplace_back(first, last);
  });
  b.send(TlpType::kMWr, 1);
  b.send(TlpType::kMWr, 2);
  b.run();
  const base::Time wire = b.link->up().wire_time(88);
  REQUIRE(seen ==
          std::vector<std::pair<base::Time, base::Time>>{{70_ns, wire + 70_ns}, {wire + 70_ns, wire * 2 + 70_ns}});
}

TEST_CASE("a port has one link", "[pcie]") {
  LinkBench b;
  Port other{"other"};
  Link second("second", {});
  REQUIRE_THROWS_AS(second.connect(b.upper, other), std::logic_error);
}

TEST_CASE("a link's data credits hold at least one packet", "[pcie]") {
  const auto& schema = base::schema_of<Link::Parameters>();
  Link::Parameters p;
  p.posted_data = 15;
  unsigned broken = 0;
  for (const auto& rule : schema.rules()) broken += !rule.broken(&p).empty();
  REQUIRE(broken == 1);
  p.posted_data = 16;
  for (const auto& rule : schema.rules()) REQUIRE(rule.broken(&p).empty());
}
