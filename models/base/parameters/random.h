// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Random numbers that depend on nothing but seed, replication, component path and purpose: Philox4x64-10 (Random123),
/// a block cipher in counter mode. Adding a component, or drawing more from one stream, changes no other stream; two
/// boards see identical arrivals for the same seed. Every result, exponential() included, is computed with integers, so
/// it is the same on every host, at every optimisation level and with every libm. Plain C++.

#include <array>
#include <cstdint>
#include <string_view>

#include "models/base/time/time.h"

namespace sluice::base {

/// What all random streams of one simulation share.
struct RandomSeed {
  std::uint64_t seed = 1;
  std::uint64_t replication = 0;  ///< number of the repetition of the same experiment
};

/// One independent sequence of random numbers. Streams of different seed, replication, path or purpose have values in
/// common only by chance. Copying a stream copies its position.
class RandomStream {
 public:
  /// path: of the component that draws, for example "traffic"; purpose: for example "arrival".
  RandomStream(RandomSeed seed, std::string_view path, std::string_view purpose);

  /// Uniform over all 64-bit values.
  std::uint64_t next() {
    if (left_ == 0) [[unlikely]]
      refill();
    return block_[kBlock - left_--];
  }
  /// Uniform over [0, bound), without bias; bound 0 stands for 2^64.
  std::uint64_t below(std::uint64_t bound);
  /// Uniform over [0, 1): a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// True with probability numerator / denominator.
  bool chance(std::uint64_t numerator, std::uint64_t denominator) { return below(denominator) < numerator; }
  /// Exponentially distributed with the given mean, rounded down to an integer: 0 to 44.4 times the mean, at most 2^64
  /// - 1. Rounding down makes the mean of the results smaller by one half.
  std::uint64_t exponential(std::uint64_t mean);
  Time exponential(Time mean) { return Time::fs(exponential(mean.femtoseconds())); }

 private:
  static constexpr unsigned kBlock = 4;
  void refill();

  std::array<std::uint64_t, 2> key_;
  std::array<std::uint64_t, 4> counter_;  ///< block number, replication, purpose, 0
  std::array<std::uint64_t, kBlock> block_ = {};
  unsigned left_ = 0;
};

/// -ln((u + 1) / 2^64) as a fixed-point number with 58 fraction bits; its error is below 2^-52. exponential() uses it.
std::uint64_t negative_log(std::uint64_t u);

}  // namespace sluice::base
