// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Reads what an ELF file is made of, whatever the file really has.

#include <cstdint>
#include <cstring>
#include <vector>

namespace sluice::platform {

/// A structure at an offset of the file; false when the file ends before.
template <class T>
bool read_at(const std::vector<std::uint8_t>& file, std::uint64_t offset, T& out) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return false;
  std::memcpy(&out, file.data() + offset, sizeof(T));
  return true;
}

}  // namespace sluice::platform
