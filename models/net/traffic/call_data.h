// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The data in calls: XDR items whose bytes are computed from a seed, so that a reply can be checked without a copy.

#include <cstddef>
#include <cstdint>

namespace sluice::net {

/// Rounds up to a multiple of 4, as XDR pads.
inline std::uint32_t padded(std::uint32_t bytes) { return (bytes + 3u) & ~3u; }

/// Eight bytes of a seed's data, from byte 8 * i on.
std::uint64_t data_word(std::uint64_t seed, std::uint64_t i);
/// Writes the first `bytes` bytes of a seed's data.
void put_data(std::uint8_t* out, std::uint64_t seed, std::uint32_t bytes);
bool is_data(const std::uint8_t* bytes, std::uint64_t seed, std::uint32_t length);

/// Writes an XDR opaque of data: length, bytes, zeros up to a multiple of 4. Returns its size.
std::uint32_t put_opaque(std::uint8_t* out, std::uint64_t seed, std::uint32_t bytes);
/// Checks, as Calls::check() does, that `results` is the opaque that put_opaque() writes and nothing more.
const char* check_opaque(std::uint64_t seed, std::uint32_t bytes, const std::uint8_t* results, std::size_t length);

}  // namespace sluice::net
