// SPDX-License-Identifier: Apache-2.0
#pragma once
/// How a PCIe switch becomes a part of boards: [switch.NAME].

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "models/base/parameters/random.h"
#include "models/base/parameters/schema.h"
#include "models/part/catalogue.h"
#include "models/part/construct.h"
#include "models/pcie/switch.h"

namespace sluice::pcie {

/// [switch.NAME]: the parameters of a switch, and the slot that it sits in.
template <class P>
struct SwitchInSlot {
  std::string slot;
  P fabric;
  static void describe(base::Schema<SwitchInSlot>& s) {
    s.summary("PCIe switch and the slot that it sits in");
    s.add("slot", &SwitchInSlot::slot, "PCIe slot that its upstream port is in").refers_to("pcie").required();
    s.include("", &SwitchInSlot::fabric);
  }
};

/// Builds the switches of one model. `parameters` are an instance's values, of the type that the model was added with.
class SwitchFactory : public part::Factory {
 public:
  virtual const std::string& slot(const void* parameters) const = 0;
  virtual unsigned downstream_ports(const void* parameters) const = 0;
  virtual std::unique_ptr<Switch> build(const char* module_name, const void* parameters, base::RandomSeed) const = 0;
};

template <class S>
class SwitchFactoryOf final : public SwitchFactory {
 public:
  using Own = typename S::Parameters;
  using Parameters = SwitchInSlot<Own>;

  const std::string& slot(const void* parameters) const override { return at(parameters).slot; }
  unsigned downstream_ports(const void* parameters) const override {
    if constexpr (requires(const Own& p) { S::downstream_ports(p); })
      return S::downstream_ports(at(parameters).fabric);
    else
      return at(parameters).fabric.downstream_ports;
  }
  std::unique_ptr<Switch> build(const char* name, const void* parameters, base::RandomSeed seed) const override {
    return part::construct<S>(seed, name, at(parameters).fabric);
  }

 private:
  static const Parameters& at(const void* parameters) { return *static_cast<const Parameters*>(parameters); }
};

/// From now on a board may have [switch.NAME] with this model. S is a Switch and has a type Parameters with describe():
/// Switch::Parameters, or its own type with a member downstream_ports, or its own type and a static function
/// S::downstream_ports(parameters). The constructor of S takes a name, these parameters and, if it draws random
/// numbers, a base::RandomSeed. model and title: as for part::Catalogue::add(), which says what is thrown.
template <class S>
void add_switch(part::Catalogue& catalogue, std::string model, std::string title) {
  static_assert(std::is_base_of_v<Switch, S>, "a switch of a board is a pcie::Switch");
  using Factory = SwitchFactoryOf<S>;
  catalogue.add<typename Factory::Parameters>("switch", std::move(model), std::move(title),
                                              std::make_shared<const Factory>());
}

}  // namespace sluice::pcie
