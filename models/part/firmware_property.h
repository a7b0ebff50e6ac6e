#pragma once
/// What a device's firmware must be told of it beyond what the hardware says.

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
