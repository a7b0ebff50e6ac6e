// SPDX-License-Identifier: Apache-2.0
#include "platform/board/system_on_chip.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/base/measure/mistakes.h"

namespace sluice::platform {
namespace {

/// A region of an interrupt controller that takes messages.
memory::SocBus::Region message_target(std::string name, std::uint64_t base, std::uint64_t size) {
  memory::SocBus::Region region{std::move(name), base, size, true, false};
  region.interrupts = true;
  return region;
}

constexpr unsigned kMsip = 3, kMtip = 7, kSeip = 9, kMeip = 11;

}  // namespace

SystemOnChip::SystemOnChip(SystemPlan plan, base::RunnerGroup& group)
    : plan_(std::move(plan)), group_(group), harts_(plan_.harts()) {
  build_memory();
  build_clusters();
  finisher_ = std::make_unique<irq::Finisher>(module_of("finisher").c_str());
  uart_ = std::make_unique<uart::Uart>(module_of("uart").c_str(), plan_.parts.uart);
  build_interrupts();
}

SystemOnChip::~SystemOnChip() = default;

std::string SystemOnChip::module_of(std::string_view part) const { return base::module_name(plan_.part(part)); }

void SystemOnChip::build_memory() {
  base::Time behind = harts_ > 1 ? group_.quantum() : base::Time{};
  // With an instruction window, fetch asks for a line up to a queue before the hart's own time.
  base::Time fetch;
  if (plan_.parts.caches.timing == coherence::MemorySystem::Timing::interval)
    for (const config::Instance* c : plan_.clusters) {
      const auto& p = c->parameters<riscv::ClusterParameters>();
      fetch = std::max(fetch, base::Clock(p.clock.hertz()).time_of(p.core.shape(p.issue_width).fetch_lead() + 1));
    }
  memory_ = std::make_unique<coherence::MemorySystem>(module_of("caches").c_str(), plan_.parts.caches, harts_,
                                                      behind + fetch);
  bus_ = std::make_unique<memory::SocBus>(module_of("bus").c_str(), plan_.parts.bus);
  for (const config::Instance* m : plan_.memories) {
    const auto& p = m->parameters<memory::Ram::Parameters>();
    try {
      rams_.push_back(std::make_unique<memory::Ram>(base::module_name(m->path()).c_str(), p));
    } catch (const std::runtime_error& e) {
      throw config::MachineError(plan_.config->error(*m, "size", e.what()).what());
    }
    memory_->add(rams_.back()->bytes());
    bus_->map({m->path(), p.base, p.size.count(), true, false}, rams_.back()->socket);
  }
}

std::vector<base::GuestRam*> SystemOnChip::guest_rams() const {
  std::vector<base::GuestRam*> all;
  for (const auto& r : rams_) all.push_back(&r->bytes());
  return all;
}

void SystemOnChip::build_clusters() {
  unsigned hart = 0;
  for (const config::Instance* c : plan_.clusters) {
    clusters_.push_back(make_cluster(*c, hart));
    Cluster& cluster = *clusters_.back();
    for (unsigned i = 0; i < cluster.parameters->harts; ++i, ++hart) {
      const std::string path = fmt::format("{}.hart{}", c->path(), i);
      cluster.cores.push_back(std::make_unique<riscv::Core>(base::module_name(path).c_str(), *cluster.parameters, hart,
                                                            cluster.firmware.entry(), group_, *memory_, hart));
      riscv::Core& core = *cluster.cores.back();
      core.socket.bind(bus_->from_initiators);
      core.on_posts = [this](std::uint64_t address) { return bus_->posts(address); };
      core.on_name_place = [this](std::uint64_t address) {
        const std::string home = memory_->home_at(address);
        return home.empty() ? bus_->name_at(address) : home;
      };
    }
  }
}

riscv::Core& SystemOnChip::core(unsigned hart) {
  for (auto& c : clusters_)
    if (hart - c->first_hart < c->cores.size()) return *c->cores[hart - c->first_hart];
  throw std::logic_error("no such hart");
}

void SystemOnChip::connect(base::InterruptLine& line, unsigned hart, unsigned bit) {
  line.on_change = [c = &core(hart), bit](bool level) { c->set_interrupt(bit, level); };
}

void SystemOnChip::connect(base::Line& line, unsigned hart, unsigned bit) {
  line.on_change = [c = &core(hart), bit](bool level) { c->set_local_interrupt(bit, level); };
}

void SystemOnChip::build_interrupts() {
  const HostMap& map = plan_.parts.map;
  clint_ = std::make_unique<irq::Clint>(module_of("clint").c_str(),
                                        irq::Clint::Parameters{clusters_.front()->parameters->timebase}, harts_);
  bus_->map({plan_.part("clint"), map.clint, HostMap::kClintSize, true, false}, clint_->socket);
  bus_->map({plan_.part("finisher"), map.finisher, HostMap::kFinisherSize, true, false}, finisher_->socket);
  bus_->map({plan_.part("uart"), map.uart, HostMap::kUartSize, true, false}, uart_->socket);
  uart_->interrupt.on_change = [this](bool level) { set_source(HostMap::kUartSource, level); };
  for (unsigned h = 0; h < harts_; ++h) {
    connect(clint_->software(h), h, kMsip);
    connect(clint_->timer(h), h, kMtip);
  }
  if (plan_.aia()) return build_message_interrupts();
  plic_ = std::make_unique<irq::Plic>(module_of("plic").c_str(), plan_.parts.plic, harts_);
  bus_->map({plan_.part("plic"), map.plic, HostMap::kPlicSize, true, false}, plic_->socket);
  for (unsigned h = 0; h < harts_; ++h) {
    connect(plic_->machine(h), h, kMeip);
    connect(plic_->supervisor(h), h, kSeip);
  }
}

void SystemOnChip::build_message_interrupts() {
  const HostMap& map = plan_.parts.map;
  imsic_ = std::make_unique<irq::Imsic>(module_of("imsic").c_str(), plan_.parts.imsic, harts_);
  aplic_ = std::make_unique<irq::Aplic>(module_of("aplic").c_str(), plan_.parts.aplic,
                                        irq::Aplic::Map{map.imsic_m, map.imsic_s, harts_});
  bus_->map(message_target(plan_.part("aplic_m"), map.aplic_m, HostMap::kAplicSize), aplic_->machine_socket);
  bus_->map(message_target(plan_.part("aplic_s"), map.aplic_s, HostMap::kAplicSize), aplic_->supervisor_socket);
  bus_->map(message_target(plan_.part("imsic_m"), map.imsic_m, imsic_->region_size()), imsic_->machine_socket);
  bus_->map(message_target(plan_.part("imsic_s"), map.imsic_s, imsic_->region_size()), imsic_->supervisor_socket);
  aplic_->send_msi = [this](std::uint64_t address, std::uint32_t data) {
    const std::uint64_t reports = base::mistakes().reports();
    if (!bus_->write_now(address, &data, 4) && base::mistakes().reports() == reports)
      base::mistakes().report(
          fmt::format("{}: interrupt message to {:#x}: no interrupt controller is there", aplic_->path(), address));
  };
  for (unsigned h = 0; h < harts_; ++h) {
    for (const auto level : {irq::Imsic::kMachine, irq::Imsic::kSupervisor}) {
      irq::ImsicFile& file = imsic_->file(h, level);
      core(h).attach(level, file);
      connect(file.line, h, level == irq::Imsic::kMachine ? kMeip : kSeip);
    }
  }
}

std::vector<base::Model*> SystemOnChip::models() {
  std::vector<base::Model*> all = {memory_.get()};
  for (auto& c : clusters_)
    for (auto& core : c->cores) all.push_back(core.get());
  for (base::Model* m : {static_cast<base::Model*>(finisher_.get()), static_cast<base::Model*>(uart_.get()),
                         static_cast<base::Model*>(clint_.get()), static_cast<base::Model*>(plic_.get()),
                         static_cast<base::Model*>(imsic_.get()), static_cast<base::Model*>(aplic_.get())})
    if (m) all.push_back(m);
  return all;
}

void SystemOnChip::set_source(unsigned number, bool level) {
  if (plic_)
    plic_->set_source(number, level);
  else
    aplic_->set_source(number, level);
}

/// Writes an interrupt message, or whatever else a device writes outside RAM.
bool SystemOnChip::write(std::uint64_t address, const void* data, unsigned size) {
  return bus_->write_now(address, data, size);
}

std::string SystemOnChip::name_at(std::uint64_t address) const { return bus_->name_at(address); }

bool SystemOnChip::takes_interrupts(std::uint64_t address) const { return bus_->takes_interrupts(address); }

void SystemOnChip::add_harts(std::vector<base::Resettable*>& all, const LoadedProgram* loaded) {
  for (auto& c : clusters_) {
    for (auto& core : c->cores) {
      core->set_reset_pc(loaded && loaded->cluster == c.get() ? loaded->entry : c->firmware.entry());
      all.push_back(core.get());
    }
  }
}

void SystemOnChip::add_parts(std::vector<base::Resettable*>& all) {
  all.push_back(uart_.get());
  all.push_back(finisher_.get());
  if (plic_) all.push_back(plic_.get());
  if (aplic_) all.push_back(aplic_.get());
  if (imsic_) all.push_back(imsic_.get());
  all.push_back(clint_.get());
  all.push_back(memory_.get());
}

}  // namespace sluice::platform
