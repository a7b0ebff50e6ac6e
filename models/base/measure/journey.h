// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Where a message has been, and when: recorded as it travels, written into the ledger by whoever learns which requests
/// waited for it (a descriptor's owner is known only once the descriptor has arrived). Plain C++.

#include <algorithm>
#include <array>
#include <vector>

#include "models/base/measure/ledger.h"

namespace sluice::base {

/// Keeps every hop. The first kNear lie in the object itself, enough for a board without switches; further ones lie in
/// allocated memory.
class Journey {
 public:
  struct Hop {
    Stage stage;
    Ledger::Component component;
    Time since;
  };

  Journey() = default;
  Journey(const Journey& other) : count_(other.count_), further_(other.further_) { copy_hops(other); }
  Journey& operator=(const Journey& other) {
    if (this == &other) return *this;
    count_ = other.count_;
    if (!(further_.empty() && other.further_.empty())) [[unlikely]]
      further_ = other.further_;
    copy_hops(other);
    return *this;
  }

  /// Records that the message is in this stage from `since` on.
  void enter(Stage stage, Ledger::Component component, Time since) {
    if (count_ < kNear) [[likely]]
      hops_[count_++] = {stage, component, since};
    else
      enter_further({stage, component, since});
  }
  /// Adds the message's stages to a request that has waited for it since the first hop. Does nothing to a request that
  /// has not (Ledger::waited_since).
  void apply(RequestId id) const {
    if (count_ == 0 || !the_ledger.waited_since(id, hops_[0].since)) return;
    for (unsigned i = 0; i < count_; ++i) enter_ledger(id, hops_[i]);
    for (const Hop& hop : further_) enter_ledger(id, hop);
  }
  void apply(const Spans& spans) const {
    for (const Span& s : spans) apply(s.id);
  }
  bool empty() const { return count_ == 0; }
  Time start() const { return hops_[0].since; }
  void clear() {
    count_ = 0;
    if (!further_.empty()) [[unlikely]]
      further_.clear();
  }

 private:
  static constexpr unsigned kNear = 12;

  static void enter_ledger(RequestId id, const Hop& hop) { the_ledger.enter(id, hop.stage, hop.component, hop.since); }
  [[gnu::noinline]] void enter_further(const Hop& hop) { further_.push_back(hop); }
  void copy_hops(const Journey& other) { std::copy_n(other.hops_.begin(), count_, hops_.begin()); }

  unsigned count_ = 0;  ///< of hops_
  std::array<Hop, kNear> hops_;
  std::vector<Hop> further_;  ///< empty until hops_ is full
};

}  // namespace sluice::base
