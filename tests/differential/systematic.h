// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Programs that run every operation on every combination of rounding mode and operand classes.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/differential/program.h"

namespace sluice::differential {

/// Number of systematic programs, with which every block begins.
std::uint64_t systematic_programs();
/// Builds systematic program n, with drawn values in each class. Returns the descriptor's address.
std::uint64_t build_systematic(Image& image, std::uint64_t n, std::uint64_t seed, std::uint64_t index);
/// Bytes of RAM that the largest of them takes.
constexpr std::uint64_t kLargestSystematic = 2 << 20;

}  // namespace sluice::differential
