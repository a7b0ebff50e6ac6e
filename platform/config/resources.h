// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Where shipped files are: boards, firmware. They are found from any working directory, in the build tree and when
/// installed.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::config {

/// Directories that may hold a resource ("boards", "firmware"), in the order of the search:
///   1. those in the environment variable SLUICE_BOARDS (or SLUICE_FIRMWARE, ...), separated by colons;
///   2. ../share/sluice/NAME beside the directory of the executable (an installation);
///   3. the one that sluice-tree.txt names (a build tree): a file of NAME=DIRECTORY lines that CMake writes into the
///      build directory, searched upwards from the executable's directory.
/// Directories that do not exist are left out.
std::vector<std::filesystem::path> resource_directories(std::string_view name);

}  // namespace sluice::config
