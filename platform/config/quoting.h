// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Texts as other programs read them.

#include <string>
#include <vector>

namespace sluice::config {

/// A cell of a CSV file, as RFC 4180 has it.
std::string csv_cell(const std::string& text);

/// A line of such a file, with its line feed.
std::string csv_line(const std::vector<std::string>& cells);

/// A word of a POSIX shell's command.
std::string shell_word(const std::string& text);

}  // namespace sluice::config
