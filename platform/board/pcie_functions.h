// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The PCIe tree of a board as its device tree has it.

#include <vector>

#include "platform/config/board_config.h"
#include "platform/firmware/device_tree.h"

namespace sluice::platform {

/// The functions on the root bus: every root port with a switch or device behind it, with all functions below the port.
std::vector<PcieFunction> pcie_functions(const config::BoardConfig&);

}  // namespace sluice::platform
