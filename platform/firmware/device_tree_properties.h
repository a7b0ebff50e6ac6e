// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Checks the device-tree properties that models add to the board's own.

#include <vector>

#include "models/part/firmware_property.h"

namespace sluice::platform {

/// The nodes that models add properties to.
enum class PropertyNode { bus_device, pcie_function, chosen };

/// Throws std::logic_error, worded for the model's author, unless every name is a valid name of a property, is given
/// once, and is none of those that the board itself puts into the node.
void check_properties(const std::vector<part::FirmwareProperty>&, PropertyNode);

}  // namespace sluice::platform
