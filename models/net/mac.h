// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A NIC's Ethernet MAC and PCS at one end of a wire.

#include <string>
#include <utility>

#include "models/base/systemc/reset.h"
#include "models/net/wire.h"

namespace sluice::net {

/// Receives frames from a wire, checks them, and hands them on after the receive latency; pads and sends frames after
/// the transmit latency. Pause frames are not modelled. Ledger: on receive, a request is in stage `mac` from the
/// arrival of the last bit until the client's next stage. On transmit, it is in this stage from send() until the first
/// bit leaves, and so also while the frame waits for the line.
///
/// Hardware time stamps: a received frame's is the arrival of the first bit of its destination address (the IEEE 1588
/// time stamp point, behind the SFD), a sent frame's is the departure of the same bit. Packet also has the times of the
/// preamble's first bit and of the last bit.
class Mac : public base::Model, public Wire::Client, public base::Resettable {
 public:
  struct Parameters {
    base::Time rx_latency = 40_ns;  ///< last bit on the wire to frame at the client
    base::Time tx_latency = 40_ns;  ///< frame at the MAC to first bit on the wire
    static void describe(base::Schema<Parameters>&);
  };

  class Client {
   public:
    virtual ~Client() = default;
    /// Called with a good frame, which leaves the MAC at `available`, at or after now(). Calls come in the order of
    /// `available`. The client enters the frame's requests into its own first stage at `available`.
    virtual void mac_received(PacketPtr, base::Time available) = 0;
    /// Why a frame was dropped before the client saw it.
    enum class Drop { kFcs, kRunt, kLong };
    virtual void mac_dropped(Drop) = 0;
    virtual void link_changed(bool up) = 0;
  };

  struct Statistics {
    std::uint64_t rx_frames = 0;  ///< good frames
    std::uint64_t rx_bytes = 0;   ///< of good frames, without FCS
    std::uint64_t rx_bad_fcs = 0;
    std::uint64_t rx_runts = 0;
    std::uint64_t rx_long = 0;
    std::uint64_t tx_frames = 0;
    std::uint64_t tx_bytes = 0;
    std::uint64_t tx_link_down = 0;  ///< frames given to the MAC while the link was down
    std::uint64_t rx_stopped = 0;    ///< frames lost because the MAC was stopped, or in loopback
  };

  /// Attaches itself to the wire's end. The client must be set before the first frame.
  Mac(sc_core::sc_module_name, const Parameters&, Wire&, Wire::End);
  void set_client(Client& client) { client_ = &client; }
  /// The component that an exception from the client names; without this call, the MAC.
  void set_client_path(std::string path) { client_path_ = std::move(path); }

  const Parameters& parameters() const { return parameters_; }
  /// While the MAC is stopped, it loses received frames.
  void set_stopped(bool stopped) { stopped_ = stopped; }
  /// Longest frame received, bytes without FCS.
  void set_max_frame(std::uint32_t bytes) { max_frame_ = bytes; }
  /// Where frames that are sent turn around.
  enum class Loopback {
    none,      ///< they leave
    line,      ///< at the line: they come back behind both latencies and their time at the line rate
    interface  ///< where the client gives them to the MAC, which takes no time over them
  };
  /// In loopback, frames that are sent come back to the client, whether the link is up or not; those under way at its
  /// end are lost. The wire carries nothing, and what comes from it is lost. Turned around at the interface, a frame
  /// has been in no stage of the MAC and is in none of its counters but lost ones; its time stamps are of the turn.
  void set_loopback(Loopback at) { loopback_ = at; }
  /// Undoes set_max_frame() and set_loopback(). Frames inside the MAC go on, and a stopped MAC stays stopped.
  void reset() override {
    max_frame_ = kLongest;
    loopback_ = Loopback::none;
  }

  /// Sends a frame that is complete at `ready`, which is at or after now() and not before the previous frame's. Returns
  /// when its first bit leaves and when the first bit of the next frame may leave. While the link is down, the frame is
  /// lost and counted.
  base::Reservation send(PacketPtr, base::Time ready);
  /// How long a frame given at `ready` would wait for the line.
  base::Time backlog(base::Time ready) const {
    return wire_.next_start(end_, ready + parameters_.tx_latency) - (ready + parameters_.tx_latency);
  }

  /// Time of n octets at the line rate.
  base::Time octets(std::uint64_t n) const { return wire_.octets(end_, n); }
  bool link_up() const { return wire_.up(); }
  /// Whether a frame that is sent now is not lost for want of a link.
  bool can_send() const { return loopback_ != Loopback::none || wire_.up(); }
  base::BitRate rate() const { return wire_.parameters().rate; }
  /// The hardware time stamp of a received frame.
  base::Time receive_stamp(const Packet& p) const {
    return p.first_bit + wire_.octets(Wire::other(end_), Wire::kPreamble);
  }
  /// The hardware time stamp of a frame that send() took while the link was up.
  base::Time transmit_stamp(const base::Reservation& sent) const { return sent.start + octets(Wire::kPreamble); }
  const Statistics& statistics() const { return statistics_; }

  void frame_arrived(PacketPtr) override;
  void carrier_changed(bool up) override;

 private:
  static constexpr std::uint32_t kLongest = 1514;  ///< the longest Ethernet frame, the default of max_frame_
  void register_statistics(base::StatisticsGroup&) override;
  void end_of_elaboration() override;
  void take(PacketPtr);
  base::Reservation loop_back(PacketPtr, base::Time at_line);
  base::Reservation turn_around(PacketPtr, base::Time ready);
  void come_back(PacketPtr);
  static void lose(const Packet&, std::uint64_t& counter, const char* reason);
  void drop(const Packet&, Client::Drop, std::uint64_t& counter, const char* reason);

  Parameters parameters_;
  Wire& wire_;
  Wire::End end_;
  Client* client_ = nullptr;
  std::string client_path_;
  bool stopped_ = false;
  Loopback loopback_ = Loopback::none;
  base::Time loop_free_;  ///< when the next frame may start in loopback
  std::uint32_t max_frame_ = kLongest;
  Statistics statistics_;
};

}  // namespace sluice::net
