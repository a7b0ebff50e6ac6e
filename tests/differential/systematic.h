// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Programs that run every operation on every combination of rounding mode and operand classes.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/differential/program.h"

namespace sluice::differential {

/// How many there are: the first so many programs of every block.
std::uint64_t systematic_programs();
/// Builds number n; the values in each class are drawn. The descriptor's address.
std::uint64_t build_systematic(Image& image, std::uint64_t n, std::uint64_t seed, std::uint64_t index);
/// Bytes of RAM that the largest of them takes.
constexpr std::uint64_t kLargestSystematic = 2 << 20;

}  // namespace sluice::differential
