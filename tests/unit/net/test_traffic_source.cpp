// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "models/net/traffic/echo_peer.h"
#include "models/net/traffic/traffic_source.h"
#include "tests/unit/net/traffic_bench.h"

using namespace sluice;
using namespace sluice::net;
using namespace sluice::base::literals;

TEST_CASE("one call at a time takes exactly wire, server and wire", "[traffic]") {
  Bench b(closed_loop(1, 50));
  const auto& r = b.go();
  REQUIRE(r.sent == 50);
  REQUIRE(r.completed == 50);
  REQUIRE(r.errors == 0);
  REQUIRE(r.in_flight() == 0);
  REQUIRE(b.finishes == 1);
  REQUIRE(base::calendar().next() == base::Time::max());
  // A null call has 82 bytes, its reply 66: with preamble and FCS 94 and 78 octets of 80 ps, twice 10 ns of flight.
  const base::Time expected = base::Time::ps(94 * 80 + 78 * 80) + 20_ns + 1_us;
  REQUIRE(r.latency.min() == expected.femtoseconds());
  REQUIRE(r.latency.max() == expected.femtoseconds());
  REQUIRE(base::ledger().completed() == 50);
  REQUIRE(base::ledger().total_latency() == r.latency.sum());
  const auto wire = base::ledger().component("wire"), server = base::ledger().component("server");
  REQUIRE(base::ledger().total(wire, SLUICE_STAGE_wire).femtoseconds ==
          50 * (base::Time::ps(94 * 80 + 78 * 80) + 20_ns).femtoseconds());
  REQUIRE(base::ledger().total(server, SLUICE_STAGE_handler).femtoseconds == 50 * (1_us).femtoseconds());
  REQUIRE(base::ledger().error().empty());
}

TEST_CASE("every program's replies are checked and right", "[traffic]") {
  for (const char* program : {"null", "echo", "add", "checksum", "sort", "spin", "kv", "raw"}) {
    CAPTURE(program);
    TrafficSource::Parameters p = closed_loop(4, 200);
    p.call.program = program;
    if (program == std::string("raw")) p.server_port = 7;
    Bench b(p);
    const auto& r = b.go();
    REQUIRE(r.first_error == "");
    REQUIRE(r.completed == 200);
    REQUIRE(r.errors == 0);
    REQUIRE(b.source.host_statistics().bad_frames == 0);
    REQUIRE(base::statistics().value("traffic.replies_without_id") == 0);
  }
}

TEST_CASE("a closed loop keeps its number of calls under way, in all flows", "[traffic]") {
  TrafficSource::Parameters p = closed_loop(8, 1000);
  p.flows = 3;
  Bench b(p, 10_us);
  const auto& r = b.go();
  REQUIRE(r.completed == 1000);
  // Little's law: 8 calls under way, each 10.03 us and a little waiting for the line.
  const double seconds = (r.last_bit - r.first_bit).seconds();
  REQUIRE(1000 / seconds == Approx(8 / 10.04e-6).epsilon(0.01));
  REQUIRE(b.server.ports[0] == 40001);
  REQUIRE(b.server.ports[1] == 40002);
  REQUIRE(b.server.ports[2] == 40000);
}

TEST_CASE("think time passes between a reply and the next call", "[traffic]") {
  TrafficSource::Parameters p = closed_loop(1, 3);
  p.think = 5_us;
  p.think_times = TrafficSource::ThinkTimes::constant;
  Bench b(p);
  b.go();
  REQUIRE(b.server.arrivals[1] - b.server.arrivals[0] == 5_us + 1_us + 20_ns + base::Time::ps(94 * 80 + 78 * 80));
}

