// SPDX-License-Identifier: Apache-2.0
#include "models/net/traffic/echo_peer.h"

namespace sluice::net {

void EchoPeer::Parameters::describe(base::Schema<Parameters>& s) {
  s.summary("remote host that sends back what it gets");
  s.include("host", &Parameters::host);
  s.add("delay", &Parameters::delay, "last bit received to first bit sent").range(0_ns, 10_s).setting();
}

EchoPeer::EchoPeer(const sc_core::sc_module_name& name, const Parameters& p, Wire& wire, Wire::End end)
    : RemoteHost(name, p.host, wire, end), delay_(p.delay) {
  accept_all();
}

void EchoPeer::register_statistics(base::StatisticsGroup& group) {
  group.counter("echoed_frames", "frames", "sent back", echoed_);
}

void EchoPeer::datagram_arrived(PacketPtr packet, const FrameView&) {
  if (!reflect(*packet)) return;
  base::enter_all(packet->spans, SLUICE_STAGE_child, component(), base::now());
  base::calendar().after(delay_, key(), [this, p = std::move(packet)]() mutable {
    ++echoed_;
    transmit(std::move(p));
  });
}

}  // namespace sluice::net
