// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The files by which a directory of results belongs to a command.

#include <filesystem>
#include <string>
#include <vector>

namespace sluice::config {

/// Throws UserError where a directory has a file of another command than one that writes the files of `own`: its
/// results and page, and those of the command, would take each other's place. option: that gave the directory.
void refuse_results_of_others(const std::filesystem::path& directory, const std::string& option,
                              const std::vector<std::string>& own);

}  // namespace sluice::config
