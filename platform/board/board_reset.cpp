// SPDX-License-Identifier: Apache-2.0
/// Which parts a reset of the board or of one of its systems resets, and in which order.
#include <vector>

#include "platform/board/board.h"

namespace sluice::platform {

void Board::reset(const LoadedProgram* loaded) {
  ++resets_;
  std::vector<base::Resettable*> all;
  for (SlotInstance& s : slots_) all.push_back(s.link.get());
  for (SwitchInstance& s : switches_) all.push_back(s.fabric.get());
  for (DeviceInstance& d : devices_) all.push_back(d.endpoint.get());
  for (NicInstance& n : nics_) {
    all.push_back(&n.nic->mac());
    all.push_back(n.nic.get());
  }
  for (BusDeviceInstance& d : bus_devices_)
    if (base::Resettable* r = d.device->resettable()) all.push_back(r);
  for (auto& system : systems_) system->add_harts(all, loaded);
  // Interrupt controllers are reset after the sources of their interrupts.
  all.push_back(root_.get());
  if (iommu_) all.push_back(iommu_.get());
  for (auto& system : systems_) system->add_parts(all);
  for (base::Resettable* r : all) r->reset();
  for (auto& system : systems_) system->reload(loaded);
}

void Board::reset(SystemOnChip& system) {
  ++resets_;
  std::vector<base::Resettable*> all;
  for (BusDeviceInstance& d : bus_devices_)
    if (base::Resettable* r = d.device->resettable(); r && d.system == &system) all.push_back(r);
  system.add_harts(all, nullptr);
  system.add_parts(all);
  for (base::Resettable* r : all) r->reset();
  system.reload(nullptr);
}

}  // namespace sluice::platform
