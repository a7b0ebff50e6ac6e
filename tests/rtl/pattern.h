// SPDX-License-Identifier: Apache-2.0
#pragma once
/// When beats are offered or taken, and how many packets a comparison of RTL and twin makes.

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "tests/rtl/rpc_frames.h"

namespace sluice::test {

/// 20,000, or a million with SLUICE_FULL=1.
inline unsigned packets_to_test() {
  const char* full = std::getenv("SLUICE_FULL");
  return full != nullptr && std::string_view(full) == "1" ? 1'000'000 : 20'000;
}

/// Always, or in turns of some cycles: up to 3, and once in three patterns up to `longest`.
class Pattern {
 public:
  Pattern(RpcFrames& random, bool always, unsigned longest) : random_(random), always_(always) {
    density_ = 1 + random_.upto(9);
    longest_ = 1 + random_.upto(random_.one_in(3) ? longest : 3);
  }
  bool operator()(std::uint64_t cycle) {
    if (always_) return true;
    while (known_.size() <= cycle)
      known_.insert(known_.end(), 1 + random_.upto(longest_ - 1), random_.upto(9) < density_);
    return known_[cycle];
  }

 private:
  RpcFrames& random_;
  bool always_;
  unsigned density_, longest_;
  std::vector<bool> known_;
};

}  // namespace sluice::test
