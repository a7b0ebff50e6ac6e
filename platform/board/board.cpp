// SPDX-License-Identifier: Apache-2.0
#include "platform/board/board.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "models/base/files/input_file.h"
#include "models/base/measure/mistakes.h"
#include "models/base/parameters/spread.h"
#include "models/pcie/pcie_regs.h"
#include "platform/board/pcie_functions.h"
#include "platform/board/pcie_tree.h"
#include "platform/board/run_ahead.h"
#include "platform/firmware/device_tree.h"

namespace sluice::platform {
namespace {

/// A region of the root complex. An access to it may take simulated time, because it waits for PCIe.
memory::SocBus::Region pcie_window(const char* name, std::uint64_t base, const base::Bytes& size, bool posts) {
  memory::SocBus::Region region{name, base, size.count(), true, true};
  region.waits = true;
  region.posts = posts;
  return region;
}

std::string module_of(const config::Instance& i) { return base::module_name(i.path()); }

/// Throws if the model that was built last has ended the kernel before the run.
void check_kernel() {
  if (sc_core::sc_get_status() == sc_core::SC_STOPPED) throw std::logic_error("it called sc_stop() before the run");
}

}  // namespace

Board::Board(const config::BoardConfig& config, Traffic traffic, std::optional<WarmUp> warm_up)
    : config_(config), run_(config.parameters<RunParameters>("run")), warm_up_(warm_up) {
  base::set_time_resolution();
  if (run_.spread == SpreadOfTime::drawn) base::spread().draw_from(base::RandomSeed{run_.seed, run_.replication});
  build_systems();
  build_pcie();
  build_coherent_links();
  build_bus_devices();
  build_devices();
  build_network();
  check_pcie_space(config, [this](const std::string& path) { return endpoint(path); });
  build_workload(traffic);
  start_systems();
  check_frames_fit();
  if (!config.of_kind("fault").empty()) faults_ = std::make_unique<Faults>(*this);
}

Board::~Board() = default;

void Board::build_systems() {
  std::vector<SystemPlan> plans = systems_of(config_);
  const Separation separation = separation_of(config_);
  for (const SystemPlan& p : plans) {
    memory_map(p);
    check_interrupt_sources(p);
    check_cores(p);
  }
  // Requests start at the host but may pass through the memory of a joined system, so the skew covers that separation.
  base::Time skew = separation.joined ? separation.least : base::Time{};
  for (SystemPlan& p : plans) {
    const base::Time quantum = quantum_of(p, plans.size() > 1 ? separation.least : base::Time::max());
    if (p.is_host() && p.harts() > 1) skew = std::max(skew, quantum);
    if (p.is_host())
      scheduler_ = std::make_unique<base::Scheduler>("scheduler", quantum);
    else
      groups_of_harts_.push_back(std::make_unique<base::RunnerGroup>(*scheduler_, quantum));
    base::RunnerGroup& group = p.is_host() ? scheduler_->first_group() : *groups_of_harts_.back();
    systems_.push_back(std::make_unique<SystemOnChip>(std::move(p), group));
    if (run_.check) systems_.back()->memory().check_homed_lines();
    for (auto& c : systems_.back()->clusters()) clusters_.emplace_back(*c);
  }
  base::ledger().tolerate(skew);
  scheduler_->set_separation(separation.least);
}

/// Checks that every file that a parameter of the device names can be read. Without this check, the model might open a
/// file late and report a failure unclearly.
void Board::check_files(const config::Instance& device) const {
  for (const auto& p : device.schema().parameters()) {
    const std::string path = p->names_file() ? std::get<std::string>(p->value(device.model_values()).data) : "";
    if (path.empty()) continue;
    try {
      base::open_input_file(path);
    } catch (const std::runtime_error& e) {
      throw config_.error(device, p->key(), std::string("must name a file that can be read: ") + e.what());
    }
  }
}

/// Returns what build() makes.
template <class F>
auto Board::built_by_author(const config::Instance& device, const F& build) const {
  check_files(device);
  return by_author(config_, device.path(), "cannot be built", [&] {
    auto built = build(module_of(device), base::RandomSeed{run_.seed, run_.replication});
    if (!built) throw std::logic_error(kBuiltNothing);
    check_kernel();
    if constexpr (requires { built->check_registers(); }) built->check_registers();
    return built;
  });
}

void Board::build_pcie() {
  const auto& p = config_.parameters<pcie::RootComplex::Parameters>("root");
  memory::SocBus& bus = host().bus();
  root_ = std::make_unique<pcie::RootComplex>("root", p, host().memory());
  root_->set_soc_writer(&host());
  bus.map(pcie_window("root.ecam", p.ecam_base, p.ecam_size, false), root_->socket);
  bus.map_also(pcie_window("root.mmio32", p.mmio32_base, p.mmio32_size, true));
  bus.map_also(pcie_window("root.mmio64", p.mmio64_base, p.mmio64_size, true));
  if (const auto& i = config_.parameters<IommuInstance>("iommu"); i.enabled) {
    iommu_ = std::make_unique<pcie::Iommu>("iommu", i.iommu, host().memory());
    bus.map({"iommu", host().plan().parts.map.iommu, HostMap::kIommuSize, true, false}, iommu_->socket);
    root_->set_translator(iommu_.get());
  }
  for (unsigned i = 0; i < 4; ++i)
    root_->intx[i].on_change = [this, i](bool level) { host().set_source(HostMap::kPcieSource + i, level); };
  pcie_tree(config_);
  for (const config::Instance* s : config_.of_kind("pcie"))
    slots_.push_back(
        {s->path(), std::make_unique<pcie::Link>(module_of(*s).c_str(), s->parameters<SlotParameters>().link)});
  for (const config::Instance* s : config_.of_kind("switch")) {
    mark(*s);
    switches_.push_back({s->path(), built_by_author(*s, [this, s](const std::string& name, base::RandomSeed seed) {
                           auto fabric = switch_factory_of(*s).build(name.c_str(), s->model_values(), seed);
                           if (fabric && fabric->downstream_ports() != downstream_ports_of(config_, *s))
                             throw std::logic_error("it has not as many downstream ports as its model says");
                           return fabric;
                         })});
  }
  marks_.push_back(std::make_unique<ElaborationMark>("after__switches", ""));
  for (SwitchInstance& s : switches_) connect(slot_of(config_, *config_.find(s.path)), s.fabric->upstream_port());
}

/// Makes the kernel tell when it calls the component that is made next.
void Board::mark(const config::Instance& next) {
  marks_.push_back(std::make_unique<ElaborationMark>(("before__" + module_of(next)).c_str(), next.path()));
}

/// Connects a slot's link to the port above the slot and to the device in it.
void Board::connect(const std::string& path, pcie::Port& device) {
  const auto& p = config_.parameters<SlotParameters>(path);
  const auto above =
      std::find_if(switches_.begin(), switches_.end(), [&](const SwitchInstance& s) { return s.path == p.attach; });
  slot(path).link->connect(above == switches_.end() ? root_->root_port(p.port) : above->fabric->downstream_port(p.port),
                           device);
}

SlotInstance& Board::slot(const std::string& path) {
  return *std::find_if(slots_.begin(), slots_.end(), [&](const SlotInstance& s) { return s.path == path; });
}

/// Publishes in the order of the result file. Peers and traffic publish their statistics when they are built.
void Board::publish_statistics() {
  const auto publish = [this](base::Model& model) {
    by_author(config_, model.path(), "cannot register its statistics", [&] { model.publish_statistics(); });
  };
  for (auto& system : systems_)
    for (base::Model* model : system->models()) publish(*model);
  if (iommu_) publish(*iommu_);
  for (SwitchInstance& s : switches_) publish(*s.fabric);
  for (BusDeviceInstance& d : bus_devices_)
    if (d.owned && d.model) publish(*d.model);
  for (DeviceInstance& d : devices_) publish(*d.endpoint);
  for (NicInstance& n : nics_) {
    publish(*n.model);
    publish(*n.mac);
  }
  for (auto& path : host_paths_) publish(*path);
  for (WireInstance& w : wires_) publish(*w.wire);
  for (SlotInstance& s : slots_) publish(*s.link);
  for (CoherentInstance& c : coherent_links_) publish(*c.link);
  for (auto& system : systems_) publish(system->bus());
  publish(*root_);
  statistics_ = std::make_unique<base::StatisticsGroup>("reset", &base::statistics());
  statistics_->counter("resets", "resets", "of the board, or of one of its systems, by firmware or a debugger",
                       resets_);
}

const pcie::Endpoint* Board::endpoint(const std::string& path) const {
  for (const DeviceInstance& d : devices_)
    if (d.path == path) return d.endpoint.get();
  for (const NicInstance& n : nics_)
    if (n.path == path) return n.endpoint;
  return nullptr;
}

Cluster* Board::cluster_of(const riscv::Core* hart) const {
  for (Cluster& c : clusters_)
    for (const auto& core : c.cores)
      if (core.get() == hart) return &c;
  return nullptr;
}

SystemOnChip& Board::system(const std::string& path) {
  return **std::find_if(systems_.begin(), systems_.end(), [&](const auto& s) { return s->path() == path; });
}

void Board::build_bus_devices() {
  for (const config::Instance* d : config_.of_kind("device")) {
    mark(*d);
    auto device = built_by_author(*d, [d](const std::string& name, base::RandomSeed seed) {
      return dynamic_cast<const memory::BusOnlyFactory&>(*d->factory()).build(name.c_str(), d->model_values(), seed);
    });
    memory::BusDevice& known = *device;
    connect_to_bus(*d, known, std::move(device));
  }
  marks_.push_back(std::make_unique<ElaborationMark>("after__bus_devices", ""));
}

void Board::connect_to_bus(const config::Instance& d, memory::BusDevice& device,
                           std::unique_ptr<memory::BusDevice> owned) {
  const memory::BusPlace place = bus_place_of(config_, d);
  SystemOnChip& system = this->system(place.soc);
  connect_ports(d, device, place, system);
  const unsigned lines = by_author(config_, d.path(), "cannot be built", [&] { return device.lines(); });
  if (place.interrupts.size() != lines)
    throw config_.error(d, place.keys + "interrupts",
                        fmt::format("must name a source for each of its interrupt lines, of which it has {}", lines));
  base::Model* const model = by_author(config_, d.path(), "cannot be built", [&] {
    for (unsigned line = 0; line < lines; ++line)
      device.on_line(line,
                     [&system, source = place.interrupts[line]](bool level) { system.set_source(source, level); });
    return device.model();
  });
  bus_devices_.push_back({d.path(), &system, &device, model, std::move(owned)});
}

/// Connects a PCIe device to a bus if it also has a place there.
void Board::connect_to_bus(const config::Instance& i, pcie::Endpoint& endpoint) {
  if (!dynamic_cast<const memory::BusDeviceFactory*>(i.factory())) return;
  check_joint(i, endpoint);
  connect_to_bus(i, dynamic_cast<memory::BusDevice&>(endpoint), nullptr);
}

/// Refuses a device that joins systems and has INTx. The latencies of a joint hold for its writes and MSI-X messages,
/// but the root complex takes INTx sooner.
void Board::check_joint(const config::Instance& i, const pcie::Endpoint& device) const {
  if (device.config().get8(PCIE_INTERRUPT_PIN) == 0) return;
  by_author(config_, i.path(), "cannot be built", [&] {
    if (bus_factory_of(i).joint(i.values()))
      throw std::logic_error("it joins systems and has INTx, so it must use MSI-X alone");
  });
}

void Board::build_devices() {
  for (const config::Instance* a : config_.of_kind("accel")) {
    mark(*a);
    devices_.push_back(
        {a->path(), slot_of(config_, *a), built_by_author(*a, [a](const std::string& name, base::RandomSeed seed) {
           return factory_of(*a).build(name.c_str(), a->model_values(), seed);
         })});
    pcie::Endpoint& device = *devices_.back().endpoint;
    connect(slot_of(config_, *a), device.port());
    connect_to_bus(*a, device);
  }
  marks_.push_back(std::make_unique<ElaborationMark>("after__devices", ""));
}

WireInstance& Board::wire(const config::Instance& user, const std::string& path) {
  const auto found = std::find_if(wires_.begin(), wires_.end(), [&](const WireInstance& w) { return w.path == path; });
  if (found == wires_.end()) throw config_.error(user, "wire", "must name an Ethernet link of the board");
  return *found;
}

void Board::schedule_carrier(net::Wire& wire, const WireParameters& p) {
  constexpr base::ComponentKey kCarrier = base::path_key("platform.carrier");
  for (const base::Time t : p.down_at) base::calendar().at(t, kCarrier, [&wire] { wire.hold_down(true); });
  for (const base::Time t : p.up_at) base::calendar().at(t, kCarrier, [&wire] { wire.hold_down(false); });
}

void Board::build_network() {
  for (const config::Instance* w : config_.of_kind("net")) {
    const auto& p = w->parameters<WireParameters>();
    wires_.push_back({w->path(), std::make_unique<net::Wire>(module_of(*w).c_str(), p.wire)});
    schedule_carrier(*wires_.back().wire, p);
  }
  for (const config::Instance* n : config_.of_kind("nic")) build_nic(*n);
  marks_.push_back(std::make_unique<ElaborationMark>("after__nics", ""));
  publish_statistics();
}

/// Refuses what two NICs share. Their links are apart, but a host that has one address twice cannot tell by the
/// address which link a packet belongs to, and links may be joined outside the board.
void Board::check_clashes(const config::Instance& instance, const nic::NicPlace& place) const {
  for (const config::Instance* n : config_.of_kind("nic")) {
    if (n == &instance) continue;
    const nic::NicPlace other = place_of(config_, *n);
    if (other.wire == place.wire)
      throw clash(config_, instance, *n, "wire", "must be a link of its own; {} is at it too");
    if (net::parse_ipv4(other.ipv4) == net::parse_ipv4(place.ipv4))
      throw clash(config_, instance, *n, "ipv4", "must be an address of its own; {} has it too");
    if (!place.address.empty() && !other.address.empty() &&
        net::parse_mac(other.address) == net::parse_mac(place.address))
      throw clash(config_, instance, *n, "address", "must be an address of its own; {} has it too");
  }
}

void Board::build_nic(const config::Instance& instance) {
  const nic::NicPlace place = place_of(config_, instance);
  check_clashes(instance, place);
  net::Wire& link = *wire(instance, place.wire).wire;
  mark(instance);
  auto built = built_by_author(instance, [&](const std::string& name, base::RandomSeed seed) {
    return nic_factory_of(instance).build(name.c_str(), instance.model_values(), seed, link, net::Wire::kB);
  });
  net::Mac& mac = by_author(config_, instance.path(), "cannot be built", [&]() -> net::Mac& { return built->mac(); });
  mac.set_client_path(instance.path());
  auto* const endpoint = dynamic_cast<pcie::Endpoint*>(built.get());
  auto* const on_bus = dynamic_cast<memory::BusDevice*>(built.get());
  auto* const model = dynamic_cast<base::Model*>(built.get());
  by_author(config_, instance.path(), "cannot be built", [&] {
    if ((endpoint != nullptr) == place.slot.empty() || !model || (!endpoint && !on_bus))
      throw std::logic_error("it is not the kind of device that its factory says");
    if (endpoint) endpoint->check_registers();
  });
  nics_.push_back({instance.path(), place, std::move(built), &mac, model, endpoint,
                   nic_factory_of(instance).largest_frame(instance.model_values())});
  if (!endpoint) return connect_to_bus(instance, *on_bus, nullptr);
  connect(place.slot, endpoint->port());
  connect_to_bus(instance, *endpoint);
}

/// Starts the systems and tells the firmware of each what board it is on. Only the host's firmware is told of PCIe and
/// the workload.
void Board::start_systems() {
  for (auto& system : systems_) {
    DeviceTreeSource tree;
    if (system->plan().is_host()) {
      tree.iommu = iommu_ != nullptr;
      tree.chosen = workload_properties();
      tree.root = slots_.empty() ? nullptr : &root_->parameters();
      tree.functions = pcie_functions(config_);
    }
    system->start(tree);
  }
}

}  // namespace sluice::platform
