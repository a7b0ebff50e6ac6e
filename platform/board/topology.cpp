#include "platform/board/topology.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/memory/ram.h"
#include "models/pcie/root_complex.h"
#include "models/riscv/cluster.h"
#include "platform/board/host_map.h"
#include "platform/board/instances.h"

namespace sluice::platform {
namespace {

unsigned harts_of(const std::vector<const config::Instance*>& clusters) {
  unsigned harts = 0;
  for (const config::Instance* c : clusters) harts += c->parameters<riscv::ClusterParameters>().harts;
  return harts;
}

}  // namespace

std::vector<config::MemoryRegion> memory_map(const config::BoardConfig& config) {
  const auto clusters = config.of_kind("cluster");
  if (clusters.empty()) throw config::UserError(config.file() + ": a board needs a cluster");
  const bool aia = clusters.front()->parameters<riscv::ClusterParameters>().interrupts == riscv::Interrupts::aia;
  const config::Instance& map = config.the("map");
  auto regions =
      map.parameters<HostMap>().regions(aia, harts_of(clusters), config.parameters<IommuInstance>("iommu").enabled);
  for (config::MemoryRegion& r : regions) r.where = map.origin(r.name).where;
  for (const config::Instance* m : config.of_kind("memory")) {
    const auto& p = m->parameters<memory::Ram::Parameters>();
    regions.push_back({m->path(), p.base, p.size.count(), m->origin("base").where});
  }
  const config::Instance& root = config.the("root");
  const auto& p = root.parameters<pcie::RootComplex::Parameters>();
  regions.push_back({"root.ecam", p.ecam_base, p.ecam_size.count(), root.origin("ecam_base").where});
  regions.push_back({"root.mmio32", p.mmio32_base, p.mmio32_size.count(), root.origin("mmio32_base").where});
  regions.push_back({"root.mmio64", p.mmio64_base, p.mmio64_size.count(), root.origin("mmio64_base").where});
  config::check_memory_map(config.file(), regions);
  std::sort(regions.begin(), regions.end(), [](const auto& a, const auto& b) { return a.base < b.base; });
  return regions;
}

namespace {

/// Puts together what instances say of each other.
class TreeBuilder {
 public:
  explicit TreeBuilder(const config::BoardConfig& config) : config_(config) {
    for (const config::Instance* s : config.of_kind("pcie")) place(*s);
    for (const config::Instance* n : config.of_kind("nic")) insert(*n, n->parameters<DescriptorNicParameters>().slot);
    for (const config::Instance* a : config.of_kind("accel")) insert(*a, slot_of(*a));
    for (const config::Instance* s : config.of_kind("switch")) insert(*s, s->parameters<SwitchParameters>().slot);
  }

  std::vector<PortPlan> build() {
    auto tree = ports("", config_.parameters<pcie::RootComplex::Parameters>("root").root_ports);
    for (const auto& [place, slot] : slots_)
      if (reached_.count(slot) == 0)
        throw config_.error(*slot, "attach", "must lead to a root port; " + place.first + " hangs from none");
    return tree;
  }

 private:
  using Place = std::pair<std::string, unsigned>;  ///< switch, or nothing for the root complex; port

  void place(const config::Instance& slot) {
    const auto& p = slot.parameters<SlotParameters>();
    const config::Instance* above = config_.find(p.attach);
    const unsigned ports = above ? above->parameters<SwitchParameters>().plain.downstream_ports
                                 : config_.parameters<pcie::RootComplex::Parameters>("root").root_ports;
    if (p.port >= ports)
      throw config_.error(slot, "port",
                          fmt::format("must be less than {}, which is {}",
                                      above ? p.attach + ".downstream_ports" : "root.root_ports", ports));
    const auto [known, is_new] = slots_.try_emplace(Place{p.attach, p.port}, &slot);
    if (!is_new)
      throw config_.error(slot, "port",
                          fmt::format("must be a {} of its own; {} is at it", above ? "downstream port" : "root port",
                                      known->second->path()));
  }

  void insert(const config::Instance& device, const std::string& slot) {
    const auto [known, is_new] = devices_.try_emplace(slot, &device);
    if (!is_new)
      throw config_.error(device, "slot", "must be a slot of its own; " + known->second->path() + " is in it");
  }

  /// Each switch is in one slot, and each slot at one port: the descent ends.
  std::vector<PortPlan> ports(const std::string& owner, unsigned count) {
    std::vector<PortPlan> list(count);
    for (unsigned n = 0; n < count; ++n) {
      const auto slot = slots_.find({owner, n});
      if (slot == slots_.end()) continue;
      list[n].slot = slot->second;
      reached_.insert(slot->second);
      const auto device = devices_.find(slot->second->path());
      if (device == devices_.end()) continue;
      list[n].device = device->second;
      if (device->second->kind() == "switch")
        list[n].ports =
            ports(device->second->path(), device->second->parameters<SwitchParameters>().plain.downstream_ports);
    }
    return list;
  }

  const config::BoardConfig& config_;
  std::map<Place, const config::Instance*> slots_;
  std::map<std::string, const config::Instance*> devices_;  ///< by the path of their slot
  std::set<const config::Instance*> reached_;               ///< never walked
};

}  // namespace

std::vector<PortPlan> pcie_tree(const config::BoardConfig& config) { return TreeBuilder(config).build(); }

}  // namespace sluice::platform
