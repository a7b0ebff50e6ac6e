// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Where the initial transient of a run ends, by MSER-5 (White, Simulation 69, 1997; White, Cobb and Spratt, Winter
/// Simulation Conference 2000): of the means of batches of 5 observations as many are cut at the front as make the
/// standard error of the mean of the others least, to 1 %.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::statistics {

/// Takes the observations of a run in their order. Memory is bounded: with 1,000 means, neighbours are joined, and
/// batches are twice as long from then on.
class Transient {
 public:
  void add(double observation);

  struct End {
    bool too_short;              ///< fewer than 20 batches, or more than half of them would be cut: no end is known
    std::uint64_t observations;  ///< that come before the end: whole batches; 0 where it was too short
  };
  End end() const;

  std::uint64_t batch() const { return batch_; }  ///< observations in a batch: what end() is exact to

 private:
  std::vector<double> sums_;  ///< of whole batches
  double sum_ = 0;            ///< of the batch under way
  std::uint64_t in_batch_ = 0;
  std::uint64_t batch_ = 5;
};

}  // namespace sluice::statistics
