// SPDX-License-Identifier: Apache-2.0
#include "platform/run/conditions.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "platform/firmware/sha256.h"
#include "platform/run/sources.h"

namespace sluice::platform {
namespace {

constexpr std::size_t kNamed = 3;

std::string in_words(const std::string& value) { return value.empty() ? "nothing" : value; }

/// A parameter as a condition. If it names a file that can be read, its value is the SHA-256 of the file.
base::Condition condition_of(const config::Instance& i, const base::Parameter& p) {
  base::Condition c(i.path() + "." + p.key(), p.text(i.values()));
  if (c.second.empty() || !p.names_file()) return c;
  std::string digest = sha256_of_file(std::get<std::string>(p.value(i.model_values()).data));
  if (!digest.empty()) c.second = std::move(digest);
  return c;
}

bool names_image(std::string_view key) { return key == "firmware" || key == "images" || key == "initrd"; }

/// What lies in a cluster's memory: bytes and, where the board says it, their address.
void add_images(base::Conditions& all, const Cluster& c) {
  const std::string path = "cluster." + c.name + ".";
  const auto add = [&](const std::string& key, const Image& image) {
    const std::uint64_t at = image.segments().front().address;
    all.emplace_back(path + key, image.is_raw() ? fmt::format("{} at {:#x}", image.sha256(), at) : image.sha256());
  };
  const std::vector<Image>& images = c.firmware.images();
  add("firmware", images.front());
  for (std::size_t i = 1; i < images.size(); ++i) add(fmt::format("images[{}]", i - 1), images[i]);
  if (c.initrd) add("initrd", *c.initrd);
}

}  // namespace

base::Conditions conditions_of(Board& board) {
  base::Conditions all{{"sluice", SLUICE_SOURCES}};
  for (const config::Instance& i : board.config().instances()) {
    all.emplace_back(i.path(), i.model());
    for (const auto& p : i.schema().parameters()) {
      if (i.kind() != "cluster" || !names_image(p->key())) all.push_back(condition_of(i, *p));
    }
  }
  for (const config::Plugin& p : board.config().plugins())
    all.emplace_back("plugin." + std::filesystem::path(p.name).filename().string(), p.sha256);
  for (const Cluster& c : board.clusters()) add_images(all, c);
  return all;
}

std::string differences_between(const base::Conditions& logged, const base::Conditions& own) {
  const std::map<std::string, std::string> before(logged.begin(), logged.end());
  std::map<std::string, std::string> here;
  for (const auto& [name, value] : own) here.insert(base::as_logged(name, value));
  std::vector<std::string> found;
  const auto compare = [&](const std::string& name) {
    const auto a = before.find(name);
    const auto b = here.find(name);
    if (a == before.end() || b == here.end())
      found.push_back(fmt::format("only {} has {}", a == before.end() ? "this run" : "the log", name));
    else if (a->second != b->second)
      found.push_back(fmt::format("{} was {} and is {}", name, in_words(a->second), in_words(b->second)));
  };
  for (const auto& [name, value] : own) compare(base::as_logged(name, value).first);
  for (const auto& [name, value] : before)
    if (!here.contains(name)) compare(name);
  const std::size_t more = found.size() - std::min(found.size(), kNamed);
  found.resize(found.size() - more);
  return fmt::format("{}{}", fmt::join(found, "; "), more ? fmt::format("; and {} more", more) : "");
}

}  // namespace sluice::platform
