#pragma once
/// What a device's firmware must be told of it beyond what the hardware says.

#include <cstdint>
#include <string>
#include <variant>

namespace sluice::part {

/// A property of a device-tree node: a cell or a string.
struct FirmwareProperty {
  std::string name;  ///< "sluice,queues"
  std::variant<std::uint32_t, std::string> value;
};

}  // namespace sluice::part
