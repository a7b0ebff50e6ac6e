// SPDX-License-Identifier: Apache-2.0
#include "models/net/traffic/call_data.h"

#include <cstring>

#include "models/net/frame.h"

namespace sluice::net {

/// SplitMix64's output function over a counter.
std::uint64_t data_word(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

void put_data(std::uint8_t* out, std::uint64_t seed, std::uint32_t bytes) {
  std::uint32_t at = 0;
  for (; at + 8 <= bytes; at += 8) {
    const std::uint64_t w = data_word(seed, at / 8);
    std::memcpy(out + at, &w, 8);
  }
  if (at == bytes) return;
  const std::uint64_t w = data_word(seed, at / 8);
  std::memcpy(out + at, &w, bytes - at);
}

bool is_data(const std::uint8_t* bytes, std::uint64_t seed, std::uint32_t length) {
  std::uint64_t difference = 0;
  std::uint32_t at = 0;
  for (; at + 8 <= length; at += 8) {
    std::uint64_t w;
    std::memcpy(&w, bytes + at, 8);
    difference |= w ^ data_word(seed, at / 8);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, bytes + at, length - at);
  if (length > at) difference |= rest ^ (data_word(seed, at / 8) & ((std::uint64_t{1} << 8 * (length - at)) - 1));
  return difference == 0;
}

std::uint32_t put_opaque(std::uint8_t* out, std::uint64_t seed, std::uint32_t bytes) {
  store32(out, bytes);
  std::memset(out + 4 + (bytes & ~3u), 0, padded(bytes) - (bytes & ~3u));
  put_data(out + 4, seed, bytes);
  return 4 + padded(bytes);
}

const char* check_opaque(std::uint64_t seed, std::uint32_t bytes, const std::uint8_t* results, std::size_t length) {
  if (length != 4 + padded(bytes) || load32(results) != bytes) return "result has another length";
  if (!is_data(results + 4, seed, bytes)) return "data differ";
  for (std::size_t at = 4 + bytes; at < length; ++at)
    if (results[at] != 0) return "padding is not zero";
  return nullptr;
}

}  // namespace sluice::net
