// SPDX-License-Identifier: Apache-2.0
#include "platform/run/without_effect.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/riscv/cluster.h"
#include "platform/board/instances.h"
#include "platform/board/system_plan.h"

namespace sluice::platform {
namespace {

using config::BoardConfig;
using config::Instance;

/// What result files call WithoutEffect::By.
constexpr std::array<std::string_view, 3> kBy = {"board", "run", "warm-up"};

/// Reasons that lie in another part of the board than the value.
class Reasons {
 public:
  explicit Reasons(const BoardConfig& config)
      : config_(config),
        ideal_(config.parameters<RunParameters>("run").spread == SpreadOfTime::none),
        systems_(systems_of(config)) {}

  /// Whether the value acts where its counters count nothing, too: several harts run ahead of each other by a snoop.
  bool acts_anyway(const Instance& i, const std::string& key) const {
    const auto several = [](const SystemPlan& s) { return s.harts() > 1; };
    return i.kind() == "caches" && key == "snoop_latency" && std::any_of(systems_.begin(), systems_.end(), several);
  }

  std::string of(const Instance& i, const std::string& key) const {
    if (ideal_ && (key == "clock_tolerance" || key.starts_with("refresh_") || key == "dram_ranks"))
      return "run.spread is none";
    if (i.kind() == "iommu" && key != "enabled" && !i.parameters<IommuInstance>().enabled)
      return "iommu.enabled is false";
    if (i.kind() == "memory" && key == "latency" && config_.plugins().empty())
      return "only a TLM initiator of a plug-in reads RAM by its socket; harts and DMA go through the caches";
    if (i.kind() == "cluster") return of_cluster(i, key);
    if (i.kind() == "nic" && key == "queues") return of_queues(i);
    if (i.kind() == "workload" && (key == "flows" || key == "first_port")) return of_flows();
    if (i.kind() == "map") return of_addresses(key);
    return of_interrupts(i);
  }

 private:
  std::string of_cluster(const Instance& i, const std::string& key) const {
    const SystemPlan* system = system_of(i);
    if (!system) return {};
    if (key == "quantum" && system->harts() == 1) return i.path() + ".harts is 1, and it has nobody to run ahead of";
    const std::string timing = system->part("caches") + ".timing is ";
    if (!is_read_by(system->parts.caches.timing, key)) return timing + "not interval";
    const bool window = system->parts.caches.timing == coherence::MemorySystem::Timing::interval;
    const auto& without = riscv::InstructionCosts::kWithoutWindow;
    if (window && key.starts_with("costs.") &&
        std::find(without.begin(), without.end(), key.substr(6)) != without.end())
      return timing + "interval: " + i.path() + ".core says how long such instructions take";
    return {};
  }

  /// The driver gives each hart one queue.
  std::string of_queues(const Instance& i) const {
    const bool more = i.schema().find("queues")->text(i.values()) != "1";
    return more && systems_.front().harts() == 1 ? "the host has 1 hart, and a hart has one queue" : "";
  }

  /// What tells flows apart chooses a queue, and nothing else.
  std::string of_flows() const {
    for (const Instance& i : config_.instances()) {
      if (i.kind() != "nic") continue;
      const base::Parameter* queues = i.schema().find("queues");
      if (!queues || queues->text(i.values()) != "1") return {};
    }
    return "no NIC has a second queue for other flows";
  }

  std::string of_addresses(const std::string& key) const {
    if (key == "iommu" && !config_.parameters<IommuInstance>("iommu").enabled) return "iommu.enabled is false";
    const bool of_aia = key.starts_with("aplic") || key.starts_with("imsic");
    return of_aia || key == "plic" ? of_controller(of_aia) : "";
  }

  std::string of_interrupts(const Instance& i) const {
    if (i.kind() != "plic" && i.kind() != "aplic" && i.kind() != "imsic") return {};
    return of_controller(i.kind() != "plic");
  }

  /// Why the interrupt controllers of AIA, or the PLIC, are not there.
  std::string of_controller(bool of_aia) const {
    const SystemPlan& host = systems_.front();
    if (host.aia() == of_aia) return {};
    return host.clusters.front()->path() + ".interrupts is " + (host.aia() ? "aia" : "plic");
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
      if (config.is_override(i, p->key()) && p->key() != "requests" && p->key() != "warmup" && p->key() != "seed" &&
          p->key() != "replication")
        return true;
  return false;
}

/// What the counters of a run say.
class Happened {
 public:
  explicit Happened(const Window& w)
      : counted_(base::statistics().counted_between(w.from.statistics, w.to.statistics)) {}

  struct Sum {
    bool any = false;  ///< a counter of the name exists
    std::uint64_t before = 0, value = 0;
  };
  /// Of the instance, and where it has no such counter, of all.
  Sum sum(const std::string& instance, const std::string& name) const {
    const Sum own = sum_below(instance + ".", name);
    return own.any ? own : sum_below("", name);
  }

