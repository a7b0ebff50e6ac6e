// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A traffic source at one end of a wire and a server at the other.

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "models/net/traffic/traffic_source.h"
#include "tests/unit/net/rpc_server.h"

namespace sluice::net {

using namespace base::literals;

/// Resets what is one per process before any model is made.
struct CleanSlate {
  CleanSlate() {
    base::calendar().clear();
    base::calendar().set_now({});
    base::ledger() = {};
  }
};

/// The board's side: answers calls after a delay, and makes mistakes when asked to.
class Server : public RemoteHost {
 public:
  Server(Wire& wire, base::Time delay, const std::string& mac)
      : RemoteHost("server", {mac, "10.0.0.2", "10.0.0.1", 1_ms}, wire, Wire::kB), delay_(delay) {}

  std::vector<unsigned> ignore;  ///< arrivals, counted from 0, that are lost without a reason
  std::vector<unsigned> drop;    ///< arrivals that are dropped with a reason
  std::vector<unsigned> spoil;   ///< arrivals whose reply has a wrong last byte
  std::vector<unsigned> repeat;  ///< arrivals that are answered twice
  base::Time shortest_gap;       ///< a call that follows another in less time is dropped
  base::Time slow;               ///< extra delay of arrival 0
  std::vector<base::Time> arrivals;
  std::vector<std::uint16_t> ports;   ///< that calls came from
  std::vector<std::uint16_t> called;  ///< ports that calls went to
  std::vector<std::string> messages;

 private:
  static bool has(const std::vector<unsigned>& list, unsigned n) {
    return std::find(list.begin(), list.end(), n) != list.end();
  }
  void datagram_arrived(PacketPtr p, const FrameView& v) override {
    const auto n = static_cast<unsigned>(arrivals.size());
    arrivals.push_back(p->first_bit);
    ports.push_back(v.from.port);
    called.push_back(v.to.port);
    REQUIRE(v.to.mac == self().mac);
    std::string message(reinterpret_cast<const char*>(p->bytes) + v.payload, v.length);
    messages.push_back(message);
    base::enter_all(p->spans, SLUICE_STAGE_handler, component(), base::now());
    if (has(ignore, n)) return;
    if (n > 0 && arrivals[n] - arrivals[n - 1] < shortest_gap) {
      base::ledger().drop(p->request(), "too fast", base::now());
      return;
    }
    if (has(drop, n)) {
      base::ledger().drop(p->request(), "no descriptor", base::now());
      return;
    }
    std::string reply = v.to.port >= RPC_PORT_SERVICES ? services_[v.to.port].answer(message) : message;
    if (has(spoil, n)) reply.back() = static_cast<char>(reply.back() ^ 1);
    for (int copies = has(repeat, n) ? 2 : 1; copies > 0; --copies) {
      PacketPtr out = make_packet();
      std::memcpy(out->bytes + kUdpPayload, reply.data(), reply.size());
      finish_udp(*out, v.to, v.from, static_cast<std::uint32_t>(reply.size()));
      pad(*out);
      out->spans = p->spans;
      base::calendar().after(n == 0 ? delay_ + slow : delay_, key(),
                             [this, o = std::move(out)]() mutable { transmit(std::move(o)); });
    }
  }

  base::Time delay_;
  std::map<std::uint16_t, test::RpcServer> services_;  ///< by port, each with a store of its own
};

struct Bench : CleanSlate {
  explicit Bench(const TrafficSource::Parameters& p, base::Time delay = 1_us,
                 const std::string& server_mac = "02:00:00:00:00:02")
      : server(wire, delay, server_mac), source("traffic", with_partner(p), {1, 0}, wire, Wire::kA) {
    source.on_measuring([this] { measuring_after = server.arrivals.size(); });
    source.on_finished([this] { ++finishes; });
    source.publish_statistics();
  }
  static TrafficSource::Parameters with_partner(TrafficSource::Parameters p) {
    if (p.host.partner.empty()) p.host.partner = "10.0.0.2";
    return p;
  }
  void run(base::Time until = base::Time::max()) {
    while (base::calendar().next() < until) base::calendar().dispatch();
  }
  const TrafficSource::Results& go() {
    source.start();
    while (!source.finished() && base::calendar().next() != base::Time::max()) base::calendar().dispatch();
    return source.results();
  }
  Wire wire{"wire", {100_Gbps, 10_ns}};
  Server server;
  TrafficSource source;
  std::size_t measuring_after = ~std::size_t{0};
  unsigned finishes = 0;
};

inline TrafficSource::Parameters closed_loop(std::uint32_t outstanding, std::uint64_t requests) {
  TrafficSource::Parameters p;
  p.outstanding = outstanding;
  p.requests = requests;
  return p;
}

inline TrafficSource::Parameters open_loop(std::uint64_t rate, std::uint64_t requests,
                                           TrafficSource::Arrivals arrivals) {
  TrafficSource::Parameters p;
  p.kind = TrafficSource::Kind::open_loop;
  p.rate = rate;
  p.requests = requests;
  p.arrivals = arrivals;
  return p;
}

}  // namespace sluice::net
