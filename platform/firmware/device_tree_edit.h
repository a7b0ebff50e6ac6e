// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Changes that a user may make to a device tree: replace it, apply an overlay, set properties of /chosen.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice::platform {

using DeviceTreeBlob = std::vector<std::uint8_t>;  ///< flattened, as in a .dtb file

/// Properties to set in /chosen.
struct Chosen {
  std::string bootargs;                                           ///< empty: unchanged
  std::optional<std::pair<std::uint64_t, std::uint64_t>> initrd;  ///< first address, and one past the last
};

/// Our own tree after the user's file has replaced it or, if the file is an overlay, changed it. Throws
/// base::ValueError, the end of a sentence about the file, when the file is not a device tree or does not fit ours.
DeviceTreeBlob with_file(const DeviceTreeBlob& ours, const DeviceTreeBlob& file);

/// The tree with these properties. Throws base::ValueError, the end of a sentence about the tree, when they cannot be
/// set.
DeviceTreeBlob with_chosen(const DeviceTreeBlob& tree, const Chosen&);

}  // namespace sluice::platform
