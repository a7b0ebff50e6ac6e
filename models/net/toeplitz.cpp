// SPDX-License-Identifier: Apache-2.0
#include "models/net/toeplitz.h"

namespace sluice::net {

void Toeplitz::set_key(const std::array<std::uint8_t, kKeyOctets>& key) {
  for (unsigned octet = 0; octet < kInput; ++octet) {
    // The 40 key bits from this octet on. They contain the 32 key bits that start at each bit of the octet.
    std::uint64_t window = 0;
    for (unsigned i = 0; i < 5; ++i) window = window << 8 | key[octet + i];
    for (unsigned value = 0; value < 256; ++value) {
      std::uint32_t h = 0;
      for (unsigned bit = 0; bit < 8; ++bit)
        if (value & (0x80u >> bit)) h ^= static_cast<std::uint32_t>(window >> (8 - bit));
      table_[octet][value] = h;
    }
  }
}

std::uint32_t Toeplitz::hash(const Headers& h, bool with_ports) const {
  const std::uint8_t input[kInput] = {
      static_cast<std::uint8_t>(h.source >> 24),          static_cast<std::uint8_t>(h.source >> 16),
      static_cast<std::uint8_t>(h.source >> 8),           static_cast<std::uint8_t>(h.source),
      static_cast<std::uint8_t>(h.destination >> 24),     static_cast<std::uint8_t>(h.destination >> 16),
      static_cast<std::uint8_t>(h.destination >> 8),      static_cast<std::uint8_t>(h.destination),
      static_cast<std::uint8_t>(h.source_port >> 8),      static_cast<std::uint8_t>(h.source_port),
      static_cast<std::uint8_t>(h.destination_port >> 8), static_cast<std::uint8_t>(h.destination_port)};
  return hash(input, with_ports ? 12 : 8);
}

}  // namespace sluice::net
