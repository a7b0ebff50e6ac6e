// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/coherence/explorer/search.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace sluice::coherence::protocol {
namespace {

class Search {
 public:
  Search(const Bounds& bounds, const Rules& rules, Fault fault) {
    SmallSystem first(bounds, rules);
    first.fault = fault;
    first.on_transition = [this](const std::string& t) { found_.transitions.insert(t); };
    visit(std::move(first), 0);
  }

  Found run() {
    while (!frontier_.empty() && found_.mistake.empty()) {
      const SmallSystem state = std::move(frontier_.front());
      frontier_.pop_front();
      expand(state, next_++);
    }
    if (found_.mistake.empty()) find_endless();
    found_.states = from_.size();
    return std::move(found_);
  }

 private:
  /// The number of a state, which is new or known.
  std::uint32_t visit(SmallSystem&& state, std::uint32_t from) {
    const auto [place, is_new] = numbers_.try_emplace(state.key(), static_cast<std::uint32_t>(from_.size()));
    if (!is_new) return place->second;
    from_.push_back(from);
    is_quiet_.push_back(state.is_quiet());
    texts_.push_back(state.fault == Fault::none ? std::string() : state.text());
    try {
      state.check();
    } catch (const ProtocolError& e) {
      tell(e.what(), place->second, state);
    }
    frontier_.push_back(std::move(state));
    return place->second;
  }

  void expand(const SmallSystem& state, std::uint32_t number) {
    std::size_t ends = 0;
    try {
      state.for_each_step([&](SmallSystem&& next, bool is_new) {
        ++found_.steps;
        const std::uint32_t to = visit(std::move(next), number);
        if (is_new) return;
        ++ends;
        ends_.push_back({to, number});
      });
    } catch (const ProtocolError& e) {
      tell(e.what(), number, state);
      return;
    }
    if (ends == 0 && !is_quiet_[number]) tell("nothing can happen any more, and somebody waits", number, state);
  }

  /// Finds states from which no order of messages leads to a quiet one.
  void find_endless() {
    std::vector<std::vector<std::uint32_t>> before(from_.size());
    for (const auto& [to, from] : ends_) before[to].push_back(from);
    std::vector<bool> ends = is_quiet_;
    std::vector<std::uint32_t> open;
    for (std::uint32_t n = 0; n < ends.size(); ++n)
      if (ends[n]) open.push_back(n);
    while (!open.empty()) {
      const std::uint32_t n = open.back();
      open.pop_back();
      for (const std::uint32_t b : before[n])
        if (!ends[b]) ends[b] = true, open.push_back(b);
    }
    const auto never = std::find(ends.begin(), ends.end(), false);
    if (never != ends.end()) found_.mistake = "what is under way never ends";
  }

  void tell(const std::string& mistake, std::uint32_t number, const SmallSystem& state) {
    if (!found_.mistake.empty()) return;
    found_.mistake = mistake;
    found_.trail.push_back(state.text());
    for (std::uint32_t n = from_[number]; n != 0; n = from_[n]) found_.trail.push_back(texts_[n]);
    std::reverse(found_.trail.begin(), found_.trail.end());
  }

  Found found_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::uint32_t> from_;
  std::vector<bool> is_quiet_;
  std::vector<std::string> texts_;                             ///< of each state; empty where no mistake is expected
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends_;  ///< steps that are no new access: to, from
  std::deque<SmallSystem> frontier_;
  std::uint32_t next_ = 0;
};

}  // namespace

Found search(const Bounds& bounds, const Rules& rules, Fault fault) { return Search(bounds, rules, fault).run(); }

}  // namespace sluice::coherence::protocol
