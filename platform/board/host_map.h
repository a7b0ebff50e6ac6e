// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Where the host's devices lie in its address space. The defaults are QEMU virt's, so that software for that machine
/// finds what it expects.

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/parameters/quantity.h"
#include "models/base/parameters/schema.h"
#include "models/irq/aplic_regs.h"
#include "platform/config/memory_map.h"

namespace sluice::platform {

using namespace base::literals;

struct HostMap {
  std::uint64_t finisher = 0x10'0000;
  std::uint64_t clint = 0x200'0000;
  std::uint64_t iommu = 0x301'0000;
  std::uint64_t plic = 0xc00'0000;
  std::uint64_t aplic_m = 0xc00'0000;
  std::uint64_t aplic_s = 0xd00'0000;
  std::uint64_t uart = 0x1000'0000;
  std::uint64_t imsic_m = 0x2400'0000;
  std::uint64_t imsic_s = 0x2800'0000;
  static void describe(base::Schema<HostMap>&);

  static constexpr std::uint64_t kFinisherSize = 0x1000;
  static constexpr std::uint64_t kClintSize = 0x1'0000;
  static constexpr std::uint64_t kIommuSize = 0x1000;
  static constexpr std::uint64_t kPlicSize = 0x400'0000;
  static constexpr std::uint64_t kAplicSize = APLIC_SIZE;
  static constexpr std::uint64_t kUartSize = 0x100;
  static constexpr std::uint64_t kImsicStride = 0x1000;

  // Sources of the PLIC or APLIC.
  static constexpr unsigned kUartSource = 10;
  static constexpr unsigned kPcieSource = 32;  ///< first of four, for INTA to INTD

  /// The regions of the devices in this map, for a system with this many harts. aia: APLIC and IMSIC instead of a PLIC.
  std::vector<config::MemoryRegion> regions(bool aia, unsigned harts, bool has_iommu) const;
};

}  // namespace sluice::platform
