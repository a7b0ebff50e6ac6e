// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The common part of all computers at the far end of a wire.

#include <cstdint>
#include <string>

#include "models/base/measure/statistics.h"
#include "models/base/parameters/schema.h"
#include "models/base/systemc/model.h"
#include "models/net/frame.h"
#include "models/net/wire.h"

namespace sluice::net {

/// Checks what arrives, answers ARP requests for its address and ICMP echo requests at once, finds its partner's MAC
/// address by ARP, and hands UDP datagrams to the derived class. Its own processing takes no time.
class RemoteHost : public base::Model, public Wire::Client {
 public:
  struct Parameters {
    std::string mac = "02:00:00:00:00:01";
    std::string address = "10.0.0.1";
    std::string partner;                  ///< IPv4 address of the board's side; empty: the board sets it
    base::Time resolve_interval = 10_us;  ///< between ARP requests until one is answered
    static void describe(base::Schema<Parameters>&);
  };
  struct Statistics {
    std::uint64_t bad_frames = 0;    ///< wrong FCS, runts, wrong lengths or checksums
    std::uint64_t unexpected = 0;    ///< valid frames for which the host has no use
    std::uint64_t arp_answers = 0;   ///< ARP requests answered
    std::uint64_t echo_answers = 0;  ///< ICMP echo requests answered
    std::uint64_t probes = 0;        ///< ARP requests sent
  };

  const Statistics& host_statistics() const { return counts_; }
  /// What was wrong with the first bad frame; empty when there was none.
  const std::string& first_bad_frame() const { return first_bad_; }

  /// IPv4 address of the board's side, as text.
  std::string partner_address() const { return ipv4_text(partner_.ip); }

  void frame_arrived(PacketPtr) override;

 protected:
  /// Attaches itself to the wire's end. Throws base::ValueError when an address is invalid.
  RemoteHost(const sc_core::sc_module_name&, const Parameters&, Wire&, Wire::End);
  ~RemoteHost() override = default;

  /// Sends ARP requests for the partner's MAC address until it is known, and then calls resolved().
  void resolve();
  virtual void resolved() {}
  /// Called with a valid UDP datagram for this host; after accept_all(), also with any other valid frame except ARP and
  /// ICMP echo requests for this host.
  virtual void datagram_arrived(PacketPtr, const FrameView&) = 0;
  /// Makes the host also take frames to other IPv4 addresses and frames other than UDP.
  void accept_all() { accept_all_ = true; }
  /// Whether an answer should be taken for what may be the last one, when `others` are still awaited. Where many are,
  /// only some answers are, since whoever is told reads all that the board has counted.
  static bool may_be_last(std::uint64_t others) { return others < 64 || others % 64 == 0; }

  /// Counts a valid frame for which the host has no use.
  void unexpected() { ++counts_.unexpected; }
  /// Opens the request of a frame that is due at `due` and whose first bit leaves at `start`: in `client_queue` if it
  /// must wait for the line, and else in `wire`. number: by which the host knows it.
  base::RequestId open_request(base::Time due, base::Time start, std::uint64_t number) const {
    return start > due ? base::ledger().open(SLUICE_STAGE_client_queue, component(), due, 0, number)
                       : base::ledger().open(SLUICE_STAGE_wire, wire_.component(), start, 0, number);
  }
  /// Sends a frame that is ready at now().
  base::Reservation transmit(PacketPtr p) { return wire_.send(end_, std::move(p)); }
  Wire& wire() { return wire_; }
  Wire::End end() const { return end_; }
  const Endpoint& self() const { return self_; }        ///< port 0
  const Endpoint& partner() const { return partner_; }  ///< port 0; MAC address zero until resolved

 private:
  void probe();
  void arp_arrived(const FrameView&);
  void bad(const char* what);
  void fill_statistics(base::StatisticsGroup&) override;

  Parameters parameters_;
  Wire& wire_;
  Wire::End end_;
  Endpoint self_;
  Endpoint partner_;
  bool resolving_ = false;
  bool accept_all_ = false;
  Statistics counts_;
  std::string first_bad_;
};

}  // namespace sluice::net
