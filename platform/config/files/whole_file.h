// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Files that are there as a whole or not at all, whatever ends the process or the machine.

#include <filesystem>
#include <string>

namespace sluice::config {

/// Writes the file aside, makes sure that it is on the disk, and renames it. Returns why it could not; the file is then
/// what it was. Empty: it is written.
std::string try_write_whole(const std::filesystem::path&, const std::string& text);

/// The same; throws UserError that names the file and the reason, behind what is given to stand before them.
void write_whole(const std::filesystem::path&, const std::string& text, const std::string& before = "");

/// Removes from a directory what write_whole() has left there in processes of this machine that no longer live.
void remove_left_overs(const std::filesystem::path& directory);

/// All of a regular file; throws UserError that names the file, as shown where that is given, and the reason.
std::string read_whole(const std::filesystem::path&, const std::string& shown = "");

}  // namespace sluice::config
