// SPDX-License-Identifier: Apache-2.0
#pragma once
/// In which cycles the RPC decoder gives what it makes of a frame. Plain C++.
///
/// Between its stream registers all stages of the decoder stand still in the same cycles, so that what goes on there
/// needs only the cycles that are enabled.

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "models/nic/rpc_decoder/decode.h"
#include "models/nic/rpc_decoder/standing_stages.h"

namespace sluice::nic::rpc {

/// Between the stream registers: beats go in and come out, in enabled cycles.
class StageTiming {
 public:
  /// The next beats are those of a frame that goes this way.
  void begin(const Path&);
  /// Its next beat is at the first layer in this cycle. Appends the cycles in which beats are at the output's register.
  void beat(std::uint64_t cycle, std::vector<std::uint64_t>& out) { strip(0, cycle, out); }
  /// Beats that leave for the frame.
  unsigned leaving() const { return (is_call_ ? argument_beats_ : 1) + (extra_ ? 1 : 0); }

 private:
  struct Layer {
    std::uint32_t beats = 0;  ///< that are not behind its limit
    std::uint32_t drops = 0;  ///< of these, at the start, with no byte that is left
    std::uint32_t out = 0;
    std::uint32_t seen = 0;
  };
  void strip(unsigned layer, std::uint64_t cycle, std::vector<std::uint64_t>& out);
  void arguments(std::uint64_t cycle, std::vector<std::uint64_t>& out);

  std::array<Layer, Path::kLayers> layers_;
  bool is_call_ = false;
  bool extra_ = false;  ///< the arguments' last beat does not fit behind the control line's head
  std::uint32_t argument_beats_ = 0;
  std::uint32_t seen_ = 0;
};

/// The whole decoder, with a consumer that is not always ready.
class StreamTiming {
 public:
  /// ready: whether the consumer takes a beat in a cycle; asked for any cycle, in rising order but for repetitions.
  explicit StreamTiming(std::function<bool(std::uint64_t)> ready) : stages_(std::move(ready)) {}

  void begin(const Path& path) { layers_.begin(path); }
  unsigned leaving() const { return layers_.leaving(); }
  /// The frame's next beat is offered from this cycle on. Returns the cycle in which it is taken.
  std::uint64_t offer(std::uint64_t cycle);
  /// The cycles in which the consumer takes the beats of all frames; no frame is offered after it.
  const std::vector<std::uint64_t>& finish() { return stages_.finish(); }

 private:
  StandingStages stages_;
  StageTiming layers_;
  // Of the input's register: the beats that were offered last.
  std::uint64_t accepted_ = 0, entered_ = 0, entered_before_ = 0;
  unsigned offered_ = 0;
};

}  // namespace sluice::nic::rpc
