// SPDX-License-Identifier: Apache-2.0
#include "platform/board/pcie_tree.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/net/traffic/traffic_source.h"
#include "models/pcie/root/root_complex.h"
#include "platform/board/instances.h"

namespace sluice::platform {
namespace {

/// Builds the tree from the ports and slots that the instances name.
class TreeBuilder {
 public:
  explicit TreeBuilder(const config::BoardConfig& config) : config_(config) {
    for (const config::Instance* s : config.of_kind("pcie")) place(*s);
    for (const char* kind : {"nic", "accel", "switch"})
      for (const config::Instance* device : config.of_kind(kind))
        if (const std::string slot = slot_of(config, *device); !slot.empty()) insert(*device, slot);
  }

  std::vector<PortPlan> build() {
    auto tree = ports("", config_.parameters<pcie::RootComplex::Parameters>("root").root_ports);
    for (const auto& [place, slot] : slots_)
      if (reached_.count(slot) == 0)
        throw config_.error(*slot, "attach", "must lead to a root port; " + place.first + " hangs from none");
    return tree;
  }

 private:
  using Place = std::pair<std::string, unsigned>;  ///< switch (empty: the root complex) and port

  void place(const config::Instance& slot) {
    const auto& p = slot.parameters<SlotParameters>();
    const config::Instance* above = config_.find(p.attach);
    const unsigned ports = above ? downstream_ports_of(config_, *above)
                                 : config_.parameters<pcie::RootComplex::Parameters>("root").root_ports;
    if (!above) check_completions(slot);
    if (p.port >= ports)
      throw config_.error(slot, "port",
                          fmt::format("must be less than {}, which is {}",
                                      above ? p.attach + ".downstream_ports" : "root.root_ports", ports));
    const auto [known, is_new] = slots_.try_emplace(Place{p.attach, p.port}, &slot);
    if (!is_new)
      throw clash(
          config_, slot, *known->second, "port",
          above ? "must be a downstream port of its own; {} is at it" : "must be a root port of its own; {} is at it");
  }

  /// The root complex sends completions of completion_size on the links at its ports.
  void check_completions(const config::Instance& slot) const {
    const config::Instance& root = config_.the("root");
    const base::Bytes size = root.parameters<pcie::RootComplex::Parameters>().completion_size;
    const base::Bytes most = slot.parameters<SlotParameters>().link.max_payload;
    if (size <= most) return;
    if (config::BoardConfig::is_later(slot, "max_payload", root, "completion_size"))
      throw config_.error(slot, "max_payload",
                          "must be at least root.completion_size, which is " + base::to_text(size));
    throw config_.error(root, "completion_size",
                        fmt::format("must be at most {}.max_payload, which is {}", slot.path(), base::to_text(most)));
  }

  void insert(const config::Instance& device, const std::string& slot) {
    const auto [known, is_new] = devices_.try_emplace(slot, &device);
    if (!is_new) throw clash(config_, device, *known->second, "slot", "must be a slot of its own; {} is in it");
  }

  /// Each switch is in one slot, and each slot at one port, so the recursion ends.
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
        list[n].ports = ports(device->second->path(), downstream_ports_of(config_, *device->second));
    }
    return list;
  }

  const config::BoardConfig& config_;
  std::map<Place, const config::Instance*> slots_;
  std::map<std::string, const config::Instance*> devices_;  ///< by the path of their slot
  std::set<const config::Instance*> reached_;               ///< slots below a root port; never iterated
};

/// Hands out buses and addresses in the order in which firmware does: depth first, each bridge's windows in whole
/// granules, each BAR at a multiple of its size.
class SpacePlan {
 public:
  SpacePlan(const pcie::RootComplex::Parameters& root, const std::vector<PortPlan>& ports, const FindEndpoint& find)
      : find_(find), next32_(root.mmio32_base), next64_(root.mmio64_base) {
    walk(ports);
  }

