// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A remote host that serves remote procedure calls.

#include "models/base/parameters/random.h"
#include "models/net/traffic/remote_host.h"
#include "models/net/traffic/rpc.h"
#include "protocols/rpc/onc_rpc.h"

namespace sluice::net {

/// Serves the program `echo` (protocols/rpc/echo.h) at one UDP port, to whoever calls it. Each reply leaves a time
/// after the call's last bit that is constant or drawn, whatever else is being served: replies may overtake each other.
/// A call that it cannot serve gets the error that RFC 5531 has for it. Ledger: that time is in stage `child`, and the
/// reply belongs to the requests that the call belonged to.
class RpcPeer : public RemoteHost {
 public:
  enum class Delays { constant, exponential };
  struct Parameters {
    RemoteHost::Parameters host;
    std::uint32_t port = RPC_PORT_SERVICES;
    base::Time delay = 1_us;  ///< last bit of a call to first bit of its reply; see delays
    Delays delays = Delays::constant;
    static void describe(base::Schema<Parameters>&);
  };

  RpcPeer(const sc_core::sc_module_name&, const Parameters&, base::RandomSeed, Wire&, Wire::End);

  std::uint64_t served() const { return served_; }    ///< calls
  std::uint64_t refused() const { return refused_; }  ///< calls answered by an error

 private:
  void register_statistics(base::StatisticsGroup&) override;
  void datagram_arrived(PacketPtr, const FrameView&) override;
  std::uint32_t answer(const CallView&, std::uint8_t* reply);

  Parameters parameters_;
  base::RandomStream random_;
  std::uint64_t served_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace sluice::net
