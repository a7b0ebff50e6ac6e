// SPDX-License-Identifier: Apache-2.0
#include "models/nic/rpc_encoder/timing.h"

#include <algorithm>

#include "models/nic/rpc_encoder/encode.h"

namespace sluice::nic::rpc {
namespace {

constexpr std::uint32_t kBeat = 64;
constexpr std::uint32_t kBeats = 512;   // of the packet buffer
constexpr std::uint32_t kPackets = 32;  // in it
constexpr std::uint64_t kAccept = 1;    // cycles
constexpr std::uint64_t kTable = 3;
constexpr std::uint64_t kParts = 2 * RPCE_PARTS;
constexpr std::uint64_t kWords = 2;  // the last part's classes, and the words
constexpr std::uint64_t kSum = 3;
constexpr std::uint64_t kHeaders = 5;
constexpr std::uint64_t kQueue = 1;
constexpr std::uint64_t kMerge = 2;  // the packet buffer's answer, and the merged beat

std::uint32_t beats_of(std::uint32_t bytes) { return (bytes + kBeat - 1) / kBeat; }

}  // namespace

void EncoderTiming::begin(std::uint32_t packet_bytes, std::uint32_t frame_bytes) {
  beats_ = std::max(1u, beats_of(packet_bytes));
  stored_ = std::min(beats_, kPacketBytes / kBeat);
  frame_beats_ = beats_of(frame_bytes);
  seen_ = 0;
}

std::uint64_t EncoderTiming::offer(std::uint64_t cycle) {
  cycle = std::max(cycle, next_);
  if (seen_ < stored_) {
    // Room that is given back in a cycle is there in the next one.
    while (!releases_.empty() && releases_.front().cycle < cycle) {
      beats_held_ -= releases_.front().beats;
      --packets_held_;
      releases_.pop_front();
    }
    while (beats_held_ == kBeats || (seen_ == 0 && packets_held_ == kPackets)) {
      cycle = std::max(cycle, releases_.front().cycle + 1);
      beats_held_ -= releases_.front().beats;
      --packets_held_;
      releases_.pop_front();
    }
    if (seen_ == 0) ++packets_held_;
    ++beats_held_;
    if (seen_ + 1 == stored_) read(cycle + kAccept + kTable + kParts + kWords + kSum + kHeaders + kQueue);
  }
  ++seen_;
  next_ = cycle + 1;
  return cycle;
}

/// The packet waits for the reader from this cycle on.
void EncoderTiming::read(std::uint64_t cycle) {
  // It begins in the cycle of the last beat before.
  if (has_issued_) cycle = std::max(cycle, last_issue_);
  std::uint64_t issue = stages_.enabled_from(cycle);
  for (std::uint32_t i = 0; i < std::max(1u, frame_beats_); ++i) {
    issue = stages_.enabled_from(issue + 1);
    if (frame_beats_ != 0) stages_.coming().push_back(stages_.enabled(issue) + kMerge);
  }
  last_issue_ = issue;
  has_issued_ = true;
  releases_.push_back({issue, stored_});
}

}  // namespace sluice::nic::rpc
