// SPDX-License-Identifier: Apache-2.0
#include "models/net/traffic/remote_host.h"

namespace sluice::net {

void RemoteHost::Parameters::describe(base::Schema<Parameters>& s) {
  s.summary("computer at the far end of a wire");
  s.add("mac", &Parameters::mac, "its MAC address").setting();
  s.add("address", &Parameters::address, "its IPv4 address").setting();
  s.add("partner", &Parameters::partner, "IPv4 address of the board's side; empty: that of the NIC at the wire")
      .setting();
  s.add("resolve_interval", &Parameters::resolve_interval, "between ARP requests until one is answered")
      .range(1_us, 10_s)
      .setting();
  s.rule("mac", &Parameters::mac, parse_host_mac);
  s.rule("address", &Parameters::address, parse_host_ipv4);
  s.rule("partner", [](const Parameters& p) -> std::string {
    if (p.partner.empty() || parse_host_ipv4(p.partner) != parse_ipv4(p.address)) return {};
    return "must be another address than this host's own, " + p.address;
  });
}

RemoteHost::RemoteHost(const sc_core::sc_module_name& name, const Parameters& p, Wire& wire, Wire::End end)
    : Model(name), parameters_(p), wire_(wire), end_(end) {
  self_.mac = parse_mac(p.mac);
  self_.ip = parse_ipv4(p.address);
  if (!p.partner.empty()) partner_.ip = parse_ipv4(p.partner);
  wire.attach(end, *this);
}

void RemoteHost::fill_statistics(base::StatisticsGroup& group) {
  group.counter("bad_frames", "frames", "received with wrong FCS, length or checksum", counts_.bad_frames);
  group.counter("unexpected_frames", "frames", "received, sound, and of no use", counts_.unexpected);
  group.counter("arp_answers", "frames", "ARP requests answered", counts_.arp_answers);
  group.counter("echo_answers", "frames", "ICMP echo requests answered", counts_.echo_answers);
  group.counter("arp_requests", "frames", "ARP requests sent", counts_.probes);
  register_statistics(group);
}

void RemoteHost::resolve() {
  resolving_ = true;
  probe();
}

void RemoteHost::probe() {
  if (!resolving_) return;
  PacketPtr p = make_packet();
  build_arp(*p, ArpOperation::request, self_, partner_);
  pad(*p);
  ++counts_.probes;
  transmit(std::move(p));
  base::calendar().after(parameters_.resolve_interval, key(), [this] { probe(); });
}

void RemoteHost::frame_arrived(PacketPtr packet) {
  if (packet->corrupted) return bad("FCS is wrong");
  if (packet->length < Packet::kMinimum) return bad("frame is shorter than Ethernet allows");
  FrameView view;
  if (const char* wrong = parse_frame(packet->bytes, packet->length, view)) return bad(wrong);
  if (view.kind == FrameView::Kind::arp) return arp_arrived(view);

  constexpr std::uint8_t kEchoRequest = 8;
  if (view.to.ip == self_.ip && view.kind == FrameView::Kind::icmp && view.icmp_type == kEchoRequest) {
    ++counts_.echo_answers;
    reflect(*packet);
    transmit(std::move(packet));
  } else if (accept_all_ || (view.to.ip == self_.ip && view.kind == FrameView::Kind::udp)) {
    datagram_arrived(std::move(packet), view);
  } else {
    ++counts_.unexpected;
  }
}

void RemoteHost::arp_arrived(const FrameView& view) {
  if (view.operation == ArpOperation::request && view.to.ip == self_.ip) {
    ++counts_.arp_answers;
    PacketPtr p = make_packet();
    build_arp(*p, ArpOperation::reply, self_, view.from);
    pad(*p);
    transmit(std::move(p));
  } else if (resolving_ && view.operation == ArpOperation::reply && view.from.ip == partner_.ip) {
    resolving_ = false;
    partner_.mac = view.from.mac;
    resolved();
  } else {
    ++counts_.unexpected;
  }
}

void RemoteHost::bad(const char* what) {
  if (counts_.bad_frames++ == 0) first_bad_ = what;
}

}  // namespace sluice::net
