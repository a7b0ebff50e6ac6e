// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <catch2/catch.hpp>

#include "models/net/wire.h"

using namespace sluice;
using namespace sluice::base::literals;
using net::Wire;

namespace {

struct End : Wire::Client {
  void frame_arrived(net::PacketPtr p) override {
    times.push_back(base::now());
    frames.push_back(std::move(p));
  }
  void carrier_changed(bool up) override { carrier.push_back(up); }
  std::vector<base::Time> times;
  std::vector<net::PacketPtr> frames;
  std::vector<bool> carrier;
};

struct Bench {
  Bench() {
    base::calendar().clear();
    base::ledger() = {};
    wire.attach(Wire::kA, a);
    wire.attach(Wire::kB, b);
  }
  static void run() {
    while (base::calendar().next() != base::Time::max()) base::calendar().dispatch();
  }
  Wire wire{"wire", Wire::Parameters{100_Gbps, 10_ns}};
  End a, b;
};

net::PacketPtr frame(std::uint32_t length, std::uint8_t fill = 0x5a) {
  net::PacketPtr p = net::make_packet();
  p->length = length;
  std::memset(p->bytes, fill, length);
  return p;
}

/// Gives the frames from end A the fates in turn; all other frames arrive.
struct Plan : Wire::FaultPlan {
  Fate fate_of(Wire::End from, net::Packet& p, base::Time start) override {
    starts.push_back(start);
    lengths.push_back(p.length);
    return from == Wire::kA && next < fates.size() ? fates[next++] : Fate::arrives;
  }
  std::vector<Fate> fates;
  std::size_t next = 0;
  std::vector<base::Time> starts;
  std::vector<std::uint32_t> lengths;
};

}  // namespace

TEST_CASE("a plan loses frames and breaks their FCS, and the line is as busy as ever", "[wire]") {
  Bench bench;
  Plan plan;
  plan.fates = {Plan::Fate::lost, Plan::Fate::corrupted, Plan::Fate::arrives};
  bench.wire.set_faults(&plan);
  for (std::uint32_t length = 60; length < 64; ++length) bench.wire.send(Wire::kA, frame(length));
  bench.wire.send(Wire::kB, frame(70));
  bench.run();
  CHECK(plan.lengths == std::vector<std::uint32_t>{60, 61, 62, 63, 70});
  CHECK(plan.starts[1] == 6720_ps);  // when its first bit leaves, not when it was given to the wire
  REQUIRE(bench.b.frames.size() == 3);
  CHECK(bench.b.frames[0]->length == 61);
  CHECK(bench.b.frames[0]->corrupted);
  CHECK(bench.b.times[0] == 6720_ps + 10_ns + 5840_ps);
  CHECK_FALSE(bench.b.frames[1]->corrupted);
  CHECK(bench.a.frames.size() == 1);
  const Wire::Statistics& s = bench.wire.statistics(Wire::kA);
  CHECK(s.frames == 4);
  CHECK(s.delivered == 3);
  CHECK(s.lost == 1);
}

TEST_CASE("a request in a frame that is lost is dropped with the reason", "[wire]") {
  Bench bench;
  Plan plan;
  plan.fates = {Plan::Fate::lost, Plan::Fate::lost};
  bench.wire.set_faults(&plan);
  std::vector<std::pair<std::string, base::Time>> drops;
  base::ledger().on_drop([&](const base::Ledger::Request&, std::string_view reason, base::Time t) {
    drops.emplace_back(std::string(reason), t);
  });
  for (int i = 0; i < 2; ++i) {
    net::PacketPtr p = frame(60);
    p->spans.add({0, 60, base::ledger().open(SLUICE_STAGE_wire, 0, 0_ns)});
    bench.wire.send(Wire::kA, std::move(p));
  }
  base::calendar().at(20_ns, 1, [&] { bench.wire.set_up(false); });
  bench.run();
  REQUIRE(drops.size() == 2);
  CHECK(drops[0] == std::pair<std::string, base::Time>("frame lost", 10_ns + 5760_ps));
  CHECK(drops[1].first == "link down");  // the frame was under way when the link went down
}

TEST_CASE("a frame arrives with its last bit", "[wire]") {
  Bench bench;
  const auto sent = bench.wire.send(Wire::kA, frame(60));
  CHECK(sent.start == 0_ns);
  CHECK(sent.end == 6720_ps);  // 84 octets of 80 ps
  bench.run();
  REQUIRE(bench.b.times.size() == 1);
  CHECK(bench.b.times[0] == 10_ns + 5760_ps);  // 72 octets
  CHECK(bench.b.frames[0]->sent == 0_ns);
  CHECK(bench.b.frames[0]->first_bit == 10_ns);
  CHECK(bench.b.frames[0]->last_bit == 10_ns + 5760_ps);
  CHECK(bench.a.frames.empty());
}

TEST_CASE("frames of one direction follow each other after the gap, the other direction is free", "[wire]") {
  Bench bench;
  for (std::uint8_t i = 0; i < 3; ++i) bench.wire.send(Wire::kA, frame(60, i));
  bench.wire.send(Wire::kB, frame(1514));
  CHECK(bench.wire.next_start(Wire::kA) == 6720_ps * 3);
  bench.run();
  REQUIRE(bench.b.times.size() == 3);
  for (unsigned i = 0; i < 3; ++i) {
    CHECK(bench.b.times[i] == 10_ns + 5760_ps + 6720_ps * i);
    CHECK(bench.b.frames[i]->bytes[0] == i);
  }
  REQUIRE(bench.a.times.size() == 1);
  CHECK(bench.a.times[0] == 10_ns + 80_ps * (8 + 1514 + 4));
  CHECK(bench.wire.statistics(Wire::kA).bytes == 180);
  CHECK(bench.wire.statistics(Wire::kA).busy == 6720_ps * 3);
}

