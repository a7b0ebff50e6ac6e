#pragma once
/// What a board file says of an instance beyond its model's own parameters: where it is attached, how it is driven.

#include <string>
#include <vector>

#include "models/memory/bus_device.h"
#include "models/net/echo_peer.h"
#include "models/net/traffic_source.h"
#include "models/net/wire.h"
#include "models/nic/nic.h"
#include "models/pcie/device_part.h"
#include "models/pcie/iommu.h"
#include "models/pcie/link.h"
#include "models/pcie/switch.h"
#include "models/uart/uart.h"
#include "platform/config/board_config.h"

namespace sluice::platform {

using namespace base::literals;

/// What a guest's reset of the board through the test finisher does.
enum class Reboot { end, restart };

/// [run]
struct RunParameters {
  base::Time stall_limit = 20_ms;
  base::Time time_limit = 10_s;
  Reboot reboot = Reboot::end;
  bool allow_drops = false;
  std::uint64_t seed = 1;
  std::uint64_t replication = 0;
  static void describe(base::Schema<RunParameters>&);
};

/// [pcie.NAME]: a link, seen as the slot at its lower end.
struct SlotParameters {
  std::string attach;  ///< the switch above it; empty: the root complex
  unsigned port = 0;   ///< of what is above it
  pcie::Link::Parameters link;
  static void describe(base::Schema<SlotParameters>&);
};

/// [switch.NAME]
struct SwitchParameters {
  std::string slot;
  pcie::Switch::Parameters plain;
  static void describe(base::Schema<SwitchParameters>&);
};

/// [net.NAME]: a link, and when its carrier is there. It is up at the start.
struct WireParameters {
  net::Wire::Parameters wire;
  std::vector<base::Time> down_at;
  std::vector<base::Time> up_at;
  static void describe(base::Schema<WireParameters>&);
};

/// [uart]
struct UartParameters {
  std::string expect;  ///< path of a script; empty: none
  uart::Uart::Parameters uart;
  static void describe(base::Schema<UartParameters>&);
};

/// What builds an instance of [accel.NAME], and the slot that it sits in.
const pcie::DeviceFactory& factory_of(const config::Instance&);
const std::string& slot_of(const config::Instance&);

/// What builds an instance of [device.NAME], and where it is.
const memory::BusDeviceFactory& bus_factory_of(const config::Instance&);
memory::BusPlace bus_place_of(const config::Instance&);

/// What builds an instance of [nic.NAME], and where it is.
const nic::NicFactory& nic_factory_of(const config::Instance&);
nic::NicPlace place_of(const config::Instance&);

/// [iommu]
struct IommuInstance {
  bool enabled = false;
  base::Bytes page = 4_KiB;  ///< that the firmware maps with
  pcie::Iommu::Parameters iommu;
  static void describe(base::Schema<IommuInstance>&);
};

/// [peer.NAME] with model "echo": takes the place of the traffic at the far end of a wire.
struct EchoPeerParameters {
  std::string wire = "net.wire0";
  net::EchoPeer::Parameters peer;
  static void describe(base::Schema<EchoPeerParameters>&);
};

/// [peer.NAME] with model "traffic": clients at a wire of their own, beside those of [workload].
struct TrafficPeerParameters {
  std::string wire = "net.wire0";
  net::TrafficSource::Parameters traffic;
  static void describe(base::Schema<TrafficPeerParameters>&);
};

/// The Ethernet link that a [peer.NAME] is at.
const std::string& wire_of_peer(const config::Instance&);

}  // namespace sluice::platform
