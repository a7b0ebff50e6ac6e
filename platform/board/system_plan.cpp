// SPDX-License-Identifier: Apache-2.0
#include "platform/board/system_plan.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "models/memory/ram.h"
#include "models/pcie/root/root_complex.h"
#include "models/riscv/cluster.h"
#include "platform/board/instances.h"
#include "platform/board/pcie_tree.h"

namespace sluice::platform {

void SystemParts::describe(base::Schema<SystemParts>& s) {
  s.summary("the parts that a system-on-chip has once");
  s.include("caches", &SystemParts::caches);
  s.include("bus", &SystemParts::bus);
  s.include("map", &SystemParts::map);
  s.include("plic", &SystemParts::plic);
  s.include("aplic", &SystemParts::aplic);
  s.include("imsic", &SystemParts::imsic);
  s.include("uart", &SystemParts::uart);
}

void SystemParameters::describe(base::Schema<SystemParameters>& s) {
  s.summary("a system-on-chip beside the host: harts, memory, caches, bus and interrupt controllers of its own");
  s.add("clusters", &SystemParameters::clusters, "clusters whose harts are its").refers_to("cluster").setting();
  s.add("memories", &SystemParameters::memories, "memories that its harts share").refers_to("memory").setting();
  s.include("", &SystemParameters::parts);
}

namespace {

const riscv::ClusterParameters& parameters_of(const config::Instance& cluster) {
  return cluster.parameters<riscv::ClusterParameters>();
}

/// Removes the instances that a system names from `unclaimed` and returns them.
std::vector<const config::Instance*> claim(const config::BoardConfig& config, const config::Instance& system,
                                           std::string_view key, const std::vector<std::string>& names,
                                           std::vector<const config::Instance*>& unclaimed) {
  std::vector<const config::Instance*> claimed;
  for (const std::string& name : names) {
    const auto found = std::find(unclaimed.begin(), unclaimed.end(), config.find(name));
    if (found == unclaimed.end())
      throw config.error(system, key, fmt::format("may have {} only once, of all systems", name));
    claimed.push_back(*found);
    unclaimed.erase(found);
  }
  if (claimed.empty()) throw config.error(system, key, "must name at least one");
  return claimed;
}

std::vector<const config::Instance*> devices_on(const config::BoardConfig& config, const std::string& system) {
  std::vector<const config::Instance*> devices = bus_devices(config);
  std::erase_if(devices, [&](const config::Instance* d) { return bus_place_of(config, *d).soc != system; });
  return devices;
}

SystemPlan host_of(const config::BoardConfig& config) {
  SystemPlan host{&config, nullptr, {}, config.of_kind("cluster"), config.of_kind("memory"), devices_on(config, "")};
  host.parts = {config.parameters<coherence::MemorySystem::Parameters>("caches"),
                config.parameters<memory::SocBus::Parameters>("bus"),
                config.parameters<HostMap>("map"),
                config.parameters<irq::Plic::Parameters>("plic"),
                config.parameters<irq::Aplic::Parameters>("aplic"),
                config.parameters<irq::Imsic::Parameters>("imsic"),
                config.parameters<UartParameters>("uart").uart};
  return host;
}

void check_clusters(const SystemPlan& system) {
  const config::Instance& first = *system.clusters.front();
  for (const config::Instance* c : system.clusters)
    if (parameters_of(*c).interrupts != parameters_of(first).interrupts)
      throw clash(*system.config, *c, first, "interrupts",
                  system.is_host() ? "must be the same for every cluster of a board, {} too"
                                   : "must be the same for every cluster of a system, {} too");
}

config::Location set_at(const config::Instance& i, std::string_view base, std::string_view size) {
  return i.origin(config::BoardConfig::is_later(i, size, i, base) ? size : base).where;
}

/// Where the value of a device's key was set; nowhere for a key that its model does not have.
config::Location where_set(const config::Instance& device, const std::string& key) {
  const config::Origin* origin = device.find_origin(key);
  return origin ? origin->where : config::Location{};
}

}  // namespace

std::string SystemPlan::part(std::string_view name) const {
  return instance ? fmt::format("{}.{}", instance->path(), name) : std::string(name);
}

const config::Origin& SystemPlan::origin(std::string_view part, std::string_view key) const {
  return instance ? instance->origin(fmt::format("{}.{}", part, key)) : config->the(part).origin(key);
}

config::UserError SystemPlan::error(std::string_view part, std::string_view key, const std::string& what) const {
  return instance ? config->error(*instance, fmt::format("{}.{}", part, key), what)
                  : config->error(config->the(part), key, what);
}

unsigned SystemPlan::harts() const {
  unsigned harts = 0;
  for (const config::Instance* c : clusters) harts += parameters_of(*c).harts;
  return harts;
}

bool SystemPlan::aia() const { return parameters_of(*clusters.front()).interrupts == riscv::Interrupts::aia; }

std::vector<SystemPlan> systems_of(const config::BoardConfig& config) {
  std::vector<SystemPlan> systems = {host_of(config)};
  if (systems.front().clusters.empty()) throw config::UserError(config.file() + ": a board needs a cluster");
  std::vector<SystemPlan> others;
  for (const config::Instance* s : config.of_kind("soc")) {
    const auto& p = s->parameters<SystemParameters>();
    SystemPlan& host = systems.front();
    others.push_back({&config, s, p.parts, claim(config, *s, "clusters", p.clusters, host.clusters),
                      claim(config, *s, "memories", p.memories, host.memories), devices_on(config, s->path())});
    if (s->origin("map.iommu").layer > 0) throw config.error(*s, "map.iommu", "cannot be set: the IOMMU is the host's");
    if (host.clusters.empty())
      throw config.error(*s, "clusters", "leaves no cluster to the host, whose are those that no soc names");
  }
  systems.insert(systems.end(), others.begin(), others.end());
  for (const SystemPlan& s : systems) check_clusters(s);
  return systems;
}

std::vector<config::MemoryRegion> memory_map(const SystemPlan& system) {
  const config::BoardConfig& config = *system.config;
  const bool iommu = system.is_host() && config.parameters<IommuInstance>("iommu").enabled;
  auto regions = system.parts.map.regions(system.aia(), system.harts(), iommu);
  for (config::MemoryRegion& r : regions) {
    r.where = system.origin("map", r.name).where;
    r.name = system.part(r.name);
  }
  for (const config::Instance* m : system.memories) {
    const auto& p = m->parameters<memory::Ram::Parameters>();
    regions.push_back({m->path(), p.base, p.size.count(), set_at(*m, "base", "size")});
  }
  for (const config::Instance* d : system.devices) {
    const memory::BusPlace place = bus_place_of(config, *d);
    const BusExtent extent = bus_extent_of(config, *d);
    regions.push_back({d->path(), place.address, extent.size, where_set(*d, place.keys + "address")});
    if (extent.lines_size != 0)
      regions.push_back({d->path() + ".lines", place.lines, extent.lines_size, where_set(*d, place.keys + "lines")});
  }
  if (system.is_host()) {
    const config::Instance& root = config.the("root");
    const auto& p = root.parameters<pcie::RootComplex::Parameters>();
    const auto window = [&](const char* name, std::uint64_t base, base::Bytes size) {
      const std::string key = name;
      regions.push_back({"root." + key, base, size.count(), set_at(root, key + "_base", key + "_size")});
    };
    window("ecam", p.ecam_base, p.ecam_size);
    window("mmio32", p.mmio32_base, p.mmio32_size);
    window("mmio64", p.mmio64_base, p.mmio64_size);
  }
  config::check_memory_map(config.file(), regions);
  std::sort(regions.begin(), regions.end(), [](const auto& a, const auto& b) { return a.base < b.base; });
  return regions;
}

namespace {

/// The interrupt sources that the UART and PCIe take. The sources of devices come from their parameters.
std::map<unsigned, std::string> own_sources(const SystemPlan& system) {
  std::map<unsigned, std::string> taken = {{HostMap::kUartSource, "the UART"}};
  if (!system.is_host() || system.config->of_kind("pcie").empty()) return taken;
  for (unsigned i = 0; i < 4; ++i) taken[HostMap::kPcieSource + i] = "PCIe";
  return taken;
}

void check_device_sources(const SystemPlan& system, unsigned sources, std::map<unsigned, std::string> taken) {
  for (const config::Instance* d : system.devices) {
    const memory::BusPlace place = bus_place_of(*system.config, *d);
    const std::string key = place.keys + "interrupts";
    for (const unsigned source : place.interrupts) {
      if (source > sources)
        throw system.config->error(
            *d, key,
            fmt::format("must be at most {}: {}.sources", sources, system.part(system.aia() ? "aplic" : "plic")));
      const auto [other, is_free] = taken.try_emplace(source, d->path());
      if (!is_free)
        throw system.config->error(*d, key,
                                   fmt::format("must be sources of its own: {} is {}'s", source, other->second));
    }
  }
}

}  // namespace

void check_interrupt_sources(const SystemPlan& system) {
  const std::map<unsigned, std::string> own = own_sources(system);
  const unsigned least = own.rbegin()->first;
  const unsigned sources = system.aia() ? system.parts.aplic.sources : system.parts.plic.sources;
  check_device_sources(system, sources, own);
  if (sources >= least) return;
  std::string wired = fmt::format("the UART is source {}", HostMap::kUartSource);
  if (least != HostMap::kUartSource)
    wired += fmt::format(" and PCIe's INTA to INTD are {} to {}", HostMap::kPcieSource, least);
  throw system.error(system.aia() ? "aplic" : "plic", "sources", fmt::format("must be at least {}: {}", least, wired));
}

namespace {

/// A window dispatches whole groups, which must fit into each of its parts.
void check_widths(const SystemPlan& system, const config::Instance& cluster) {
  const riscv::ClusterParameters& p = parameters_of(cluster);
  const std::pair<const char*, unsigned> sizes[] = {{"core.fetch_width", p.core.fetch_width},
                                                    {"core.fetch_queue", p.core.fetch_queue},
                                                    {"core.reorder_buffer", p.core.reorder_buffer}};
  for (const auto& [key, size] : sizes) {
    if (size >= p.issue_width) continue;
    if (config::BoardConfig::is_later(cluster, "issue_width", cluster, key))
      throw system.config->error(cluster, "issue_width", fmt::format("must be at most {}, which is {}", key, size));
    throw system.config->error(cluster, key, fmt::format("must be at least issue_width, which is {}", p.issue_width));
  }
}

}  // namespace

bool is_read_by(coherence::MemorySystem::Timing timing, std::string_view key) {
  using Timing = coherence::MemorySystem::Timing;
  return timing == Timing::interval || !key.starts_with("core.") ||
         (timing == Timing::cached && key == "core.prefetch_hints");
}

void check_cores(const SystemPlan& system) {
  using Timing = coherence::MemorySystem::Timing;
  const config::BoardConfig& config = *system.config;
  const Timing timing = system.parts.caches.timing;
  const std::string caches = system.part("caches");
  for (const config::Instance* cluster : system.clusters) {
    if (timing == Timing::interval) {
      for (const char* cost : riscv::InstructionCosts::kWithoutWindow)
        if (const std::string key = std::string("costs.") + cost; config.is_override(*cluster, key))
          throw config.without_effect(
              *cluster, key,
              fmt::format("with {}.timing = \"interval\", {}.core.* says how long such instructions take", caches,
                          cluster->path()));
      check_widths(system, *cluster);
      continue;
    }
    for (const auto& parameter : cluster->schema().parameters()) {
      const std::string& key = parameter->key();
      if (!is_read_by(timing, key) && config.is_override(*cluster, key))
        throw config.without_effect(
            *cluster, key,
            fmt::format("only {}.timing = \"interval\" describes the core by {}.core.*", caches, cluster->path()));
    }
  }
}

}  // namespace sluice::platform
