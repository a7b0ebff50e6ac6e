// SPDX-License-Identifier: Apache-2.0
#include "models/workload/packets/parameters.h"

#include <fmt/format.h>

#include "models/base/parameters/size_list.h"
#include "models/net/frame.h"

namespace sluice::workload {

void PacketsParameters::describe(base::Schema<PacketsParameters>& s) {
  using P = PacketsParameters;
  const auto only_udp = [](const P& p) { return p.format == PacketFormat::udp ? "" : "format is l2"; };
  s.summary("frames that must come back (sizes, format, load, rate)");
  s.include("host", &P::host);
  s.add("load", &P::load,
        "saturate: at line rate; constant: at equal distances; poisson: at random ones; zero-loss: the highest rate "
        "without loss (RFC 2544)")
      .choices({{"saturate", PacketLoad::saturate},
                {"constant", PacketLoad::constant},
                {"poisson", PacketLoad::poisson},
                {"zero-loss", PacketLoad::zero_loss}})
      .setting();
  s.add("rate", &P::rate,
        "on the wire, with preamble and gap, for loads constant and poisson; zero-loss: the highest tried, 0: the "
        "line's")
      .range(base::BitRate(0), 1600_Gbps)
      .setting();
  s.add("resolution", &P::resolution, "zero-loss: where the search ends")
      .range(1_Mbps, 1600_Gbps)
      .without_effect([](const P& p) { return p.load == PacketLoad::zero_loss ? "" : "load is not zero-loss"; })
      .setting();
  s.add("sizes", &P::sizes, "bytes of a frame with FCS, such as 64 or 64..1518; one size after the other").setting();
  s.add("format", &P::format, "l2: Ethernet frames of no protocol; udp: IPv4/UDP")
      .choices({{"l2", PacketFormat::l2}, {"udp", PacketFormat::udp}})
      .setting();
  s.add("addresses", &P::addresses,
        "swapped: what comes back has changed places of MAC addresses (udp: and of IPv4 addresses and ports); kept: it "
        "has those that it was sent with, which a tester takes and a switch would not bring")
      .choices({{"swapped", PacketAddresses::swapped}, {"kept", PacketAddresses::kept}})
      .setting();
  s.add("flows", &P::flows, "udp: source ports, used in turn; l2 frames are one flow")
      .range(1, 16384)
      .unit("ports")
      .without_effect(only_udp)
      .setting();
  s.add("first_port", &P::first_port, "udp: first source port").range(1024, 49151).without_effect(only_udp).setting();
  s.add("server_port", &P::server_port, "udp: destination port; 9 is the discard port")
      .range(1, 65535)
      .without_effect(only_udp)
      .setting();
  s.add("requests", &P::requests,
        "packets that count, of each size; each trial of a zero-loss search has more until buffers can hide no loss")
      .range(1, 1'000'000'000'000)
      .unit("packets")
      .setting();
  s.add("warmup", &P::warmup, "packets before them, of each size; zero-loss: before the search, at a tenth of the rate")
      .range(0, 1'000'000'000'000)
      .unit("packets")
      .setting();
  s.add("timeout", &P::timeout, "until a packet that has not come back is lost")
      .range(1_us, 100_s)
      .acts_with({"lost"}, "no packet was lost")
      .setting();
  s.add("mtu", &P::mtu, "bytes of the largest packet in a frame")
      .range(576, 9600)
      .unit("bytes")
      .without_effect([](const P&) { return "sizes has no larger one, and only such would be refused"; })
      .setting();
  s.rule("rate", [](const P& p) -> std::string {
    const bool set = p.rate > base::BitRate(0);
    if (p.load == PacketLoad::saturate && set) return "must not be set for load saturate, which is the line's rate";
    if ((p.load == PacketLoad::constant || p.load == PacketLoad::poisson) && !set)
      return "must be set for loads constant and poisson";
    return {};
  });
  s.rule("sizes", [](const P& p) { return p.valid_sizes(); });
}

std::vector<std::uint32_t> PacketsParameters::size_list() const {
  return base::parse_sizes(sizes, net::Packet::kCapacity);
}

std::string PacketsParameters::valid_sizes() const {
  const std::vector<std::uint32_t> list = size_list();
  const std::uint32_t most = mtu + net::kEthernetHeader + kFcs;
  if (list.front() < kLeast)
    return fmt::format("must be at least {} bytes, the shortest Ethernet frame with FCS, not {}", kLeast, list.front());
  if (list.back() > most)
    return fmt::format("must be at most {} bytes, the MTU of {} with header and FCS, not {}", most, mtu, list.back());
  return {};
}

}  // namespace sluice::workload
