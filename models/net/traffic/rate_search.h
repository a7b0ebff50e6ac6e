// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The search for the highest rate without loss (RFC 2544, section 26.1). Plain C++.

#include <cstdint>

namespace sluice::net {

/// Tries the highest rate first, then halves the interval between the highest rate seen to be without loss and the
/// lowest seen with loss, until it is no wider than the resolution. Rates are calls or frames per second.
///
/// Calls are lost only once buffers are full, so a trial must be long enough to fill them: shortest_trial().
class RateSearch {
 public:
  /// highest and resolution: at least 1.
  RateSearch(std::uint64_t highest, std::uint64_t resolution)
      : lossy_(highest), rate_(highest), resolution_(resolution) {}

  /// Number of calls after which a system has lost one if it can buffer `buffered` calls and serves `resolution` fewer
  /// calls per second than rate(). Each call adds resolution / rate() calls to its backlog.
  std::uint64_t shortest_trial(std::uint64_t buffered) const {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(buffered) * rate_ / resolution_) + 1;
  }

  /// Number of trials until a search ends, at most.
  static unsigned most_trials(std::uint64_t highest, std::uint64_t resolution) {
    unsigned trials = 1;
    for (std::uint64_t left = highest; left > resolution; left -= left / 2) ++trials;
    return trials;
  }

  bool done() const { return done_; }
  std::uint64_t rate() const { return rate_; }    ///< to try next
  std::uint64_t found() const { return sound_; }  ///< highest rate without loss so far; 0 when there was none

  /// Records the outcome of a trial at rate().
  void record(bool loss) {
    if (!loss) sound_ = rate_;
    if (loss) lossy_ = rate_;
    rate_ = sound_ + (lossy_ - sound_) / 2;
    done_ = lossy_ - sound_ <= resolution_ || rate_ == sound_;
  }

 private:
  std::uint64_t sound_ = 0;
  std::uint64_t lossy_;
  std::uint64_t rate_;
  std::uint64_t resolution_;
  bool done_ = false;
};

}  // namespace sluice::net
