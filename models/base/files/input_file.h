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

/// Opens a regular file for reading, in binary. Throws std::runtime_error with one sentence that
/// names the file: it cannot be opened, or it is a FIFO or a device, at which the simulation would wait for ever or
/// which has no end.
InputFile open_input_file(const std::string& path);

}  // namespace sluice::base
