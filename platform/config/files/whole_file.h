// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Files that are there as a whole or not at all, whatever ends the process or the machine.

#include <filesystem>
#include <string>

namespace sluice::config {

/// Writes the file aside, makes sure that it is on the disk, and renames it. Throws UserError that names the file and
/// the reason, behind what is given to stand before them; the file is then what it was.
void write_whole(const std::filesystem::path&, const std::string& text, const std::string& before = "");

/// Whether a file is what write_whole() of a process of this machine has left that no longer lives.
bool is_left_over(const std::filesystem::path&);

/// All of a regular file; throws UserError likewise when it cannot be read.
std::string read_whole(const std::filesystem::path&);

}  // namespace sluice::config
