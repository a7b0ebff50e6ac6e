// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/idle.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::riscv {

using namespace base::literals;
using base::Time;

namespace {

/// The end of a sentence about a list that does not ascend; empty: it does.
std::string descends(const std::vector<Time>& list) {
  const auto at = std::adjacent_find(list.begin(), list.end(), [](Time a, Time b) { return a >= b; });
  return at == list.end() ? "" : "must ascend: a later state is deeper than the one before it";
}

}  // namespace

void IdleStates::describe(base::Schema<IdleStates>& s) {
  using I = IdleStates;
  s.summary("idle states of wfi");
  s.add("exit_latency", &I::exit_latency,
        "from an interrupt at a hart that sleeps to its next instruction, for each state; empty: wfi ends at once")
      .range(0_ns, 10_ms)
      .length(0, 16)
      .acts_with({"sleeps"}, "no hart has left wfi")
      .assumed("a hart whose clock runs on");
  s.add("enter_after", &I::enter_after, "time in wfi after which the hart enters each state")
      .range(0_ns, 1_s)
      .length(0, 16)
      .assumed("as exit_latency");
  s.add("wrs_exit_latency", &I::wrs_exit_latency, "from what ends a wait in wrs to the hart's next instruction")
      .range(0_ns, 10_ms)
      .acts_with({"reservation_waits"}, "no hart has waited in wrs")
      .assumed("a hart whose clock runs on");
  s.rule("enter_after", [](const I& p) -> std::string {
    if (p.enter_after.size() == p.exit_latency.size()) return descends(p.enter_after);
    return fmt::format("must have as many elements as idle.exit_latency, which has {}", p.exit_latency.size());
  });
  s.rule("exit_latency", [](const I& p) { return descends(p.exit_latency); });
}

IdleUse IdleUse::operator-(const IdleUse& start) const {
  IdleUse since = *this;
  since.before -= start.before;
  since.leaving -= start.leaving;
  for (std::size_t i = 0; i < states.size(); ++i) {
    since.states[i].entered -= start.states[i].entered;
    since.states[i].slots -= start.states[i].slots;
  }
  return since;
}

IdleLog::IdleLog(const IdleStates& states, const base::Clock& slots) : exit_latency_(states.exit_latency) {
  for (const Time t : states.enter_after) enter_after_.push_back(slots.next_cycle(t));
  ended_.states.resize(enter_after_.size());
}

Time IdleLog::wake(std::uint64_t slot) {
  const std::uint64_t since = *asleep_since_;
  add_sleep(ended_, since, slot);
  asleep_since_.reset();
  Time exit;
  for (std::size_t i = 0; i < enter_after_.size() && since + enter_after_[i] <= slot; ++i) exit = exit_latency_[i];
  return exit;
}

void IdleLog::left(std::uint64_t slot) {
  ended_.leaving += slot - *leaving_since_;
  leaving_since_.reset();
}

void IdleLog::add_sleep(IdleUse& use, std::uint64_t from, std::uint64_t until) const {
  std::uint64_t at = from;
  std::uint64_t* spent = &use.before;
  for (std::size_t i = 0; i < enter_after_.size() && from + enter_after_[i] <= until; ++i) {
    *spent += from + enter_after_[i] - at;
    at = from + enter_after_[i];
    ++use.states[i].entered;
    spent = &use.states[i].slots;
  }
  *spent += until - at;
}

IdleUse IdleLog::use(std::uint64_t until) const {
  IdleUse use = ended_;
  if (asleep_since_) add_sleep(use, *asleep_since_, std::max(until, *asleep_since_));
  if (leaving_since_) use.leaving += std::max(until, *leaving_since_) - *leaving_since_;
  return use;
}

}  // namespace sluice::riscv
