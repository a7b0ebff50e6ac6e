// SPDX-License-Identifier: Apache-2.0
#include "platform/config/resources.h"

#include <cctype>
#include <cstdlib>
#include <fstream>

namespace sluice::config {
namespace {

namespace fs = std::filesystem;

void add_directory(std::vector<fs::path>& directories, const fs::path& directory) {
  std::error_code error;
  const fs::path canonical = fs::canonical(directory, error);
  if (error || !fs::is_directory(canonical, error)) return;
  for (const fs::path& d : directories) {
    if (d == canonical) return;
  }
  directories.push_back(canonical);
}

void add_from_environment(std::vector<fs::path>& directories, std::string_view name) {
  std::string variable = "SLUICE_";
  for (char c : name) variable += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const char* value = std::getenv(variable.c_str());
  if (!value) return;
  std::string_view rest = value;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(':'));
    if (!one.empty()) add_directory(directories, one);
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
  }
}

void add_from_build_tree(std::vector<fs::path>& directories, std::string_view name, fs::path directory) {
  for (int level = 0; level < 8 && directory.has_relative_path(); ++level, directory = directory.parent_path()) {
    std::ifstream file(directory / "sluice-tree.txt");
    for (std::string line; std::getline(file, line);) {
      const std::size_t equals = line.find('=');
      if (equals != std::string::npos && std::string_view(line).substr(0, equals) == name) {
        add_directory(directories, line.substr(equals + 1));
        return;
      }
    }
  }
}

}  // namespace

std::vector<fs::path> resource_directories(std::string_view name) {
  std::vector<fs::path> directories;
  add_from_environment(directories, name);
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    add_directory(directories, executable.parent_path().parent_path() / "share/sluice" / name);
    add_from_build_tree(directories, name, executable.parent_path());
  }
  return directories;
}

}  // namespace sluice::config
