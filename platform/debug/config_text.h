// SPDX-License-Identifier: Apache-2.0
#pragma once
/// PCIe configuration space for people.

#include <string>

#include "models/pcie/config_space.h"

namespace sluice::debug {

bool is_bridge(const pcie::ConfigSpace&);
/// Bits of the command register: "memory, bus master"; "-" where none is set.
std::string command_text(std::uint16_t command);
/// "Ethernet controller"; empty for a class that it does not know.
std::string class_text(std::uint32_t class_code);
/// One BAR that the function has: "64-bit prefetchable, at 0x4000000000, 8 MiB".
std::string bar_text(const pcie::ConfigSpace&, unsigned bar);
/// Buses and address windows that lead below a bridge: "buses 01 to 01, memory 0x40000000 to 0x401fffff".
std::string bridge_text(const pcie::ConfigSpace&);
/// "17 vectors, on"; empty without MSI-X.
std::string msix_text(const pcie::ConfigSpace&);
/// All registers of the header and the capabilities, one line each: offset, name, value and meaning.
std::string config_text(const pcie::ConfigSpace&);

}  // namespace sluice::debug
