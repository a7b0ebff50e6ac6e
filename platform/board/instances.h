// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a board file says of an instance beyond its model's own parameters: where it is attached, how it is driven.

#include <string>
#include <type_traits>
#include <vector>

#include "models/base/systemc/model.h"
#include "models/memory/bus_device.h"
#include "models/net/traffic/echo_peer.h"
#include "models/net/traffic/rpc_peer.h"
#include "models/net/traffic/traffic_source.h"
#include "models/net/wire.h"
#include "models/nic/nic.h"
#include "models/pcie/endpoint/device_part.h"
#include "models/pcie/link.h"
#include "models/pcie/root/iommu.h"
#include "models/pcie/switch_part.h"
#include "models/uart/uart.h"
#include "platform/config/board_config.h"

namespace sluice::platform {

using namespace base::literals;

/// What a guest's reset of the board through the test finisher does.
enum class Reboot { end, restart };

/// What is wrong with a factory whose build() returns null.
constexpr const char* kBuiltNothing = "its factory built nothing";

/// Calls f, which is code of the instance's model. An exception from f is a mistake of the model's author, but it is
/// reported to the user, who may have written the plug-in: as config::UserError "...: nic.eth0 VERB: ...".
template <class F>
decltype(auto) by_author(const config::BoardConfig& config, const std::string& path, const char* verb, F&& f) {
  try {
    return base::name_what_is_thrown(path, f);
  } catch (const base::ComponentError& e) {
    throw config::UserError(config.file() + ": " + path + " " + verb + ": " + e.what());
  }
}

enum class SpreadOfTime { drawn, none };

/// [run]
struct RunParameters {
  base::Time stall_limit = 20_ms;
  base::Time time_limit = 10_s;
  Reboot reboot = Reboot::end;
  bool allow_drops = false;
  bool check = false;
  SpreadOfTime spread = SpreadOfTime::drawn;
  std::uint64_t seed = 1;
  std::uint64_t replication = 0;
  static void describe(base::Schema<RunParameters>&);
};

/// [pcie.NAME]: a link, seen as the slot at its lower end.
struct SlotParameters {
  std::string attach;  ///< the switch above it; empty: the root complex
  unsigned port = 0;   ///< downstream port number of the switch or root complex
  pcie::Link::Parameters link;
  static void describe(base::Schema<SlotParameters>&);
};

/// [net.NAME]: a link, and the times at which its carrier goes down and up. The carrier is up at the start.
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

/// The factory that builds an instance of [accel.NAME].
const pcie::DeviceFactory& factory_of(const config::Instance&);
/// The slot of a device of kind accel or nic, or of a switch (for its upstream port). Empty: a NIC that is no PCIe
/// device.
std::string slot_of(const config::BoardConfig&, const config::Instance&);

/// The factory that builds an instance of [switch.NAME].
const pcie::SwitchFactory& switch_factory_of(const config::Instance&);
unsigned downstream_ports_of(const config::BoardConfig&, const config::Instance&);

/// Every instance on the bus of a system-on-chip, of any kind, with its factory and its place there.
std::vector<const config::Instance*> bus_devices(const config::BoardConfig&);
const memory::BusDeviceFactory& bus_factory_of(const config::Instance&);
memory::BusPlace bus_place_of(const config::BoardConfig&, const config::Instance&);

/// Properties of a device on a bus, as its model states them.
struct BusExtent {
  std::uint64_t size, lines_size;  ///< bytes of registers, and of the cache lines that it is the home of
  std::string compatible;
  std::vector<part::FirmwareProperty> properties;
};
BusExtent bus_extent_of(const config::BoardConfig&, const config::Instance&);

/// The factory that builds an instance of [nic.NAME], and the place of that instance on the board.
const nic::NicFactory& nic_factory_of(const config::Instance&);
nic::NicPlace place_of(const config::BoardConfig&, const config::Instance&);

/// [iommu]
struct IommuInstance {
  bool enabled = false;
  base::Bytes page = 4_KiB;  ///< page size that the firmware maps with
  pcie::Iommu::Parameters iommu;
  static void describe(base::Schema<IommuInstance>&);
};

/// [peer.NAME] with a model that takes the place of the traffic at the far end of a wire.
template <class Peer>
struct PeerParameters {
  std::string wire = "net.wire0";
  typename Peer::Parameters peer;
  static void describe(base::Schema<PeerParameters>& s) {
    s.summary(base::schema_of<typename Peer::Parameters>().summary());
    s.add("wire", &PeerParameters::wire, "Ethernet link at whose far end it is").refers_to("net").setting();
    s.include("", &PeerParameters::peer);
  }
};
using EchoPeerParameters = PeerParameters<net::EchoPeer>;
using RpcPeerParameters = PeerParameters<net::RpcPeer>;

/// [peer.NAME] with model "traffic" adds clients, on a wire of their own, to those of [workload].
struct TrafficPeerParameters {
  std::string wire = "net.wire0";
  net::TrafficSource::Parameters traffic;
  static void describe(base::Schema<TrafficPeerParameters>&);
};

/// The Ethernet link that a [peer.NAME] is at.
const std::string& wire_of_peer(const config::Instance&);

}  // namespace sluice::platform
