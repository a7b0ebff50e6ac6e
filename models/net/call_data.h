#pragma once
/// What calls are made of: XDR items whose bytes follow from a seed, so that a reply can be checked without a copy.

#include <cstddef>
#include <cstdint>

namespace sluice::net {

/// XDR: a multiple of 4.
inline std::uint32_t padded(std::uint32_t bytes) { return (bytes + 3u) & ~3u; }

/// Eight bytes of a seed's data: those from 8 i on.
std::uint64_t data_word(std::uint64_t seed, std::uint64_t i);
/// The first `bytes` bytes of a seed's data.
void put_data(std::uint8_t* out, std::uint64_t seed, std::uint32_t bytes);
bool is_data(const std::uint8_t* bytes, std::uint64_t seed, std::uint32_t length);

/// An XDR opaque of data: length, bytes, zeros up to a multiple of 4. Returns its size.
std::uint32_t put_opaque(std::uint8_t* out, std::uint64_t seed, std::uint32_t bytes);
/// As Calls::check(): whether `results` are that opaque and nothing more.
const char* check_opaque(std::uint64_t seed, std::uint32_t bytes, const std::uint8_t* results, std::size_t length);

}  // namespace sluice::net
