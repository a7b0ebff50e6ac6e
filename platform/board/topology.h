#pragma once
/// What a board's file says of its shape, before anything is built: the address map and the PCIe tree.

#include <vector>

#include "platform/config/board_config.h"
#include "platform/config/memory_map.h"

namespace sluice::platform {

/// Every region of the host's address space, by address. Throws config::UserError for overlapping regions and for a
/// board without a cluster.
std::vector<config::MemoryRegion> memory_map(const config::BoardConfig&);

/// A root port, or a downstream port of a switch, and what is behind it.
struct PortPlan {
  const config::Instance* slot = nullptr;    ///< the link and slot; null: nothing is connected
  const config::Instance* device = nullptr;  ///< in the slot; null: empty
  std::vector<PortPlan> ports;               ///< of a switch that is the device, by number
};
/// By number of the root port, which is device number + 1 on bus 0. Throws config::UserError for a slot at no port, two
/// slots or devices at one place, and switches that hang from no root port.
std::vector<PortPlan> pcie_tree(const config::BoardConfig&);

}  // namespace sluice::platform
