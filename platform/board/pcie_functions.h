#pragma once
/// The PCIe tree of a board as its device tree has it.

#include <vector>

#include "platform/config/board_config.h"
#include "platform/firmware/device_tree.h"

namespace sluice::platform {

/// Every port with something behind it, every switch and every device; on the root bus.
std::vector<PcieFunction> pcie_functions(const config::BoardConfig&);

}  // namespace sluice::platform