 private:
  Sum sum_below(const std::string& prefix, const std::string& name) const {
    Sum sum;
    for (const base::Counted& c : counted_) {
      if (!c.path.starts_with(prefix) || (c.path != prefix + name && !c.path.ends_with("." + name))) continue;
      sum.any = true;
      sum.before += c.before;
      sum.value += c.value;
    }
    return sum;
  }

  std::vector<base::Counted> counted_;
};

/// Whether it is 0, which means that there is none of it, or that a default holds: where it acts, nothing is counted.
bool is_zero(const base::Value& value) {
  return std::visit(
      [](const auto& v) {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(v)>> &&
                      !std::is_same_v<std::decay_t<decltype(v)>, bool>)
          return v == 0;
        else
          return false;
      },
      value.data);
}

/// Fills in why nothing happened in which the value acts. Returns false where something has, or nobody knows.
bool explain(const Happened& happened, const Instance& i, const base::Parameter& p, WithoutEffect& w) {
  if (is_zero(p.value(i.values()))) return false;
  bool any = false;
  std::uint64_t before = 0;
  for (const std::string& name : p.acts_with()) {
    const Happened::Sum sum = happened.sum(i.path(), name);
    if (sum.value != 0) return false;
    any |= sum.any;
    before += sum.before;
  }
  if (!any) return false;
  w.by = before == 0 ? WithoutEffect::By::run : WithoutEffect::By::warm_up;
  w.why = p.why_not_counted();
  return true;
}

/// Why nothing is drawn that run.spread could leave out; empty: something is.
std::string why_no_spread(const BoardConfig& config, const Happened& happened) {
  for (const Instance& i : config.instances()) {
    for (const auto& [key, none] : {std::pair{"clock_tolerance", "0"}, {"refresh_interval", "0 ns"}}) {
      const base::Parameter* p = i.schema().find(key);
      if (p && p->text(i.values()) != none) return {};
    }
  }
  return happened.sum("", "up_bytes").value + happened.sum("", "down_bytes").value == 0
             ? "no clock has a tolerance, DRAM has no refresh, and no TLP was sent"
             : "";
}

/// Why a value of `run` had no effect; empty: it had, or nobody knows.
std::string why_of_run(const std::string& key, const BoardConfig& config, const Happened& happened, Outcome outcome) {
  const bool good = outcome == Outcome::finished;
  if (key == "time_limit" && good) return "the run ended before";
  if (key == "stall_limit" && good) return "requests have ended more often";
  if (key == "allow_drops" && !happened.sum("", "dropped").any) return "the workload has no requests to drop";
  if (key == "spread") return why_no_spread(config, happened);
  return {};
}

}  // namespace

std::vector<WithoutEffect> without_effect(const Simulation& simulation, Outcome outcome) {
  const BoardConfig& config = simulation.board().config();
  const Reasons reasons(config);
  const Happened happened(simulation.measurement().whole());
  const bool changed = is_changed(config);
  std::vector<WithoutEffect> list;
  for (const Instance& i : config.instances()) {
    for (const auto& p : i.schema().parameters()) {
      const bool given = config.is_override(i, p->key());
      if (!given && (changed || i.origin(p->key()).layer != config.files().size())) continue;
      WithoutEffect w{i.path() + "." + p->key(), i.origin(p->key()).set_by, p->why_without_effect(i.model_values()),
                      WithoutEffect::By::board, given};
      if (!w.why.empty())
        w.why.insert(0, i.path() + ".");
      else
        w.why = reasons.of(i, p->key());
      const bool known = !w.why.empty() || reasons.acts_anyway(i, p->key());
      if (!known && !explain(happened, i, *p, w) && i.kind() == "run") {
        w.by = WithoutEffect::By::run;
        w.why = why_of_run(p->key(), config, happened, outcome);
      }
      if (!w.why.empty()) list.push_back(std::move(w));
    }
  }
  return list;
}

std::string to_text(const WithoutEffect& w) {
  const char* what = w.by == WithoutEffect::By::board ? "has no effect:"
                     : w.by == WithoutEffect::By::run ? "did not act:"
                                                      : "acted only in the warm-up: after it,";
  return fmt::format("{} ({}) {} {}", w.path, w.set_by, what, w.why);
}

nlohmann::ordered_json to_json(const WithoutEffect& w) {
  return {{"path", w.path}, {"set_by", w.set_by}, {"why", w.why}, {"known_by", kBy[static_cast<std::size_t>(w.by)]}};
}

std::optional<WithoutEffect> without_effect_of(const nlohmann::ordered_json& json) {
  const auto text = [&json](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  WithoutEffect w{text("path"), text("set_by"), text("why"), WithoutEffect::By::board, false};
  const auto by = std::find(kBy.begin(), kBy.end(), text("known_by"));
  if (w.path.empty() || w.set_by.empty() || by == kBy.end()) return {};
  w.by = static_cast<WithoutEffect::By>(by - kBy.begin());
  return w;
}

}  // namespace sluice::platform
