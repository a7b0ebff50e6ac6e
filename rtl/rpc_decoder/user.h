// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the RPC decoder's m_axis_tuser has with a packet's last beat (rtl/rpc_decoder/rpc_decoder.sv).

#include <cstdint>
#include <span>

#include "models/nic/rpc_decoder/decode.h"

namespace sluice::nic::rpc {

/// Writes all of `decoded` but its line. user: at least 116 bits. What is written beside the verdict means nothing
/// unless that is RPCD_CALL.
inline void read_user(std::span<const std::uint32_t> user, Decoded& decoded) {
  const auto field = [user](unsigned at, unsigned bits) {
    std::uint64_t two = user[at / 32];
    if (at / 32 + 1 < user.size()) two |= std::uint64_t{user[at / 32 + 1]} << 32;
    return static_cast<std::uint32_t>(two >> at % 32 & ((std::uint64_t{1} << bits) - 1));
  };
  decoded.verdict = field(0, 4);
  decoded.owner = static_cast<std::uint16_t>(field(4, 16));
  decoded.source = field(20, 32);
  decoded.source_port = static_cast<std::uint16_t>(field(52, 16));
  decoded.destination = field(68, 32);
  decoded.port = static_cast<std::uint16_t>(field(100, 16));
}

}  // namespace sluice::nic::rpc
