// SPDX-License-Identifier: Apache-2.0
#pragma once
/// In which cycles the RPC encoder takes the beats of packets and gives those of frames. Plain C++.
///
/// A beat is taken when the packet buffer has room for it; what is in front of the buffer never stands still. What is
/// behind it stands still while the output does.

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "models/nic/rpc_decoder/standing_stages.h"

namespace sluice::nic::rpc {

class EncoderTiming {
 public:
  /// ready: whether the consumer takes a beat in a cycle; asked for any cycle, in rising order but for repetitions.
  explicit EncoderTiming(std::function<bool(std::uint64_t)> ready) : stages_(std::move(ready)) {}

  /// The next beats are those of a packet with so many bytes, of which a frame with so many becomes; 0: none leaves.
  void begin(std::uint32_t packet_bytes, std::uint32_t frame_bytes);
  /// The packet's next beat is offered from this cycle on. Returns the cycle in which it is taken.
  std::uint64_t offer(std::uint64_t cycle);
  /// The cycles in which the consumer takes the beats of all frames; no packet is offered after it.
  const std::vector<std::uint64_t>& finish() { return stages_.finish(); }
  /// Of a consumer that is always ready: the cycle in which it takes the last beat of the packets so far.
  std::uint64_t drain() { return stages_.drain(); }

 private:
  struct Release {
    std::uint64_t cycle = 0;
    std::uint32_t beats = 0;
  };
  void read(std::uint64_t cycle);

  StandingStages stages_;
  std::uint32_t beats_ = 0;   ///< of the packet
  std::uint32_t stored_ = 0;  ///< of these, in the packet buffer
  std::uint32_t frame_beats_ = 0;
  std::uint32_t seen_ = 0;
  std::uint64_t next_ = 0;        ///< the first cycle in which another beat can be taken
  std::uint64_t last_issue_ = 0;  ///< of the latest packet that has been read
  bool has_issued_ = false;
  // The packet buffer, as far as its room is known.
  std::uint32_t beats_held_ = 0, packets_held_ = 0;
  std::deque<Release> releases_;  ///< that have not been counted yet
};

}  // namespace sluice::nic::rpc
