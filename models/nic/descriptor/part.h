// SPDX-License-Identifier: Apache-2.0
#pragma once
/// [nic.NAME] with model "descriptor": the NIC, its place, and how its driver works.

#include "models/base/parameters/schema.h"
#include "models/nic/descriptor/parameters.h"
#include "models/nic/place.h"

namespace sluice::nic {

enum class Driver { poll, interrupt };

struct DescriptorPart {
  Attachment attachment;
  Driver driver = Driver::poll;
  HostAddress host;
  unsigned rx_ring = 512;
  unsigned tx_ring = 512;
  base::Time moderation = 0_ns;
  DescriptorParameters nic;
  static void describe(base::Schema<DescriptorPart>&);
};

}  // namespace sluice::nic
