// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "models/net/frame.h"
#include "models/nic/nic_part.h"
#include "models/nic/pio/coherent_pio.h"
#include "models/nic/pio/loopback_workload.h"
#include "models/nic/pio/pcie_pio.h"
#include "models/nic/place.h"
#include "models/part/catalogue.h"

namespace sluice::nic {
namespace {

/// [nic.NAME] with model "pio-coherent": the NIC, its Ethernet link, and its place behind a coherent link.
struct CoherentPioPart {
  std::string wire = "net.wire0";
  HostAddress host;
  memory::CoherentOnBus<CoherentPioParameters> bus;
  static void describe(base::Schema<CoherentPioPart>& s) {
    s.summary("PIO NIC on a coherent link, and its place");
    s.add("wire", &CoherentPioPart::wire, "Ethernet link that it is attached to").refers_to("net").setting();
    s.include("", &CoherentPioPart::host);
    s.include("", &CoherentPioPart::bus);
  }
};

class CoherentPioFactory final : public NicFactory, public memory::BusDeviceFactory {
 public:
  // Both ports.
  std::vector<part::FirmwareProperty> firmware_properties(const void* parameters) const override {
    return {{"sluice,ipv4", net::parse_ipv4(at(parameters).host.ipv4)}};
  }

  // NicFactory
  NicPlace place(const void* parameters) const override {
    return {{}, at(parameters).wire, at(parameters).host.ipv4, {}};
  }
  std::uint64_t buffered_frames(const void* parameters, std::uint64_t frame_bytes) const override {
    return PioCore::buffered_frames(at(parameters).bus.bus.device.pio, frame_bytes);
  }
  std::unique_ptr<Nic> build(const char* module_name, const void* parameters, base::RandomSeed, net::Wire& wire,
                             net::Wire::End end) const override {
    return std::make_unique<CoherentPio>(module_name, at(parameters).bus.bus.device, wire, end);
  }

  // memory::BusDeviceFactory
  memory::BusPlace bus_place(const void* parameters) const override {
    const auto& p = at(parameters).bus;
    return {
        .soc = p.bus.soc, .address = p.bus.address, .interrupts = p.bus.interrupts, .lines = p.lines, .link = p.link};
  }
  std::uint64_t size(const void*) const override { return PIO_REGISTERS_SIZE; }
  std::uint64_t lines_size(const void*) const override { return PIO_LINES_SIZE; }
  std::string compatible() const override { return "sluice,pio-coherent"; }

 private:
  static const CoherentPioPart& at(const void* parameters) { return *static_cast<const CoherentPioPart*>(parameters); }
};

}  // namespace
}  // namespace sluice::nic

namespace sluice::part {

void add_nic_pio(Catalogue& catalogue) {
  catalogue.add<nic::CoherentPioPart>("nic", "pio-coherent", "coherent PIO NIC",
                                      std::make_shared<const nic::CoherentPioFactory>());
  nic::add_nic<nic::PciePio>(catalogue, "pio-pcie", "PCIe PIO NIC");
  catalogue.add<nic::LoopbackParameters>("workload", "loopback", "loopback workload",
                                         std::make_shared<const nic::LoopbackFactory>());
}

}  // namespace sluice::part
