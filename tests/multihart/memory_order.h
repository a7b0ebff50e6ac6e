// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What must hold of the order in which harts and devices accessed shared memory.

#include <string>
#include <vector>

#include "tests/multihart/recorder.h"

namespace sluice::multihart {

struct OrderStatistics {
  std::uint64_t accesses = 0;
  std::uint64_t meetings = 0;  ///< pairs of accesses to common bytes by two harts or devices, one of them a write
  std::uint64_t inverted = 0;  ///< pairs of these that took effect against the order of their times
  Time most_inverted;          ///< by how much at most
};

/// Empty, or a sentence about the first violation of what docs/models/base-time.md states: order against time is less
/// than a quantum, atomics and DMA writes are never late, and an SC succeeds only where nobody has written in between
/// (RVWMO's atomicity axiom). The recorder checks that loads return the last write (RVWMO's load value axiom).
/// RVWMO's preserved program order holds because each hart's accesses are recorded as it makes them.
std::string violation(const std::vector<Access>&, Time quantum, OrderStatistics&);

}  // namespace sluice::multihart
