// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A flattened device tree as source text, for people and for dtc.

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::platform {

/// Source of version 1 that dtc compiles to the same tree. Throws std::runtime_error when the blob is not a device
/// tree.
std::string device_tree_text(const std::vector<std::uint8_t>& blob);

}  // namespace sluice::platform
