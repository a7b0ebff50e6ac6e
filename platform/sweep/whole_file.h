// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Files that are there as a whole or not at all, whatever ends the process or the machine.

#include <filesystem>
#include <string>

namespace sluice::sweep {

/// Writes the file aside, makes sure that it is on the disk, and renames it. Throws config::UserError that names the
/// file and the reason; the file is then what it was.
void write_whole(const std::filesystem::path&, const std::string& text);

/// All of a file; throws config::UserError likewise when it cannot be read.
std::string read_whole(const std::filesystem::path&);

}  // namespace sluice::sweep
