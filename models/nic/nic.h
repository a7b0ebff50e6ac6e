// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What every NIC is to a board, whatever its interface to the host.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/base/parameters/random.h"
#include "models/net/mac.h"
#include "models/net/wire.h"
#include "models/part/catalogue.h"
#include "models/part/firmware_property.h"
#include "models/pcie/endpoint/endpoint.h"

namespace sluice::nic {

/// A device with a MAC at an Ethernet link. How it is attached to its host is no matter of this interface: it is a
/// pcie::Endpoint, or a memory::BusDevice, or both. The MAC is a model of its own, with its statistics in the group of
/// its own path.
class Nic {
 public:
  virtual ~Nic() = default;
  virtual net::Mac& mac() = 0;
};

/// A NIC that is a PCIe device. The statistics of its PCIe function are in the group "<path>.pcie".
class PcieNic : public pcie::Endpoint, public Nic {
 protected:
  using Endpoint::Endpoint;

 private:
  const char* function_group() const final { return ".pcie"; }
};

/// Where a NIC is attached, and its addresses.
struct NicPlace {
  std::string slot;     ///< path of its PCIe slot; empty: it is no PCIe device
  std::string wire;     ///< path of its Ethernet link
  std::string ipv4;     ///< the firmware's address on this NIC
  std::string address;  ///< its station address, the parameter `address`; empty: it has no such parameter
};

/// Builds the NICs of one model. One that is on a bus has a factory that is a memory::BusDeviceFactory, too.
/// `parameters` are an instance's values, of the type that the model was added with.
class NicFactory : public virtual part::Factory {
 public:
  virtual NicPlace place(const void* parameters) const = 0;
  /// Most frames of frame_bytes that the NIC and the rings of its driver can hold. The trials of a zero-loss search are
  /// long enough to fill them.
  virtual std::uint64_t buffered_frames(const void* parameters, std::uint64_t frame_bytes) const = 0;
  /// Bytes of the longest frame, without FCS, that NIC and driver are set up for.
  virtual std::uint32_t largest_frame(const void* /*parameters*/) const { return net::Packet::kCapacity; }
  /// Properties for the driver, in the NIC's node of the device tree.
  virtual std::vector<part::FirmwareProperty> firmware_properties(const void* parameters) const = 0;
  /// Builds a NIC whose MAC is at this end of a wire.
  virtual std::unique_ptr<Nic> build(const char* module_name, const void* parameters, base::RandomSeed, net::Wire&,
                                     net::Wire::End) const = 0;
};

}  // namespace sluice::nic
