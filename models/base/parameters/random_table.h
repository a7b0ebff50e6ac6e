// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Random numbers that are looked up and not drawn in turn.

#include <cstdint>

namespace sluice::base {

/// Number `index` of the table that belongs to a key: uniform over all 64-bit values, and always the same.
std::uint64_t random_at(std::uint64_t key, std::uint64_t index);

}  // namespace sluice::base
