#pragma once
/// Where a message has been, and when: recorded as it travels, written into the ledger by whoever learns which requests
/// waited for it (a descriptor's owner is known only once the descriptor has arrived). Plain C++.

#include <array>

#include "models/base/ledger.h"

namespace sluice::base {

class Journey {
 public:
  static constexpr unsigned kMost = 12;
  struct Hop {
    Stage stage;
    Ledger::Component component;
    Time since;
  };

  /// The message is in this stage since then. Hops beyond kMost extend the last one.
  void enter(Stage stage, Ledger::Component component, Time since) {
    if (count_ < kMost) hops_[count_++] = {stage, component, since};
  }
  /// The request waited for this message since the first hop: its stages become the request's. Nothing happens to one
  /// that did not (Ledger::waited_since).
  void apply(RequestId id) const {
    if (count_ == 0 || !the_ledger.waited_since(id, hops_[0].since)) return;
    for (unsigned i = 0; i < count_; ++i) the_ledger.enter(id, hops_[i].stage, hops_[i].component, hops_[i].since);
  }
  void apply(const Spans& spans) const {
    for (const Span& s : spans) apply(s.id);
  }
  bool empty() const { return count_ == 0; }
  Time start() const { return hops_[0].since; }
  void clear() { count_ = 0; }

 private:
  unsigned count_ = 0;
  std::array<Hop, kMost> hops_;
};

}  // namespace sluice::base
