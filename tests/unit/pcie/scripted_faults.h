// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A plan of TLP faults for tests: which TLP is hit is written in a list.

#include <deque>
#include <utility>
#include <vector>

#include "models/pcie/data_link.h"

namespace sluice::pcie {

/// Hits TLPs by the number of their transmission, counted from 1, replays included. With `completions_only`, only
/// completions with data are counted and hit.
struct Script : TlpFaultPlan {
  std::vector<std::pair<unsigned, MessageFate>> fates;
  bool completions_only = false;
  std::deque<MessageFault> faults;
  unsigned seen = 0;
  MessageFault* next(const Tlp& t, bool) override {
    if (completions_only && t.type != TlpType::kCplD) return nullptr;
    ++seen;
    for (const auto& [number, fate] : fates) {
      if (number != seen) continue;
      faults.emplace_back().fate = fate;
      return &faults.back();
    }
    return nullptr;
  }
};

}  // namespace sluice::pcie
