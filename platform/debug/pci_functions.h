// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The PCIe functions of a board: what `monitor pci` and `monitor msix` tell of them. Looking changes nothing.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/pcie/config_space.h"
#include "models/pcie/endpoint/endpoint.h"
#include "models/pcie/tlp.h"
#include "platform/board/board.h"

namespace sluice::debug {

struct PciFunction {
  std::string name;  ///< "root", "root.port0", "switch.s0.upstream", "switch.s0.port1", "nic.eth0"
  /// Bus, device and function by the bus numbers that the bridges above hold now; none while they lead to no bus.
  std::optional<pcie::RoutingId> place;
  const pcie::ConfigSpace* config;
  const pcie::Endpoint* endpoint = nullptr;  ///< null: a bridge or the host bridge
};

/// Depth first, as firmware enumerates them.
std::vector<PciFunction> pci_functions(platform::Board&);

/// All functions, some lines for each: its ids, command bits, BARs or windows, and MSI-X.
std::string list_functions(platform::Board&);
/// The configuration space of a function, by its name or by "01:00.0".
std::string show_config(platform::Board&, std::string_view function);
/// A function's MSI-X vectors: address, its receiver, data, mask, pending. A run of equal vectors is one line.
std::string show_msix(platform::Board&, std::string_view function);

}  // namespace sluice::debug