  unsigned buses() const { return buses_; }        ///< count, from bus 0 to the last one that has a device
  std::uint64_t end32() const { return used32_; }  ///< end of the BARs in the 32-bit window; 0: it has none
  std::uint64_t end64() const { return used64_; }
  static constexpr std::uint64_t kBeyond = ~std::uint64_t{0};  ///< an end that does not fit 64 bits

 private:
  /// to: a power of two. Beyond 64 bits: kBeyond.
  static std::uint64_t align_up(std::uint64_t v, std::uint64_t to) {
    const std::uint64_t up = (v + to - 1) & ~(to - 1);
    return up < v ? kBeyond : up;
  }

  void walk(const std::vector<PortPlan>& ports) {
    for (const PortPlan& port : ports) {
      const unsigned secondary = ++last_bus_;
      align();
      if (port.device) {
        buses_ = secondary + 1;
        if (const pcie::Endpoint* endpoint = find_(port.device->path())) take(*endpoint);
      }
      if (!port.ports.empty()) {
        ++last_bus_;  // the switch's internal bus, which its ports are on
        walk(port.ports);
      }
      align();
    }
  }

  void align() {
    next32_ = align_up(next32_, PCIE_BRIDGE_WINDOW_GRANULE);
    next64_ = align_up(next64_, PCIE_BRIDGE_WINDOW_GRANULE);
  }

  void take(const pcie::Endpoint& device) {
    for (const pcie::Bar& bar : device.bars()) {
      if (bar.kind == pcie::Bar::Kind::kNone) continue;
      const bool high = bar.kind == pcie::Bar::Kind::kMemory64 && bar.prefetchable;
      std::uint64_t& next = high ? next64_ : next32_;
      const std::uint64_t start = align_up(next, bar.size);
      next = start > kBeyond - bar.size ? kBeyond : start + bar.size;
      (high ? used64_ : used32_) = next;
    }
  }

  const FindEndpoint& find_;
  std::uint64_t next32_, next64_;
  std::uint64_t used32_ = 0, used64_ = 0;
  unsigned last_bus_ = 0;
  unsigned buses_ = 1;
};

/// The end of a sentence about a window that is too small for its contents.
std::string least_size(std::uint64_t needed, const char* what) {
  return fmt::format("must be at least {}, for {}", base::to_text(base::Bytes((needed + 0xf'ffff) & ~0xf'ffffull)),
                     what);
}

}  // namespace

std::vector<PortPlan> pcie_tree(const config::BoardConfig& config) { return TreeBuilder(config).build(); }

void check_pcie_space(const config::BoardConfig& config, const FindEndpoint& find) {
  const config::Instance& root = config.the("root");
  const auto& p = root.parameters<pcie::RootComplex::Parameters>();
  const SpacePlan space(p, pcie_tree(config), find);
  if (std::uint64_t{space.buses()} << 20 > p.ecam_size.count())
    throw config.error(root, "ecam_size",
                       least_size(std::uint64_t{space.buses()} << 20, "the buses that devices are on"));
  const auto check = [&](const char* key, std::uint64_t base, base::Bytes size, std::uint64_t end) {
    if (end == SpacePlan::kBeyond)
      throw config.error(root, key, "cannot be large enough for the BARs of the devices: they need more than 64 bits");
    if (end > base + size.count()) throw config.error(root, key, least_size(end - base, "the BARs of the devices"));
  };
  check("mmio32_size", p.mmio32_base, p.mmio32_size, space.end32());
  check("mmio64_size", p.mmio64_base, p.mmio64_size, space.end64());
}

bool makes_calls(const config::BoardConfig& config) {
  const config::Instance& workload = config.the("workload");
  return !config.of_kind("net").empty() && workload.model() == "traffic" &&
         workload.parameters<net::TrafficSource::Parameters>().makes_calls();
}

config::UserError clash(const config::BoardConfig& config, const config::Instance& a, const config::Instance& b,
                        std::string_view key, const char* what) {
  const bool second = config::BoardConfig::is_later(b, key, a, key);
  return config.error(second ? b : a, key, fmt::format(fmt::runtime(what), (second ? a : b).path()));
}

}  // namespace sluice::platform
