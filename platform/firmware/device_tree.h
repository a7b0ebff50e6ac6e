// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The flattened device tree that the board hands to its firmware. It describes the devices in the way of QEMU virt's
/// tree.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/net/frame.h"
#include "models/part/firmware_property.h"
#include "models/pcie/root/root_complex.h"
#include "platform/board/host_map.h"

namespace sluice::platform {

/// A PCIe function below the host bridge, and what is on the bus behind it.
struct PcieFunction {
  bool bridge = false;
  std::string name;  ///< of a node without its unit address: "pci", "ethernet"
  unsigned device = 0;
  std::vector<part::FirmwareProperty> properties;
  std::optional<net::MacAddress> station;
  std::vector<PcieFunction> below;
};

/// A device on the bus that the harts share.
struct BusNode {
  std::string name;  ///< of the node without its unit address
  std::string path;  ///< on the board
  std::string compatible;
  std::uint64_t base, size;
  std::uint64_t lines, lines_size;   ///< range of the cache lines whose home it is; size 0: none
  std::vector<unsigned> interrupts;  ///< sources of the PLIC or APLIC
  std::vector<part::FirmwareProperty> properties;
};

struct DeviceTreeSource {
  HostMap map;
  unsigned harts = 1;
  bool aia = true;
  std::uint64_t timebase_hertz = 10'000'000;
  std::uint64_t core_hertz = 1'000'000'000;
  unsigned line_bytes = 64;  ///< that a cache-block operation is for
  std::uint64_t memory_base = 0;
  std::uint64_t memory_size = 0;
  /// Base and size of each RAM that holds no firmware.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> more_memory;
  std::vector<BusNode> devices;
  bool iommu = false;
  unsigned first_hart = 0;  ///< mhartid of the cluster's first hart
  /// Null: no PCIe.
  const pcie::RootComplex::Parameters* root = nullptr;
  std::vector<PcieFunction> functions;  ///< on the root bus
  unsigned imsic_identities = 255;
  unsigned interrupt_sources = 95;  ///< of the PLIC or APLIC
  unsigned uart_interrupt = 10;     ///< one of them
  unsigned pcie_interrupts = 32;    ///< first of four sources for INTA to INTD

  std::uint32_t uart_hertz = 3'686'400;

  // Properties of /chosen: how the board wants its firmware to work.
  std::vector<part::FirmwareProperty> chosen;
};

/// Makes a flattened device tree of version 17.
std::vector<std::uint8_t> make_device_tree(const DeviceTreeSource&);

}  // namespace sluice::platform
