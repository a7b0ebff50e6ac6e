// SPDX-License-Identifier: Apache-2.0
#include "platform/run/without_effect.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/riscv/cluster.h"
#include "platform/board/instances.h"
#include "platform/board/system_plan.h"

namespace sluice::platform {
namespace {

using config::BoardConfig;
using config::Instance;

/// Reasons that lie in another part of the board than the value.
class Reasons {
 public:
  explicit Reasons(const BoardConfig& config)
      : config_(config),
        ideal_(config.parameters<RunParameters>("run").spread == SpreadOfTime::none),
        systems_(systems_of(config)) {}

  std::string of(const Instance& i, const std::string& key) const {
    if (ideal_ && (key == "clock_tolerance" || key.starts_with("refresh_") || key == "dram_ranks"))
      return "run.spread is none";
    if (i.kind() == "iommu" && key != "enabled" && !i.parameters<IommuInstance>().enabled)
      return "iommu.enabled is false";
    if (i.kind() == "memory" && key == "latency" && config_.plugins().empty())
      return "only a TLM initiator of a plug-in reads RAM by its socket; harts and DMA go through the caches";
    if (i.kind() == "cluster") return of_cluster(i, key);
    if (i.kind() == "nic" && key == "queues") return of_queues(i);
    return of_interrupts(i, key);
  }

 private:
  std::string of_cluster(const Instance& i, const std::string& key) const {
    const SystemPlan* system = system_of(i);
    if (!system) return {};
    const std::string timing = system->part("caches") + ".timing is ";
    const bool window = system->parts.caches.timing == coherence::MemorySystem::Timing::interval;
    if (key.starts_with("core.") && !window) return timing + "not interval";
    const auto& without = riscv::InstructionCosts::kWithoutWindow;
    if (window && key.starts_with("costs.") &&
        std::find(without.begin(), without.end(), key.substr(6)) != without.end())
      return timing + "interval: " + i.path() + ".core says how long such instructions take";
    return {};
  }

  /// The driver gives each hart at most one queue, and RSS gives a flow one queue.
  std::string of_queues(const Instance& i) const {
    const unsigned queues = static_cast<unsigned>(std::stoul(i.schema().find("queues")->text(i.values())));
    const Instance& workload = config_.the("workload");
    const base::Parameter* flows = workload.schema().find("flows");
    if (queues > 1 && flows && flows->text(workload.values()) == "1")
      return "workload.flows is 1, and a flow has one queue";
    if (queues > systems_.front().harts())
      return fmt::format("the host has {}, and a hart has one queue; more have none",
                         systems_.front().harts() == 1 ? "1 hart" : fmt::format("{} harts", systems_.front().harts()));
    return {};
  }

  std::string of_interrupts(const Instance& i, const std::string& key) const {
    if (i.kind() != "plic" && i.kind() != "aplic" && i.kind() != "imsic") return {};
    const SystemPlan& host = systems_.front();
    const bool used = host.aia() == (i.kind() != "plic");
    return used || key == "sources" ? ""
                                    : host.clusters.front()->path() + ".interrupts is " + (host.aia() ? "aia" : "plic");
  }

  const SystemPlan* system_of(const Instance& cluster) const {
    for (const SystemPlan& s : systems_)
      if (std::find(s.clusters.begin(), s.clusters.end(), &cluster) != s.clusters.end()) return &s;
    return nullptr;
  }

  const BoardConfig& config_;
  bool ideal_;
  std::vector<SystemPlan> systems_;
};

/// Whether the command line gives anything that may take the effect of another value.
bool is_changed(const BoardConfig& config) {
  for (const Instance& i : config.instances())
    for (const auto& p : i.schema().parameters())
      if (config.is_from_command_line(i, p->key()) && p->key() != "requests" && p->key() != "warmup" &&
          p->key() != "seed" && p->key() != "replication")
        return true;
  return false;
}

}  // namespace

std::vector<WithoutEffect> without_effect(const BoardConfig& config) {
  const Reasons reasons(config);
  const bool changed = is_changed(config);
  std::vector<WithoutEffect> list;
  for (const Instance& i : config.instances()) {
    for (const auto& p : i.schema().parameters()) {
      const bool own = !changed && i.origin(p->key()).layer == config.files().size();
      if (!own && !config.is_from_command_line(i, p->key())) continue;
      std::string why = p->why_without_effect(i.model_values());
      if (!why.empty())
        why.insert(0, i.path() + ".");
      else
        why = reasons.of(i, p->key());
      if (!why.empty()) list.push_back({i.path() + "." + p->key(), i.origin(p->key()).set_by, why});
    }
  }
  return list;
}

std::string to_text(const WithoutEffect& w) {
  return fmt::format("{} ({}) has no effect: {}", w.path, w.set_by, w.why);
}

}  // namespace sluice::platform
