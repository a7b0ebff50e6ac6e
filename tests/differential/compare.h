// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Compares what QEMU and the ISS have left of each program.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/differential/image.h"

namespace sluice::differential {

struct Mismatch {
  std::uint64_t program = 0;  ///< its number in the image
  std::uint64_t index = 0;    ///< its number with the seed
  std::string kind;
  std::string text;  ///< the first fields that differ, and the code around the place
};

std::vector<Mismatch> compare(const Image& from_qemu, const Image& from_iss);

/// Counts the traps in the logs by cause and by the modes that they came from and went to, for the coverage report.
struct TrapCount {
  std::uint64_t counts[2][4][64] = {};  ///< [to supervisor][from mode][cause; interrupts from 32]
  void add(const Image& image);
  std::string table() const;
};

}  // namespace sluice::differential
