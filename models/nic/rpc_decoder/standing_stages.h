// SPDX-License-Identifier: Apache-2.0
#pragma once
/// In which cycles beats go through stages that all stand still while the stream register behind them is full. Plain
/// C++.
///
/// What goes on in such stages needs only the cycles that are enabled: these are counted from 0, and a beat is said to
/// be at the register in one of them.

#include <cstdint>
#include <functional>
#include <vector>

namespace sluice::nic::rpc {

class StandingStages {
 public:
  /// ready: whether the consumer takes a beat in a cycle; asked for any cycle, in rising order but for repetitions.
  explicit StandingStages(std::function<bool(std::uint64_t)> ready) : ready_(std::move(ready)) {}

  /// The first cycle from this one on in which the stages are enabled. Cycles that are asked for rise.
  std::uint64_t enabled_from(std::uint64_t cycle);
  /// Of a cycle that enabled_from has given: how many before it were enabled.
  std::uint64_t enabled(std::uint64_t cycle) const { return cycle - frozen_; }
  /// Enabled cycles in which the next beats are at the register are appended here.
  std::vector<std::uint64_t>& coming() { return pending_; }
  /// The cycles in which the consumer takes all beats; none comes after it.
  const std::vector<std::uint64_t>& finish();
  /// Of a consumer that is always ready: the cycle in which it takes the last beat so far. More may come after it.
  std::uint64_t drain();

 private:
  void push_until(std::uint64_t cycle);
  void push();

  std::function<bool(std::uint64_t)> ready_;
  std::vector<std::uint64_t> pending_;
  std::size_t next_ = 0;           ///< the first of them that has not come to the register
  std::uint64_t frozen_ = 0;       ///< cycles so far that were not enabled
  std::uint64_t frozen_from_ = 0;  ///< the last ones of these: from here
  std::uint64_t frozen_to_ = 0;    ///< to before here
  std::vector<std::uint64_t> got_;
  std::uint64_t last_got_ = 0;
  bool has_got_ = false;
};

}  // namespace sluice::nic::rpc
