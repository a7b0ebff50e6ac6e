#pragma once
/// A plain PCIe switch: one upstream port and several downstream ports, each a type 1 function.

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
/// downstream ports too. Ledger: `switch` from a TLP's last bit (cut-through: its header's) for `latency`.
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

  /// As a reset of the board does it, or the loss of the link above: what is below is reset too.
  void reset() override;

 private:
  void register_statistics(base::StatisticsGroup&) override;
  struct SwitchPort {
    SwitchPort(const std::string& owner, const Identity& identity, unsigned express_type);
    Port port;
    Bridge bridge;
    std::uint8_t asserted = 0;  ///< INTx virtual wires from below
  };

  void receive(unsigned ingress, TlpPtr);
  void route_memory(unsigned ingress, TlpPtr);
  void route_config(unsigned ingress, TlpPtr);
  void route_completion(unsigned ingress, TlpPtr);
  void receive_message(unsigned ingress, TlpPtr);
  void configure(unsigned port, TlpPtr);
  void forward(unsigned egress, TlpPtr);
  void refuse(unsigned ingress, TlpPtr, const char* cause = nullptr);
  void link_down(unsigned port);
  void update_intx(const Tlp* cause);

  Parameters parameters_;
  std::vector<std::unique_ptr<SwitchPort>> ports_;  ///< 0: upstream
  RoutingId id_ = 0;                                ///< of the upstream port's function
  std::uint8_t intx_sent_ = 0;
  Counters counters_;
};

}  // namespace sluice::pcie
