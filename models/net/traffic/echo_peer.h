// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A remote host that sends back whatever it gets.

#include "models/net/traffic/remote_host.h"

namespace sluice::net {

/// Sends back every frame that reflect() can turn around, a fixed time after its last bit has arrived; ICMP echo
/// requests for its own address are answered at once. Frames keep their order and the requests that their bytes belong
/// to. Ledger: the delay is in stage `child`, as for any answer that the board waits for.
class EchoPeer : public RemoteHost {
 public:
  struct Parameters {
    RemoteHost::Parameters host;
    base::Time delay = 1_us;  ///< last bit received to first bit sent
    static void describe(base::Schema<Parameters>&);
  };

  EchoPeer(const sc_core::sc_module_name&, const Parameters&, Wire&, Wire::End);

  std::uint64_t echoed() const { return echoed_; }  ///< frames

 private:
  void register_statistics(base::StatisticsGroup&) override;
  void datagram_arrived(PacketPtr, const FrameView&) override;

  base::Time delay_;
  std::uint64_t echoed_ = 0;
};

}  // namespace sluice::net
