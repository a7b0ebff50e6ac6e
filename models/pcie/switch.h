// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A PCIe switch: one upstream port and several downstream ports, each a type 1 function. This class is the plain
/// switch; other switches derive from it.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/base/measure/statistics.h"
#include "models/base/parameters/schema.h"
#include "models/base/systemc/model.h"
#include "models/base/systemc/reset.h"
#include "models/pcie/bridge.h"
#include "models/pcie/link.h"

namespace sluice::pcie {

/// Routes by bus number (configuration requests, completions) and by memory window (memory requests), between its
/// downstream ports too. Ledger: the stage `switch` begins at a TLP's last bit (cut-through: its header's last bit) and
/// lasts `latency`.
class Switch : public base::Model, public base::Resettable {
 public:
  struct Parameters {
    unsigned downstream_ports = 4;  ///< 1 to 31
    base::Time latency = 115_ns;    ///< from port to port
    bool cut_through = false;       ///< forwards a TLP when its header has arrived
    static void describe(base::Schema<Parameters>&);
  };
  struct Counters {
    std::uint64_t forwarded = 0;
    std::uint64_t unsupported_requests = 0;
    std::uint64_t unexpected_completions = 0;
  };

  Switch(sc_core::sc_module_name, const Parameters&);

  Port& upstream_port() { return ports_[0]->port; }
  Port& downstream_port(unsigned n) { return ports_.at(n + 1)->port; }
  const Bridge& upstream_bridge() const { return ports_[0]->bridge; }
  const Bridge& downstream_bridge(unsigned port) const { return ports_.at(port + 1)->bridge; }
  const Counters& counters() const { return counters_; }
  unsigned downstream_ports() const { return static_cast<unsigned>(ports_.size()) - 1; }

  /// Resets the switch and everything below it, as a board reset or the loss of the link above does.
  void reset() final;

 protected:
  /// Called at now() when a TLP has come in at a port (0: upstream, n + 1: downstream port n) and is about to be
  /// routed. A derived switch may change the TLP here, or take it by moving from it. It then answers the TLP or sends
  /// it on with forward(), route() or refuse(), at now() or later. The ingress buffer is free when the TLP has left or
  /// release_buffer() has been called.
  virtual void before_routing(unsigned ingress, TlpPtr&) { (void)ingress; }
  /// Called by reset(): a derived switch resets what it has besides its ports, and drops the TLPs that it has taken.
  virtual void fabric_reset() {}
  /// Sends the TLP through the port; a port without a link drops it. forward(), refuse() and route() throw
  /// base::ComponentError for a port that the switch does not have, and for a null TLP.
  void forward(unsigned egress, TlpPtr);
  /// Ends a request that goes nowhere. cause: what software did wrong; null: nothing.
  void refuse(unsigned ingress, TlpPtr, const char* cause = nullptr);
  /// Routes the TLP by address, bus or type, as if it came in now.
  void route(unsigned ingress, TlpPtr);

 private:
  /// Puts the plain switch's counters before those of a derived switch, in one group.
  void fill_statistics(base::StatisticsGroup&) final;
  struct SwitchPort {
    SwitchPort(const std::string& owner, const Identity& identity, unsigned express_type);
    Port port;
    Bridge bridge;
    std::uint8_t asserted = 0;  ///< INTx virtual wires from below
  };

  void check(unsigned port, const TlpPtr&) const;
  void receive(unsigned ingress, TlpPtr);
  void route_memory(unsigned ingress, TlpPtr);
  void route_config(unsigned ingress, TlpPtr);
  void route_completion(unsigned ingress, TlpPtr);
  void receive_message(unsigned ingress, TlpPtr);
  void configure(unsigned port, TlpPtr);
  void link_down(unsigned port);
  void update_intx(const Tlp* cause);

  Parameters parameters_;
  std::vector<std::unique_ptr<SwitchPort>> ports_;  ///< 0: upstream
  RoutingId id_ = 0;                                ///< of the upstream port's function
  std::uint8_t intx_sent_ = 0;
  Counters counters_;
};

}  // namespace sluice::pcie
