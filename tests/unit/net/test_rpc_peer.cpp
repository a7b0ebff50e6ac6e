// SPDX-License-Identifier: Apache-2.0
/// The remote host that serves RPC, called by a traffic source and by frames made by hand.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "models/net/traffic/rpc_peer.h"
#include "tests/unit/net/traffic_bench.h"

using namespace sluice;
using namespace sluice::net;
using namespace sluice::base::literals;

namespace {

RpcPeer::Parameters peer_at(const char* address, base::Time delay, RpcPeer::Delays delays = RpcPeer::Delays::constant) {
  RpcPeer::Parameters p;
  p.host.mac = "02:00:00:00:00:09";
  p.host.address = address;
  p.delay = delay;
  p.delays = delays;
  return p;
}

/// A traffic source that calls the peer.
struct Called : CleanSlate {
  Called(TrafficSource::Parameters calls, const RpcPeer::Parameters& p)
      : peer("peer", p, {1, 0}, wire, Wire::kB), source("traffic", to(calls, p), {1, 0}, wire, Wire::kA) {
    peer.publish_statistics();
    source.publish_statistics();
    source.start();
    while (!source.finished() && base::calendar().next() != base::Time::max()) base::calendar().dispatch();
  }
  static TrafficSource::Parameters to(TrafficSource::Parameters calls, const RpcPeer::Parameters& p) {
    calls.host.partner = p.host.address;
    calls.server_port = p.port;
    return calls;
  }
  Wire wire{"wire", {100_Gbps, 10_ns}};
  RpcPeer peer;
  TrafficSource source;
};

/// A board that calls the peer by frames made by hand.
struct ByHand : CleanSlate, Wire::Client {
  explicit ByHand(const RpcPeer::Parameters& p) : peer("peer", p, {1, 0}, wire, Wire::kB) {
    peer.publish_statistics();
    wire.attach(Wire::kA, *this);
  }
  void frame_arrived(PacketPtr p) override {
    FrameView v;
    REQUIRE(parse_frame(p->bytes, p->length, v) == nullptr);
    REQUIRE(v.from.ip == parse_ipv4("10.0.0.9"));
    REQUIRE(v.to.port == 5000);
    replies.emplace_back(reinterpret_cast<const char*>(p->bytes) + v.payload, v.length);
    frames.push_back(std::move(p));
  }
  void send(const std::string& message, std::uint16_t port = RPC_PORT_SERVICES, base::RequestId id = 0) {
    PacketPtr p = make_packet();
    std::copy(message.begin(), message.end(), p->bytes + kUdpPayload);
    finish_udp(*p, {parse_mac("02:00:00:00:00:02"), parse_ipv4("10.0.0.2"), 5000},
               {parse_mac("02:00:00:00:00:09"), parse_ipv4("10.0.0.9"), port},
               static_cast<std::uint32_t>(message.size()));
    pad(*p);
    p->spans = base::Spans(0, p->length, id);
    wire.send(Wire::kA, std::move(p));
  }
  void run() {
    while (base::calendar().next() != base::Time::max()) base::calendar().dispatch();
  }
  static std::string words(std::initializer_list<std::uint32_t> list) {
    std::string text;
    for (const std::uint32_t w : list) text += test::RpcServer::word(w);
    return text;
  }
  static std::string call(std::uint32_t program, std::uint32_t version, std::uint32_t procedure,
                          const std::string& arguments, std::uint32_t rpc_version = 2) {
    return words({77, RPC_CALL, rpc_version, program, version, procedure, 0, 0, 0, 0}) + arguments;
  }

  Wire wire{"wire", {100_Gbps, 10_ns}};
  RpcPeer peer;
  std::vector<std::string> replies;
  std::vector<PacketPtr> frames;
};

}  // namespace

TEST_CASE("a peer serves null and echo after its delay, to the femtosecond", "[rpc-peer]") {
  for (const char* program : {"null", "echo"}) {
    CAPTURE(program);
    TrafficSource::Parameters p = closed_loop(1, 40);
    p.call.program = program;
    p.call.bytes = 61;
    const Called c(p, peer_at("10.0.0.9", 3_us));
    const auto& r = c.source.results();
    REQUIRE(r.first_error == "");
    REQUIRE(r.completed == 40);
    REQUIRE(c.peer.served() == 40);
    REQUIRE(base::ledger().total(base::ledger().component("peer"), SLUICE_STAGE_child).femtoseconds ==
            40 * (3_us).femtoseconds());
    REQUIRE(base::ledger().total_latency() == r.latency.sum());
    // A null call has 82 bytes, its reply 66.
    if (program == std::string("null"))
      REQUIRE(r.latency.max() == (base::Time::ps((94 + 78) * 80) + 20_ns + 3_us).femtoseconds());
  }
}

