// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the RPC encoder makes of a packet, without time. Plain C++.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/nic/rpc_decoder/service.h"
#include "models/nic/rpc_encoder/rpc_encoder_regs.h"

namespace sluice::nic::rpc {

/// Entries of the encoder's table.
inline constexpr unsigned kSchemas = 128;
/// Of a packet's data; the encoder throws the rest away.
inline constexpr std::uint32_t kPacketBytes = 9216;

struct Arm {
  bool valid = false;
  bool is_default = false;
  std::uint8_t entry = 0;
  std::uint32_t value = 0;

  /// The register RPCE_ARM.
  std::uint32_t shape() const { return (valid ? RPCE_ARM_VALID : 0) | (is_default ? RPCE_ARM_DEFAULT : 0) | entry; }
};

struct Schema {
  std::array<Arm, RPCE_ARMS> arms;
  std::array<Part, RPCE_PARTS> parts;
  bool is_union() const {
    for (const Arm& arm : arms)
      if (arm.valid) return true;
    return false;
  }
  /// The arm that a status selects; null if there is none.
  const Arm* arm(std::uint32_t status) const;
};

class SchemaTable {
 public:
  void set(unsigned entry, const std::optional<Schema>& schema) { entries_.at(entry) = schema; }
  /// Null if there is none.
  const Schema* find(unsigned entry) const { return entry < kSchemas && entries_[entry] ? &*entries_[entry] : nullptr; }

 private:
  std::array<std::optional<Schema>, kSchemas> entries_;
};

/// What goes with a packet.
struct Request {
  bool is_call = false;
  std::uint8_t accept_stat = RPCE_SUCCESS;  ///< of a reply
  std::uint8_t schema = 0;
  std::uint64_t peer_mac = 0, own_mac = 0;  ///< 48 bits, of which the highest are first on the wire
  std::uint32_t peer_address = 0, own_address = 0;
  std::uint16_t peer_port = 0, own_port = 0;
  std::uint32_t xid = 0;
  std::uint32_t program = 0;  ///< of a call; of PROG_MISMATCH the lowest version
  std::uint32_t version = 0;  ///< of a call; of PROG_MISMATCH the highest version
  std::uint32_t procedure = 0;
};

struct Encoded {
  unsigned verdict = RPCE_REPLY;
  std::vector<std::uint8_t> frame;  ///< without a frame check sequence; empty if none leaves
};

/// Encodes a packet's data, which are little endian. `encoded` is overwritten.
void encode(std::span<const std::uint8_t> packet, const Request&, const SchemaTable&, Encoded& encoded);

}  // namespace sluice::nic::rpc
