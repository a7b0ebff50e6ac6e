// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a user changes of a device tree: another one in its place, an overlay, what /chosen says.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice::platform {

using DeviceTreeBlob = std::vector<std::uint8_t>;  ///< flattened, as in a .dtb file

/// What /chosen is to say besides what it says already.
struct Chosen {
  std::string bootargs;                                           ///< empty: as it is
  std::optional<std::pair<std::uint64_t, std::uint64_t>> initrd;  ///< first address, and the one behind the last
};

/// Our own tree after the user's file has replaced it or, if the file is an overlay, changed it. Throws
/// base::ValueError, the end of a sentence about the file, when the file is not a device tree or does not fit ours.
DeviceTreeBlob with_file(const DeviceTreeBlob& ours, const DeviceTreeBlob& file);

/// Throws base::ValueError, the end of a sentence about the tree, when it has no room in its own structure.
DeviceTreeBlob with_chosen(const DeviceTreeBlob& tree, const Chosen&);

}  // namespace sluice::platform
