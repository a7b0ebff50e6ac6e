// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Files that a simulation reads. Plain C++.

#include <cstdio>
#include <memory>
#include <string>

namespace sluice::base {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using InputFile = std::unique_ptr<std::FILE, CloseFile>;

/// Opens a regular file for reading, in binary. Throws std::runtime_error with one sentence that names the file if the
/// file cannot be opened or is not regular: the simulation could wait for ever at a FIFO, and a device may have no end.
InputFile open_input_file(const std::string& path);

}  // namespace sluice::base
