// SPDX-License-Identifier: Apache-2.0
#include "platform/run/conditions.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "models/riscv/cluster.h"
#include "platform/firmware/image.h"
#include "platform/run/sources.h"

namespace sluice::platform {
namespace {

constexpr std::size_t kNamed = 3;

std::string in_words(const std::string& value) { return value.empty() ? "nothing" : value; }

/// A parameter as a condition. If it names a file that can be read, its value is the SHA-256 of the file.
base::Condition condition_of(const config::Instance& i, const base::Parameter& p, FileDigests& digests) {
  base::Condition c(i.path() + "." + p.key(), p.text(i.values()));
  if (c.second.empty() || !p.names_file()) return c;
  std::string digest = digests.of(std::get<std::string>(p.value(i.model_values()).data));
  if (!digest.empty()) c.second = std::move(digest);
  return c;
}

bool names_image(const config::Instance& i, std::string_view key) {
  return i.kind() == "cluster" && (key == "firmware" || key == "images" || key == "initrd");
}

/// What lies in a cluster's memory: bytes and, where the board says it, their address.
void add_images(base::Conditions& all, const config::BoardConfig& board, const config::Instance& cluster,
                FileDigests& digests) {
  const auto& p = cluster.parameters<riscv::ClusterParameters>();
  const auto add = [&](const char* key, const std::string& condition, const std::string& named, Image::Kind kind) {
    const ImageName name = ImageName::parse(named);
    const std::string digest = digests.of(Image::find(name, board.path_of(cluster, key, name.file), kind));
    const std::string place = name.address ? fmt::format(" at {:#x}", *name.address) : "";
    all.emplace_back(cluster.path() + "." + condition, (digest.empty() ? named : digest) + place);
  };
  add("firmware", "firmware", p.firmware, Image::Kind::executable);
  for (std::size_t i = 0; i < p.images.size(); ++i)
    add("images", fmt::format("images[{}]", i), p.images[i], Image::Kind::executable);
  if (!p.initrd.empty()) add("initrd", "initrd", p.initrd, Image::Kind::data);
}

}  // namespace

base::Conditions conditions_of(const config::BoardConfig& board, FileDigests& digests) {
  base::Conditions all{{"sluice", SLUICE_SOURCES}};
  for (const config::Instance& i : board.instances()) {
    all.emplace_back(i.path(), i.model());
    for (const auto& p : i.schema().parameters())
      if (!names_image(i, p->key())) all.push_back(condition_of(i, *p, digests));
  }
  for (const config::Plugin& p : board.plugins())
    all.emplace_back("plugin." + std::filesystem::path(p.name).filename().string(), p.sha256);
  for (const config::Instance* cluster : board.of_kind("cluster")) add_images(all, board, *cluster, digests);
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
