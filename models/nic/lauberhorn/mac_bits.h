// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A MAC address as a number.

#include <cstdint>

#include "models/net/frame.h"

namespace sluice::nic::lauberhorn {

/// The first of six bytes is in bits 47:40.
inline std::uint64_t mac_bits(const std::uint8_t* bytes) {
  return std::uint64_t{net::load16(bytes)} << 32 | net::load32(bytes + 2);
}

}  // namespace sluice::nic::lauberhorn
