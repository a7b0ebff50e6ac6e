// SPDX-License-Identifier: Apache-2.0
#pragma once
/// How a PCIe device becomes a part of boards: [accel.NAME].

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "models/base/parameters/random.h"
#include "models/base/parameters/schema.h"
#include "models/part/catalogue.h"
#include "models/part/construct.h"
#include "models/part/firmware_property.h"
#include "models/pcie/endpoint/endpoint.h"

namespace sluice::pcie {

/// [accel.NAME]: the parameters of a device, and the slot that it sits in.
template <class P>
struct InSlot {
  std::string slot = "pcie.slot0";
  P device;
  static void describe(base::Schema<InSlot>& s) {
    s.summary("a PCIe device and its place");
    s.add("slot", &InSlot::slot, "PCIe slot that it sits in").refers_to("pcie").setting();
    s.include("", &InSlot::device);
  }
};

/// Builds the devices of one model: all that a board knows of them. `parameters` are an instance's values, of the type
/// that the model was added with.
class DeviceFactory : public virtual part::Factory {
 public:
  virtual const std::string& slot(const void* parameters) const = 0;
  /// What the firmware is told of the device, in its node of the device tree.
  virtual std::vector<part::FirmwareProperty> firmware_properties(const void*) const { return {}; }
  virtual std::unique_ptr<Endpoint> build(const char* module_name, const void* parameters, base::RandomSeed) const = 0;
};

template <class Device>
class DeviceFactoryOf final : public DeviceFactory {
 public:
  using Parameters = InSlot<typename Device::Parameters>;

  const std::string& slot(const void* parameters) const override {
    return static_cast<const Parameters*>(parameters)->slot;
  }
  std::unique_ptr<Endpoint> build(const char* module_name, const void* parameters,
                                  base::RandomSeed seed) const override {
    const auto& own = static_cast<const Parameters*>(parameters)->device;
    return part::construct<Device>(seed, module_name, own);
  }
};

/// From now on a board may have [accel.NAME] with this model. Device is an Endpoint, has a type Parameters with
/// describe(), and its constructor takes a name, these parameters and, if it draws random numbers, a base::RandomSeed.
/// model, title and exceptions are those of part::Catalogue::add().
template <class Device>
void add_device(part::Catalogue& catalogue, std::string model, std::string title) {
  static_assert(std::is_base_of_v<Endpoint, Device>, "a device of a board is a pcie::Endpoint");
  using Factory = DeviceFactoryOf<Device>;
  catalogue.add<typename Factory::Parameters>("accel", std::move(model), std::move(title),
                                              std::make_shared<const Factory>());
}

}  // namespace sluice::pcie
