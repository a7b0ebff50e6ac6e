// SPDX-License-Identifier: Apache-2.0
/// How a traffic source repeats what the clients of a capture sent.

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "models/net/traffic/rpc.h"
#include "models/net/traffic/traffic_source.h"

namespace sluice::net {

/// Whether a captured frame is to be sent: not if it is ARP or was sent by the server.
bool TrafficSource::from_client(const FrameView& v, const char* wrong) const {
  return wrong || (v.kind != FrameView::Kind::arp && v.from.ip != partner().ip);
}

std::uint64_t TrafficSource::calls_in_capture() const {
  PcapReader reader(parameters_.pcap);
  std::map<ReplyKey, bool> seen;
  std::uint64_t n = 0;
  bool sends = false;
  for (PcapReader::Frame f; reader.next(f);) {
    FrameView v;
    CallView call;
    const char* wrong = parse_frame(f.bytes.data(), f.bytes.size(), v);
    const bool sent = from_client(v, wrong);
    sends |= sent;
    if (wrong || !sent || v.kind != FrameView::Kind::udp) continue;
    if (parse_call(f.bytes.data() + v.payload, v.length, call)) continue;
    n += seen.emplace(ReplyKey{std::uint64_t{v.from.ip} << 16 | v.from.port, call.xid}, true).second;
  }
  if (reader.frames() == 0) throw std::runtime_error(parameters_.pcap + ": has no frame");
  if (!sends)
    throw std::runtime_error(fmt::format("{}: has no frame of a client: all {} are ARP or from {}, the board's address",
                                         parameters_.pcap, reader.frames(), parameters_.host.partner));
  if (n == 0)
    throw std::runtime_error(
        fmt::format("{}: has no ONC RPC call over UDP, so nothing in it would be answered", parameters_.pcap));
  return n;
}

void TrafficSource::replay_next() {
  FrameView v;
  do {
    if (!capture_->next(captured_)) return;
  } while (!from_client(v, parse_frame(captured_.bytes.data(), captured_.bytes.size(), v)));
  const base::Time at = std::max(base::now(), started_ + captured_.at);
  base::calendar().at(at, key(), [this] {
    replay(make_packet(captured_.bytes.data(), captured_.bytes.size()));
    replay_next();
  });
}

/// Sends a captured frame. Only the first RPC call with a given client and xid counts as a call that awaits a reply.
void TrafficSource::replay(PacketPtr p) {
  FrameView v;
  CallView call;
  pad(*p);
  const char* wrong = parse_frame(p->bytes, p->length, v);
  if (!wrong && v.to.ip == partner().ip) std::copy_n(partner().mac.bytes.data(), 6, p->bytes);
  const ReplyKey reply{std::uint64_t{v.from.ip} << 16 | v.from.port, 0};
  const bool is_call = !wrong && v.kind == FrameView::Kind::udp && !parse_call(p->bytes + v.payload, v.length, call);
  if (!is_call || !by_reply_.emplace(ReplyKey{reply.first, call.xid}, next_).second) {
    ++replayed_;
    transmit(std::move(p));
    return;
  }
  Slot& slot = open(base::now(), wire().next_start(end()));
  if (parameters_.retries) slot.copy = copy_packet(*p);
  send(slot, std::move(p));
}

}  // namespace sluice::net
