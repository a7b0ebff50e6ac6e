// SPDX-License-Identifier: Apache-2.0
/// Which parts a reset of the board or of one of its systems resets, and in which order.
#include <vector>

#include "platform/board/board.h"

namespace sluice::platform {

/// of: the system that the devices are on; null: any.
void Board::reset_bus_devices(const SystemOnChip* of) {
  for (BusDeviceInstance& d : bus_devices_) {
    if (of && d.system != of) continue;
    base::name_what_is_thrown(d.path, [&d] {
      if (base::Resettable* r = d.device->resettable()) r->reset();
    });
  }
}

void Board::reset(const LoadedProgram* loaded) {
  ++resets_;
  for (SlotInstance& s : slots_) s.link->reset();
  for (SwitchInstance& s : switches_) s.fabric->reset();
  for (DeviceInstance& d : devices_) d.endpoint->reset();
  for (NicInstance& n : nics_) {
    n.mac->reset();
    if (n.endpoint) n.endpoint->reset();
  }
  reset_bus_devices(nullptr);
  std::vector<base::Resettable*> rest;
  for (auto& system : systems_) system->add_harts(rest, loaded);
  // Interrupt controllers are reset after the sources of their interrupts.
  rest.push_back(root_.get());
  if (iommu_) rest.push_back(iommu_.get());
  for (auto& system : systems_) system->add_parts(rest);
  for (base::Resettable* r : rest) r->reset();
  for (auto& system : systems_) system->reload(loaded);
}

void Board::reset(SystemOnChip& system) {
  ++resets_;
  reset_bus_devices(&system);
  std::vector<base::Resettable*> rest;
  system.add_harts(rest, nullptr);
  system.add_parts(rest);
  for (base::Resettable* r : rest) r->reset();
  system.reload(nullptr);
}

}  // namespace sluice::platform
