// SPDX-License-Identifier: Apache-2.0
#pragma once
/// How a module with registers on the bus of a system-on-chip becomes a component of boards, [device.NAME]. A plain
/// TLM-2.0 module that knows nothing of Sluice can be such a device.

#include <concepts>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <systemc>

#include "models/base/fabric/host_access.h"
#include "models/base/fabric/line.h"
#include "models/base/memory/line_home.h"
#include "models/base/memory/memory_path.h"
#include "models/base/parameters/random.h"
#include "models/base/parameters/schema.h"
#include "models/base/systemc/model.h"
#include "models/base/systemc/reset.h"
#include "models/base/time/callback.h"
#include "models/memory/interrupt_wire.h"
#include "models/memory/soc_bus.h"
#include "models/part/catalogue.h"
#include "models/part/construct.h"
#include "models/part/firmware_property.h"

namespace sluice::memory {

/// Where a device is on the chip.
struct BusPlace {
  std::string soc;                   ///< path of its system-on-chip; empty: the host
  std::uint64_t address;             ///< of its first register
  std::vector<unsigned> interrupts;  ///< interrupt-controller sources, one for each of the device's lines
  std::uint64_t lines = 0;           ///< address of the cache lines that the device is home to; 0: none
  std::string keys = {};             ///< what precedes the keys of these parameters on a board, with the dot
  std::string link = {};             ///< path of the coherent link between the chip and a home of cache lines
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

/// Parameters and place of a device that is also the home of cache lines.
template <class P>
struct CoherentOnBus {
  OnBus<P> bus;
  std::uint64_t lines = 0;
  std::string link;
  static void describe(base::Schema<CoherentOnBus>& s) {
    s.summary("a device on a system-on-chip's bus that is the home of cache lines, and its place");
    s.include("", &CoherentOnBus::bus);
    s.add("lines", &CoherentOnBus::lines, "address of the cache lines that it is the home of")
        .multiple_of(4096)
        .hexadecimal()
        .setting();
    s.add("link", &CoherentOnBus::link, "coherent link that it and its registers are behind")
        .refers_to("coherent")
        .required();
    s.rule("lines", [](const CoherentOnBus& p) { return p.lines == 0 ? "must be set: no device is at 0" : ""; });
  }
};

/// The parts of its system-on-chip that a device may use.
struct ChipPorts {
  SocBus& bus;
  base::MemoryPath& memory;  ///< for a device that reads and writes memory itself, as a root complex does
  /// For a device behind a coherent link: what its registers are bound to, in place of the bus.
  tlm::tlm_initiator_socket<>* registers = nullptr;
  /// For a device behind a coherent link: its way to host memory and interrupt controllers. Null for others.
  base::HostAccess* host = nullptr;

  /// Makes a device's registers reachable in a region of the bus.
  template <class Socket>
  void map(const SocBus::Region& region, Socket& socket) const {
    if (registers)
      registers->bind(socket);
    else
      bus.map(region, socket);
  }
};

/// Minimum latencies of a device that joins its system-on-chip to others by a link. Such a device has no INTx, because
/// the root complex would take it without a latency.
struct Joint {
  base::Time to_others;    ///< from an action of a hart of its system to the link
  base::Time from_others;  ///< from the link until a hart of its system can see the effect
};

/// A device that a board has built.
class BusDevice {
 public:
  virtual ~BusDevice() = default;
  /// Binds the device's target socket to the region, and its initiator socket, if it has one, to the bus.
  virtual void connect(const ChipPorts&, SocBus::Region) = 0;
  /// For a device that is the home of cache lines: adds it to the homes.
  virtual void connect_lines(base::LineHomes&, std::uint64_t address, std::uint64_t size, const std::string& path) {
    (void)address, (void)size, (void)path;
  }
  /// Number of interrupt lines that the device has.
  virtual unsigned lines() const = 0;
  /// Sets what is called, at base::now(), when a line changes its level.
  virtual void on_line(unsigned line, base::Callback<void(bool)> changed) = 0;
  virtual base::Model* model() = 0;  ///< null: the module knows nothing of Sluice
  /// What a reset of the system-on-chip resets. Null: the reset does not reach the device.
  virtual base::Resettable* resettable() = 0;
};

/// What a board knows of the devices of one model that have a place on a bus, whatever other ports they have.
/// `parameters` points to an instance's values, of the type that the model was added with.
class BusDeviceFactory : public virtual part::Factory {
 public:
  virtual BusPlace bus_place(const void* parameters) const = 0;
  virtual std::uint64_t size(const void* parameters) const = 0;  ///< bytes of registers
  /// Bytes of the cache lines that the device is home to.
  virtual std::uint64_t lines_size(const void* parameters) const {
    (void)parameters;
    return 0;
  }
  /// The `compatible` string of the device-tree node; empty: the device has no node.
  virtual std::string compatible() const = 0;
  /// Further properties of the device-tree node.
  virtual std::vector<part::FirmwareProperty> firmware_properties(const void* parameters) const = 0;
  /// Latencies of the link, for a device that joins systems.
  virtual std::optional<Joint> joint(const void* parameters) const {
    (void)parameters;
    return {};
  }
};

/// Builds devices that have no port other than the bus.
class BusOnlyFactory : public BusDeviceFactory {
 public:
  virtual std::unique_ptr<BusDevice> build(const char* module_name, const void* parameters, base::RandomSeed) const = 0;
};

/// Parameters of modules that have no type Parameters.
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

