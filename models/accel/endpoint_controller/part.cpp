// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "models/accel/endpoint_controller/endpoint_controller.h"
#include "models/pcie/endpoint/device_part.h"

namespace sluice {
namespace {

/// [accel.NAME] with a slot of one system's PCIe and a place on another system's bus.
struct EndpointControllerOnBoard {
  std::string slot = "pcie.slot0";
  memory::OnBus<accel::EndpointControllerParameters> bus;
  static void describe(base::Schema<EndpointControllerOnBoard>& s) {
    s.summary("an endpoint controller, the PCIe slot that it sits in, and its place on the bus of a system-on-chip");
    s.add("slot", &EndpointControllerOnBoard::slot, "PCIe slot that it sits in").refers_to("pcie").setting();
    s.include("", &EndpointControllerOnBoard::bus);
  }
};

class EndpointControllerFactory final : public pcie::DeviceFactory, public memory::BusDeviceFactory {
 public:
  // Both sides.
  std::vector<part::FirmwareProperty> firmware_properties(const void*) const override { return {}; }

  // pcie::DeviceFactory
  const std::string& slot(const void* parameters) const override { return at(parameters).slot; }
  std::unique_ptr<pcie::Endpoint> build(const char* name, const void* parameters, base::RandomSeed) const override {
    return std::make_unique<accel::EndpointController>(name, own(parameters));
  }

  // memory::BusDeviceFactory
  memory::BusPlace bus_place(const void* parameters) const override {
    const auto& bus = at(parameters).bus;
    return {bus.soc, bus.address, bus.interrupts};
  }
  std::uint64_t size(const void* parameters) const override {
    return EPC_OUTBOUND_WINDOW + own(parameters).outbound.count();
  }
  std::string compatible() const override { return "sluice,endpoint-controller"; }
  std::optional<memory::Joint> joint(const void* parameters) const override {
    const pcie::Endpoint::Parameters& p = own(parameters).pcie;
    return memory::Joint{p.transmit_latency, p.receive_latency};
  }

 private:
  static const EndpointControllerOnBoard& at(const void* parameters) {
    return *static_cast<const EndpointControllerOnBoard*>(parameters);
  }
  static const accel::EndpointControllerParameters& own(const void* parameters) { return at(parameters).bus.device; }
};

}  // namespace

namespace part {

void add_endpoint_controller(Catalogue& catalogue) {
  catalogue.add<EndpointControllerOnBoard>("accel", "endpoint-controller", "endpoint controller",
                                           std::make_shared<const EndpointControllerFactory>());
}

}  // namespace part
}  // namespace sluice
