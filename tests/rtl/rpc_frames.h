// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Frames for the RPC decoder: calls of every kind, and what becomes of them.

#include <cstdint>
#include <random>
#include <vector>

#include "models/nic/rpc_decoder/service.h"

namespace sluice::test {

using FrameBytes = std::vector<std::uint8_t>;

/// A call with right checksums, without a tag, options and a credential: 82 bytes, and the arguments as they travel.
FrameBytes plain_call(const nic::rpc::ServiceKey&, const FrameBytes& arguments = {});

/// Writes an entry of the decoder's table by write(offset, value).
template <class Write>
void enter_service(unsigned entry, const nic::rpc::Service& s, Write&& write) {
  write(RPCD_PROGRAM, s.key.program);
  write(RPCD_VERSION, s.key.version);
  write(RPCD_PROCEDURE, s.key.procedure);
  write(RPCD_PORT, s.key.port);
  write(RPCD_FUNCTION_LOW, static_cast<std::uint32_t>(s.function_pointer));
  write(RPCD_FUNCTION_HIGH, static_cast<std::uint32_t>(s.function_pointer >> 32));
  write(RPCD_OWNER, s.owner);
  for (unsigned i = 0; i < RPCD_PARTS; ++i) {
    write(RPCD_PART_CLASSES(i), s.parts[i].classes);
    write(RPCD_PART_SHAPE(i), s.parts[i].shape());
  }
  write(RPCD_COMMIT, RPCD_COMMIT_VALID | entry);
}

/// Makes services and frames out of a seed.
class RpcFrames {
 public:
  explicit RpcFrames(std::uint64_t seed) : random_(seed) {}

  /// 0 to most, both included.
  std::uint32_t upto(std::uint32_t most) { return std::uniform_int_distribution<std::uint32_t>(0, most)(random_); }
  bool one_in(unsigned n) { return upto(n - 1) == 0; }

  /// One with arguments of any shape that the decoder takes.
  nic::rpc::Service service(unsigned number);
  /// A call of a service, by any way that calls have: a tag, options, credentials, a checksum or none, padding.
  FrameBytes call(const nic::rpc::Service&);
  /// A call that has been changed in a header, cut off, made longer, or is no call at all.
  FrameBytes changed(const nic::rpc::Service&);

 private:
  std::vector<std::uint8_t> arguments(const nic::rpc::Service&);
  void word(std::vector<std::uint8_t>& to, std::uint32_t value);
  void bytes(std::vector<std::uint8_t>& to, std::uint32_t count);

  std::mt19937_64 random_;
  // Where the last call has its layers.
  std::size_t ipv4_ = 0, udp_ = 0, rpc_ = 0;
  void finish(FrameBytes& frame, bool with_udp) const;
};

}  // namespace sluice::test
