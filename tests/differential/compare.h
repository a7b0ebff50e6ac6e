// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Program by program: what QEMU left and what the ISS left.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/differential/image.h"

namespace sluice::differential {

struct Mismatch {
  std::uint64_t program = 0;  ///< in the image
  std::uint64_t index = 0;    ///< of the seed
  std::string kind;
  std::string text;  ///< the first fields that differ, and the code around the place
};

std::vector<Mismatch> compare(const Image& from_qemu, const Image& from_iss);

/// Causes of traps in the logs, by mode that they came from and went to: for the account of what was covered.
struct TrapCount {
  std::uint64_t counts[2][4][64] = {};  ///< [to supervisor][from mode][cause; interrupts from 32]
  void add(const Image& image);
  std::string table() const;
};

}  // namespace sluice::differential
