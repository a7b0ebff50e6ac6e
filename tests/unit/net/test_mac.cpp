// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <catch2/catch.hpp>

#include "models/net/mac.h"

using namespace sluice;
using namespace sluice::base::literals;
using net::Mac;
using net::Wire;

namespace {

struct Upper : Mac::Client {
  void mac_received(net::PacketPtr p, base::Time available) override {
    times.push_back(available);
    frames.push_back(std::move(p));
  }
  void mac_dropped(Drop why) override { drops.push_back(why); }
  void link_changed(bool up) override { link.push_back(up); }
  std::vector<base::Time> times;
  std::vector<net::PacketPtr> frames;
  std::vector<Drop> drops;
  std::vector<bool> link;
};

struct Peer : Wire::Client {
  void frame_arrived(net::PacketPtr p) override { frames.push_back(std::move(p)); }
  std::vector<net::PacketPtr> frames;
};

struct Bench {
  Bench() {
    base::calendar().clear();
    base::ledger() = {};
    wire.attach(Wire::kA, peer);
    mac.set_client(upper);
  }
  static void run() {
    while (base::calendar().next() != base::Time::max()) base::calendar().dispatch();
  }
  Wire wire{"wire", Wire::Parameters{100_Gbps, 10_ns}};
  Mac mac{"mac", Mac::Parameters{30_ns, 20_ns}, wire, Wire::kB};
  Upper upper;
  Peer peer;
};

net::PacketPtr frame(std::uint32_t length) {
  net::PacketPtr p = net::make_packet();
  p->length = length;
  std::memset(p->bytes, 0xee, length);
  return p;
}

}  // namespace

TEST_CASE("a received frame leaves the MAC its latency after the last bit", "[mac]") {
  Bench bench;
  net::PacketPtr p = frame(60);
  const base::RequestId id = base::ledger().open(SLUICE_STAGE_wire, bench.wire.component(), 0_ns);
  p->spans = {0, 60, id};
  bench.wire.send(Wire::kA, std::move(p));
  bench.run();
  REQUIRE(bench.upper.times.size() == 1);
  CHECK(bench.upper.times[0] == 10_ns + 5760_ps + 30_ns);
  CHECK(bench.mac.receive_stamp(*bench.upper.frames[0]) == 10_ns + 640_ps);
  const auto* request = base::ledger().find(id);
  REQUIRE(request->tiles.size() == 2);
  CHECK(request->tiles[1].stage == SLUICE_STAGE_mac);
  CHECK(request->tiles[1].start == 10_ns + 5760_ps);
  CHECK(bench.mac.statistics().rx_frames == 1);
  CHECK(bench.mac.statistics().rx_bytes == 60);
}

TEST_CASE("a MAC drops what is damaged, too short or too long, each for its reason", "[mac]") {
  Bench bench;
  auto arrive = [&](std::uint32_t length, bool corrupted = false) {
    net::PacketPtr p = frame(length);
    p->corrupted = corrupted;
    p->spans = {0, length, base::ledger().open(SLUICE_STAGE_wire, bench.wire.component(), base::now())};
    bench.wire.send(Wire::kA, std::move(p));
    bench.run();
  };
  arrive(60);
  arrive(1514);
  CHECK(bench.upper.frames.size() == 2);
  arrive(59);
  arrive(1515);
  arrive(60, true);
  CHECK(bench.upper.frames.size() == 2);
  CHECK(bench.upper.drops == std::vector{Mac::Client::Drop::kRunt, Mac::Client::Drop::kLong, Mac::Client::Drop::kFcs});
  CHECK(base::ledger().dropped().at("runt") == 1);
  CHECK(base::ledger().dropped().at("frame too long") == 1);
  CHECK(base::ledger().dropped().at("bad FCS") == 1);

  bench.mac.set_max_frame(9000);
  arrive(9000);
  CHECK(bench.upper.frames.size() == 3);
}

TEST_CASE("a sent frame is padded and waits for the line inside the MAC", "[mac]") {
  Bench bench;
  net::PacketPtr first = frame(20);
  net::PacketPtr second = frame(60);
  const base::RequestId id = base::ledger().open(SLUICE_STAGE_transmit, bench.mac.component(), 0_ns);
  second->spans = {0, 60, id};
  const auto a = bench.mac.send(std::move(first), 1_ns);
  CHECK(a.start == 21_ns);
  CHECK(a.end == 21_ns + 6720_ps);
  CHECK(bench.mac.backlog(1_ns) == 6720_ps);
  const auto b = bench.mac.send(std::move(second), 2_ns);
  CHECK(b.start == a.end);
  bench.run();
  REQUIRE(bench.peer.frames.size() == 2);
  CHECK(bench.peer.frames[0]->length == 60);
  CHECK(bench.peer.frames[0]->bytes[19] == 0xee);
  CHECK(bench.peer.frames[0]->bytes[20] == 0);
  const auto* request = base::ledger().find(id);
  REQUIRE(request->tiles.size() == 3);
  CHECK(request->tiles[1].stage == SLUICE_STAGE_mac);
  CHECK(request->tiles[1].start == 2_ns);
  CHECK(request->tiles[2].stage == SLUICE_STAGE_wire);
  CHECK(request->tiles[2].start == b.start);
}

