// SPDX-License-Identifier: Apache-2.0
#include "platform/study/shipped.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "platform/config/nearest_name.h"
#include "platform/config/resources.h"

namespace sluice::study {
namespace {

namespace fs = std::filesystem;

/// Names of the shipped studies, sorted.
std::vector<std::string> shipped_names() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::path& directory : config::resource_directories("studies"))
    for (const auto& entry : fs::directory_iterator(directory, ignored))
      if (entry.path().extension() == ".toml") names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

std::string find_study(const std::string& named, const std::string& folder, const config::Location& where) {
  const bool is_path = named.find('/') != std::string::npos || named.ends_with(".toml");
  const fs::path file = folder.empty() ? fs::path(named) : fs::path(folder) / named;
  std::error_code error;
  // What a user types is read at once, and the reader says that there is no such file.
  if (fs::is_regular_file(file, error) || (is_path && where.file.empty())) return file;
  if (is_path) throw config::UserError(where, "there is no study " + file.string());
  for (const fs::path& directory : config::resource_directories("studies"))
    if (fs::path shipped = directory / (named + ".toml"); fs::exists(shipped, error)) return shipped;
  const std::string sentence = "there is no study " + named + config::suggestion(named, shipped_names());
  throw where.file.empty() ? config::UserError(sentence) : config::UserError(where, sentence);
}

}  // namespace sluice::study
