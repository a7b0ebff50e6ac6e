// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A full-duplex Ethernet link between two ends.

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/fabric/server.h"
#include "models/base/parameters/quantity.h"
#include "models/base/parameters/schema.h"
#include "models/base/systemc/model.h"
#include "models/base/time/callback.h"
#include "models/net/packet.h"

namespace sluice::net {

using namespace base::literals;

/// Serialises frames at the line rate, delays them by the flight time and delivers each when the last bit of its FCS
/// arrives. A frame of n bytes without FCS occupies its direction for 8 (preamble and SFD) + n + 4 (FCS) + 12 (gap)
/// octets. It arrives 8 + n + 4 octet times plus the flight time after its first bit has left. Padding to 60 bytes is
/// the sender's work (pad()): the wire carries a runt as it is. Ledger: a request is in stage `wire` from the first bit
/// of the preamble until the receiver enters its own stage. A frame that is sent while the carrier is down, or whose
/// carrier goes down before its last bit has arrived, is lost: its requests are dropped with the reason "link down".
/// The requests of a frame that a FaultPlan loses are dropped with the reason "frame lost", at the time at which its
/// last bit would have arrived. Where base::spread() is drawn, each end sends by a clock of its own.
class Wire : public base::Model {
 public:
  enum End : unsigned { kA = 0, kB = 1 };
  static constexpr End other(End e) { return e == kA ? kB : kA; }
  static constexpr unsigned kPreamble = 8;  ///< octets, SFD included
  static constexpr unsigned kFcs = 4;
  static constexpr unsigned kGap = 12;

  struct Parameters {
    base::BitRate rate = 100_Gbps;
    base::Time flight = 10_ns;     ///< one way
    unsigned clock_tolerance = 0;  ///< ppm, of each end's own clock
    static void describe(base::Schema<Parameters>&);
  };

  /// What sits at an end: a MAC, a traffic source, a TAP.
  class Client {
   public:
    virtual ~Client() = default;
    /// Called when the last bit arrives, which is now(). The packet's stamps are set. Never called while the carrier is
    /// down.
    virtual void frame_arrived(PacketPtr) = 0;
    virtual void carrier_changed(bool up) { (void)up; }
  };

  /// Sees frames at an end, for captures and tests. A sent frame is seen when the first bit of its preamble leaves, a
  /// received frame when the last bit of its FCS arrives. That time is passed along, and calls come in its order.
  enum class Direction { kSent, kReceived };
  using Tap = base::Callback<void(const Packet&, Direction, base::Time)>;

  /// Says what becomes of frames on their way.
  class FaultPlan {
   public:
    enum class Fate { arrives, corrupted, lost };
    virtual ~FaultPlan() = default;
    /// Called once for each frame that an end sends while the carrier is up, in order of sending. start: when its first
    /// bit leaves. If the frame is to arrive corrupted, the plan may also damage its bytes; the FCS is wrong in any
    /// case.
    virtual Fate fate_of(End from, Packet&, base::Time start) = 0;
  };

  struct Statistics {
    std::uint64_t frames = 0;     ///< frames given to the wire, lost ones included
    std::uint64_t bytes = 0;      ///< of those given while the carrier was up, without FCS
    std::uint64_t delivered = 0;  ///< frames, corrupted ones included
    std::uint64_t lost = 0;       ///< frames lost on the way, or because the carrier was or went down
    std::uint64_t looped = 0;     ///< frames that never left the end's MAC, which is in loopback
    base::Time busy;              ///< preamble, frame, FCS and gap
  };

  Wire(sc_core::sc_module_name, const Parameters&);

  const Parameters& parameters() const { return parameters_; }
  /// Each end has one client, attached before the simulation starts. Throws std::logic_error for a second one.
  void attach(End end, Client& client) {
    if (clients_[end]) throw std::logic_error("somebody is at that end of " + path() + " already");
    clients_[end] = &client;
  }
  void add_tap(End end, Tap tap) { taps_[end].push_back(std::move(tap)); }

  /// Sends a frame from an end. Its first bit leaves no earlier than `ready`, which is when the sender's own fixed
  /// latency ends, at or after now(). Only the end's client sends from it, in order of `ready`. Returns when the first
  /// bit leaves and when the first bit of the next frame may leave. While the carrier is down, both times are `ready`.
  base::Reservation send(End from, PacketPtr, base::Time ready);
  base::Reservation send(End from, PacketPtr p) { return send(from, std::move(p), base::now()); }
  /// When the first bit of a frame that is complete at `ready` would leave. A source opens its request at this time.
  base::Time next_start(End from, base::Time ready) const { return std::max(ready, directions_[from].free_at); }
  base::Time next_start(End from) const { return next_start(from, base::now()); }
  /// Time of n octets at the line rate, by the clock of the end that sends them.
  base::Time octets(End from, std::uint64_t n) const {
    return base::Time::fs(directions_[from].fs_per_octet.of_rounded_up(n));
  }
  /// Time that a frame of `length` bytes without FCS occupies its direction.
  base::Time occupancy(End from, std::uint32_t length) const { return octets(from, kPreamble + length + kFcs + kGap); }

  /// The MAC at this end is in loopback, and gives a frame back to itself or its client.
  void note_looped(End from) { ++directions_[from].statistics.looped; }

  bool up() const { return up_; }
  /// Sets the fault plan, which must outlive the simulation. Null: every frame arrives.
  void set_faults(FaultPlan* plan) { faults_ = plan; }

  /// Sets the carrier up or down from now() on; if this is a change, both clients get carrier_changed().
  void set_up(bool up);
  /// The carrier is down while anyone holds it down. Calls are counted: each hold_down(true) needs its own
  /// hold_down(false).
  void hold_down(bool on) {
    downs_ += on ? 1 : -1u;
    set_up(downs_ == 0);
  }

  /// What was sent from one end.
  const Statistics& statistics(End from) const { return directions_[from].statistics; }

 private:
  void register_statistics(base::StatisticsGroup&) override;  ///< two groups: "a_to_b", "b_to_a"
  struct OneWay {
    base::Ratio fs_per_octet;
    base::Time free_at;
    Statistics statistics;
  };

  void arrive(End at, std::uint32_t epoch, PacketPtr);
  void lose(End from, const Packet&, const char* reason);
  void show(End, const Packet&, Direction, base::Time);

  Parameters parameters_;
  std::array<Client*, 2> clients_{};
  std::array<std::vector<Tap>, 2> taps_;
  std::array<OneWay, 2> directions_;
  std::array<std::unique_ptr<base::StatisticsGroup>, 2> groups_;
  bool up_ = true;
  unsigned downs_ = 0;
  FaultPlan* faults_ = nullptr;
  std::uint32_t epoch_ = 0;  ///< counts carrier losses: a frame from an older epoch is lost
  std::uint64_t carrier_losses_ = 0;
};

}  // namespace sluice::net
