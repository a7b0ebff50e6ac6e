#pragma once
/// [nic.NAME] with model "descriptor": the NIC, its place, and how its driver works.

#include <string>

#include "models/base/parameters/schema.h"
#include "models/nic/descriptor/parameters.h"

namespace sluice::nic {

enum class Driver { poll, interrupt };

struct DescriptorPart {
  std::string slot = "pcie.slot0";
  std::string wire = "net.wire0";
  Driver driver = Driver::poll;
  std::string ipv4 = "10.0.0.2";
  unsigned rx_ring = 512;
  unsigned tx_ring = 512;
  base::Time moderation = 0_ns;
  DescriptorParameters nic;
  static void describe(base::Schema<DescriptorPart>&);
};

}  // namespace sluice::nic
