// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Packets for the RPC encoder: replies and calls of every kind, right and wrong.

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/rtl/encoder_bench.h"
#include "tests/rtl/rpc_frames.h"

namespace sluice::test {

/// A packet, and if its data are right what is to come of them, made apart from the encoder's twin.
struct RpcPacket {
  EncoderInput input;
  bool is_right = false;
  std::vector<std::uint8_t> xdr;     ///< of a right one, its data as XDR has them
  std::vector<std::uint8_t> little;  ///< and little endian, with nothing behind them and zeros as padding
  bool is_union = false;
};

/// Makes schemas and packets out of a seed.
class RpcPackets {
 public:
  explicit RpcPackets(std::uint64_t seed) : random_(seed) {}

  RpcFrames& random() { return random_; }
  /// The table's next content; some entries have none, and some are unions.
  const std::vector<std::optional<nic::rpc::Schema>>& schemas();
  RpcPacket packet();

 private:
  nic::rpc::Request request();
  void data(RpcPacket& packet, const nic::rpc::Schema& schema);
  void part(RpcPacket& packet, const nic::rpc::Part& part);
  void word(RpcPacket& packet, std::uint32_t value);
  void hyper(RpcPacket& packet, std::uint64_t value);
  void opaque(RpcPacket& packet, std::uint32_t bytes);
  std::uint64_t bits(unsigned count);

  RpcFrames random_;
  std::vector<std::optional<nic::rpc::Schema>> schemas_;
};

}  // namespace sluice::test
