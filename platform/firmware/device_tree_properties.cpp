// SPDX-License-Identifier: Apache-2.0
#include "platform/firmware/device_tree_properties.h"

#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sluice::platform {
namespace {

using namespace std::string_view_literals;

/// The characters of a property's name (Devicetree Specification, 2.2.4).
constexpr std::string_view kCharacters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ,._+?#-";

/// Names that the board writes into a node, and phandle, whose values the board hands out.
std::set<std::string_view> own_names(PropertyNode node) {
  switch (node) {
    case PropertyNode::bus_device:
      return {"compatible"sv, "reg"sv, "sluice,path"sv, "interrupt-parent"sv, "interrupts"sv, "phandle"sv};
    case PropertyNode::pcie_function:
      return {"reg"sv, "local-mac-address"sv, "sluice,path"sv, "phandle"sv};
    case PropertyNode::chosen:
      return {"stdout-path"sv,          "bootargs"sv,          "sluice,services"sv,
              "sluice,batch-threads"sv, "sluice,time-slice"sv, "sluice,idle-polls"sv,
              "linux,initrd-start"sv,   "linux,initrd-end"sv,  "phandle"sv};
  }
  return {};
}

}  // namespace

void check_properties(const std::vector<part::FirmwareProperty>& properties, PropertyNode node) {
  const std::set<std::string_view> own = own_names(node);
  std::set<std::string_view> given;
  for (const part::FirmwareProperty& p : properties) {
    const std::string named = "its device-tree property \"" + p.name + "\" ";
    if (p.name.empty() || p.name.find_first_not_of(kCharacters) != std::string::npos)
      throw std::logic_error(named + "must have a name of letters, digits and , . _ + ? # -");
    if (own.count(p.name) != 0)
      throw std::logic_error(named + "must have another name: the board gives the node that one");
    if (!given.insert(p.name).second) throw std::logic_error(named + "must be given once");
  }
}

}  // namespace sluice::platform
