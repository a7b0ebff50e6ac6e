// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/bridge.h"

#include "models/pcie/pcie_regs.h"

namespace sluice::pcie {

Bridge::Bridge(const Identity& identity, unsigned express_type) : config_(identity, PCIE_HEADER_TYPE_BRIDGE) {
  config_.add_express(express_type);
  config_.keep_reset_values();
}

bool Bridge::write(unsigned reg, std::uint32_t value, unsigned byte_enables) {
  const bool was = config_.get16(PCIE_BRIDGE_CONTROL) & PCIE_BRIDGE_CONTROL_RESET;
  config_.write(reg, value, byte_enables);
  decode();
  return !was && (config_.get16(PCIE_BRIDGE_CONTROL) & PCIE_BRIDGE_CONTROL_RESET);
}

void Bridge::reset() {
  config_.reset();
  decode();
}

void Bridge::decode() {
  secondary_ = config_.get8(PCIE_SECONDARY_BUS);
  subordinate_ = config_.get8(PCIE_SUBORDINATE_BUS);
  bus_master_ = config_.bus_master();
  windows_ = config_.memory_enabled() ? windows_of(config_) : Windows{};
}

Bridge::Windows Bridge::windows_of(const ConfigSpace& config) {
  const auto low = [&](unsigned reg) {
    return std::uint64_t{config.get16(reg) & PCIE_BRIDGE_WINDOW} << PCIE_BRIDGE_WINDOW_SHIFT;
  };
  const auto high = [&](unsigned reg) { return std::uint64_t{config.get32(reg)} << 32; };
  constexpr std::uint64_t rest = PCIE_BRIDGE_WINDOW_GRANULE - 1;
  return {Window{low(PCIE_MEMORY_BASE), low(PCIE_MEMORY_LIMIT) | rest},
          Window{low(PCIE_PREFETCHABLE_BASE) | high(PCIE_PREFETCHABLE_BASE_UPPER),
                 low(PCIE_PREFETCHABLE_LIMIT) | high(PCIE_PREFETCHABLE_LIMIT_UPPER) | rest}};
}

}  // namespace sluice::pcie
