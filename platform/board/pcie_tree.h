// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The PCIe tree that a board file describes, and checks of what the file says.

#include <functional>
#include <string>
#include <vector>

#include "models/pcie/endpoint/endpoint.h"
#include "platform/config/board_config.h"

namespace sluice::platform {

/// A root port, or a downstream port of a switch, and what is behind it.
struct PortPlan {
  const config::Instance* slot = nullptr;    ///< the link and slot; null: nothing is connected
  const config::Instance* device = nullptr;  ///< in the slot; null: empty
  std::vector<PortPlan> ports;               ///< downstream ports by number, if the device is a switch
};
/// The root ports by number; root port n is device n + 1 on bus 0. Throws config::UserError for a slot at no port, two
/// slots or devices at one place, and switches that are not connected to a root port.
std::vector<PortPlan> pcie_tree(const config::BoardConfig&);

/// The device that was built for an instance's path; null for a switch.
using FindEndpoint = std::function<const pcie::Endpoint*(const std::string&)>;
/// Throws config::UserError if a window of the root complex is too small for the buses or BARs of the devices.
void check_pcie_space(const config::BoardConfig&, const FindEndpoint&);

/// Whether the board's [workload] makes calls on an Ethernet link.
bool makes_calls(const config::BoardConfig&);

/// An error about two instances that exclude each other. It names the one that was set later. In `what`, {} stands for
/// the path of the other one.
config::UserError clash(const config::BoardConfig&, const config::Instance&, const config::Instance&,
                        std::string_view key, const char* what);

}  // namespace sluice::platform
