// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Device-tree properties: what firmware must know of a device or of the workload and cannot read from registers.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace sluice::part {

/// A property of a device-tree node: a cell, a string or cells.
struct FirmwareProperty {
  std::string name;  ///< "sluice,queues"
  std::variant<std::uint32_t, std::string, std::vector<std::uint32_t>> value;
};

}  // namespace sluice::part
