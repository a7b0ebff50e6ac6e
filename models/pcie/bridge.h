// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The type 1 function of a root port or a switch port: which buses and addresses lie below it. Plain C++.

#include <array>
#include <cstdint>

#include "models/pcie/config_space.h"
#include "models/pcie/tlp.h"

namespace sluice::pcie {

class Bridge {
  struct Window {
    std::uint64_t first = 1;
    std::uint64_t last = 0;
  };
  using Windows = std::array<Window, 2>;
  static Windows windows_of(const ConfigSpace&);
  static bool any_holds(const Windows& w, std::uint64_t address) {
    return (address >= w[0].first && address <= w[0].last) || (address >= w[1].first && address <= w[1].last);
  }

 public:
  /// express_type: PCIE_EXPRESS_TYPE_ROOT_PORT, _UPSTREAM or _DOWNSTREAM.
  Bridge(const Identity&, unsigned express_type);

  ConfigSpace& config() { return config_; }
  const ConfigSpace& config() const { return config_; }
  /// Software's write; returns true when it set the secondary bus reset.
  bool write(unsigned reg, std::uint32_t value, unsigned byte_enables);

  void reset();

  unsigned secondary_bus() const { return secondary_; }
  /// Whether the bus is below: secondary to subordinate. No bus is below until software has set these numbers.
  bool leads_to_bus(unsigned bus) const { return bus >= secondary_ && bus <= subordinate_ && secondary_ != 0; }
  /// Whether an enabled memory window holds the address.
  bool leads_to(std::uint64_t address) const { return any_holds(windows_, address); }
  /// Whether a memory window holds the address, but memory space is off.
  bool hides(std::uint64_t address) const {
    return !config_.memory_enabled() && any_holds(windows_of(config_), address);
  }
  /// Whether it forwards memory requests from below (bus mastering).
  bool forwards_upstream() const { return bus_master_; }

 private:
  void decode();

  ConfigSpace config_;
  unsigned secondary_ = 0;
  unsigned subordinate_ = 0;
  bool bus_master_ = false;
  Windows windows_;
};

}  // namespace sluice::pcie
