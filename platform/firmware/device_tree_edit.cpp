// SPDX-License-Identifier: Apache-2.0
#include "platform/firmware/device_tree_edit.h"

#include <cstring>

#include <fmt/format.h>
#include <libfdt.h>

#include "models/base/parameters/quantity.h"

namespace sluice::platform {
namespace {

constexpr std::size_t kChosenRoom = 256;  ///< bytes for the node and its properties, without bootargs

[[noreturn]] void fail(const char* what, int error) {
  throw base::ValueError(fmt::format("{}: {}", what, fdt_strerror(error)));
}

int checked(int result, const char* what) {
  if (result < 0) fail(what, result);
  return result;
}

/// A copy with room to grow.
DeviceTreeBlob opened(const DeviceTreeBlob& tree, std::size_t room) {
  DeviceTreeBlob larger(tree.size() + room);
  checked(fdt_open_into(tree.data(), larger.data(), static_cast<int>(larger.size())), "cannot be changed");
  return larger;
}

DeviceTreeBlob packed(DeviceTreeBlob tree) {
  checked(fdt_pack(tree.data()), "cannot be packed");
  tree.resize(fdt_totalsize(tree.data()));
  return tree;
}

void check(const DeviceTreeBlob& file) {
  constexpr char kSource[] = "/dts-v1/";
  if (file.size() >= sizeof kSource - 1 && std::memcmp(file.data(), kSource, sizeof kSource - 1) == 0)
    throw base::ValueError("is source text; compile it: dtc -I dts -O dtb");
  if (const int error = fdt_check_full(file.data(), file.size()); error != 0)
    throw base::ValueError(fmt::format("is no compiled device tree (dtc -O dtb makes one): {}", fdt_strerror(error)));
}

bool is_overlay(const DeviceTreeBlob& file) {
  int node = 0;
  fdt_for_each_subnode(node, file.data(), 0) {
    if (fdt_subnode_offset(file.data(), node, "__overlay__") >= 0) return true;
  }
  return false;
}

}  // namespace

DeviceTreeBlob with_file(const DeviceTreeBlob& ours, const DeviceTreeBlob& file) {
  check(file);
  if (!is_overlay(file)) return packed(opened(file, 0));
  DeviceTreeBlob changes = file;
  DeviceTreeBlob tree = opened(ours, 2 * file.size());
  if (const int error = fdt_overlay_apply(tree.data(), changes.data()); error != 0)
    throw base::ValueError(
        fmt::format("is an overlay that does not go with the board's tree, which has no labels (use target-path): {}",
                    fdt_strerror(error)));
  return packed(std::move(tree));
}

DeviceTreeBlob with_chosen(const DeviceTreeBlob& tree, const Chosen& chosen) {
  if (chosen.bootargs.empty() && !chosen.initrd) return tree;
  DeviceTreeBlob result = opened(tree, kChosenRoom + chosen.bootargs.size());
  int node = fdt_path_offset(result.data(), "/chosen");
  if (node < 0) node = checked(fdt_add_subnode(result.data(), 0, "chosen"), "takes no /chosen");
  const auto set = [&](int error) { checked(error, "takes no property in /chosen"); };
  if (!chosen.bootargs.empty()) set(fdt_setprop_string(result.data(), node, "bootargs", chosen.bootargs.c_str()));
  if (chosen.initrd) {
    set(fdt_setprop_u64(result.data(), node, "linux,initrd-start", chosen.initrd->first));
    set(fdt_setprop_u64(result.data(), node, "linux,initrd-end", chosen.initrd->second));
  }
  return packed(std::move(result));
}

}  // namespace sluice::platform
