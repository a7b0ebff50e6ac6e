// SPDX-License-Identifier: Apache-2.0
#include "platform/run/served.h"

#include <algorithm>

#include "models/base/measure/ledger.h"

namespace sluice::platform {

Served::Served(Board& board) {
  std::vector<base::Ledger::Component> components;
  for (Cluster& c : board.clusters())
    for (auto& core : c.cores) components.push_back(core->component());
  if (components.empty()) return;
  latencies_.resize(components.size());
  core_of_.resize(*std::max_element(components.begin(), components.end()) + std::size_t{1}, components.size());
  for (std::size_t n = 0; n < components.size(); ++n) core_of_[components[n]] = n;
  base::ledger().on_complete([this](const base::Ledger::Request& r, base::Time end) {
    if (!r.measured) return;
    for (auto tile = r.tiles.rbegin(); tile != r.tiles.rend(); ++tile) {
      if (tile->component >= core_of_.size() || core_of_[tile->component] >= latencies_.size()) continue;
      latencies_[core_of_[tile->component]].add(end - r.start());
      return;
    }
  });
}

void Served::clear() {
  for (base::Histogram& h : latencies_) h.clear();
}

}  // namespace sluice::platform
