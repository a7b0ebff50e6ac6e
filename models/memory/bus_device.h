#pragma once
/// How a module with a place in the address space of a system-on-chip becomes a part of boards: [device.NAME]. A plain
/// TLM-2.0 module that knows nothing of Sluice can be one.

#include <concepts>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <systemc>

#include "models/base/fabric/line.h"
#include "models/base/parameters/random.h"
#include "models/base/parameters/schema.h"
#include "models/base/systemc/model.h"
#include "models/base/systemc/reset.h"
#include "models/base/time/callback.h"
#include "models/memory/interrupt_wire.h"
#include "models/memory/soc_bus.h"
#include "models/part/catalogue.h"
#include "models/part/firmware_property.h"

namespace sluice::memory {

/// Where a device is on the chip.
struct BusPlace {
  std::string soc;                   ///< path of its system-on-chip; empty: the host
  std::uint64_t address;             ///< of its first register
  std::vector<unsigned> interrupts;  ///< sources of the interrupt controller, one for each of its lines
};

/// [device.NAME]: the parameters of a device, and its place.
template <class P>
struct OnBus {
  std::string soc;
  std::uint64_t address = 0;
  std::vector<unsigned> interrupts;
  P device;
  static void describe(base::Schema<OnBus>& s) {
    s.summary("a device on a system-on-chip's bus and its place");
    s.add("soc", &OnBus::soc, "system-on-chip that it is on; empty: the host").may_refer_to("soc").setting();
    s.add("address", &OnBus::address, "of its first register").multiple_of(8).hexadecimal().setting();
    s.add("interrupts", &OnBus::interrupts, "interrupt sources that its lines are, in their order")
        .range(1, 1023)
        .setting();
    s.rule("address", [](const OnBus& p) { return p.address == 0 ? "must be set: no device is at 0" : ""; });
    s.include("", &OnBus::device);
  }
};

/// A device that a board has built.
class BusDevice {
 public:
  virtual ~BusDevice() = default;
  /// Binds its target socket to the region; and its initiator socket, where it has one, to the bus.
  virtual void connect(SocBus&, SocBus::Region) = 0;
  /// Interrupt lines that it has.
  virtual unsigned lines() const = 0;
  /// changed(level) is called at base::now().
  virtual void on_line(unsigned line, base::Callback<void(bool)> changed) = 0;
  virtual base::Model* model() = 0;            ///< null: it knows nothing of Sluice
  virtual base::Resettable* resettable() = 0;  ///< null: a board's reset does not reach it
};

/// Builds the devices of one model. `parameters` are an instance's values, of the type that the model was added with.
class BusDeviceFactory : public part::Factory {
 public:
  virtual BusPlace place(const void* parameters) const = 0;
  virtual std::uint64_t size(const void* parameters) const = 0;  ///< of its registers, bytes
  /// Of its device-tree node; empty: it has none.
  virtual std::string compatible() const = 0;
  /// What else the node says.
  virtual std::vector<part::FirmwareProperty> firmware_properties(const void* parameters) const = 0;
  virtual std::unique_ptr<BusDevice> build(const char* module_name, const void* parameters, base::RandomSeed) const = 0;
};

/// For modules without a type Parameters.
struct NoParameters {
  static void describe(base::Schema<NoParameters>& s) { s.summary("a module without parameters"); }
};

namespace bus_device_detail {

template <class D>
struct ParametersOf {
  using type = NoParameters;
};
template <class D>
requires requires { typename D::Parameters; }
struct ParametersOf<D> {
  using type = typename D::Parameters;
};

/// One interrupt output of a module: a base::Line, or a SystemC port that an InterruptWire is bound to.
class LineOutput {
 public:
  explicit LineOutput(base::Line& line) : line_(&line) {}
  LineOutput(sc_core::sc_out<bool>& port, const std::string& name)
      : wire_(std::make_unique<InterruptWire>(name.c_str())) {
    port.bind(wire_->signal);
  }
  void on_change(base::Callback<void(bool)> changed) {
    (line_ ? line_->on_change : wire_->on_change) = std::move(changed);
  }

 private:
  base::Line* line_ = nullptr;
  std::unique_ptr<InterruptWire> wire_;
};

}  // namespace bus_device_detail

template <class D>
class BusDeviceOf final : public BusDevice {
 public:
  using Parameters = typename bus_device_detail::ParametersOf<D>::type;

