#include "platform/board/host_map.h"

namespace sluice::platform {

void HostMap::describe(base::Schema<HostMap>& s) {
  s.summary("addresses of the host's devices; the defaults are QEMU virt's");
  const auto address = [&s](const char* key, std::uint64_t HostMap::*member, const char* meaning) {
    s.add(key, member, meaning).multiple_of(0x1000).hexadecimal().setting();
  };
  address("finisher", &HostMap::finisher, "test finisher, 4 KiB");
  address("clint", &HostMap::clint, "CLINT, 64 KiB");
  address("plic", &HostMap::plic, "PLIC, 64 MiB (interrupts = \"plic\")");
  address("aplic_m", &HostMap::aplic_m, "machine-level APLIC domain, 32 KiB (interrupts = \"aia\")");
  address("aplic_s", &HostMap::aplic_s, "supervisor-level APLIC domain, 32 KiB (interrupts = \"aia\")");
  address("uart", &HostMap::uart, "16550 UART, 256 B");
  address("imsic_m", &HostMap::imsic_m, "machine-level interrupt files, 4 KiB a hart (interrupts = \"aia\")");
  address("imsic_s", &HostMap::imsic_s, "supervisor-level interrupt files, 4 KiB a hart (interrupts = \"aia\")");
  address("ecam", &HostMap::ecam, "PCIe configuration space");
  s.add("ecam_size", &HostMap::ecam_size, "1 MiB a bus").range(1_MiB, 256_MiB).multiple_of(1 << 20).setting();
  address("mmio32", &HostMap::mmio32, "window for 32-bit and non-prefetchable BARs");
  s.add("mmio32_size", &HostMap::mmio32_size, "its size").range(1_MiB, 1_GiB).multiple_of(1 << 20).setting();
  address("mmio64", &HostMap::mmio64, "window for 64-bit prefetchable BARs");
  s.add("mmio64_size", &HostMap::mmio64_size, "its size").range(1_MiB, 256_GiB).multiple_of(1 << 20).setting();
}

std::vector<config::MemoryRegion> HostMap::regions(bool aia, unsigned harts) const {
  std::vector<config::MemoryRegion> map = {{"finisher", finisher, kFinisherSize},
                                           {"clint", clint, kClintSize},
                                           {"uart", uart, kUartSize},
                                           {"ecam", ecam, ecam_size.count()},
                                           {"mmio32", mmio32, mmio32_size.count()},
                                           {"mmio64", mmio64, mmio64_size.count()}};
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