TEST_CASE("a MAC whose link is down loses what it is given and tells its client of the change", "[mac]") {
  Bench bench;
  bench.wire.set_up(false);
  CHECK_FALSE(bench.mac.link_up());
  bench.mac.send(frame(60), 0_ns);
  bench.run();
  CHECK(bench.peer.frames.empty());
  CHECK(bench.mac.statistics().tx_link_down == 1);
  CHECK(bench.mac.statistics().tx_frames == 0);
  bench.wire.set_up(true);
  CHECK(bench.upper.link == std::vector<bool>{false, true});
}

TEST_CASE("a MAC that stands still loses what comes, with its requests", "[mac]") {
  Bench bench;
  bench.mac.set_stopped(true);
  net::PacketPtr p = frame(60);
  const base::RequestId id = base::ledger().open(SLUICE_STAGE_wire, bench.wire.component(), 0_ns);
  p->spans = {0, 60, id};
  bench.wire.send(Wire::kA, std::move(p));
  bench.run();
  CHECK(bench.upper.frames.empty());
  CHECK(bench.mac.statistics().rx_stopped == 1);
  CHECK(base::ledger().dropped().at("device stopped") == 1);
  bench.mac.set_stopped(false);
  bench.wire.send(Wire::kA, frame(60));
  bench.run();
  CHECK(bench.upper.frames.size() == 1);
}

TEST_CASE("in loopback what is sent comes back behind both latencies, and the wire carries nothing", "[mac]") {
  Bench bench;
  bench.mac.set_loopback(net::Mac::Loopback::line);
  bench.wire.set_up(false);  // the line does not matter
  bench.upper.link.clear();
  const base::RequestId id = base::ledger().open(SLUICE_STAGE_transmit, bench.mac.component(), 0_ns);
  net::PacketPtr first = frame(40);
  first->spans = {0, 40, id};
  const base::Reservation sent = bench.mac.send(std::move(first), 5_ns);
  const base::Reservation second = bench.mac.send(frame(100), 6_ns);
  bench.run();
  CHECK(sent.start == 5_ns + 20_ns);
  // 60 B after padding, with preamble, FCS and gap: 84 octets of 80 ps.
  CHECK(second.start == sent.start + 6720_ps);
  REQUIRE(bench.upper.times.size() == 2);
  CHECK(bench.upper.times[0] == 25_ns + 5760_ps + 30_ns);
  CHECK(bench.upper.times[1] == second.start + 8960_ps + 30_ns);
  CHECK(bench.upper.frames[0]->length == 60);
  CHECK(bench.peer.frames.empty());
  const auto* request = base::ledger().find(id);
  REQUIRE(request);
  CHECK(request->tiles.back().stage == SLUICE_STAGE_mac);
  CHECK(request->tiles.back().start == 5_ns);
}

TEST_CASE("in loopback what comes from the wire is lost, until a reset ends it", "[mac]") {
  Bench bench;
  bench.mac.set_loopback(net::Mac::Loopback::line);
  bench.wire.send(Wire::kA, frame(60));
  bench.run();
  CHECK(bench.upper.frames.empty());
  CHECK(bench.mac.statistics().rx_stopped == 1);
  bench.mac.reset();
  bench.wire.send(Wire::kA, frame(60));
  bench.mac.send(frame(60), base::now());
  bench.run();
  CHECK(bench.upper.frames.size() == 1);
  CHECK(bench.peer.frames.size() == 1);
}

TEST_CASE("turned around at the interface, a frame comes back when it is given, and has not been in the MAC", "[mac]") {
  Bench bench;
  bench.mac.set_loopback(net::Mac::Loopback::interface);
  bench.wire.set_up(false);
  CHECK(bench.mac.can_send());
  const base::RequestId id = base::ledger().open(SLUICE_STAGE_transmit, bench.mac.component(), 0_ns);
  net::PacketPtr first = frame(40);
  first->spans = {0, 40, id};
  const base::Reservation sent = bench.mac.send(std::move(first), 5_ns);
  const base::Reservation second = bench.mac.send(frame(1514), 6_ns);
  CHECK(bench.upper.frames.empty());
  bench.run();
  CHECK(bench.upper.times == std::vector<base::Time>{5_ns, 6_ns});
  CHECK(sent.end == 5_ns);
  CHECK(second.start == 6_ns);
  CHECK(bench.upper.frames[0]->length == 60);
  CHECK(bench.mac.statistics().tx_frames == 0);
  CHECK(bench.mac.statistics().rx_frames == 0);
  CHECK(bench.mac.statistics().tx_link_down == 0);
  CHECK(base::ledger().find(id)->tiles.size() == 1);
  CHECK(bench.peer.frames.empty());
}

TEST_CASE("what the interface is turning around when a reset comes is lost", "[mac]") {
  Bench bench;
  bench.mac.set_loopback(net::Mac::Loopback::interface);
  bench.mac.send(frame(60), 5_ns);
  bench.mac.reset();
  bench.run();
  CHECK(bench.upper.frames.empty());
  CHECK(bench.mac.statistics().rx_stopped == 1);
  bench.mac.set_loopback(net::Mac::Loopback::interface);
  bench.wire.send(Wire::kA, frame(60));  // as is what the wire brings
  bench.run();
  CHECK(bench.upper.frames.empty());
  CHECK(bench.mac.statistics().rx_stopped == 2);
}
