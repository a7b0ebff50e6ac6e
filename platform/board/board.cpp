#include "platform/board/board.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/base/files/input_file.h"
#include "models/base/measure/mistakes.h"
#include "platform/board/topology.h"

namespace sluice::platform {
namespace {

/// A region of an interrupt controller that takes messages.
memory::SocBus::Region message_target(const char* name, std::uint64_t base, std::uint64_t size) {
  memory::SocBus::Region region{name, base, size, true, false};
  region.interrupts = true;
  return region;
}

/// A region of the root complex, whose accesses wait for what lies behind it.
memory::SocBus::Region pcie_window(const char* name, std::uint64_t base, const base::Bytes& size) {
  memory::SocBus::Region region{name, base, size.count(), true, true};
  region.waits = true;
  return region;
}

constexpr unsigned kMsip = 3, kMtip = 7, kSeip = 9, kMeip = 11;

unsigned harts_of(const config::BoardConfig& config) {
  unsigned harts = 0;
  for (const config::Instance* c : config.of_kind("cluster")) harts += c->parameters<riscv::ClusterParameters>().harts;
  return harts;
}

bool aia_of(const config::BoardConfig& config) {
  return config.of_kind("cluster").front()->parameters<riscv::ClusterParameters>().interrupts == riscv::Interrupts::aia;
}

std::string module_of(const config::Instance& i) { return base::module_name(i.path()); }

}  // namespace

Board::Board(const config::BoardConfig& config, Traffic traffic)
    : config_(config), run_(config.parameters<RunParameters>("run")), map_(config.parameters<HostMap>("map")) {
  memory_map(config);
  check_interrupt_sources(config);
  harts_ = harts_of(config);
  base::set_time_resolution();
  build_memory();
  build_clusters();
  finisher_ = std::make_unique<irq::Finisher>("finisher");
  uart_ = std::make_unique<uart::Uart>("uart", config.parameters<UartParameters>("uart").uart);
  build_interrupts();
  build_pcie();
  build_devices();
  build_network();
  check_pcie_space(config, [this](const std::string& path) { return endpoint(path); });
  build_workload(traffic);
  load_firmware();
  if (!config.of_kind("fault").empty()) faults_ = std::make_unique<Faults>(*this);
}

Board::~Board() = default;

/// Harts see each other's stores late by up to a quantum, so it must not exceed what a real line takes between them.
base::Time Board::choose_quantum() const {
  constexpr base::Time kLoneHart = 10_us;
  const base::Time core_to_core = config_.parameters<coherence::MemorySystem::Parameters>("caches").snoop_latency;
  base::Time quantum = base::Time::max();
  for (const config::Instance* c : config_.of_kind("cluster")) {
    const base::Time asked = c->parameters<riscv::ClusterParameters>().quantum;
    if (asked == base::Time{}) continue;
    if (harts_ > 1 && asked > core_to_core)
      throw config_.error(*c, "quantum",
                          fmt::format("must be at most caches.snoop_latency, {}, on a board with several harts",
                                      base::to_text(core_to_core)));
    quantum = std::min(quantum, asked);
  }
  if (quantum != base::Time::max()) return quantum;
  return harts_ > 1 ? core_to_core : kLoneHart;
}

void Board::build_memory() {
  const base::Time quantum = choose_quantum();
  scheduler_ = std::make_unique<base::Scheduler>("scheduler", quantum);
  if (harts_ > 1) base::ledger().tolerate(quantum);
  memory_ = std::make_unique<coherence::MemorySystem>("caches",
                                                      config_.parameters<coherence::MemorySystem::Parameters>("caches"),
                                                      harts_, harts_ > 1 ? quantum : base::Time{});
  bus_ = std::make_unique<memory::SocBus>("bus", config_.parameters<memory::SocBus::Parameters>("bus"));
  for (const config::Instance* m : config_.of_kind("memory")) {
    const auto& p = m->parameters<memory::Ram::Parameters>();
    try {
      rams_.push_back(std::make_unique<memory::Ram>(module_of(*m).c_str(), p));
    } catch (const std::runtime_error& e) {
      throw config_.error(*m, "size", e.what());
    }
    memory_->add(rams_.back()->bytes());
    bus_->map({m->path(), p.base, p.size.count(), true, false}, rams_.back()->socket);
  }
}

void Board::build_clusters() {
  unsigned hart = 0;
  for (const config::Instance* c : config_.of_kind("cluster")) {
    const auto& p = c->parameters<riscv::ClusterParameters>();
    if (p.interrupts != (aia_of(config_) ? riscv::Interrupts::aia : riscv::Interrupts::plic))
      throw clash(config_, *c, *config_.of_kind("cluster").front(), "interrupts",
                  "must be the same for every cluster of a board, {} too");
    clusters_.push_back(make_cluster(*c, hart));
    for (unsigned i = 0; i < p.harts; ++i, ++hart) {
      const std::string path = fmt::format("{}.hart{}", c->path(), i);
      clusters_.back().cores.push_back(std::make_unique<riscv::Core>(
          base::module_name(path).c_str(), p, hart, clusters_.back().firmware.entry(), *scheduler_, *memory_, hart));
      riscv::Core& core = *clusters_.back().cores.back();
      core.socket.bind(bus_->from_initiators);
      core.on_name_place = [this](std::uint64_t address) { return bus_->name_at(address); };
    }
  }
}

riscv::Core& Board::core(unsigned hart) {
  for (Cluster& c : clusters_)
    if (hart - c.first_hart < c.cores.size()) return *c.cores[hart - c.first_hart];
  throw std::logic_error("no such hart");
}

void Board::build_interrupts() {
  clint_ =
      std::make_unique<irq::Clint>("clint", irq::Clint::Parameters{clusters_.front().parameters->timebase}, harts_);
  bus_->map({"clint", map_.clint, HostMap::kClintSize, true, false}, clint_->socket);
  bus_->map({"finisher", map_.finisher, HostMap::kFinisherSize, true, false}, finisher_->socket);
  bus_->map({"uart", map_.uart, HostMap::kUartSize, true, false}, uart_->socket);
  uart_->interrupt.on_change = [this](bool level) { set_source(HostMap::kUartSource, level); };
  const auto connect = [this](base::Line& line, unsigned hart, unsigned bit) {
    line.on_change = [c = &core(hart), bit](bool level) { c->set_interrupt(bit, level); };
  };
  for (unsigned h = 0; h < harts_; ++h) {
    connect(clint_->software(h), h, kMsip);
    connect(clint_->timer(h), h, kMtip);
  }
  if (!aia()) {
    plic_ = std::make_unique<irq::Plic>("plic", config_.parameters<irq::Plic::Parameters>("plic"), harts_);
    bus_->map({"plic", map_.plic, HostMap::kPlicSize, true, false}, plic_->socket);
    for (unsigned h = 0; h < harts_; ++h) {
      connect(plic_->machine(h), h, kMeip);
      connect(plic_->supervisor(h), h, kSeip);
    }
    return;
  }
  imsic_ = std::make_unique<irq::Imsic>("imsic", config_.parameters<irq::Imsic::Parameters>("imsic"), harts_);
  aplic_ = std::make_unique<irq::Aplic>("aplic", config_.parameters<irq::Aplic::Parameters>("aplic"),
                                        irq::Aplic::Map{map_.imsic_m, map_.imsic_s, harts_});
  bus_->map(message_target("aplic_m", map_.aplic_m, HostMap::kAplicSize), aplic_->machine_socket);
  bus_->map(message_target("aplic_s", map_.aplic_s, HostMap::kAplicSize), aplic_->supervisor_socket);
  bus_->map(message_target("imsic_m", map_.imsic_m, imsic_->region_size()), imsic_->machine_socket);
  bus_->map(message_target("imsic_s", map_.imsic_s, imsic_->region_size()), imsic_->supervisor_socket);
  aplic_->send_msi = [this](std::uint64_t address, std::uint32_t data) {
    const std::uint64_t reports = base::mistakes().reports();
    if (!bus_->write_now(address, &data, 4) && base::mistakes().reports() == reports)
      base::mistakes().report(
          fmt::format("aplic: interrupt message to {:#x}: no interrupt controller is there", address));
  };
  for (unsigned h = 0; h < harts_; ++h) {
    for (const auto level : {irq::Imsic::kMachine, irq::Imsic::kSupervisor}) {
      irq::ImsicFile& file = imsic_->file(h, level);
      core(h).attach(level, file);
      connect(file.line, h, level == irq::Imsic::kMachine ? kMeip : kSeip);
    }
  }
}

void Board::set_source(unsigned number, bool level) {
  if (plic_)
    plic_->set_source(number, level);
  else
    aplic_->set_source(number, level);
}

/// Interrupt messages, and whatever else a device writes outside RAM.
bool Board::write(std::uint64_t address, const void* data, unsigned size) {
  return bus_->write_now(address, data, size);
}

std::string Board::name_at(std::uint64_t address) const { return bus_->name_at(address); }

bool Board::takes_interrupts(std::uint64_t address) const { return bus_->takes_interrupts(address); }

void Board::build_pcie() {
  const auto& p = config_.parameters<pcie::RootComplex::Parameters>("root");
  root_ = std::make_unique<pcie::RootComplex>("root", p, *memory_);
  root_->set_soc_writer(this);
  bus_->map(pcie_window("root.ecam", p.ecam_base, p.ecam_size), root_->socket);
  bus_->map_also(pcie_window("root.mmio32", p.mmio32_base, p.mmio32_size));
  bus_->map_also(pcie_window("root.mmio64", p.mmio64_base, p.mmio64_size));
  if (const auto& i = config_.parameters<IommuInstance>("iommu"); i.enabled) {
    iommu_ = std::make_unique<pcie::Iommu>("iommu", i.iommu, *memory_);
    bus_->map({"iommu", map_.iommu, HostMap::kIommuSize, true, false}, iommu_->socket);
    root_->set_translator(iommu_.get());
  }
  for (unsigned i = 0; i < 4; ++i)
    root_->intx[i].on_change = [this, i](bool level) { set_source(HostMap::kPcieSource + i, level); };
  pcie_tree(config_);
  for (const config::Instance* s : config_.of_kind("pcie"))
    slots_.push_back(
        {s->path(), std::make_unique<pcie::Link>(module_of(*s).c_str(), s->parameters<SlotParameters>().link)});
  for (const config::Instance* s : config_.of_kind("switch"))
    switches_.push_back(
        {s->path(), std::make_unique<pcie::Switch>(module_of(*s).c_str(), s->parameters<SwitchParameters>().plain)});
  for (SwitchInstance& s : switches_) {
    connect(config_.parameters<SwitchParameters>(s.path).slot, s.plain->upstream_port());
    groups_.push_back(std::make_unique<base::StatisticsGroup>(s.path, &base::statistics()));
    s.plain->register_statistics(*groups_.back());
  }
}

/// The slot's link between the port above it and the device in it.
void Board::connect(const std::string& path, pcie::Port& device) {
  const auto& p = config_.parameters<SlotParameters>(path);
  const auto above =
      std::find_if(switches_.begin(), switches_.end(), [&](const SwitchInstance& s) { return s.path == p.attach; });
  slot(path).link->connect(above == switches_.end() ? root_->root_port(p.port) : above->plain->downstream_port(p.port),
                           device);
}

SlotInstance& Board::slot(const std::string& path) {
  return *std::find_if(slots_.begin(), slots_.end(), [&](const SlotInstance& s) { return s.path == path; });
}

/// A model may open what its parameters name when it likes, and say what it likes when it cannot.
void Board::check_files(const config::Instance& device) const {
  for (const auto& p : device.schema().parameters()) {
    const std::string path = p->names_file() ? p->text(device.model_values()) : "";
    if (path.empty()) continue;
    try {
      base::open_input_file(path);
    } catch (const std::runtime_error& e) {
      throw config_.error(device, p->key(), std::string("must name a file that can be read: ") + e.what());
    }
  }
}

/// What build() makes. What a device's constructor does not accept is its author's mistake, who is the user where it is
/// a plug-in's.
template <class F>
auto Board::built_by_author(const config::Instance& device, const F& build) const {
  check_files(device);
  try {
    decltype(build(module_of(device), base::RandomSeed{})) built;
    base::name_what_is_thrown(device.path(), [&] {
      built = build(module_of(device), base::RandomSeed{run_.seed, run_.replication});
      built->check_registers();
    });
    return built;
  } catch (const base::ComponentError& e) {
    throw config::UserError(fmt::format("{}: {} cannot be built: {}", config_.file(), device.path(), e.what()));
  }
}

void Board::register_device_statistics(const std::string& path, pcie::Endpoint& device) {
  groups_.push_back(std::make_unique<base::StatisticsGroup>(path, &base::statistics()));
  try {
    base::name_what_is_thrown(path, [&] { device.register_statistics(*groups_.back()); });
  } catch (const base::ComponentError& e) {
    throw config::UserError(fmt::format("{}: {} cannot register its statistics: {}", config_.file(), path, e.what()));
  }
}

const pcie::Endpoint* Board::endpoint(const std::string& path) const {
  for (const DeviceInstance& d : devices_)
    if (d.path == path) return d.endpoint.get();
  for (const NicInstance& n : nics_)
    if (n.path == path) return n.nic.get();
  return nullptr;
}

void Board::build_devices() {
  for (const config::Instance* a : config_.of_kind("accel")) {
    marks_.push_back(std::make_unique<ElaborationMark>(("before__" + module_of(*a)).c_str(), a->path()));
    devices_.push_back(
        {a->path(), slot_of(*a), built_by_author(*a, [a](const std::string& name, base::RandomSeed seed) {
           return factory_of(*a).build(name.c_str(), a->model_values(), seed);
         })});
    pcie::Endpoint& device = *devices_.back().endpoint;
    connect(slot_of(*a), device.port());
    register_device_statistics(a->path(), device);
  }
  marks_.push_back(std::make_unique<ElaborationMark>("after__devices", ""));
}

net::Wire& Board::wire(const config::Instance& user, const std::string& path) {
  const auto found = std::find_if(wires_.begin(), wires_.end(), [&](const WireInstance& w) { return w.path == path; });
  if (found == wires_.end()) throw config_.error(user, "wire", "must name an Ethernet link of the board");
  return *found->wire;
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
  for (WireInstance& w : wires_) {
    groups_.push_back(std::make_unique<base::StatisticsGroup>(w.path, &base::statistics()));
    w.wire->register_statistics(*groups_.back());
  }
  for (SlotInstance& s : slots_) {
    groups_.push_back(std::make_unique<base::StatisticsGroup>(s.path, &base::statistics()));
    s.link->register_statistics(*groups_.back());
  }
  groups_.push_back(std::make_unique<base::StatisticsGroup>("bus", &base::statistics()));
  bus_->register_statistics(*groups_.back());
  groups_.push_back(std::make_unique<base::StatisticsGroup>("root", &base::statistics()));
  root_->register_statistics(*groups_.back());
  groups_.push_back(std::make_unique<base::StatisticsGroup>("reset", &base::statistics()));
  groups_.back()->counter("resets", "resets", "of the board, by its firmware or a debugger", resets_);
}

void Board::build_nic(const config::Instance& instance) {
  const nic::NicPlace place = place_of(instance);
  for (const config::Instance* other : config_.of_kind("nic"))
    if (other != &instance && place_of(*other).wire == place.wire)
      throw clash(config_, instance, *other, "wire", "must be a link of its own; {} is at it too");
  net::Wire& link = wire(instance, place.wire);
  marks_.push_back(std::make_unique<ElaborationMark>(("before__" + module_of(instance)).c_str(), instance.path()));
  nics_.push_back(
      {instance.path(), place, built_by_author(instance, [&](const std::string& name, base::RandomSeed seed) {
         return nic_factory_of(instance).build(name.c_str(), instance.model_values(), seed, link, net::Wire::kB);
       })});
  nic::Nic& nic = *nics_.back().nic;
  connect(place.slot, nic.port());
  register_device_statistics(instance.path(), nic);
  groups_.push_back(std::make_unique<base::StatisticsGroup>(instance.path() + ".pcie", &base::statistics()));
  nic.pcie::Endpoint::register_statistics(*groups_.back());
  groups_.push_back(std::make_unique<base::StatisticsGroup>(instance.path() + ".mac", &base::statistics()));
  nic.mac().register_statistics(*groups_.back());
}

void Board::reset(const LoadedProgram* loaded) {
  ++resets_;
  std::vector<base::Resettable*> all;
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    Cluster& c = clusters_[i];
    for (auto& core : c.cores) {
      core->set_reset_pc(loaded && loaded->cluster == i ? loaded->entry : c.firmware.entry());
      all.push_back(core.get());
    }
  }
  // From the sources of interrupts to their controllers.
  for (SlotInstance& s : slots_) {
    s.link->hold_down(true);
    s.link->hold_down(false);
  }
  all.push_back(root_.get());
  if (iommu_) all.push_back(iommu_.get());
  all.push_back(uart_.get());
  all.push_back(finisher_.get());
  if (plic_) all.push_back(plic_.get());
  if (aplic_) all.push_back(aplic_.get());
  if (imsic_) all.push_back(imsic_.get());
  all.push_back(clint_.get());
  all.push_back(memory_.get());
  for (base::Resettable* r : all) r->reset();
  reload(loaded);
}

}  // namespace sluice::platform
