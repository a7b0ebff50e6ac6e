#include "platform/board/conditions.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

namespace sluice::platform {
namespace {

constexpr std::size_t kNamed = 3;
constexpr const char* kFirmware = ".firmware";

std::string in_words(const std::string& value) { return value.empty() ? "nothing" : value; }

}  // namespace

base::Conditions conditions_of(Board& board) {
  base::Conditions all;
  for (const config::Instance& i : board.config().instances()) {
    all.emplace_back(i.path(), i.model());
    for (const auto& p : i.schema().parameters()) {
      std::string name = i.path() + "." + p->key();
      if (!name.ends_with(kFirmware)) all.emplace_back(std::move(name), p->text(i.values()));
    }
  }
  for (const config::Plugin& p : board.config().plugins())
    all.emplace_back("plug-in " + std::filesystem::path(p.name).filename().string(), p.sha256);
  for (const Cluster& c : board.clusters()) all.emplace_back("cluster." + c.name + kFirmware, c.firmware.sha256());
  return all;
}

std::string differences_between(const base::Conditions& logged, const base::Conditions& own) {
  const std::map<std::string, std::string> before(logged.begin(), logged.end()), here(own.begin(), own.end());
  std::vector<std::string> found;
  const auto compare = [&](const std::string& name) {
    const auto a = before.find(name), b = here.find(name);
    if (a == before.end() || b == here.end())
      found.push_back(fmt::format("only {} has {}", a == before.end() ? "this run" : "the log", name));
    else if (a->second != b->second)
      found.push_back(fmt::format("{} was {} and is {}", name, in_words(a->second), in_words(b->second)));
  };
  for (const auto& [name, value] : own) compare(name);
  for (const auto& [name, value] : before)
    if (!here.contains(name)) compare(name);
  const std::size_t more = found.size() - std::min(found.size(), kNamed);
  found.resize(found.size() - more);
  return fmt::format("{}{}", fmt::join(found, "; "), more ? fmt::format("; and {} more", more) : "");
}

}  // namespace sluice::platform
