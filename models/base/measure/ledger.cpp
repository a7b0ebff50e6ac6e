// SPDX-License-Identifier: Apache-2.0
#include "models/base/measure/ledger.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sluice::base {

Ledger the_ledger;

const char* stage_title(Stage stage) {
  static constexpr const char* titles[] = {
#define SLUICE_STAGE(name, title, meaning) title,
      SLUICE_STAGES(SLUICE_STAGE)
#undef SLUICE_STAGE
  };
  return titles[stage];
}

const char* drop_title(sluice_drop reason) {
  static constexpr const char* titles[] = {
#define SLUICE_DROP_REASON(name, title) title,
      SLUICE_DROPS(SLUICE_DROP_REASON)
#undef SLUICE_DROP_REASON
  };
  return titles[reason];
}

Ledger::Component Ledger::component(std::string_view path) {
  const auto found = std::find(paths_.begin(), paths_.end(), path);
  if (found != paths_.end()) return static_cast<Component>(found - paths_.begin());
  paths_.emplace_back(path);
  totals_.emplace_back();
  received_.emplace_back();
  told_.emplace_back();
  return static_cast<Component>(paths_.size() - 1);
}

RequestId Ledger::open(Stage stage, Component component, Time t, RequestId parent, std::uint64_t number) {
  while (slot(next_id_)->id != 0) grow();
  Request* r = slot(next_id_);
  r->id = next_id_++;
  r->parent = parent;
  r->number = number;
  r->measured = measuring_;
  r->ahead = {};
  r->tiles.clear();
  r->tiles.push_back({stage, component, {}, t});
  opened_ += r->measured;
  return r->id;
}

void Ledger::grow() {
  std::vector<Request> old(requests_.size() * 2);
  old.swap(requests_);
  for (Request& r : old)
    if (r.id != 0) *slot(r.id) = std::move(r);
}

const Ledger::Request* Ledger::find(RequestId id) const {
  const Request& r = requests_[id & (requests_.size() - 1)];
  return r.id == id && id != 0 ? &r : nullptr;
}

void Ledger::enter(RequestId id, Stage stage, Component component, Time t, Time ahead, Mark mark) {
  Request* r = slot(id);
  if (r->id != id || id == 0) return;
  Tile& last = r->tiles.back();
  const bool is_same_step = mark.steps.empty() || mark.steps == last.mark.steps;
  if (last.stage == stage && last.component == component && is_same_step) return;
  if (t < last.start) {
    if (last.start - t > tolerance_ + r->ahead && error_.empty())
      error_ = fmt::format("request {} goes back in time: {} at {} entered at {} ns, after {} at {} entered at {} ns",
                           id, stage_title(stage), paths_[component], t.nanoseconds(), stage_title(last.stage),
                           paths_[last.component], last.start.nanoseconds());
    ++clamped_;
    ahead = std::max(ahead, r->ahead);
    t = last.start;
  }
  r->ahead = ahead;
  r->tiles.push_back({stage, component, mark, t});
}

void Ledger::executed(RequestId id, Component component, std::uint64_t instructions) {
  Request* r = slot(id);
  if (r->id != id || id == 0) return;
  const auto here =
      std::find_if(r->tiles.rbegin(), r->tiles.rend(), [component](const Tile& t) { return t.component == component; });
  if (here != r->tiles.rend()) here->instructions += instructions;
}

bool Ledger::waited_since(RequestId id, Time since) {
  const Request* r = find(id);
  if (!r) return false;
  const Time here = r->tiles.back().start;
  if (here <= since || here - since <= tolerance_ + r->ahead) return true;
  ++clamped_;
  return false;
}

void Ledger::complete(RequestId id, Time t, std::optional<Time> since) {
  Request* r = slot(id);
  if (r->id != id || id == 0) return;
  const Tile& last = r->tiles.back();
  if (t < last.start) {
    if (last.start - t > tolerance_ + r->ahead && error_.empty())
      error_ = fmt::format("request {} ends at {} ns, before its last stage: {} at {} entered at {} ns", id,
                           t.nanoseconds(), stage_title(last.stage), paths_[last.component], last.start.nanoseconds());
    ++clamped_;
    t = last.start;
  }
  for (auto& listener : listeners_) listener(*r, t);
  if (r->measured) account(*r, since.value_or(r->start()), t);
  r->id = 0;
}

void Ledger::take_back(RequestId id, Time t) {
  Request* r = slot(id);
  if (r->id != id || id == 0) return;
  while (r->tiles.size() > 1 && r->tiles.back().start > t) r->tiles.pop_back();
}

void Ledger::account(const Request& r, Time since, Time end) {
  Time sum;
  bool receiving = true;
  for (std::size_t i = 0; i < r.tiles.size(); ++i) {
    const Time until = i + 1 < r.tiles.size() ? r.tiles[i + 1].start : end;
    const Time spent = until - r.tiles[i].start;
    Total& total = totals_[r.tiles[i].component][r.tiles[i].stage];
    total.femtoseconds += spent.femtoseconds();
    const bool goes_on =
        i > 0 && r.tiles[i - 1].stage == r.tiles[i].stage && r.tiles[i - 1].component == r.tiles[i].component;
    total.visits += !goes_on;
    sum += spent;
    const Stage stage = r.tiles[i].stage;
    receiving = receiving && stage != SLUICE_STAGE_handler && stage != SLUICE_STAGE_marshal;
    if (receiving)
      account_received(r.tiles[i], spent);
    else
      after_.femtoseconds += spent.femtoseconds();
  }
  after_.visits += !receiving;
  const Time latency = end - since;
  if (sum != latency && error_.empty())
    error_ = fmt::format("request {}: its stages sum to {} fs, its latency is {} fs", r.id, sum.femtoseconds(),
                         latency.femtoseconds());
  total_latency_ += latency.femtoseconds();
  ++completed_;
}

void Ledger::account_received(const Tile& tile, Time spent) {
  Mark mark = tile.mark;
  if (mark.steps.empty()) mark.steps = steps_of(tile.stage);
  auto& list = received_[tile.component][tile.stage];
  auto own = std::find_if(list.begin(), list.end(), [mark](const Received& r) { return r.mark == mark; });
  if (own == list.end()) own = list.insert(own, {mark, {}, 0});
  own->time.femtoseconds += spent.femtoseconds();
  ++own->time.visits;
  own->instructions += tile.instructions;
}

StepSet Ledger::told() const {
  StepSet all;
  bool any = false;
  for (std::size_t c = 0; c < received_.size(); ++c) {
    const bool has_software = std::any_of(received_[c].begin(), received_[c].end(), [](const auto& list) {
      return std::any_of(list.begin(), list.end(), [](const Received& r) { return is_software(r.mark.owner); });
    });
    if (!has_software) continue;
    all = std::exchange(any, true) ? all & told_[c] : told_[c];
  }
  return all;
}

bool Ledger::drop(RequestId id, std::string_view reason, Time t) {
  Request* r = slot(id);
  if (r->id != id || id == 0) return false;
  for (auto& listener : drop_listeners_) listener(*r, reason, t);
  if (r->measured) {
    ++dropped_measured_;
    ++dropped_[std::string(reason)];
  }
  r->id = 0;
  return true;
}

std::uint64_t Ledger::in_flight() const { return opened_ - completed_ - dropped_measured_; }

}  // namespace sluice::base
