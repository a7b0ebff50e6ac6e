// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The Toeplitz hash of receive side scaling (RSS). Plain C++.

#include <array>
#include <cstdint>

#include "models/net/headers.h"

namespace sluice::net {

/// Toeplitz hash over up to 12 octets (two addresses, two ports), from one table of 256 entries per octet.
class Toeplitz {
 public:
  static constexpr unsigned kKeyOctets = 52;
  static constexpr unsigned kInput = 12;

  Toeplitz() { set_key({}); }
  void set_key(const std::array<std::uint8_t, kKeyOctets>& key);
  std::uint32_t hash(const std::uint8_t* input, unsigned octets) const {
    std::uint32_t h = 0;
    for (unsigned i = 0; i < octets; ++i) h ^= table_[i][input[i]];
    return h;
  }
  /// Over source and destination address and, if asked, source and destination port.
  std::uint32_t hash(const Headers&, bool with_ports) const;

 private:
  std::array<std::array<std::uint32_t, 256>, kInput> table_;
};

}  // namespace sluice::net
