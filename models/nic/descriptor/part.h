// SPDX-License-Identifier: Apache-2.0
#pragma once
/// [nic.NAME] with model "descriptor": the NIC, its place, and how its driver works.

#include "models/base/parameters/schema.h"
#include "models/nic/descriptor/parameters.h"
#include "models/nic/place.h"

namespace sluice::nic {

enum class Driver { poll, interrupt };
/// In which the driver's buffers lie in memory, as it first uses them.
enum class BufferOrder { sequence, shuffled };

struct DescriptorPart {
  Attachment attachment;
  Driver driver = Driver::poll;
  HostAddress host;
  unsigned rx_ring = 512;
  unsigned tx_ring = 512;
  unsigned buffers = 0;  ///< of a queue; 0: as many as the driver ever needs
  base::Bytes buffer_size = 2_KiB;
  unsigned mtu = 1500;  ///< bytes of the longest IPv4 packet
  BufferOrder buffer_order = BufferOrder::sequence;
  base::Time moderation = 0_ns;
  DescriptorParameters nic;
  static void describe(base::Schema<DescriptorPart>&);
};

}  // namespace sluice::nic
