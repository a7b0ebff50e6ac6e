#include "platform/board/pcie_functions.h"

#include <utility>

#include "platform/board/instances.h"
#include "platform/board/topology.h"

namespace sluice::platform {
namespace {

PcieFunction bridge(unsigned device) { return {true, "pci", device, {}, {}, {}}; }

PcieFunction nic(const config::Instance& n) {
  PcieFunction f{false, "ethernet", 0, nic_factory_of(n).firmware_properties(n.values()), {}, {}};
  if (const std::string address = place_of(n).address; !address.empty()) f.station = net::parse_mac(address);
  return f;
}

PcieFunction device(const config::Instance& d) {
  return {false, d.kind(), 0, factory_of(d).firmware_properties(d.values()), {}, {}};
}

/// first: the device number of port 0.
std::vector<PcieFunction> functions(const std::vector<PortPlan>& ports, unsigned first) {
  std::vector<PcieFunction> list;
  for (std::size_t n = 0; n < ports.size(); ++n) {
    const config::Instance* behind = ports[n].device;
    if (!behind) continue;
    PcieFunction port = bridge(first + static_cast<unsigned>(n));
    if (behind->kind() == "switch") {
      port.below.push_back(bridge(0));
      port.below.back().below = functions(ports[n].ports, 0);
    } else {
      port.below.push_back(behind->kind() == "nic" ? nic(*behind) : device(*behind));
    }
    port.below.back().properties.push_back({"sluice,path", behind->path()});
    list.push_back(std::move(port));
  }
  return list;
}

}  // namespace

std::vector<PcieFunction> pcie_functions(const config::BoardConfig& config) { return functions(pcie_tree(config), 1); }

}  // namespace sluice::platform