TEST_CASE("drawn delays have their mean, and replies may overtake each other", "[rpc-peer]") {
  const auto mean = [](base::Time delay) {
    TrafficSource::Parameters p = closed_loop(16, 4000);
    p.timeout = 1_ms;
    const Called c(p, peer_at("10.0.0.9", delay, RpcPeer::Delays::exponential));
    const auto& r = c.source.results();
    REQUIRE(r.completed == 4000);
    REQUIRE(r.errors == 0);
    REQUIRE(r.latency.max() > 6 * r.latency.p50());
    const auto child = base::ledger().total(base::ledger().component("peer"), SLUICE_STAGE_child);
    return static_cast<double>(child.femtoseconds) / 4000e6;
  };
  REQUIRE(mean(5_us) == Approx(5000).epsilon(0.05));
  REQUIRE(mean(20_us) == Approx(20'000).epsilon(0.05));
}

TEST_CASE("a reply belongs to the request of its call", "[rpc-peer]") {
  ByHand b(peer_at("10.0.0.9", 2_us));
  const auto id = base::ledger().open(SLUICE_STAGE_transmit, base::ledger().component("nic"), base::now());
  b.send(ByHand::call(RPC_PROGRAM_ECHO, ECHO_VERSION, ECHO_NULL, ""), RPC_PORT_SERVICES, id);
  b.run();
  REQUIRE(b.frames.size() == 1);
  REQUIRE(b.frames[0]->request() == id);
  base::ledger().complete(id, b.frames[0]->last_bit);
  REQUIRE(base::ledger().total(base::ledger().component("peer"), SLUICE_STAGE_child).femtoseconds ==
          (2_us).femtoseconds());
}

TEST_CASE("what a peer does not serve gets the error that is due", "[rpc-peer]") {
  ByHand b(peer_at("10.0.0.9", 1_us));
  const auto accepted = [](std::initializer_list<std::uint32_t> status) {
    return ByHand::words({77, RPC_REPLY, RPC_MSG_ACCEPTED, 0, 0}) + ByHand::words(status);
  };
  const std::string opaque = ByHand::words({5}) + "abcde" + std::string(3, '\0');
  const std::vector<std::pair<std::string, std::string>> calls = {
      {ByHand::call(RPC_PROGRAM_ECHO, 1, ECHO_ECHO, opaque), accepted({RPC_SUCCESS}) + opaque},
      {ByHand::call(RPC_PROGRAM_KV, 1, 1, opaque), accepted({RPC_PROG_UNAVAIL})},
      {ByHand::call(RPC_PROGRAM_ECHO, 2, ECHO_ECHO, opaque), accepted({RPC_PROG_MISMATCH, 1, 1})},
      {ByHand::call(RPC_PROGRAM_ECHO, 1, 2, opaque), accepted({RPC_PROC_UNAVAIL})},
      {ByHand::call(RPC_PROGRAM_ECHO, 1, ECHO_NULL, opaque), accepted({RPC_GARBAGE_ARGS})},
      {ByHand::call(RPC_PROGRAM_ECHO, 1, ECHO_ECHO, ""), accepted({RPC_GARBAGE_ARGS})},
      {ByHand::call(RPC_PROGRAM_ECHO, 1, ECHO_ECHO, ByHand::words({9, 0, 0})), accepted({RPC_GARBAGE_ARGS})},
      {ByHand::call(RPC_PROGRAM_ECHO, 1, ECHO_ECHO, ByHand::words({4, 0, 0})), accepted({RPC_GARBAGE_ARGS})},
      {ByHand::call(RPC_PROGRAM_ECHO, 1, ECHO_ECHO, ByHand::words({~0u, 0})), accepted({RPC_GARBAGE_ARGS})},
      {ByHand::call(RPC_PROGRAM_ECHO, 1, ECHO_NULL, "", 3),
       ByHand::words({77, RPC_REPLY, RPC_MSG_DENIED, RPC_MISMATCH, 2, 2})}};
  for (const auto& [call, reply] : calls) b.send(call);
  b.run();
  REQUIRE(b.replies.size() == calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    CAPTURE(i);
    REQUIRE(b.replies[i] == calls[i].second);
  }
  REQUIRE(b.peer.served() == 1);
  REQUIRE(b.peer.refused() == calls.size() - 1);
}

TEST_CASE("what is no call to the peer's port gets no answer, and is counted", "[rpc-peer]") {
  ByHand b(peer_at("10.0.0.9", 1_us));
  const std::string call = ByHand::call(RPC_PROGRAM_ECHO, 1, ECHO_NULL, "");
  b.send(call, RPC_PORT_SERVICES + 1);
  b.send(call.substr(0, 39));
  b.send("");
  b.send(ByHand::words({77, RPC_REPLY, 0, 0, 0, 0}));
  b.run();
  REQUIRE(b.replies.empty());
  REQUIRE(b.peer.host_statistics().unexpected == 4);
}
