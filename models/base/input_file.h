#pragma once
/// Files that a simulation reads. Plain C++.

#include <cstdio>
#include <string>

namespace sluice::base {

/// Opens a regular file for reading, in binary; the caller closes it. Throws std::runtime_error with one sentence that
/// names the file: it cannot be opened, or it is a FIFO or a device, at which the simulation would wait for ever or
/// which has no end.
std::FILE* open_input_file(const std::string& path);

}  // namespace sluice::base
