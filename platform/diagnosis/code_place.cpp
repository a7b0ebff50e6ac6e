// SPDX-License-Identifier: Apache-2.0
#include "platform/diagnosis/code_place.h"

#include <fmt/format.h>

namespace sluice::platform {

CodePlace place_of(riscv::Core& core) {
  riscv::Hart& hart = core.hart();
  const std::uint64_t pc = hart.state().pc;
  return {pc, hart.privileged().user_space(pc)};
}

std::string function_at(const Cluster& cluster, const CodePlace& place) {
  return place.user_space == 0 ? cluster.firmware.symbols().at(place.pc)
                               : cluster.processes->function(place.user_space, place.pc);
}

std::string process_at(const Cluster& cluster, const CodePlace& place) {
  if (place.user_space == 0) return {};
  const auto process = cluster.processes->find(place.user_space);
  return title_of_process(process ? process->name : "", asid_of(place.user_space));
}

std::string describe(const Cluster& cluster, const CodePlace& place) {
  const std::string function = function_at(cluster, place), process = process_at(cluster, place);
  return fmt::format("pc {:#x}{}{}{}{}", place.pc, function.empty() ? "" : " ", function, process.empty() ? "" : " in ",
                     process);
}

BoardNames::BoardNames(const Board& board) : board_(board) { base::mistakes().name_by(this); }

BoardNames::~BoardNames() { base::mistakes().name_by(nullptr); }

const Cluster* BoardNames::cluster_of(const base::Site& site) const {
  for (const Cluster& c : board_.clusters())
    if (site.hart && site.hart->starts_with("cluster." + c.name + ".")) return &c;
  return nullptr;
}

std::string BoardNames::process_at(const base::Site& site) {
  const Cluster* cluster = cluster_of(site);
  const auto process = cluster ? cluster->processes->find(site.user_space) : std::nullopt;
  return process ? process->name : "";
}

std::string BoardNames::function_at(const base::Site& site) {
  const Cluster* cluster = cluster_of(site);
  return cluster ? platform::function_at(*cluster, {site.pc, site.user_space}) : "";
}

}  // namespace sluice::platform
