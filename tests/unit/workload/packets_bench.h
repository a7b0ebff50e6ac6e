// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A packet source at one end of a wire, and at the other a board that sends its frames back.

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "models/workload/packets/packet_source.h"

namespace sluice::workload {

/// Resets what is one per process before any model is made.
struct CleanSlate {
  CleanSlate() {
    base::calendar().clear();
    base::calendar().set_now({});
    base::ledger() = {};
  }
};

/// Sends frames back after a delay, and makes mistakes when asked to. Arrivals are counted from 0.
class Reflector : public net::RemoteHost {
 public:
  Reflector(net::Wire& wire, base::Time delay)
      : RemoteHost("reflector", {"02:00:00:00:00:02", "10.0.0.2", "10.0.0.1", 1_ms}, wire, net::Wire::kB),
        delay_(delay) {
    accept_all();
  }

  std::vector<unsigned> ignore;  ///< lost without a reason
  std::vector<unsigned> drop;    ///< dropped with a reason
  std::vector<unsigned> repeat;  ///< sent back twice
  std::vector<unsigned> behind;  ///< sent back behind the next arrival
  std::vector<unsigned> slow;    ///< sent back 2 ms later
  std::function<void(unsigned, net::Packet&)> spoil = [](unsigned, net::Packet&) {};
  base::Time shortest_gap;  ///< a frame that follows another in less time is dropped
  std::vector<base::Time> arrivals;
  std::vector<std::vector<std::uint8_t>> frames;  ///< as they came

  /// Written without the code under test.
  static void turn(net::Packet& p) {
    std::swap_ranges(p.bytes, p.bytes + 6, p.bytes + 6);
    if (p.bytes[12] != 0x08) {
      ++p.bytes[14];
      return;
    }
    std::swap_ranges(p.bytes + 26, p.bytes + 30, p.bytes + 30);
    std::swap_ranges(p.bytes + 34, p.bytes + 36, p.bytes + 36);
    ++p.bytes[42];
    const std::uint32_t udp = p.length - 34;
    p.bytes[40] = p.bytes[41] = 0;
    std::uint32_t sum = 17 + udp;
    for (std::uint32_t i = 26; i < p.length; ++i) sum += i % 2 ? p.bytes[i] : p.bytes[i] << 8;
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    const std::uint32_t field = sum == 0xffff ? 0xffff : ~sum & 0xffff;
    p.bytes[40] = static_cast<std::uint8_t>(field >> 8);
    p.bytes[41] = static_cast<std::uint8_t>(field);
  }

 private:
  static bool has(const std::vector<unsigned>& list, unsigned n) {
    return std::find(list.begin(), list.end(), n) != list.end();
  }
  void datagram_arrived(net::PacketPtr p, const net::FrameView&) override {
    const auto n = static_cast<unsigned>(arrivals.size());
    arrivals.push_back(p->first_bit);
    frames.emplace_back(p->bytes, p->bytes + p->length);
    base::enter_all(p->spans, SLUICE_STAGE_handler, component(), base::now());
    if (has(ignore, n)) return;
    if (has(drop, n) || (n > 0 && arrivals[n] - arrivals[n - 1] < shortest_gap)) {
      base::ledger().drop(p->request(), "no descriptor", base::now());
      return;
    }
    turn(*p);
    spoil(n, *p);
    const base::Time delay = has(slow, n) ? 2_ms : delay_;
    if (has(behind, n)) {
      held_ = std::move(p);
      return;
    }
    if (has(repeat, n)) send_after(delay, net::copy_packet(*p));
    send_after(delay, std::move(p));
    if (held_) send_after(delay, std::move(held_));
  }
  void send_after(base::Time delay, net::PacketPtr p) {
    base::calendar().after(delay, key(), [this, o = std::move(p)]() mutable { transmit(std::move(o)); });
  }

  base::Time delay_;
  net::PacketPtr held_;
};

struct Bench : CleanSlate {
  explicit Bench(const PacketsParameters& p, base::Time delay = 1_us, std::uint64_t seed = 1)
      : parameters(with_partner(p)), board(wire, delay), source("packets", parameters, {seed, 0}, wire, net::Wire::kA) {
    source.on_measuring([this] { measuring_after = board.arrivals.size(); });
    source.on_finished([this] { ++finishes; });
    source.publish_statistics();
  }
  static PacketsParameters with_partner(PacketsParameters p) {
    p.host.partner = "10.0.0.2";
    return p;
  }
  const PacketSource::Results& go() {
    source.start();
    while (!source.finished() && base::calendar().next() != base::Time::max()) base::calendar().dispatch();
    const PacketSource::Results& r = source.results();
    REQUIRE(r.in_flight() == 0);
    REQUIRE(finishes == 1);
    REQUIRE(base::ledger().error().empty());
    REQUIRE(base::ledger().completed() == r.latency.count());
    REQUIRE(base::ledger().total_latency() == r.latency.sum());
    return r;
  }
  /// What is on its way after the end arrives.
  void drain() {
    while (base::calendar().next() != base::Time::max()) base::calendar().dispatch();
  }

  net::Wire wire{"wire", {100_Gbps, 10_ns}};
  PacketsParameters parameters;
  Reflector board;
  PacketSource source;
  std::size_t measuring_after = ~std::size_t{0};
  unsigned finishes = 0;
};

inline PacketsParameters packets(std::uint64_t n, const std::string& sizes = "64") {
  PacketsParameters p;
  p.requests = n;
  p.sizes = sizes;
  return p;
}

/// One packet in 10 us.
inline PacketsParameters slowly(std::uint64_t n) {
  PacketsParameters p = packets(n);
  p.load = PacketLoad::constant;
  p.rate = base::BitRate(84 * 8 * 100'000);
  return p;
}

}  // namespace sluice::workload
