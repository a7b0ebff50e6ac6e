// SPDX-License-Identifier: Apache-2.0
#include "platform/board/pcie_functions.h"

#include <utility>

#include "platform/board/instances.h"
#include "platform/board/pcie_tree.h"
#include "platform/firmware/device_tree_properties.h"

namespace sluice::platform {
namespace {

PcieFunction bridge(unsigned device) { return {true, "pci", device, {}, {}, {}}; }

constexpr const char* kTelling = "cannot say what its driver must know";

/// The properties that a device's factory gives for its driver.
template <class Factory>
std::vector<part::FirmwareProperty> properties_of(const config::BoardConfig& config, const config::Instance& device,
                                                  const Factory& factory) {
  return by_author(config, device.path(), kTelling, [&] {
    auto properties = factory.firmware_properties(device.values());
    check_properties(properties, PropertyNode::pcie_function);
    return properties;
  });
}

PcieFunction nic(const config::BoardConfig& config, const config::Instance& n) {
  PcieFunction f{false, "ethernet", 0, {}, {}, {}};
  f.properties = properties_of(config, n, nic_factory_of(n));
  if (const std::string address = place_of(config, n).address; !address.empty()) f.station = net::parse_mac(address);
  return f;
}

PcieFunction device(const config::BoardConfig& config, const config::Instance& d) {
  PcieFunction f{false, d.kind(), 0, {}, {}, {}};
  f.properties = properties_of(config, d, factory_of(d));
  return f;
}

/// first: the device number of port 0.
std::vector<PcieFunction> functions(const config::BoardConfig& config, const std::vector<PortPlan>& ports,
                                    unsigned first) {
  std::vector<PcieFunction> list;
  for (std::size_t n = 0; n < ports.size(); ++n) {
    const config::Instance* behind = ports[n].device;
    if (!behind) continue;
    PcieFunction port = bridge(first + static_cast<unsigned>(n));
    if (behind->kind() == "switch") {
      port.below.push_back(bridge(0));
      port.below.back().below = functions(config, ports[n].ports, 0);
    } else {
      port.below.push_back(behind->kind() == "nic" ? nic(config, *behind) : device(config, *behind));
    }
    port.below.back().properties.push_back({"sluice,path", behind->path()});
    list.push_back(std::move(port));
  }
  return list;
}

}  // namespace

std::vector<PcieFunction> pcie_functions(const config::BoardConfig& config) {
  return functions(config, pcie_tree(config), 1);
}

}  // namespace sluice::platform