  BusDeviceOf(const char* name, const Parameters& p, base::RandomSeed seed) : device_(make(name, p, seed)) {
    if constexpr (requires(D & d) { d.interrupt; }) {
      add_line(device_->interrupt);
    } else if constexpr (requires(D & d) { d.interrupts.begin(); }) {
      for (auto& line : device_->interrupts) add_line(line);
    }
  }

  void connect(SocBus& bus, SocBus::Region region) override {
    region.own = std::derived_from<D, base::Model>;
    bus.map(region, device_->socket);
    if constexpr (requires(D & d) { d.initiator; }) device_->initiator.bind(bus.from_initiators);
  }
  unsigned lines() const override { return static_cast<unsigned>(lines_.size()); }
  void on_line(unsigned line, base::Callback<void(bool)> changed) override {
    lines_.at(line).on_change(std::move(changed));
  }
  base::Model* model() override {
    if constexpr (std::derived_from<D, base::Model>)
      return device_.get();
    else
      return nullptr;
  }
  base::Resettable* resettable() override {
    if constexpr (std::derived_from<D, base::Resettable>)
      return device_.get();
    else
      return nullptr;
  }

 private:
  static std::unique_ptr<D> make(const char* name, const Parameters& p, base::RandomSeed seed) {
    if constexpr (std::is_constructible_v<D, const char*, const Parameters&, base::RandomSeed>)
      return std::make_unique<D>(name, p, seed);
    else if constexpr (std::is_constructible_v<D, const char*, const Parameters&>)
      return std::make_unique<D>(name, p);
    else
      return std::make_unique<D>(name);
  }
  void add_line(base::Line& line) { lines_.emplace_back(line); }
  void add_line(sc_core::sc_out<bool>& port) {
    lines_.emplace_back(port, std::string(device_->basename()) + "__line" + std::to_string(lines_.size()));
  }

  std::unique_ptr<D> device_;
  std::vector<bus_device_detail::LineOutput> lines_;
};

template <class D>
class BusDeviceFactoryOf final : public BusDeviceFactory {
 public:
  using Own = typename BusDeviceOf<D>::Parameters;
  using Parameters = OnBus<Own>;

  BusPlace place(const void* parameters) const override {
    const Parameters& p = at(parameters);
    return {p.soc, p.address, p.interrupts};
  }
  std::uint64_t size(const void* parameters) const override {
    if constexpr (requires(const Own& p) { D::size(p); })
      return D::size(at(parameters).device);
    else
      return D::kSize;
  }
  std::string compatible() const override {
    if constexpr (requires { std::string(D::kCompatible); })
      return D::kCompatible;
    else
      return {};
  }
  std::vector<part::FirmwareProperty> firmware_properties(const void* parameters) const override {
    if constexpr (requires(const Own& p) { D::firmware_properties(p); })
      return D::firmware_properties(at(parameters).device);
    else
      return {};
  }
  std::unique_ptr<BusDevice> build(const char* name, const void* parameters, base::RandomSeed seed) const override {
    return std::make_unique<BusDeviceOf<D>>(name, at(parameters).device, seed);
  }

 private:
  static const Parameters& at(const void* parameters) { return *static_cast<const Parameters*>(parameters); }
};

/// From now on a board may have [device.NAME] with this model. D is an sc_module with a TLM-2.0 target socket `socket`,
/// whose addresses begin at 0, and kSize, or a static size(parameters), bytes of registers. It is made from a name;
/// from Parameters too, where it has such a type with describe(); and then from a base::RandomSeed, where it draws
/// random numbers. Where it has them: `interrupt`, or `interrupts`, a container, of sc_out<bool> or base::Line;
/// `initiator`, a TLM-2.0 initiator socket that reaches what harts reach; kCompatible, which gives it a device-tree
/// node, with the static firmware_properties(parameters). A base::Model uses base::now() and the calendar; any other
/// module SystemC's time and events, and may wait(). model and title: as for part::Catalogue::add(), which says what is
/// thrown.
template <class D>
void add_bus_device(part::Catalogue& catalogue, std::string model, std::string title) {
  static_assert(std::derived_from<D, sc_core::sc_module>, "a device on a bus is an sc_module");
  using Factory = BusDeviceFactoryOf<D>;
  catalogue.add<typename Factory::Parameters>("device", std::move(model), std::move(title),
                                              std::make_shared<const Factory>());
}

}  // namespace sluice::memory
