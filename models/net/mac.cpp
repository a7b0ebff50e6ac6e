// SPDX-License-Identifier: Apache-2.0
#include "models/net/mac.h"

#include <algorithm>
#include <utility>

namespace sluice::net {

void Mac::Parameters::describe(base::Schema<Parameters>& s) {
  s.summary("Ethernet MAC and PCS");
  s.add("rx_latency", &Parameters::rx_latency, "last bit on the wire to frame at the NIC's receive pipeline")
      .range(0_ns, 1_ms)
      .acts_with({"rx_frames"}, "the MAC has received no frame")
      .assumed("PCS decoding, RS-FEC off, and FCS check at 100 Gb/s; the part's data sheet gives none");
  s.add("tx_latency", &Parameters::tx_latency, "frame at the MAC to its first bit on the wire")
      .range(0_ns, 1_ms)
      .acts_with({"tx_frames"}, "the MAC has sent no frame")
      .assumed("FCS generation and PCS encoding, RS-FEC off, at 100 Gb/s; the part's data sheet gives none");
}

Mac::Mac(sc_core::sc_module_name name, const Parameters& p, Wire& wire, Wire::End end)
    : Model(name), parameters_(p), wire_(wire), end_(end), client_path_(path()) {
  wire.attach(end, *this);
}

void Mac::end_of_elaboration() {
  if (!client_) throw std::logic_error("its MAC has no client: set_client() has not been called");
}

void Mac::frame_arrived(PacketPtr packet) {
  base::enter_all(packet->spans, SLUICE_STAGE_mac, component(), base::now(), {{}, base::Owner::nic});
  if (stopped_ || loopback_ != Loopback::none) [[unlikely]]
    return lose(*packet, statistics_.rx_stopped, stopped_ ? "device stopped" : "MAC in loopback");
  take(std::move(packet));
}

/// Takes a frame whose last bit is there.
void Mac::take(PacketPtr packet) {
  if (packet->corrupted) return drop(*packet, Client::Drop::kFcs, statistics_.rx_bad_fcs, "bad FCS");
  if (packet->length < Packet::kMinimum) return drop(*packet, Client::Drop::kRunt, statistics_.rx_runts, "runt");
  if (packet->length > max_frame_) return drop(*packet, Client::Drop::kLong, statistics_.rx_long, "frame too long");
  ++statistics_.rx_frames;
  statistics_.rx_bytes += packet->length;
  base::name_what_is_thrown(client_path_,
                            [&] { client_->mac_received(std::move(packet), base::now() + parameters_.rx_latency); });
}

void Mac::lose(const Packet& packet, std::uint64_t& counter, const char* reason) {
  ++counter;
  base::drop_all(packet.spans, reason, base::now());
}

void Mac::drop(const Packet& packet, Client::Drop why, std::uint64_t& counter, const char* reason) {
  lose(packet, counter, reason);
  base::name_what_is_thrown(client_path_, [&] { client_->mac_dropped(why); });
}

base::Reservation Mac::send(PacketPtr packet, base::Time ready) {
  pad(*packet);
  if (loopback_ == Loopback::interface) [[unlikely]]
    return turn_around(std::move(packet), ready);
  if (!can_send()) {
    ++statistics_.tx_link_down;
  } else {
    base::enter_all(packet->spans, SLUICE_STAGE_mac, component(), ready);
    ++statistics_.tx_frames;
    statistics_.tx_bytes += packet->length;
  }
  const base::Time at_line = ready + parameters_.tx_latency;
  if (loopback_ == Loopback::line) [[unlikely]]
    return loop_back(std::move(packet), at_line);
  return wire_.send(end_, std::move(packet), at_line);
}

base::Reservation Mac::loop_back(PacketPtr packet, base::Time at_line) {
  wire_.note_looped(end_);
  const base::Time start = std::max(at_line, loop_free_);
  loop_free_ = start + wire_.occupancy(end_, packet->length);
  packet->sent = packet->first_bit = start;
  packet->last_bit = start + octets(Wire::kPreamble + packet->length + Wire::kFcs);
  const base::Time arrival = packet->last_bit;
  base::calendar().at(arrival, key(), [this, p = std::move(packet)]() mutable { come_back(std::move(p)); });
  return {start, loop_free_};
}

base::Reservation Mac::turn_around(PacketPtr packet, base::Time ready) {
  wire_.note_looped(end_);
  packet->sent = packet->first_bit = packet->last_bit = ready;
  base::calendar().at(ready, key(), [this, p = std::move(packet)]() mutable { come_back(std::move(p)); });
  return {ready, ready};
}

void Mac::come_back(PacketPtr packet) {
  if (stopped_ || loopback_ == Loopback::none)
    return lose(*packet, statistics_.rx_stopped, stopped_ ? "device stopped" : "MAC reset");
  if (loopback_ == Loopback::line) return take(std::move(packet));
  base::name_what_is_thrown(client_path_, [&] { client_->mac_received(std::move(packet), base::now()); });
}

void Mac::register_statistics(base::StatisticsGroup& g) {
  g.counter("rx_frames", "frames", "received good", statistics_.rx_frames);
  g.counter("rx_bytes", "bytes", "of good frames received, without FCS", statistics_.rx_bytes);
  g.counter("rx_bad_fcs", "frames", "dropped for a wrong FCS", statistics_.rx_bad_fcs);
  g.counter("rx_runts", "frames", "dropped because shorter than 64 B with FCS", statistics_.rx_runts);
  g.counter("rx_long", "frames", "dropped because longer than the MAC is set to", statistics_.rx_long);
  g.counter("rx_stopped", "frames", "lost because the MAC stood still, or was in loopback", statistics_.rx_stopped);
  g.counter("tx_frames", "frames", "sent", statistics_.tx_frames);
  g.counter("tx_bytes", "bytes", "of frames sent, padding included, without FCS", statistics_.tx_bytes);
  g.counter("tx_link_down", "frames", "lost because the link was down", statistics_.tx_link_down);
}

void Mac::carrier_changed(bool up) {
  if (client_) base::name_what_is_thrown(client_path_, [&] { client_->link_changed(up); });
}

}  // namespace sluice::net
