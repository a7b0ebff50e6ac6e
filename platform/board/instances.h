#pragma once
/// What a board file says of an instance beyond its model's own parameters: where it is attached, how it is driven.

#include <string>

#include "models/net/echo_peer.h"
#include "models/nic/descriptor/parameters.h"
#include "models/pcie/link.h"

namespace sluice::platform {

using namespace base::literals;

/// [run]
struct RunParameters {
  base::Time stall_limit = 20_ms;
  bool allow_drops = false;
  std::uint64_t seed = 1;
  std::uint64_t replication = 0;
  static void describe(base::Schema<RunParameters>&);
};

/// [pcie.NAME]: a link, seen as the slot at its lower end.
struct SlotParameters {
  unsigned port = 0;
  pcie::Link::Parameters link;
  static void describe(base::Schema<SlotParameters>&);
};

enum class Driver { poll, interrupt };

/// [nic.NAME] with model "descriptor"
struct DescriptorNicParameters {
  std::string slot = "pcie.slot0";
  std::string wire = "net.wire0";
  Driver driver = Driver::poll;
  std::string ipv4 = "10.0.0.2";
  unsigned rx_ring = 512;
  unsigned tx_ring = 512;
  base::Time moderation = 0_ns;
  nic::DescriptorParameters nic;
  static void describe(base::Schema<DescriptorNicParameters>&);
};

/// [peer.NAME] with model "echo": takes the place of the traffic at the far end of a wire.
struct EchoPeerParameters {
  std::string wire = "net.wire0";
  net::EchoPeer::Parameters peer;
  static void describe(base::Schema<EchoPeerParameters>&);
};

}  // namespace sluice::platform
