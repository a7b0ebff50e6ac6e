// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The regions of an address space, and the check that no two overlap.

#include <cstdint>
#include <string>
#include <vector>

#include "platform/config/user_error.h"

namespace sluice::config {

struct MemoryRegion {
  std::string name;        ///< "uart"
  std::uint64_t base = 0;  ///< first address
  std::uint64_t size = 0;  ///< bytes; the region may end at 2^56
  Location where{};        ///< what set its base, for messages; no file: a default
};

/// Throws UserError when two regions overlap (it names both), or when one is empty or reaches beyond physical addresses
/// of 56 bits. The message begins with what set the base of a region concerned: a command-line option, else a line of
/// the board's own file, else only that file's name. The order of the regions does not change the message.
void check_memory_map(const std::string& file, std::vector<MemoryRegion> regions);

}  // namespace sluice::config
