// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Reads the structures of an ELF file without trusting the offsets and sizes in it.

#include <cstdint>
#include <cstring>
#include <vector>

namespace sluice::platform {

/// Copies the structure at an offset of the file to `out`. Returns false when the file ends before the structure does.
template <class T>
bool read_at(const std::vector<std::uint8_t>& file, std::uint64_t offset, T& out) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return false;
  std::memcpy(&out, file.data() + offset, sizeof(T));
  return true;
}

}  // namespace sluice::platform
