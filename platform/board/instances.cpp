// SPDX-License-Identifier: Apache-2.0
#include "platform/board/instances.h"

#include <fmt/format.h>

#include "models/net/frame.h"
#include "platform/firmware/device_tree_properties.h"

namespace sluice::platform {

namespace {
/// Whether a carrier's times alternate, down first, each later than the one before.
bool alternate(const std::vector<base::Time>& down, const std::vector<base::Time>& up) {
  if (down.size() != up.size() && down.size() != up.size() + 1) return false;
  for (std::size_t i = 0; i < down.size(); ++i) {
    if (i < up.size() && up[i] <= down[i]) return false;
    if (i > 0 && down[i] <= up[i - 1]) return false;
  }
  return true;
}
}  // namespace

void RunParameters::describe(base::Schema<RunParameters>& s) {
  s.summary("how a run goes");
  s.add("stall_limit", &RunParameters::stall_limit,
        "simulated time in which no request ends after which the run is given up, with a diagnosis")
      .range(1_us, 400_s)
      .setting();
  s.add("time_limit", &RunParameters::time_limit,
        "simulated time without the end of a request or transaction after which the run is ended as failed; of a board "
        "without traffic, its whole run. Not with --until, --tap, --gdb or something at --console; 18000 s: none")
      .range(1_us, 18'000_s)
      .setting();
  s.add("reboot", &RunParameters::reboot,
        "what a reset by the firmware does: end the run as failed, or restart the board with its images")
      .choices({{"end", Reboot::end}, {"restart", Reboot::restart}})
      .acts_with({"resets"}, "the firmware has asked for no reset")
      .setting();
  s.add("allow_drops", &RunParameters::allow_drops,
        "a dropped request is a result, not a failure: for workloads that overload on purpose")
      .acts_with({"dropped"}, "nothing was dropped")
      .setting();
  s.add("check", &RunParameters::check,
        "check at each access to a line whose home is a device that only one hart writes it, or many read it, and that "
        "it has the bytes that were written last; changes no result")
      .acts_with({"home_checked"}, "no hart has used a line whose home is a device")
      .setting();
  s.add("spread", &RunParameters::spread,
        "drawn: clocks deviate within their tolerance, and DRAM refresh and SKP ordered sets come at phases of their "
        "own, all drawn from the seed; none: ideal clocks, no refresh, and SKP ordered sets as a share of the rate")
      .choices({{"drawn", SpreadOfTime::drawn}, {"none", SpreadOfTime::none}})
      .setting();
  s.add("seed", &RunParameters::seed, "of every random stream").setting();
  s.add("replication", &RunParameters::replication, "number of the repetition with the same seed").setting();
}

void SlotParameters::describe(base::Schema<SlotParameters>& s) {
  s.summary("a PCIe link and the slot at its lower end");
  s.add("attach", &SlotParameters::attach, "switch above it; empty: the root complex").may_refer_to("switch").setting();
  s.add("port", &SlotParameters::port, "root port or the switch's downstream port above it").range(0, 31).setting();
  s.include("", &SlotParameters::link);
}

void WireParameters::describe(base::Schema<WireParameters>& s) {
  using P = WireParameters;
  s.summary("an Ethernet link and its carrier");
  s.include("", &P::wire);
  s.add("down_at", &P::down_at, "when the carrier goes away; frames under way are lost")
      .range(0_ns, 18'000_s)
      .setting();
  s.add("up_at", &P::up_at, "when it comes back").range(0_ns, 18'000_s).setting();
  s.rule("up_at", [](const P& p) {
    return alternate(p.down_at, p.up_at) ? "" : "must alternate with down_at, which comes first, in order of time";
  });
}

void UartParameters::describe(base::Schema<UartParameters>& s) {
  s.summary("UART and who is at its other end");
  s.add("expect", &UartParameters::expect, "path of a script that talks to the firmware; empty: none")
      .names_file()
      .setting();
  s.include("", &UartParameters::uart);
}

const pcie::DeviceFactory& factory_of(const config::Instance& device) {
  return dynamic_cast<const pcie::DeviceFactory&>(*device.factory());
}

namespace {

/// Checks what a factory says of a place. A model with a factory of its own may have a schema that checks less, or give
/// another place than its parameters.
void check_refers(const config::BoardConfig& config, const config::Instance& device, const std::string& key,
                  const std::string& path, std::string_view kind, const char* what) {
  const config::Instance* named = config.find(path);
  if (!named || named->kind() != kind)
    throw config.error(device, key, fmt::format("must name {}, not \"{}\"", what, path));
}

void check_slot(const config::BoardConfig& config, const config::Instance& device, const std::string& slot) {
  check_refers(config, device, "slot", slot, "pcie", "a PCIe slot of the board");
}

/// An address on a bus, of registers or lines.
void check_bus_address(const config::BoardConfig& config, const config::Instance& device, const std::string& key,
                       std::uint64_t address, std::uint64_t granule) {
  if (address == 0) throw config.error(device, key, "must be set: no device is at 0");
  if (address % granule != 0) throw config.error(device, key, fmt::format("must be a multiple of {}", granule));
}

}  // namespace

std::string slot_of(const config::BoardConfig& config, const config::Instance& device) {
  if (device.kind() == "nic") return place_of(config, device).slot;
  std::string slot = by_author(config, device.path(), "cannot be built", [&]() -> std::string {
    if (device.kind() == "switch") return switch_factory_of(device).slot(device.values());
    return factory_of(device).slot(device.values());
  });
  check_slot(config, device, slot);
  return slot;
}

const pcie::SwitchFactory& switch_factory_of(const config::Instance& fabric) {
  return dynamic_cast<const pcie::SwitchFactory&>(*fabric.factory());
}

unsigned downstream_ports_of(const config::BoardConfig& config, const config::Instance& fabric) {
  return by_author(config, fabric.path(), "cannot be built",
                   [&] { return switch_factory_of(fabric).downstream_ports(fabric.values()); });
}

std::vector<const config::Instance*> bus_devices(const config::BoardConfig& config) {
  std::vector<const config::Instance*> devices;
  for (const char* kind : {"device", "accel", "nic"})
    for (const config::Instance* i : config.of_kind(kind))
      if (dynamic_cast<const memory::BusDeviceFactory*>(i->factory())) devices.push_back(i);
  return devices;
}

const memory::BusDeviceFactory& bus_factory_of(const config::Instance& device) {
  return dynamic_cast<const memory::BusDeviceFactory&>(*device.factory());
}

memory::BusPlace bus_place_of(const config::BoardConfig& config, const config::Instance& device) {
  memory::BusPlace place = by_author(config, device.path(), "cannot be built",
                                     [&] { return bus_factory_of(device).bus_place(device.values()); });
  if (!place.soc.empty())
    check_refers(config, device, place.keys + "soc", place.soc, "soc", "a system-on-chip of the board");
  check_bus_address(config, device, place.keys + "address", place.address, 8);
  const std::uint64_t lines = bus_extent_of(config, device).lines_size;
  if (lines != 0) {
    check_bus_address(config, device, place.keys + "lines", place.lines, base::GuestRam::kPage);
    check_refers(config, device, place.keys + "link", place.link, "coherent", "a coherent link of the board");
  }
  if (lines == 0 && place.lines != 0)
    throw config.error(device, place.keys + "lines", "must not be set: the device is the home of no cache lines");
  return place;
}

BusExtent bus_extent_of(const config::BoardConfig& config, const config::Instance& device) {
  const memory::BusDeviceFactory& factory = bus_factory_of(device);
  const void* values = device.values();
  return by_author(config, device.path(), "cannot be built", [&] {
    BusExtent extent{factory.size(values), factory.lines_size(values), factory.compatible(),
                     factory.firmware_properties(values)};
    check_properties(extent.properties, PropertyNode::bus_device);
    return extent;
  });
}

const nic::NicFactory& nic_factory_of(const config::Instance& nic) {
  return dynamic_cast<const nic::NicFactory&>(*nic.factory());
}

nic::NicPlace place_of(const config::BoardConfig& config, const config::Instance& nic) {
  nic::NicPlace place =
      by_author(config, nic.path(), "cannot be built", [&] { return nic_factory_of(nic).place(nic.values()); });
  // A NIC on a bus needs no slot, unless it joins its system to the one that has the slot.
  const auto* on_bus = dynamic_cast<const memory::BusDeviceFactory*>(nic.factory());
  if (!place.slot.empty() || !on_bus || on_bus->joint(nic.values())) check_slot(config, nic, place.slot);
  check_refers(config, nic, "wire", place.wire, "net", "an Ethernet link of the board");
  const auto check = [&](const char* key, auto parse, const std::string& text) {
    try {
      parse(text);
    } catch (const base::ValueError& e) {
      throw config.error(nic, key, e.what());
    }
  };
  check("ipv4", net::parse_host_ipv4, place.ipv4);
  if (!place.address.empty()) check("address", net::parse_host_mac, place.address);
  return place;
}

void IommuInstance::describe(base::Schema<IommuInstance>& s) {
  s.summary("IOMMU between devices and memory");
  s.add("enabled", &IommuInstance::enabled, "the board has one, and the firmware switches it on").setting();
  s.add("page", &IommuInstance::page, "pages that the firmware maps with")
      .choices({4_KiB, 2_MiB, 1_GiB})
      .acts_with({"hits", "misses"}, "no request was translated")
      .setting();
  s.include("", &IommuInstance::iommu);
}

void TrafficPeerParameters::describe(base::Schema<TrafficPeerParameters>& s) {
  s.summary("clients at a wire of their own");
  s.add("wire", &TrafficPeerParameters::wire, "Ethernet link at whose far end they are").refers_to("net").setting();
  s.include("", &TrafficPeerParameters::traffic);
}

const std::string& wire_of_peer(const config::Instance& peer) {
  if (peer.model() == "traffic") return peer.parameters<TrafficPeerParameters>().wire;
  return peer.model() == "rpc" ? peer.parameters<RpcPeerParameters>().wire : peer.parameters<EchoPeerParameters>().wire;
}

}  // namespace sluice::platform
