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

/// Our own tree, with the user's file in its place, or, where that is an overlay, with the file's changes. Throws
/// base::ValueError, the end of a sentence about the file, when it is no device tree or does not go with ours.
DeviceTreeBlob with_file(const DeviceTreeBlob& ours, const DeviceTreeBlob& file);

/// Throws base::ValueError, the end of a sentence about the tree, when it has no room in its own structure.
DeviceTreeBlob with_chosen(const DeviceTreeBlob& tree, const Chosen&);

}  // namespace sluice::platform
