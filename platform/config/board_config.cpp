// SPDX-License-Identifier: Apache-2.0
#include "platform/config/board_config.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::config {

const Origin& Instance::origin(std::string_view key) const {
  if (const Origin* found = find_origin(key)) return *found;
  throw std::logic_error(path() + " has no parameter " + std::string(key));
}

const Origin* Instance::find_origin(std::string_view key) const {
  const auto& parameters = schema().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i]->key() == key) return &origins_[i];
  }
  return nullptr;
}

const Instance* BoardConfig::find(std::string_view path) const {
  for (const Instance& i : instances_) {
    if (i.path() == path) return &i;
  }
  return nullptr;
}

std::vector<const Instance*> BoardConfig::of_kind(std::string_view kind) const {
  std::vector<const Instance*> found;
  for (const Instance& i : instances_) {
    if (i.kind() == kind) found.push_back(&i);
  }
  return found;
}

const Instance& BoardConfig::the(std::string_view kind) const {
  const auto found = of_kind(kind);
  if (found.size() == 1) return *found.front();
  const std::string count = found.empty() ? "none" : "several";
  throw UserError(shown_ + ": the board must have exactly one " + std::string(kind) + ", and has " + count);
}

std::filesystem::path BoardConfig::path_of(const Instance& instance, std::string_view key,
                                           const std::string& named) const {
  const Location& where = instance.origin(key).where;
  // An absolute path stays what it is.
  return where.line > 0 ? std::filesystem::path(where.file).parent_path() / named : std::filesystem::path(named);
}

UserError BoardConfig::error(const Instance& instance, std::string_view key, const std::string& what) const {
  const Origin* origin = instance.find_origin(key);
  const Location where = origin ? origin->where : Location{};
  const std::string path = instance.path() + (origin ? "." : ": ") + std::string(key);
  const Location& named =
      instance.where().file.empty() || instance.where().line == 0 ? Location{shown_, 0} : instance.where();
  if (where.file.empty()) return UserError(named, path + " " + what);
  if (where.line == 0) return UserError(where, what);  // an override's place names the path already
  return UserError(where, path + " " + what);
}

UserError BoardConfig::without_effect(const Instance& instance, std::string_view key, std::string_view why) const {
  return error(instance, key, fmt::format("has no effect on {}: {}", name_, why));
}

bool BoardConfig::is_later(const Instance& instance, std::string_view key, const Instance& other,
                           std::string_view other_key) {
  const auto said = [](const Instance& i, std::string_view k) {
    const Origin* origin = i.find_origin(k);
    return origin && origin->layer > 0 ? std::pair(origin->layer, origin->where.line)
                                       : std::pair(i.layer(), i.where().line);
  };
  return said(instance, key) > said(other, other_key);
}

std::string_view BoardConfig::latest(const Instance& instance, const std::vector<std::string_view>& keys) {
  return *std::max_element(keys.begin(), keys.end(), [&](std::string_view a, std::string_view b) {
    return instance.origin(a).layer < instance.origin(b).layer;
  });
}

}  // namespace sluice::config