  void connect(const ChipPorts& chip, SocBus::Region region) override {
    region.own = std::derived_from<D, base::Model>;
    chip.map(region, device_->socket);
    if constexpr (requires(D & d) { d.initiator; }) device_->initiator.bind(chip.bus.from_initiators);
    if constexpr (requires(D & d, base::HostAccess & host) { d.set_host(host); })
      if (chip.host) device_->set_host(*chip.host);
  }
  void connect_lines(base::LineHomes& homes, std::uint64_t address, std::uint64_t size,
                     const std::string& path) override {
    if constexpr (std::derived_from<D, base::LineHome>) homes.add_home(*device_, address, size, path);
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
    if constexpr (requires { typename D::Parameters; })
      return part::construct<D>(seed, name, p);
    else
      return part::construct<D>(seed, name);
  }
  void add_line(base::Line& line) { lines_.emplace_back(line); }
  void add_line(sc_core::sc_out<bool>& port) {
    lines_.emplace_back(port, std::string(device_->basename()) + "__line" + std::to_string(lines_.size()));
  }

  std::unique_ptr<D> device_;
  std::vector<bus_device_detail::LineOutput> lines_;
};

template <class D>
class BusDeviceFactoryOf final : public BusOnlyFactory {
 public:
  using Own = typename BusDeviceOf<D>::Parameters;
  static constexpr bool kCoherent = std::derived_from<D, base::LineHome>;
  static_assert(!kCoherent || std::derived_from<D, base::Model>, "a home of lines is a base::Model");
  using Parameters = std::conditional_t<kCoherent, CoherentOnBus<Own>, OnBus<Own>>;

  BusPlace bus_place(const void* parameters) const override {
    const OnBus<Own>& p = on_bus(parameters);
    BusPlace place{p.soc, p.address, p.interrupts};
    if constexpr (kCoherent) {
      place.lines = at(parameters).lines;
      place.link = at(parameters).link;
    }
    return place;
  }
  std::uint64_t lines_size(const void* parameters) const override {
    std::uint64_t size = 0;
    if constexpr (kCoherent && requires(const Own& p) { D::lines_size(p); })
      size = D::lines_size(on_bus(parameters).device);
    else if constexpr (kCoherent)
      size = D::kLinesSize;
    if (kCoherent && size == 0) throw std::logic_error("it is a home of cache lines and has 0 bytes of them");
    return size;
  }
  std::uint64_t size(const void* parameters) const override {
    if constexpr (requires(const Own& p) { D::size(p); })
      return D::size(on_bus(parameters).device);
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
      return D::firmware_properties(on_bus(parameters).device);
    else
      return {};
  }
  std::unique_ptr<BusDevice> build(const char* name, const void* parameters, base::RandomSeed seed) const override {
    return std::make_unique<BusDeviceOf<D>>(name, on_bus(parameters).device, seed);
  }

 private:
  static const Parameters& at(const void* parameters) { return *static_cast<const Parameters*>(parameters); }
  static const OnBus<Own>& on_bus(const void* parameters) {
    if constexpr (kCoherent)
      return at(parameters).bus;
    else
      return at(parameters);
  }
};

/// From now on a board may have [device.NAME] with this model. D is an sc_module with a TLM-2.0 target socket `socket`,
/// whose addresses begin at 0. kSize, or a static size(parameters), gives its bytes of registers. Its constructor takes
/// a name; then Parameters, if D has such a type with describe(); then a base::RandomSeed, if D draws random numbers. D
/// may have these members: `interrupt`, or a container `interrupts`, of sc_out<bool> or base::Line; `initiator`, a
/// TLM-2.0 initiator socket that reaches what harts reach; kCompatible and a static firmware_properties(parameters),
/// which give it a device-tree node. If D derives from base::LineHome, kLinesSize, or a static lines_size(parameters),
/// gives its bytes of cache lines. A base::Model uses base::now() and the calendar; any other module uses SystemC's
/// time and events, and may wait(). model, title and exceptions are those of part::Catalogue::add().
template <class D>
void add_bus_device(part::Catalogue& catalogue, std::string model, std::string title) {
  static_assert(std::derived_from<D, sc_core::sc_module>, "a device on a bus is an sc_module");
  using Factory = BusDeviceFactoryOf<D>;
  catalogue.add<typename Factory::Parameters>("device", std::move(model), std::move(title),
                                              std::make_shared<const Factory>());
}

}  // namespace sluice::memory
