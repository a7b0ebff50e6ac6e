// SPDX-License-Identifier: Apache-2.0
#include "platform/board/run_ahead.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "models/pcie/root/root_complex.h"
#include "models/riscv/cluster.h"
#include "platform/board/instances.h"

namespace sluice::platform {
namespace {

/// Refuses latencies that no link has, and with which sums of times would overflow.
void check_joint(const config::BoardConfig& config, const config::Instance& device, const memory::Joint& joint) {
  constexpr base::Time kMost = 1_s;
  by_author(config, device.path(), "cannot be built", [&] {
    if (std::max(joint.to_others, joint.from_others) > kMost)
      throw std::logic_error("its link to other systems must have latencies of at most " + base::to_text(kMost));
  });
}

}  // namespace

Separation separation_of(const config::BoardConfig& config) {
  constexpr base::Time kUnjoined = 1_us;
  struct Way {
    base::Time out, in;
  };
  const auto& root = config.parameters<pcie::RootComplex::Parameters>("root");
  std::vector<Way> ways = {{root.outbound_latency, std::min(root.write_latency, root.completion_latency)}};
  const config::Instance* joint = nullptr;
  for (const config::Instance* d : bus_devices(config)) {
    const auto least =
        by_author(config, d->path(), "cannot be built", [&] { return bus_factory_of(*d).joint(d->values()); });
    if (!least) continue;
    check_joint(config, *d, *least);
    const memory::BusPlace place = bus_place_of(config, *d);
    if (place.soc.empty())
      throw config.error(*d, place.keys + "soc",
                         "must be a system-on-chip beside the host, which it joins to the host's PCIe");
    const base::Time flight = config.parameters<SlotParameters>(slot_of(config, *d)).link.flight;
    ways.push_back({least->to_others + flight, flight + least->from_others});
    joint = d;
  }
  base::Time separation = kUnjoined;
  for (const Way& from : ways)
    for (const Way& to : ways)
      if (&from != &to) separation = std::min(separation, from.out + to.in);
  if (separation < 1_ns)
    throw config::UserError(
        fmt::format("{}: {}: latencies of at least 1 ns must lie between its system and others, in "
                    "each direction: its own, those of the root complex and the link's flight",
                    config.file(), joint->path()));
  return {separation, joint != nullptr};
}

base::Time quantum_of(const SystemPlan& system, base::Time separation) {
  constexpr base::Time kLoneHart = 10_us;
  const bool several = system.harts() > 1;
  const base::Time core_to_core = system.parts.caches.snoop_latency;
  base::Time quantum = base::Time::max();
  for (const config::Instance* c : system.clusters) {
    const base::Time asked = c->parameters<riscv::ClusterParameters>().quantum;
    if (asked == base::Time{}) continue;
    if (several && asked > core_to_core)
      throw system.config->error(*c, "quantum",
                                 fmt::format("must be at most {}, {}, on a board with several harts",
                                             system.part("caches.snoop_latency"), base::to_text(core_to_core)));
    if (several && asked > separation)
      throw system.config->error(
          *c, "quantum",
          fmt::format("must be at most {}, which a PCIe link takes to the other systems", base::to_text(separation)));
    quantum = std::min(quantum, asked);
  }
  if (quantum != base::Time::max()) return quantum;
  return several ? std::min(core_to_core, separation) : kLoneHart;
}

}  // namespace sluice::platform
