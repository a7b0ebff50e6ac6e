// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Texts as other programs read them.

#include <string>

namespace sluice::config {

/// A cell of a CSV file, as RFC 4180 has it.
std::string csv_cell(const std::string& text);

/// A word of a POSIX shell's command.
std::string shell_word(const std::string& text);

}  // namespace sluice::config
