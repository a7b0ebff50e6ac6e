// SPDX-License-Identifier: Apache-2.0
#include "platform/sweep/idle_settings.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "platform/run/without_effect.h"

namespace sluice::sweep {

using Json = nlohmann::ordered_json;

IdleSettings::IdleSettings(const study::Study& study) : runs_(study.grids.size()) {
  for (const study::Grid& grid : study.grids) {
    std::map<std::string, Setter>& setters = setters_.emplace_back();
    const auto set = [&](const std::string& path, const config::Location& where, bool is_varied) {
      setters.insert_or_assign(path, Setter{fmt::format("{}.toml:{}", study.name, where.line), is_varied});
    };
    // The last of them counts.
    for (const auto& s : study.settings) set(s.path, s.where, false);
    for (const auto& s : grid.settings) set(s.path, s.where, false);
    for (const study::Dimension& d : grid.dimensions)
      for (const study::Axis& a : d) set(a.path, a.where, true);
    if (!study.seeds.empty()) set("run.seed", study.seeds_where, true);
    if (study.replications > 1) set("run.replication", study.replications_where, true);
    for (const std::string& s : study.overrides)
      setters.insert_or_assign(s.substr(0, s.find('=')), Setter{"--set", true});
  }
}

void IdleSettings::add(const Json& result, std::size_t grid) {
  ++runs_.at(grid);
  const auto list = result.find("without_effect");
  if (list == result.end() || !list->is_array()) return;
  for (const Json& entry : *list) {
    auto w = platform::without_effect_of(entry);
    if (!w) continue;
    const auto setter = setters_[grid].find(w->path);
    if (setter == setters_[grid].end()) continue;
    if (w->by != platform::WithoutEffect::By::board && !setter->second.is_varied) continue;
    w->set_by = setter->second.name;
    const auto [place, is_new] = places_.try_emplace({w->set_by, w->path}, seen_.size());
    if (is_new) seen_.push_back({{w->path, w->set_by, platform::to_text(*w)}, 0});
    ++seen_[place->second].runs;
  }
}

std::vector<IdleSetting> IdleSettings::list() const {
  std::vector<IdleSetting> list;
  for (const Seen& s : seen_) {
    std::uint64_t runs = 0;
    for (std::size_t g = 0; g < runs_.size(); ++g) {
      const auto setter = setters_[g].find(s.setting.path);
      if (setter != setters_[g].end() && setter->second.name == s.setting.set_by) runs += runs_[g];
    }
    if (s.runs == runs) list.push_back(s.setting);
  }
  return list;
}

}  // namespace sluice::sweep
