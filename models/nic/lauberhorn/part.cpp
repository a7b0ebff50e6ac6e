// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "models/net/frame.h"
#include "models/nic/lauberhorn/lauberhorn_nic.h"
#include "models/nic/place.h"
#include "models/part/catalogue.h"

namespace sluice::nic {
namespace {

/// [nic.NAME] with model "lauberhorn": the NIC, its Ethernet link, and its place behind a coherent link.
struct LauberhornPart {
  std::string wire = "net.wire0";
  HostAddress host;
  memory::CoherentOnBus<LauberhornParameters> bus;
  static void describe(base::Schema<LauberhornPart>& s) {
    s.summary("Lauberhorn, and its place");
    s.add("wire", &LauberhornPart::wire, "Ethernet link that it is attached to").refers_to("net").setting();
    s.include("", &LauberhornPart::host);
    s.include("", &LauberhornPart::bus);
  }
};

class LauberhornFactory final : public NicFactory, public memory::BusDeviceFactory {
 public:
  // Both ports.
  std::vector<part::FirmwareProperty> firmware_properties(const void* parameters) const override {
    return {{"sluice,ipv4", net::parse_ipv4(at(parameters).host.ipv4)}};
  }

  // NicFactory
  NicPlace place(const void* parameters) const override {
    return {{}, at(parameters).wire, at(parameters).host.ipv4, own(parameters).address};
  }
  std::uint64_t buffered_frames(const void* parameters, std::uint64_t frame_bytes) const override {
    return Lauberhorn::buffered_frames(own(parameters), frame_bytes);
  }
  std::unique_ptr<Nic> build(const char* module_name, const void* parameters, base::RandomSeed, net::Wire& wire,
                             net::Wire::End end) const override {
    return std::make_unique<Lauberhorn>(module_name, own(parameters), wire, end);
  }

  // memory::BusDeviceFactory
  memory::BusPlace bus_place(const void* parameters) const override {
    const auto& p = at(parameters).bus;
    return {
        .soc = p.bus.soc, .address = p.bus.address, .interrupts = p.bus.interrupts, .lines = p.lines, .link = p.link};
  }
  std::uint64_t size(const void*) const override { return LAUB_REGISTERS_SIZE; }
  std::uint64_t lines_size(const void* parameters) const override { return Lauberhorn::lines_size(own(parameters)); }
  std::string compatible() const override { return "sluice,lauberhorn"; }

 private:
  static const LauberhornPart& at(const void* parameters) { return *static_cast<const LauberhornPart*>(parameters); }
  static const LauberhornParameters& own(const void* parameters) { return at(parameters).bus.bus.device; }
};

}  // namespace
}  // namespace sluice::nic

namespace sluice::part {

void add_nic_lauberhorn(Catalogue& catalogue) {
  catalogue.add<nic::LauberhornPart>("nic", "lauberhorn", "Lauberhorn, the NIC that is part of the operating system",
                                     std::make_shared<const nic::LauberhornFactory>());
}

}  // namespace sluice::part
