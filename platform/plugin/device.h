// SPDX-License-Identifier: Apache-2.0
#pragma once
/// How a model becomes a device that boards can name, in this program and in a plug-in (docs/tutorials/own-device.md).
/// A plug-in includes this file of platform, through plugin.h, and no other.

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "models/base/parameters/schema.h"
#include "models/memory/bus_device.h"
#include "models/net/traffic/calls.h"
#include "models/nic/nic_part.h"
#include "models/pcie/endpoint/device_part.h"
#include "models/pcie/switch_part.h"
#include "models/workload/workload_part.h"
#include "platform/config/registry.h"

namespace sluice::platform {

/// Makes the calls that `call.program` names.
struct CallFactory final : part::Factory {
  explicit CallFactory(net::CallParameters::Maker m) : make(std::move(m)) {}
  net::CallParameters::Maker make;
};

/// Registers models, so that boards can name them.
class Devices {
 public:
  explicit Devices(config::Registry& registry) : registry_(registry) {}

  /// From now on a board may have [accel.NAME] with this model. Device is a pcie::Endpoint and has a type Parameters
  /// with describe(). Its constructor takes a name, these parameters and, if it draws random numbers, a
  /// base::RandomSeed. model: as a board writes it, 1 to 64 letters, digits, - and _. title: in a sentence, "DMA
  /// requester". Throws std::logic_error for another name, when there is such a model already, or when its parameters
  /// are ill-formed.
  template <class Device>
  void add(std::string model, std::string title) {
    check<typename pcie::DeviceFactoryOf<Device>::Parameters>(model, title);
    pcie::add_device<Device>(registry_, std::move(model), std::move(title));
  }

  /// As above, with a factory that the caller supplies, for a device with further ports. P is the parameter struct of
  /// [accel.NAME].
  template <class P>
  void add(std::string model, std::string title, std::shared_ptr<const pcie::DeviceFactory> factory) {
    check<P>(model, title, factory.get());
    registry_.add<P>("accel", std::move(model), std::move(title), std::move(factory));
  }

  /// The same for [device.NAME]. D is a module with a TLM-2.0 target socket, as memory::add_bus_device() says.
  template <class D>
  void add_bus_device(std::string model, std::string title) {
    check<typename memory::BusDeviceFactoryOf<D>::Parameters>(model, title);
    memory::add_bus_device<D>(registry_, std::move(model), std::move(title));
  }

  /// The same for [switch.NAME]. S is a pcie::Switch, as pcie::add_switch() says.
  template <class S>
  void add_switch(std::string model, std::string title) {
    check<typename pcie::SwitchFactoryOf<S>::Parameters>(model, title);
    pcie::add_switch<S>(registry_, std::move(model), std::move(title));
  }

  /// Registers a [nic.NAME] model likewise. N must meet the requirements of nic::add_nic().
  template <class N>
  void add_nic(std::string model, std::string title) {
    check<typename nic::NicFactoryOf<N>::Parameters>(model, title);
    nic::add_nic<N>(registry_, std::move(model), std::move(title));
  }

  /// As above, with a factory that the caller supplies, for a NIC whose driver must be told more than an address. P is
  /// the parameter struct of [nic.NAME].
  template <class P>
  void add_nic(std::string model, std::string title, std::shared_ptr<const nic::NicFactory> factory) {
    check<P>(model, title, factory.get());
    registry_.add<P>("nic", std::move(model), std::move(title), std::move(factory));
  }

  /// The same for [workload]. W is a workload::Workload, as workload::add_workload() says.
  template <class W>
  void add_workload(std::string model, std::string title) {
    check<typename W::Parameters>(model, title);
    workload::add_workload<W>(registry_, std::move(model), std::move(title));
  }

  /// As above, with a factory that the caller supplies. P is the parameter struct of [workload].
  template <class P>
  void add_workload(std::string model, std::string title, std::shared_ptr<const workload::WorkloadFactory> factory) {
    check<P>(model, title, factory.get());
    registry_.add<P>("workload", std::move(model), std::move(title), std::move(factory));
  }

  /// From now on a board may name these calls as call.program of its workload. C is a net::Calls with a constructor
  /// from a const net::CallParameters&. name: as a model's name. Throws std::logic_error for another name, or when
  /// there is such a program already.
  template <class C>
  void add_calls(std::string name) {
    static_assert(std::is_base_of_v<net::Calls, C>, "what makes calls is a net::Calls");
    add_calls(std::move(name), [](const net::CallParameters& p) { return std::make_unique<C>(p); });
  }
  void add_calls(std::string name, net::CallParameters::Maker make) {
    check_name("the name of calls", name);
    if (!make) throw std::logic_error("the calls " + name + " have no maker");
    registry_.add_part("calls", std::move(name), std::make_shared<const CallFactory>(std::move(make)));
  }

 private:
  template <class P>
  void check(const std::string& model, const std::string& title, const part::Factory* factory) const {
    check<P>(model, title);
    if (!factory) throw std::logic_error("model " + model + " (" + title + ") has no factory");
  }
  template <class P>
  void check(const std::string& model, const std::string& title) const {
    check_name("a model's name", model);
    try {
      check_references(base::schema_of<P>());
    } catch (const std::exception& e) {
      throw std::logic_error("model " + model + " (" + title + "): " + e.what());
    }
  }
  void check_references(const base::SchemaBase& schema) const {
    for (const auto& p : schema.parameters())
      if (!p->refers_to().empty() && !registry_.find(p->refers_to()))
        throw std::logic_error("parameter " + p->key() + " refers to " + p->refers_to() +
                               ", which is no kind of component");
  }
  static void check_name(const std::string& what, const std::string& name) {
    constexpr const char* kValid = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    if (!name.empty() && name.size() <= 64 && name.find_first_not_of(kValid) == std::string::npos) return;
    throw std::logic_error(what + " is 1 to 64 letters, digits, - and _, not \"" + name.substr(0, 64) + "\"");
  }

  config::Registry& registry_;
};

}  // namespace sluice::platform
