// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the RPC encoder's s_axis_tuser has with a packet's first beat (rtl/rpc_encoder/rpc_encoder.sv).

#include <array>
#include <cstdint>

#include "models/nic/rpc_encoder/encode.h"

namespace sluice::nic::rpc {

using RequestWords = std::array<std::uint32_t, (RPCE_USER_BITS + 31) / 32>;

inline RequestWords words_of(const Request& r) {
  RequestWords words{};
  const auto put = [&words](unsigned at, unsigned bits, std::uint64_t value) {
    for (unsigned i = 0; i < bits; ++i)
      if (value >> i & 1) words[(at + i) / 32] |= std::uint32_t{1} << (at + i) % 32;
  };
  put(RPCE_USER_CALL_AT, 1, r.is_call);
  put(RPCE_USER_ACCEPT_STAT_AT, 3, r.accept_stat);
  put(RPCE_USER_SCHEMA_AT, 8, r.schema);
  put(RPCE_USER_PEER_MAC_AT, 48, r.peer_mac);
  put(RPCE_USER_OWN_MAC_AT, 48, r.own_mac);
  put(RPCE_USER_PEER_ADDRESS_AT, 32, r.peer_address);
  put(RPCE_USER_OWN_ADDRESS_AT, 32, r.own_address);
  put(RPCE_USER_PEER_PORT_AT, 16, r.peer_port);
  put(RPCE_USER_OWN_PORT_AT, 16, r.own_port);
  put(RPCE_USER_XID_AT, 32, r.xid);
  put(RPCE_USER_PROGRAM_AT, 32, r.program);
  put(RPCE_USER_VERSION_AT, 32, r.version);
  put(RPCE_USER_PROCEDURE_AT, 32, r.procedure);
  return words;
}

}  // namespace sluice::nic::rpc
