#include "platform/board/topology.h"

#include <algorithm>

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
  auto regions = map.parameters<HostMap>().regions(aia, harts_of(clusters));
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

std::vector<RootPortPlan> pcie_tree(const config::BoardConfig& config) {
  const unsigned ports = config.parameters<pcie::RootComplex::Parameters>("root").root_ports;
  std::vector<RootPortPlan> tree(ports);
  for (const config::Instance* s : config.of_kind("pcie")) {
    const unsigned port = s->parameters<SlotParameters>().port;
    if (port >= ports)
      throw config.error(*s, "port", fmt::format("must be less than root.root_ports, which is {}", ports));
    if (tree[port].slot)
      throw config.error(*s, "port", "must be a root port of its own; " + tree[port].slot->path() + " is at it");
    tree[port].slot = s;
  }
  for (const config::Instance* n : config.of_kind("nic")) {
    const auto place = std::find_if(tree.begin(), tree.end(), [&](const RootPortPlan& p) {
      return p.slot && p.slot->path() == n->parameters<DescriptorNicParameters>().slot;
    });
    if (place == tree.end()) throw config.error(*n, "slot", "must name a PCIe slot of the board");
    if (place->device)
      throw config.error(*n, "slot", "must be a slot of its own; " + place->device->path() + " is in it");
    place->device = n;
  }
  return tree;
}

}  // namespace sluice::platform