TEST_CASE("an open loop at a constant rate is exact, however slow the server", "[traffic]") {
  Bench b(open_loop(3'000'000, 3000, TrafficSource::Arrivals::constant), 50_us);
  b.go();
  const auto& a = b.server.arrivals;
  REQUIRE(a.size() == 3000);
  for (std::uint64_t i = 0; i < 3000; ++i)
    REQUIRE(a[i] - a[0] == base::Time::fs(1'000'000'000'000'000 * i / 3'000'000));
}

TEST_CASE("Poisson arrivals have the right mean and variance and depend on the seed alone", "[traffic]") {
  const auto run = [](base::Time delay) {
    Bench b(open_loop(1'000'000, 20'000, TrafficSource::Arrivals::poisson), delay);
    b.go();
    REQUIRE(b.source.results().completed == 20'000);
    return b.server.arrivals;
  };
  const auto fast = run(1_us), slow = run(7_us);
  for (std::size_t i = 0; i < fast.size(); ++i) REQUIRE(fast[i] - fast[0] == slow[i] - slow[0]);
  double sum = 0, squares = 0;
  for (std::size_t i = 1; i < fast.size(); ++i) {
    const double gap = (fast[i] - fast[i - 1]).nanoseconds();
    sum += gap;
    squares += gap * gap;
  }
  const double mean = sum / 19'999;
  REQUIRE(mean == Approx(1000).epsilon(0.03));
  REQUIRE(squares / 19'999 - mean * mean == Approx(mean * mean).epsilon(0.06));
}

TEST_CASE("calls faster than the line wait at the source and go out back to back", "[traffic]") {
  Bench b(open_loop(200'000'000, 500, TrafficSource::Arrivals::constant));
  const auto& r = b.go();
  REQUIRE(r.completed == 500);
  const base::Time line = base::Time::ps(80 * (82 + 24));
  for (std::size_t i = 1; i < 500; ++i) REQUIRE(b.server.arrivals[i] - b.server.arrivals[i - 1] == line);
  // A call's time starts when it is due: each waits for those before it, longer than the one before by what the line
  // takes more than the 5 ns between calls.
  REQUIRE(r.latency.max() - r.latency.min() == (line - 5_ns).femtoseconds() * 499);
  REQUIRE(r.last_due - r.first_due == 5_ns * 499);
  REQUIRE(r.last_start - r.first_bit == line * 499);
  std::uint64_t waited = 0;
  for (std::uint64_t i = 1; i < 500; ++i) waited += i * (line - 5_ns).femtoseconds();
  REQUIRE(base::ledger().total(base::ledger().component(b.source.path()), SLUICE_STAGE_client_queue).femtoseconds ==
          waited);
}

TEST_CASE("think times are drawn with their mean", "[traffic]") {
  TrafficSource::Parameters p = closed_loop(1, 4001);
  p.think = 5_us;
  Bench b(p);
  b.go();
  double sum = 0, squares = 0;
  const double rest = 1000 + 20 + 94 * 0.08 + 78 * 0.08;  // ns from a call to its reply
  for (std::size_t i = 1; i <= 4000; ++i) {
    const double think = (b.server.arrivals[i] - b.server.arrivals[i - 1]).nanoseconds() - rest;
    REQUIRE(think >= -0.001);
    sum += think;
    squares += think * think;
  }
  REQUIRE(sum / 4000 == Approx(5000).epsilon(0.05));
  REQUIRE(squares / 4000 == Approx(2 * 5000. * 5000.).epsilon(0.15));
}

TEST_CASE("a drop of an open loop is settled at once", "[traffic]") {
  Bench b(open_loop(8'000'000, 500, TrafficSource::Arrivals::constant));
  b.server.shortest_gap = 400_ns;
  const auto& r = b.go();
  REQUIRE(r.dropped.at("too fast") > 0);
  REQUIRE(r.sent == r.completed + r.dropped_sum());
  REQUIRE(base::now() < 100_us);  // no timeout of 10 ms
}

TEST_CASE("the warm-up counts nowhere", "[traffic]") {
  TrafficSource::Parameters p = closed_loop(4, 100);
  p.warmup = 30;
  Bench b(p);
  b.server.spoil = {5};
  const auto& r = b.go();
  REQUIRE(b.server.arrivals.size() == 130);
  REQUIRE(r.sent == 100);
  REQUIRE(r.completed == 100);
  REQUIRE(r.errors == 0);
  REQUIRE(r.latency.count() == 100);
  REQUIRE(base::ledger().completed() == 100);
  REQUIRE(b.source.settled() == 130);
  // Measuring starts when call 27 ends and call 31 sets out: 28 calls have arrived, 29 and 30 are on the wire.
  REQUIRE(b.measuring_after == 28);
}

TEST_CASE("drops of the warm-up whose clients still wait are counted, each call once", "[traffic]") {
  for (const std::uint32_t retries : {0u, 20u}) {
    CAPTURE(retries);
    TrafficSource::Parameters p = closed_loop(4, 100);
    p.warmup = 30;
    p.timeout = 20_us;
    p.retries = retries;
    Bench b(p);
    // Arrivals 3 and 20 are calls of the warm-up. The next attempts of both are among those of 40 to 80.
    b.server.drop = {3, 20};
    for (unsigned n = 40; retries != 0 && n <= 80; ++n) b.server.drop.push_back(n);
    const auto& r = b.go();
    CHECK(r.dropped_in_warmup == 2);
    CHECK(r.completed == 100);
    CHECK(b.source.settled() == 130);
  }
}

TEST_CASE("a call of the warm-up that is given up in it keeps no client", "[traffic]") {
  TrafficSource::Parameters p = closed_loop(4, 100);
  p.warmup = 30;
  p.timeout = 5_us;
  Bench b(p);
  b.server.drop = {3};
  CHECK(b.go().dropped_in_warmup == 0);
}

TEST_CASE("a reply to an earlier attempt takes back where the latest has been since", "[traffic]") {
  // The latest attempt is in a stage that begins after the reply's last bit: a core that is ahead has got it.
  TrafficSource::Parameters p = closed_loop(1, 1);
  p.timeout = 2_us;
  p.retries = 1;
  Bench b(p, 3_us);
  const auto host = base::ledger().component("cluster.host");
  b.source.start();
  b.run(4_us);
  for (base::RequestId id = 1; id < 10; ++id)
    if (base::ledger().find(id)) base::ledger().enter(id, SLUICE_STAGE_poll, host, 50_us);
  b.go();
  CHECK(b.source.results().completed == 1);
  CHECK(base::ledger().error().empty());
  CHECK(base::ledger().total(host, SLUICE_STAGE_poll).visits == 0);
}

TEST_CASE("a wrong byte in a reply is an error that names the call", "[traffic]") {
  TrafficSource::Parameters p = closed_loop(1, 10);
  p.call.program = "add";
  Bench b(p);
  b.server.spoil = {3, 6};
  const auto& r = b.go();
  REQUIRE(r.completed == 10);
  REQUIRE(r.errors == 2);
  REQUIRE(r.first_error == "call 4: sum is wrong");
}

TEST_CASE("a lost call is given up after its timeout; a dropped one has its reason", "[traffic]") {
  TrafficSource::Parameters p = closed_loop(2, 20);
  p.timeout = 100_us;
  Bench b(p);
  b.server.ignore = {4};
  b.server.drop = {7, 9};
  const auto& r = b.go();
  REQUIRE(r.sent == 20);
  REQUIRE(r.completed == 17);
  REQUIRE(r.lost == 1);
  REQUIRE(r.dropped == std::map<std::string, std::uint64_t>{{"no descriptor", 2}});
  REQUIRE(r.in_flight() == 0);
  REQUIRE(base::ledger().in_flight() == 0);
  REQUIRE(b.finishes == 1);
}

TEST_CASE("a call is sent again and its time counts from its first bit", "[traffic]") {
  TrafficSource::Parameters p = closed_loop(1, 10);
  p.timeout = 100_us;
  p.retries = 2;
  p.call.program = "echo";
  Bench b(p);
  b.server.ignore = {3};
  b.server.drop = {4};
  const auto& r = b.go();
  REQUIRE(r.completed == 10);
  REQUIRE(r.errors == 0);
  REQUIRE(r.lost == 0);
  REQUIRE(r.dropped.empty());
  REQUIRE(r.retransmissions == 2);
  REQUIRE(r.latency.max() == r.latency.min() + (200_us).femtoseconds());
  REQUIRE(base::ledger().total_latency() == r.latency.sum());
  const auto traffic = base::ledger().component("traffic");
  REQUIRE(base::ledger().total(traffic, SLUICE_STAGE_retransmit).femtoseconds == (200_us).femtoseconds());
}

TEST_CASE("retries end", "[traffic]") {
  TrafficSource::Parameters p = closed_loop(1, 2);
  p.timeout = 10_us;
  p.retries = 3;
  Bench b(p);
  b.server.ignore = {0, 1, 2, 3};
  const auto& r = b.go();
  REQUIRE(r.lost == 1);
  REQUIRE(r.completed == 1);
  REQUIRE(r.retransmissions == 3);
  REQUIRE(b.server.arrivals.size() == 5);
}

TEST_CASE("late and repeated replies are counted and change nothing", "[traffic]") {
  TrafficSource::Parameters p = closed_loop(2, 50);
  p.timeout = 20_us;
  Bench b(p);
  b.server.slow = 25_us;
  b.server.repeat = {8, 9};
  const auto& r = b.go();
  REQUIRE(r.completed == 49);
  REQUIRE(r.lost == 1);
  REQUIRE(r.errors == 0);
  REQUIRE(r.late_duplicates == 3);
  REQUIRE(b.source.host_statistics().unexpected == 0);
}

TEST_CASE("frames that answer no call are unexpected, broken ones are bad", "[traffic]") {
  Bench b(closed_loop(1, 5), 10_us);
  b.source.start();
  b.run(3_us);
  REQUIRE(b.source.running());
  const auto inject = [&](std::uint32_t xid, std::uint16_t port, auto&& change) {
    PacketPtr p = make_packet();
    put_call_header(p->bytes + kUdpPayload, xid, 1, 1, 1);
    finish_udp(*p, {parse_mac("02:00:00:00:00:02"), parse_ipv4("10.0.0.2"), 20049},
               {parse_mac("02:00:00:00:00:01"), parse_ipv4("10.0.0.1"), port}, 40);
    change(*p);
    b.source.frame_arrived(std::move(p));
  };
  const auto arp = [&](ArpOperation operation, const char* sender, const char* target) {
    PacketPtr p = make_packet();
    build_arp(*p, operation, {parse_mac("02:00:00:00:00:05"), parse_ipv4(sender), 0}, {{}, parse_ipv4(target), 0});
    pad(*p);
    b.source.frame_arrived(std::move(p));
  };
  inject(7777, 40000, [](Packet&) {});                                 // no such xid
  inject(1, 40001, [](Packet&) {});                                    // call 1 came from another port
  inject(1, 40000, [](Packet& p) { store16(p.bytes + 12, 0x88cc); });  // LLDP
  arp(ArpOperation::request, "10.0.0.2", "10.0.0.3");                  // for somebody else
  inject(1, 40000, [](Packet& p) { p.corrupted = true; });             // FCS
  inject(1, 40000, [](Packet& p) { p.bytes[60] ^= 1; });               // UDP checksum
  inject(1, 40000, [](Packet& p) {                                     // a runt
    finish_udp(p, {{}, parse_ipv4("10.0.0.2"), 20049}, {{}, parse_ipv4("10.0.0.1"), 40000}, 17);
  });
  REQUIRE(b.source.host_statistics().arp_answers == 0);
  REQUIRE(b.source.host_statistics().unexpected == 4);
  REQUIRE(b.source.host_statistics().bad_frames == 3);
  REQUIRE(b.source.first_bad_frame() == "FCS is wrong");
  b.run();
  REQUIRE(b.source.results().completed == 5);
}

TEST_CASE("a source asks for its server until it answers", "[traffic]") {
  Bench b(closed_loop(1, 5));
  b.wire.set_up(false);
  b.source.start();
  b.run(95_us);
  REQUIRE_FALSE(b.source.running());
  REQUIRE(b.source.host_statistics().probes == 10);
  PacketPtr foreign = make_packet();
  build_arp(*foreign, ArpOperation::reply, {parse_mac("02:00:00:00:00:05"), parse_ipv4("10.0.0.5"), 0}, {});
  pad(*foreign);
  b.source.frame_arrived(std::move(foreign));
  REQUIRE_FALSE(b.source.running());
  b.wire.set_up(true);
  b.run();
  REQUIRE(b.source.results().completed == 5);
  REQUIRE(b.server.host_statistics().arp_answers == 1);
}

TEST_CASE("calls lost with the carrier are dropped for that reason", "[traffic]") {
  TrafficSource::Parameters p = closed_loop(2, 10);
  p.timeout = 50_us;
  Bench b(p);
  b.source.start();
  b.run(3_us);
  b.wire.set_up(false);
  b.run(40_us);
  b.wire.set_up(true);
  b.run();
  const auto& r = b.source.results();
  REQUIRE(r.dropped == std::map<std::string, std::uint64_t>{{"link down", 2}});
  REQUIRE(r.completed == 8);
}

TEST_CASE("two runs are equal to the femtosecond", "[traffic]") {
  const auto run = [] {
    TrafficSource::Parameters p = open_loop(2'000'000, 2000, TrafficSource::Arrivals::poisson);
    p.call = {"kv", 40, 16, 50};
    Bench b(p);
    b.go();
    return std::pair(b.server.arrivals, b.source.results().latency.sum());
  };
  REQUIRE(run() == run());
}

TEST_CASE("parameters that cannot work together are refused", "[traffic]") {
  const auto broken = [](const TrafficSource::Parameters& p) {
    std::string all;
    for (const auto& rule : base::schema_of<TrafficSource::Parameters>().rules()) all += rule.broken(&p);
    return all;
  };
  TrafficSource::Parameters p;
  REQUIRE(broken(p).empty());
  p.call = {"echo", 1429};
  REQUIRE(broken(p) == "makes IPv4 packets of 1504 bytes; the MTU is 1500");
  p.mtu = 9000;
  REQUIRE(broken(p).empty());
  p.host.partner = "10.0.0";
  REQUIRE(broken(p) == "must be an IPv4 address such as 10.0.0.2");
  p = {};
  p.kind = TrafficSource::Kind::replay;
  REQUIRE(broken(p) == "must name a capture for a replay");
  p.kind = TrafficSource::Kind::load_sweep;
  REQUIRE(broken(p) == "must have a rate for a load sweep");
}

TEST_CASE("an echo peer sends frames back after its delay, requests and all", "[traffic]") {
  CleanSlate clean;
  Wire wire("wire", {100_Gbps, 10_ns});
  EchoPeer::Parameters parameters;
  parameters.delay = 2_us;
  parameters.host.address = "10.0.0.9";
  EchoPeer peer("peer", parameters, wire, Wire::kB);
  struct Board : Wire::Client {
    void frame_arrived(PacketPtr p) override { frames.push_back(std::move(p)); }
    std::vector<PacketPtr> frames;
  } board;
  wire.attach(Wire::kA, board);
  const Endpoint self{parse_mac("02:00:00:00:00:02"), parse_ipv4("10.0.0.2"), 5000};
  const Endpoint other{parse_mac("02:00:00:00:00:01"), parse_ipv4("10.0.0.9"), 7};
  const auto id = base::ledger().open(SLUICE_STAGE_transmit, base::ledger().component("nic"), base::now());
  for (int i = 0; i < 3; ++i) {
    PacketPtr p = make_packet();
    std::memset(p->bytes + kUdpPayload, i, 64);
    finish_udp(*p, self, other, 64);
    if (i == 0) p->spans = base::Spans(0, p->length, id);
    if (i == 2) p->bytes[80] ^= 1;
    wire.send(Wire::kA, std::move(p));
  }
  PacketPtr arp = make_packet();
  build_arp(*arp, ArpOperation::request, self, other);
  pad(*arp);
  wire.send(Wire::kA, std::move(arp));
  while (base::calendar().next() != base::Time::max()) base::calendar().dispatch();

  REQUIRE(peer.echoed() == 2);
  REQUIRE(peer.host_statistics().bad_frames == 1);
  REQUIRE(peer.host_statistics().arp_answers == 1);
  REQUIRE(board.frames.size() == 3);  // the ARP reply first
  const Packet& back = *board.frames[1];
  REQUIRE(back.request() == id);
  FrameView v;
  REQUIRE(parse_frame(back.bytes, back.length, v) == nullptr);
  REQUIRE(v.to.port == 5000);
  const base::Time octets = base::Time::ps(80 * (8 + 106 + 4));
  REQUIRE(back.last_bit == 20_ns + octets + 2_us + octets);
  base::ledger().complete(id, back.last_bit);
  REQUIRE(base::ledger().total(base::ledger().component("peer"), SLUICE_STAGE_child).femtoseconds ==
          (2_us).femtoseconds());
}