TEST_CASE("a request's wire stage starts with the first bit, not with the wait for the line", "[wire]") {
  Bench bench;
  bench.wire.send(Wire::kA, frame(60));
  net::PacketPtr second = frame(60);
  const base::RequestId id = base::ledger().open(SLUICE_STAGE_transmit, 0, 0_ns);
  second->spans = {0, 60, id};
  bench.wire.send(Wire::kA, std::move(second), 1_ns);
  const auto* request = base::ledger().find(id);
  REQUIRE(request->tiles.size() == 2);
  CHECK(request->tiles[1].stage == SLUICE_STAGE_wire);
  CHECK(request->tiles[1].start == 6720_ps);
}

TEST_CASE("frames sent or under way while the carrier is down are lost with their requests", "[wire]") {
  Bench bench;
  const auto component = bench.wire.component();
  auto with_request = [&] {
    net::PacketPtr p = frame(60);
    p->spans = {0, 60, base::ledger().open(SLUICE_STAGE_wire, component, base::now())};
    return p;
  };
  bench.wire.send(Wire::kA, with_request());
  base::calendar().at(5_ns, 1, [&] { bench.wire.set_up(false); });
  base::calendar().at(6_ns, 1, [&] { bench.wire.send(Wire::kA, with_request()); });
  base::calendar().at(7_ns, 1, [&] { bench.wire.set_up(true); });
  base::calendar().at(8_ns, 1, [&] { bench.wire.send(Wire::kA, with_request()); });
  bench.run();
  CHECK(bench.b.frames.size() == 1);
  CHECK(bench.b.times[0] == 8_ns + 10_ns + 5760_ps);
  CHECK(base::ledger().dropped().at("link down") == 2);
  CHECK(bench.wire.statistics(Wire::kA).lost == 2);
  CHECK(bench.wire.statistics(Wire::kA).delivered == 1);
  CHECK(bench.wire.statistics(Wire::kA).frames == 3);
  CHECK(bench.a.carrier == std::vector<bool>{false, true});
  CHECK(bench.b.carrier == std::vector<bool>{false, true});
}

TEST_CASE("a carrier is down while anyone keeps it down", "[wire]") {
  Bench bench;
  bench.wire.hold_down(true);
  bench.wire.hold_down(true);
  bench.wire.hold_down(false);
  CHECK_FALSE(bench.wire.up());
  bench.wire.hold_down(false);
  CHECK(bench.wire.up());
  CHECK(bench.a.carrier == std::vector<bool>{false, true});
}

TEST_CASE("taps see each frame once per end, in order of time", "[wire]") {
  Bench bench;
  std::vector<std::pair<Wire::Direction, base::Time>> seen;
  bench.wire.add_tap(Wire::kA, [&](const net::Packet& p, Wire::Direction d, base::Time t) {
    CHECK(p.length == 60);
    seen.emplace_back(d, t);
  });
  bench.wire.send(Wire::kA, frame(60));
  bench.wire.send(Wire::kB, frame(60));
  bench.wire.send(Wire::kA, frame(60), 20_ns);
  bench.run();
  REQUIRE(seen.size() == 3);
  CHECK(seen[0] == std::pair{Wire::Direction::kSent, base::Time{}});
  CHECK(seen[1] == std::pair{Wire::Direction::kReceived, 15760_ps});
  CHECK(seen[2] == std::pair{Wire::Direction::kSent, 20_ns});
}

TEST_CASE("frames go back to the pool, and are made anew without old flags", "[packet]") {
  const std::size_t held = net::PacketPool::instance().taken();
  {
    net::PacketPtr p = frame(100);
    p->corrupted = true;
    p->spans = {0, 10, 77};
    net::PacketPtr moved = std::move(p);
    CHECK_FALSE(p);
    CHECK(net::PacketPool::instance().taken() == held + 1);
  }
  CHECK(net::PacketPool::instance().taken() == held);
  const net::PacketPtr again = net::make_packet();
  CHECK_FALSE(again->corrupted);
  CHECK(again->request() == 0);
  CHECK(again->length == 0);
  const std::vector<std::uint8_t> big(net::Packet::kCapacity + 1);
  CHECK_FALSE(net::make_packet(big.data(), big.size()));
  CHECK(net::make_packet(big.data(), big.size() - 1)->length == net::Packet::kCapacity);
}

TEST_CASE("a wire's statistics give its share of the line rate", "[wire]") {
  Bench bench;
  bench.wire.publish_statistics();
  base::StatisticsGroup& all = base::statistics();
  all.start_measuring(base::now());
  for (unsigned i = 0; i < 5; ++i) bench.wire.send(Wire::kB, frame(60));
  bench.run();
  CHECK(all.value("wire.b_to_a.frames") == 5);
  CHECK(all.value("wire.b_to_a.bytes") == 300);
  CHECK(all.value("wire.b_to_a.delivered") == 5);
  CHECK(all.value("wire.a_to_b.frames") == 0);
  CHECK_THAT(base::statistics_text(all, 67200_ps), Catch::Matchers::Contains("0.5"));
}
