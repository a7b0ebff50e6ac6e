// SPDX-License-Identifier: Apache-2.0
#pragma once
/// How one machine differs from the next of its kind, and one start from the next: clocks that are a little fast or
/// slow, and the phases of what happens periodically. Drawn from the seed. Plain C++.

#include <optional>
#include <string_view>

#include "models/base/parameters/quantity.h"
#include "models/base/parameters/random.h"
#include "models/base/time/time.h"

namespace sluice::base {

class Spread {
 public:
  /// From now on, what is asked for is drawn from the seed. Before, or after a call without a seed, every clock has its
  /// nominal period, and nothing that only spreads time takes place.
  void draw_from(std::optional<RandomSeed> seed) { seed_ = seed; }
  bool drawn() const { return seed_.has_value(); }

  /// The period of a clock whose frequency may deviate by `tolerance` parts per million: uniform within it, in steps of
  /// a tenth of a part per million. path, purpose: as of a RandomStream; the same pair is the same clock.
  Ratio period(Ratio nominal, unsigned tolerance, std::string_view path, std::string_view purpose) const;
  /// A key for random_at(); 0 where nothing is drawn.
  std::uint64_t key(std::string_view path, std::string_view purpose) const;
  /// When something that has a period happens first: uniform over [0, period).
  Time phase(Time period, std::string_view path, std::string_view purpose) const;

 private:
  std::optional<RandomSeed> seed_;
};

/// The simulation's spread.
Spread& spread();

}  // namespace sluice::base
