// SPDX-License-Identifier: Apache-2.0
#include "models/nic/rpc_decoder/standing_stages.h"

#include <algorithm>

namespace sluice::nic::rpc {

std::uint64_t StandingStages::enabled_from(std::uint64_t cycle) {
  push_until(cycle);
  while (cycle >= frozen_from_ && cycle < frozen_to_) {
    cycle = frozen_to_;
    push_until(cycle);
  }
  return cycle;
}

/// Lets all beats come to the register that do so before a cycle.
void StandingStages::push_until(std::uint64_t cycle) {
  while (next_ < pending_.size() && pending_[next_] + frozen_ < cycle) push();
  if (next_ == pending_.size()) {
    pending_.clear();
    next_ = 0;
  }
}

void StandingStages::push() {
  const std::uint64_t pushed = pending_[next_++] + frozen_;
  std::uint64_t leaves = pushed + 1;
  if (has_got_) leaves = std::max(leaves, last_got_ + 1);
  // The register holds two beats from here until the one before this one has left.
  if (has_got_ && last_got_ > pushed) {
    frozen_from_ = pushed + 1;
    frozen_to_ = last_got_ + 1;
    frozen_ += last_got_ - pushed;
  }
  while (!ready_(leaves)) ++leaves;
  last_got_ = leaves;
  has_got_ = true;
  got_.push_back(leaves);
}

const std::vector<std::uint64_t>& StandingStages::finish() {
  while (next_ < pending_.size()) push();
  return got_;
}

std::uint64_t StandingStages::drain() {
  finish();
  pending_.clear();
  next_ = 0;
  got_.clear();
  return last_got_;
}

}  // namespace sluice::nic::rpc
