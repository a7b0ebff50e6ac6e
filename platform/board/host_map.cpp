// SPDX-License-Identifier: Apache-2.0
#include "platform/board/host_map.h"

namespace sluice::platform {

void HostMap::describe(base::Schema<HostMap>& s) {
  s.summary("addresses of the host's devices; the defaults are QEMU virt's");
  const auto address = [&s](const char* key, std::uint64_t HostMap::*member, const char* meaning) {
    // Software takes address 0 for a device that is not there.
    s.add(key, member, meaning).range(0x1000, 0xff'ffff'ffff'f000).multiple_of(0x1000).hexadecimal().setting();
  };
  address("finisher", &HostMap::finisher, "test finisher, 4 KiB");
  address("clint", &HostMap::clint, "CLINT, 64 KiB");
  address("iommu", &HostMap::iommu, "IOMMU, 4 KiB (iommu.enabled)");
  address("plic", &HostMap::plic, "PLIC, 64 MiB (interrupts = \"plic\")");
  address("aplic_m", &HostMap::aplic_m, "machine-level APLIC domain, 16 KiB (interrupts = \"aia\")");
  address("aplic_s", &HostMap::aplic_s, "supervisor-level APLIC domain, 16 KiB (interrupts = \"aia\")");
  address("uart", &HostMap::uart, "16550 UART, 256 B");
  address("imsic_m", &HostMap::imsic_m, "machine-level interrupt files, 4 KiB a hart (interrupts = \"aia\")");
  address("imsic_s", &HostMap::imsic_s, "supervisor-level interrupt files, 4 KiB a hart (interrupts = \"aia\")");
}

std::vector<config::MemoryRegion> HostMap::regions(bool aia, unsigned harts, bool has_iommu) const {
  std::vector<config::MemoryRegion> map = {
      {"finisher", finisher, kFinisherSize}, {"clint", clint, kClintSize}, {"uart", uart, kUartSize}};
  if (has_iommu) map.push_back({"iommu", iommu, kIommuSize});
  if (aia) {
    map.push_back({"aplic_m", aplic_m, kAplicSize});
    map.push_back({"aplic_s", aplic_s, kAplicSize});
    map.push_back({"imsic_m", imsic_m, kImsicStride * harts});
    map.push_back({"imsic_s", imsic_s, kImsicStride * harts});
  } else {
    map.push_back({"plic", plic, kPlicSize});
  }
  return map;
}

}  // namespace sluice::platform
