#pragma once
/// How a model becomes a device that boards can name, in this program and in a plug-in (docs/tutorials/own-device.md).
/// Of platform, a plug-in includes this file only.

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "models/base/random.h"
#include "models/base/schema.h"
#include "models/pcie/endpoint.h"
#include "platform/config/registry.h"

namespace sluice::platform {

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
/// that the model was registered with.
class DeviceFactory : public config::ModelFactory {
 public:
  virtual const std::string& slot(const void* parameters) const = 0;
  virtual std::unique_ptr<pcie::Endpoint> build(const char* module_name, const void* parameters,
                                                base::RandomSeed) const = 0;
};

template <class Device>
class FactoryOf final : public DeviceFactory {
  using Parameters = InSlot<typename Device::Parameters>;

 public:
  const std::string& slot(const void* parameters) const override {
    return static_cast<const Parameters*>(parameters)->slot;
  }
  std::unique_ptr<pcie::Endpoint> build(const char* module_name, const void* parameters,
                                        base::RandomSeed seed) const override {
    const auto& own = static_cast<const Parameters*>(parameters)->device;
    if constexpr (std::is_constructible_v<Device, const char*, decltype(own), base::RandomSeed>)
      return std::make_unique<Device>(module_name, own, seed);
    else
      return std::make_unique<Device>(module_name, own);
  }
};

/// Where models become known.
class Devices {
 public:
  explicit Devices(config::Registry& registry) : registry_(registry) {}

  /// From now on a board may have [accel.NAME] with this model. Device is a pcie::Endpoint, has a type Parameters with
  /// describe(), and is made from a name and these; and from a base::RandomSeed too, where it draws random numbers.
  /// model: as a board writes it, 1 to 64 letters, digits, - and _. title: in a sentence, "DMA requester". Throws
  /// std::logic_error for another name, when there is such a model already, or when its parameters are ill-formed.
  template <class Device>
  void add(std::string model, std::string title) {
    static_assert(std::is_base_of_v<pcie::Endpoint, Device>, "a device of a board is a pcie::Endpoint");
    using Parameters = InSlot<typename Device::Parameters>;
    check_name(model);
    try {
      check_references(base::schema_of<Parameters>());
    } catch (const std::exception& e) {
      throw std::logic_error("model " + model + " (" + title + "): " + e.what());
    }
    registry_.add<Parameters>("accel", std::move(model), std::move(title), std::make_shared<const FactoryOf<Device>>());
  }

 private:
  void check_references(const base::SchemaBase& schema) const {
    for (const auto& p : schema.parameters())
      if (!p->refers_to().empty() && !registry_.find(p->refers_to()))
        throw std::logic_error("parameter " + p->key() + " refers to " + p->refers_to() +
                               ", which is no kind of component");
  }
  static void check_name(const std::string& model) {
    constexpr const char* kValid = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    if (!model.empty() && model.size() <= 64 && model.find_first_not_of(kValid) == std::string::npos) return;
    throw std::logic_error("a model's name is 1 to 64 letters, digits, - and _, not \"" + model.substr(0, 64) + "\"");
  }

  config::Registry& registry_;
};

}  // namespace sluice::platform
