// SPDX-License-Identifier: Apache-2.0
#include "models/coherence/protocol/home_line.h"

#include <algorithm>
#include <string>

namespace sluice::coherence::protocol {
namespace {

[[noreturn]] void refuse_message(unsigned cache, const char* what) {
  throw ProtocolError("cache " + std::to_string(cache) + " " + what);
}

}  // namespace

bool HomeLine::is_waiting() const { return std::find(snooped.begin(), snooped.end(), true) != snooped.end(); }

bool HomeLine::any_other(unsigned cache) const {
  for (unsigned c = 0; c < held.size(); ++c)
    if (c != cache && held[c] != Holding::none) return true;
  return false;
}

Step HomeLine::receive(unsigned cache, const Message& m, const Rules& rules) {
  Step step;
  if (cache >= held.size()) refuse_message(cache, "is none of this home");
  if (is_request(m.kind)) {
    const auto is_of = [cache](const Addressed& a) { return a.cache == cache; };
    if ((open && is_of(*open)) || std::any_of(queue.begin(), queue.end(), is_of))
      refuse_message(cache, "asks again before it has its answer");
    queue.push_back({cache, m});
  } else if (is_victim(m.kind)) {
    take_victim(cache, m, step);
  } else if (m.kind == Kind::conflict) {
    if (!snooped[cache]) refuse_message(cache, "tells of a conflict with a snoop that it has not got");
    step.sent.push_back({cache, {Kind::conflict_done}});
  } else if (m.kind == Kind::ack || m.kind == Kind::ack_data) {
    take_answer(cache, m, step);
  } else {
    refuse_message(cache, "sends what only a home sends");
  }
  go_on(rules, step);
  return step;
}

void HomeLine::take_victim(unsigned cache, const Message& m, Step& step) {
  // A snoop may have taken the line, and its bytes, while the victim was under way.
  if (held[cache] != Holding::none && m.kind == Kind::write_back) {
    step.written = m.data;
  }
  held[cache] = Holding::none;
  // A cache that asked for the line again could not tell what a snoop means that is still under way to it.
  if (snooped[cache])
    is_evicting[cache] = true;
  else
    step.sent.push_back({cache, {Kind::evict_done}});
}

void HomeLine::take_answer(unsigned cache, const Message& m, Step& step) {
  if (!snooped[cache]) refuse_message(cache, "answers a snoop that it has not got");
  snooped[cache] = false;
  held[cache] = m.holding;
  if (is_evicting[cache]) {
    // Its victim has overtaken its answer: what it kept then is gone.
    held[cache] = Holding::none;
    is_evicting[cache] = false;
    step.sent.push_back({cache, {Kind::evict_done}});
  }
  if (m.kind != Kind::ack_data) return;
  if (held[cache] == Holding::owned && !is_recalling) {
    kept = m.data;
    return;
  }
  step.written = m.data;
}

void HomeLine::snoop(unsigned cache, Kind kind, Step& step) {
  snooped[cache] = true;
  step.sent.push_back({cache, {kind, held[cache]}});
}

/// Takes all steps that need nothing from outside.
void HomeLine::go_on(const Rules& rules, Step& step) {
  if (is_waiting()) return;
  if (is_recalling) return end_recall(step);
  if (open && !is_asked) is_asked = step.asked = true;
  if (recall_wanted) return start_recall(step);
  if (!open && !is_locked && !queue.empty()) start(rules, step);
}

void HomeLine::start(const Rules& rules, Step& step) {
  open = queue.front();
  queue.pop_front();
  const unsigned cache = open->cache;
  Kind& kind = open->message.kind;
  if (kind != Kind::upgrade && held[cache] != Holding::none) {
    if (!rules.has_conflicts) refuse_message(cache, "asks for a line that it holds");
    held[cache] = Holding::none;  // it has lost it without a word
  }
  if (kind == Kind::upgrade && held[cache] == Holding::none) kind = Kind::read_unique;
  for (unsigned c = 0; c < held.size(); ++c) {
    if (c == cache || held[c] == Holding::none) continue;
    if (kind != Kind::read_shared)
      snoop(c, Kind::snoop_unique, step);
    else if (held[c] != Holding::shared)
      snoop(c, Kind::snoop_shared, step);
  }
  go_on(rules, step);
}

void HomeLine::start_recall(Step& step) {
  is_recalling = true;
  for (unsigned c = 0; c < held.size(); ++c)
    if (held[c] != Holding::none && (*recall_wanted == Kind::snoop_unique || held[c] != Holding::shared))
      snoop(c, *recall_wanted, step);
  if (!is_waiting()) end_recall(step);
}

void HomeLine::end_recall(Step& step) {
  is_wholly_recalled = *recall_wanted == Kind::snoop_unique;
  is_recalling = false;
  recall_wanted.reset();
  is_locked = true;
  step.recalled = true;
  if (is_wholly_recalled) kept.reset();  // the device has it now, and may change it
}

bool HomeLine::may_write() const {
  const bool is_held = std::any_of(held.begin(), held.end(), [](Holding h) { return h != Holding::none; });
  return is_locked ? is_wholly_recalled : !is_held && !kept && !is_waiting();
}

Step HomeLine::recall(Kind kind, const Rules& rules) {
  if (!may_recall()) throw ProtocolError("the device recalls a line that it has recalled");
  Step step;
  recall_wanted = kind;
  go_on(rules, step);
  return step;
}

Step HomeLine::unlock(const Rules& rules) {
  if (!is_locked) throw ProtocolError("the device unlocks a line that it has not recalled");
  Step step;
  is_locked = is_wholly_recalled = false;
  go_on(rules, step);
  return step;
}

Step HomeLine::grant(Data data, bool alone, const Rules& rules) {
  if (!may_answer()) throw ProtocolError("the device grants a line that it is not asked for, or has recalled");
  Step step;
  const unsigned cache = open->cache;
  if (kept) data = *kept;
  // A recall may have taken what the cache had when it asked.
  const bool has_bytes = open->message.kind == Kind::upgrade && held[cache] != Holding::none;
  const bool to_read = open->message.kind == Kind::read_shared;
  const bool is_shared = to_read && (!alone || any_other(cache));
  held[cache] = is_shared ? Holding::shared : Holding::exclusive;
  end_request(step,
              is_shared   ? Kind::grant_shared
              : has_bytes ? Kind::grant_upgrade
                          : Kind::grant_exclusive,
              data, rules);
  return step;
}

Step HomeLine::refuse(const Rules& rules) {
  if (!may_answer()) throw ProtocolError("the device refuses a line that it is not asked for, or has recalled");
  Step step;
  end_request(step, Kind::refuse, 0, rules);
  return step;
}

void HomeLine::end_request(Step& step, Kind kind, Data data, const Rules& rules) {
  step.sent.push_back({open->cache, {kind, Holding::none, has_data(kind) ? data : 0}});
  open.reset();
  is_asked = false;
  kept.reset();
  go_on(rules, step);
}

}  // namespace sluice::coherence::protocol
