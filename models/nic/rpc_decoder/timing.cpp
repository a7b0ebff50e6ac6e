// SPDX-License-Identifier: Apache-2.0
#include "models/nic/rpc_decoder/timing.h"

#include <algorithm>

namespace sluice::nic::rpc {
namespace {

constexpr std::uint32_t kBeat = 64;
constexpr std::uint64_t kTable = 3;               // cycles
constexpr std::uint64_t kParts = 2 * RPCD_PARTS;  // of the parts of the arguments
constexpr std::uint64_t kLine = 2;                // the last part's classes, and the control line

std::uint32_t beats_of(std::uint32_t bytes) { return std::max(1u, (bytes + kBeat - 1) / kBeat); }

}  // namespace

void StageTiming::begin(const Path& path) {
  for (unsigned i = 0; i < Path::kLayers; ++i) {
    const Path::Strip& s = path.strips[i];
    const std::uint32_t beats = beats_of(s.limited ? std::min(s.bytes, s.limit) : s.bytes);
    layers_[i] = {beats, std::min(s.skip / kBeat, beats - 1), beats_of(s.left()), 0};
  }
  is_call_ = path.is_call;
  argument_beats_ = beats_of(path.arguments);
  extra_ = path.is_call && path.arguments - kBeat * (argument_beats_ - 1) > kBeat - RPCD_LINE_HEAD_BYTES;
  seen_ = 0;
}

void StageTiming::strip(unsigned number, std::uint64_t cycle, std::vector<std::uint64_t>& out) {
  if (number == Path::kLayers) return arguments(cycle, out);
  Layer& layer = layers_[number];
  const std::uint32_t at = layer.seen++;
  if (at >= layer.beats) return;
  // A beat fills up the one before it, and a packet's rest follows its last one.
  if (at > layer.drops && at - layer.drops <= layer.out) strip(number + 1, cycle + 1, out);
  if (at + 1 == layer.beats && layer.out > at - layer.drops) strip(number + 1, cycle + 2, out);
}

void StageTiming::arguments(std::uint64_t cycle, std::vector<std::uint64_t>& out) {
  cycle += kTable + kParts + kLine;
  const bool last = ++seen_ == argument_beats_;
  if (is_call_ || last) out.push_back(cycle);
  if (last && extra_) out.push_back(cycle + 1);
}

std::uint64_t StreamTiming::offer(std::uint64_t cycle) {
  // The input's register takes a beat while it holds less than two.
  if (offered_ >= 1) cycle = std::max(cycle, accepted_ + 1);
  if (offered_ >= 2) cycle = std::max(cycle, entered_before_ + 1);
  accepted_ = cycle;
  // The beat goes on in the first enabled cycle.
  std::uint64_t enters = cycle + 1;
  if (offered_ >= 1) enters = std::max(enters, entered_ + 1);
  enters = stages_.enabled_from(enters);
  entered_before_ = entered_;
  entered_ = enters;
  offered_ = std::min(2u, offered_ + 1);
  layers_.beat(stages_.enabled(enters), stages_.coming());
  return cycle;
}

}  // namespace sluice::nic::rpc
