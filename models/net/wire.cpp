// SPDX-License-Identifier: Apache-2.0
#include "models/net/wire.h"

#include "models/base/parameters/spread.h"

namespace sluice::net {

namespace {
constexpr const char* kLinkDown = "link down";
}

void Wire::Parameters::describe(base::Schema<Parameters>& s) {
  s.summary("Ethernet link");
  s.add("rate", &Parameters::rate, "line rate per direction")
      .range(10_Mbps, 1600_Gbps)
      .acts_with({"frames", "looped"}, "no frame was sent")
      .setting();
  s.add("flight", &Parameters::flight, "one way; 5 ns for each metre")
      .range(0_ns, 1_ms)
      .acts_with({"frames"}, "no frame was sent")
      .assumed("2 m of cable");
  s.add("clock_tolerance", &Parameters::clock_tolerance,
        "how far each end's clock may deviate, where run.spread is drawn")
      .range(0, 1000)
      .unit("ppm")
      .acts_with({"frames", "looped"}, "no frame was sent")
      .assumed("an ideal clock; IEEE 802.3 allows 100 ppm");
}

Wire::Wire(sc_core::sc_module_name name, const Parameters& p) : Model(name), parameters_(p) {
  for (const End e : {kA, kB})
    directions_[e].fs_per_octet = base::spread().period(p.rate.femtoseconds_per_byte(), p.clock_tolerance, path(),
                                                        e == kA ? "clock of end a" : "clock of end b");
}

base::Reservation Wire::send(End from, PacketPtr packet, base::Time ready) {
  OneWay& way = directions_[from];
  if (!up_) {
    ++way.statistics.frames;
    lose(from, *packet, kLinkDown);
    return {ready, ready};
  }
  const base::Time start = next_start(from, ready);
  const base::Time occupied = occupancy(from, packet->length);
  way.free_at = start + occupied;
  ++way.statistics.frames;
  way.statistics.bytes += packet->length;
  way.statistics.busy += occupied;

  packet->sent = start;
  packet->first_bit = start + parameters_.flight;
  packet->last_bit = packet->first_bit + octets(from, kPreamble + packet->length + kFcs);
  base::enter_all(packet->spans, SLUICE_STAGE_wire, component(), start);
  show(from, *packet, Direction::kSent, start);
  const base::Time arrival = packet->last_bit;
  if (faults_) [[unlikely]] {
    const FaultPlan::Fate fate = faults_->fate_of(from, *packet, start);
    packet->corrupted |= fate == FaultPlan::Fate::corrupted;
    if (fate == FaultPlan::Fate::lost) {
      base::calendar().at(arrival, key(), [this, from, epoch = epoch_, p = std::move(packet)] {
        lose(from, *p, epoch == epoch_ ? "frame lost" : kLinkDown);
      });
      return {start, way.free_at};
    }
  }
  base::calendar().at(arrival, key(), [this, from, epoch = epoch_, p = std::move(packet)]() mutable {
    arrive(other(from), epoch, std::move(p));
  });
  return {start, way.free_at};
}

void Wire::arrive(End at, std::uint32_t epoch, PacketPtr packet) {
  if (epoch != epoch_) {
    lose(other(at), *packet, kLinkDown);
    return;
  }
  ++directions_[other(at)].statistics.delivered;
  show(at, *packet, Direction::kReceived, packet->last_bit);
  if (clients_[at]) clients_[at]->frame_arrived(std::move(packet));
}

void Wire::lose(End from, const Packet& packet, const char* reason) {
  ++directions_[from].statistics.lost;
  base::drop_all(packet.spans, reason, base::now());
}

void Wire::show(End end, const Packet& packet, Direction direction, base::Time t) {
  if (taps_[end].empty()) return;
  if (t > base::now()) {
    // A capture is written in order of time: a frame that waits for the line is shown when its first bit leaves.
    base::calendar().at(t, key(), [this, end, direction, epoch = epoch_, copy = copy_packet(packet)] {
      if (epoch != epoch_) return;  // the carrier went down before the frame left
      for (Tap& tap : taps_[end]) tap(*copy, direction, base::now());
    });
    return;
  }
  for (Tap& tap : taps_[end]) tap(packet, direction, t);
}

void Wire::register_statistics(base::StatisticsGroup& parent) {
  parent.counter("carrier_losses", "losses", "times that the carrier went away", carrier_losses_);
  for (const End from : {kA, kB}) {
    groups_[from] = std::make_unique<base::StatisticsGroup>(from == kA ? "a_to_b" : "b_to_a", &parent);
    base::StatisticsGroup& g = *groups_[from];
    const Statistics& s = directions_[from].statistics;
    g.counter("frames", "frames", "given to the wire", s.frames);
    g.counter("bytes", "bytes", "of those frames, without FCS, less those given while the carrier was down", s.bytes);
    g.counter("delivered", "frames", "that arrived", s.delivered);
    g.counter("lost", "frames", "lost on the way, or because the carrier was or went down", s.lost);
    g.counter("looped", "frames", "that the MAC at this end gave back to itself, at the line rate", s.looped);
    g.resource("busy", "", "time that frames, preambles and gaps occupied", [&s] { return s.busy.femtoseconds(); });
    g.derived("utilisation", "1", "share of the line rate, preambles and gaps included", [this, from](const auto& m) {
      const std::uint64_t elapsed = m.elapsed().femtoseconds();
      const std::uint64_t octets =
          m(directions_[from].statistics.bytes) + m(directions_[from].statistics.delivered) * (kPreamble + kFcs + kGap);
      return base::Measured::ratio(directions_[from].fs_per_octet.of(octets), elapsed);
    });
  }
}

void Wire::set_up(bool up) {
  if (up == up_) return;
  up_ = up;
  if (!up) ++epoch_, ++carrier_losses_;
  for (OneWay& way : directions_) way.free_at = std::min(way.free_at, base::now());
  for (Client* c : clients_)
    if (c) c->carrier_changed(up);
}

}  // namespace sluice::net
