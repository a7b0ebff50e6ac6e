// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/coherence/explorer/small_system.h"

#include <algorithm>
#include <utility>

namespace sluice::coherence::protocol {
namespace {

// All that matters of bytes is whether they are those of the last write.
constexpr Data kOld = 0, kLatest = 1;

Channel channel_of(Kind k) {
  if (is_request(k)) return Channel::request;
  if (is_victim(k)) return Channel::victim;
  if (k == Kind::ack || k == Kind::ack_data || k == Kind::conflict) return Channel::answer;
  return is_snoop(k) ? Channel::snoop : Channel::response;
}

bool is_grant(Kind k) { return k == Kind::grant_shared || k == Kind::grant_exclusive || k == Kind::grant_upgrade; }

bool has_copy(const CacheLine& c) {
  return c.may_read() || c.state == CacheState::evicting || c.state == CacheState::evicting_changed;
}

}  // namespace

SmallSystem::SmallSystem(const Bounds& b, const Rules& r)
    : bounds(b), rules(r), waits(b.caches), accesses_left(b.caches, b.accesses.value_or(0)) {
  for (unsigned l = 0; l < b.lines; ++l)
    lines.push_back(
        {std::vector<CacheLine>(b.caches), HomeLine(b.caches), {}, kLatest, {}, false, false, b.recalls.value_or(0)});
  for (Line& l : lines) l.channels.resize(b.caches);
}

void SmallSystem::note(const char* who, const std::string& state, const std::string& what) const {
  if (on_transition) on_transition(std::string(who) + ": " + state + ": " + what);
}

void SmallSystem::send(unsigned cache, unsigned line, const Message& m) {
  lines[line].channels[cache][static_cast<unsigned>(channel_of(m.kind))].push_back(m);
}

/// A copy of the line is about to become the latest.
void SmallSystem::written(unsigned line) {
  Line& l = lines[line];
  for (CacheLine& c : l.caches) c.data = kOld;
  for (auto& channels : l.channels)
    for (auto& channel : channels)
      for (Message& m : channel) m.data = kOld;
  l.device = kOld;
  if (l.home.kept) l.home.kept = kOld;
}

void SmallSystem::access(unsigned cache, unsigned line, bool to_write) {
  CacheLine& c = lines[line].caches[cache];
  if (bounds.accesses) --accesses_left[cache];
  if (!to_write && c.may_read()) return;
  if (to_write && c.may_write()) {
    written(line);
    c.write(kLatest);
    return;
  }
  note("cache", to_text(c.state), to_write ? "store" : "load");
  waits[cache] = {line, to_write, false};
  send(cache, line, c.ask(to_write));
}

/// takes_place: unless it is refused. A store-conditional may fail though the line is there.
void SmallSystem::end_access(unsigned cache, bool takes_place) {
  const Access access = *std::exchange(waits[cache], {});
  CacheLine& c = lines[access.line].caches[cache];
  if (takes_place && !access.is_refused) {
    if (!(access.to_write ? c.may_write() : c.may_read()))
      throw ProtocolError("an access is answered that the line does not allow");
    if (access.to_write) {
      written(access.line);
      c.write(kLatest);
    } else if (c.data != kLatest) {
      throw ProtocolError("a load reads old bytes");
    }
  }
  if (const auto answer = c.settle(rules)) send_answer(cache, access.line, *answer);
}

void SmallSystem::send_answer(unsigned cache, unsigned line, Message answer) {
  if (fault == Fault::stale_ack && answer.kind == Kind::ack_data) answer.data = kOld;
  if (fault != Fault::lost_ack || answer.kind == Kind::conflict) send(cache, line, answer);
}

void SmallSystem::deliver_to_cache(unsigned cache, unsigned line, Message m) {
  CacheLine& c = lines[line].caches[cache];
  note("cache", to_text(c.state), to_text(m.kind));
  const CacheLine before = c;
  if (fault == Fault::wrong_holding && m.kind == Kind::snoop_unique && m.holding == Holding::shared)
    m.holding = Holding::exclusive;
  // Of CXL's snoops nothing says what the cache is taken to hold.
  if (rules.has_conflicts && is_snoop(m.kind)) m.holding = Holding::none;
  const std::optional<Message> answer = c.receive(m, rules);
  if (is_grant(m.kind) || m.kind == Kind::refuse) {
    if (!waits[cache] || waits[cache]->line != line)
      throw ProtocolError("a cache gets an answer that nobody waits for");
    waits[cache]->is_refused = m.kind == Kind::refuse;
  }
  if (fault == Fault::forgotten_invalidation && is_snoop(m.kind) && before.is_stable()) c = before;
  if (answer) send_answer(cache, line, *answer);
}

void SmallSystem::apply(unsigned line, Step step) {
  Line& l = lines[line];
  if (step.written) l.device = *step.written;
  for (const Addressed& a : step.sent) {
    const Kind kind = a.message.kind;
    if (fault == Fault::lost_snoop && is_snoop(kind)) {
      l.home.snooped[a.cache] = false;
      l.home.held[a.cache] = Holding::none;
      continue;
    }
    if ((fault == Fault::lost_grant && is_grant(kind)) ||
        (fault == Fault::lost_evict_done && kind == Kind::evict_done) ||
        (fault == Fault::lost_conflict_done && kind == Kind::conflict_done))
      continue;
    const unsigned to = fault == Fault::grant_for_another && is_grant(kind)
                            ? (a.cache + 1) % static_cast<unsigned>(l.caches.size())
                            : a.cache;
    send(to, line, a.message);
    if (fault == Fault::second_grant && is_grant(kind)) send(to, line, a.message);
  }
  if (step.recalled) l.has_recalled = true;
  if (step.asked && std::exchange(l.is_asked, true)) throw ProtocolError("the device is asked a second time");
}

void SmallSystem::deliver(unsigned cache, unsigned line, Channel channel) {
  auto& queue = lines[line].channels[cache][static_cast<unsigned>(channel)];
  Message m = queue.front();
  queue.pop_front();
  if (channel == Channel::response || channel == Channel::snoop) return deliver_to_cache(cache, line, m);
  HomeLine& home = lines[line].home;
  note("home",
       home.is_locked      ? "recalled"
       : home.is_recalling ? "recalling"
       : !home.open        ? "idle"
       : home.is_asked     ? "asked"
                           : "open",
       to_text(m.kind));
  const Data device = lines[line].device;
  Step step = home.receive(cache, m, rules);
  if (fault == Fault::lost_write_back && m.kind == Kind::write_back && step.written) step.written = device;
  apply(line, std::move(step));
}

void SmallSystem::device_steps(unsigned line, const TakeStep& step) const {
  const HomeLine& home = lines[line].home;
  if ((lines[line].is_asked && home.may_answer()) ||
      (fault == Fault::early_grant && home.open && !home.recall_wanted && !home.is_locked)) {
    for (const bool alone : {true, false}) {
      if (!alone && home.open->message.kind != Kind::read_shared) continue;
      step(false, [line, alone](SmallSystem& s) {
        HomeLine& h = s.lines[line].home;
        if (s.fault == Fault::early_grant) {
          h.snooped.assign(h.snooped.size(), false);
          h.is_asked = true;
        }
        s.lines[line].is_asked = false;
        const unsigned cache = h.open->cache;
        const bool reads = h.open->message.kind == Kind::read_shared;
        Step granted = h.grant(s.fault == Fault::stale_grant ? kOld : s.lines[line].device, alone, s.rules);
        if (s.fault == Fault::shared_as_exclusive && reads) {
          h.held[cache] = Holding::exclusive;
          granted.sent.front().message.kind = Kind::grant_exclusive;
        }
        s.apply(line, std::move(granted));
      });
    }
    if (bounds.may_refuse && home.may_answer())
      step(false, [line](SmallSystem& s) {
        s.lines[line].is_asked = false;
        s.apply(line, s.lines[line].home.refuse(s.rules));
      });
  }
  if (home.may_recall() && (!bounds.recalls || lines[line].recalls_left > 0))
    for (const Kind kind : {Kind::snoop_unique, Kind::snoop_shared})
      step(true, [line, kind](SmallSystem& s) {
        Line& l = s.lines[line];
        if (s.bounds.recalls) --l.recalls_left;
        l.recalled = kind;
        if (s.fault == Fault::lost_parked_request && l.home.is_asked) {
          l.home.open.reset();
          l.home.is_asked = false;
          l.is_asked = false;
        }
        Step recalled = l.home.recall(kind, s.rules);
        if (s.fault == Fault::early_recall && l.home.is_recalling) {
          l.home.is_recalling = false;
          l.home.recall_wanted.reset();
          l.home.is_locked = recalled.recalled = true;
        }
        s.apply(line, std::move(recalled));
      });
  if (lines[line].has_recalled && fault != Fault::no_unlock)
    step(false, [line](SmallSystem& s) {
      s.lines[line].recalled.reset();
      s.lines[line].has_recalled = false;
      s.apply(line, s.lines[line].home.unlock(s.rules));
    });
  if (home.may_write())
    step(true, [line](SmallSystem& s) {
      s.written(line);
      s.lines[line].device = kLatest;
    });
}

void SmallSystem::cache_steps(unsigned cache, unsigned line, const TakeStep& step) const {
  const Line& l = lines[line];
  for (unsigned ch = 0; ch < l.channels[cache].size(); ++ch)
    if (!l.channels[cache][ch].empty())
      step(false, [=](SmallSystem& s) { s.deliver(cache, line, static_cast<Channel>(ch)); });
  const CacheLine& c = l.caches[cache];
  if (c.is_granted)
    for (const bool takes_place : {true, false}) step(false, [=](SmallSystem& s) { s.end_access(cache, takes_place); });
  if (waits[cache] || (bounds.accesses && accesses_left[cache] == 0) || !c.is_stable()) return;
  for (const bool to_write : {false, true}) step(true, [=](SmallSystem& s) { s.access(cache, line, to_write); });
  if (c.may_evict())
    step(true, [=](SmallSystem& s) {
      CacheLine& evicted = s.lines[line].caches[cache];
      if (s.bounds.accesses) --s.accesses_left[cache];
      s.note("cache", to_text(evicted.state), "evict");
      if (const auto victim = evicted.evict(s.rules)) s.send(cache, line, *victim);
    });
}

void SmallSystem::for_each_step(const std::function<void(SmallSystem&&, bool is_new)>& next) const {
  const TakeStep step = [&](bool is_new, const Change& change) {
    SmallSystem after = *this;
    change(after);
    next(std::move(after), is_new);
  };
  for (unsigned l = 0; l < lines.size(); ++l) {
    for (unsigned c = 0; c < waits.size(); ++c) cache_steps(c, l, step);
    device_steps(l, step);
  }
}

bool SmallSystem::is_quiet() const {
  for (const Line& l : lines) {
    if (!l.home.is_idle() || l.is_asked) return false;
    for (const auto& channels : l.channels)
      for (const auto& channel : channels)
        if (!channel.empty()) return false;
    for (const CacheLine& c : l.caches)
      if (!c.is_stable() || c.snoop) return false;
  }
  return std::none_of(waits.begin(), waits.end(), [](const auto& w) { return w.has_value(); });
}

void SmallSystem::check() const {
  for (const Line& l : lines) {
    unsigned writers = 0, readers = 0;
    for (const CacheLine& c : l.caches) {
      writers += c.may_write();
      readers += c.may_read();
      if (c.may_read() && c.data != kLatest) throw ProtocolError("a cache holds old bytes");
    }
    if (l.has_recalled) {
      if (l.device != kLatest) throw ProtocolError("the device recalls a line and gets old bytes");
      if (writers > 0 || (l.recalled == Kind::snoop_unique && readers > 0))
        throw ProtocolError("the device recalls a line, and a cache goes on with it");
    }
    if (writers > 1 || (writers == 1 && readers > 1)) throw ProtocolError("a cache may write what another one holds");
    if (readers == 0 && l.home.is_idle() && l.device != kLatest && is_quiet())
      throw ProtocolError("the bytes of the last write are lost");
  }
}

std::string SmallSystem::key() const {
  std::string key;
  const auto add = [&key](auto... values) { (key.push_back(static_cast<char>(values)), ...); };
  const auto add_message = [&add](const Message& m) { add(m.kind, m.holding, has_data(m.kind) ? m.data : 0); };
  for (const Line& l : lines) {
    for (unsigned c = 0; c < l.caches.size(); ++c) {
      const CacheLine& line = l.caches[c];
      add(line.state, has_copy(line) ? line.data : 0, line.snoop.has_value(), line.awaits_conflict, line.is_granted,
          l.home.held[c], l.home.snooped[c], l.home.is_evicting[c]);
      if (line.snoop) add_message(*line.snoop);
      for (const auto& channel : l.channels[c]) {
        add(channel.size());
        for (const Message& m : channel) add_message(m);
      }
    }
    add(l.device, l.recalled ? 1 + (*l.recalled == Kind::snoop_unique) : 0, l.recalls_left, l.home.queue.size());
    for (const Addressed& a : l.home.queue) add(a.cache), add_message(a.message);
    add(l.home.open.has_value(), l.home.is_asked, l.home.kept ? 1 + *l.home.kept : 0,
        l.home.recall_wanted ? 1 + (*l.home.recall_wanted == Kind::snoop_unique) : 0, l.home.is_recalling,
        l.home.is_locked, l.home.is_wholly_recalled, l.has_recalled, l.is_asked);
    if (l.home.open) add(l.home.open->cache), add_message(l.home.open->message);
  }
  for (unsigned c = 0; c < waits.size(); ++c)
    add(waits[c] ? 1 + 4 * waits[c]->line + 2 * waits[c]->to_write + waits[c]->is_refused : 0, accesses_left[c]);
  return key;
}

std::string SmallSystem::text() const {
  std::string text;
  for (unsigned n = 0; n < lines.size(); ++n) {
    const Line& l = lines[n];
    text += "line " + std::to_string(n) + ": device has " + (l.device == kLatest ? "the latest" : "old bytes");
    if (l.home.open)
      text +=
          ", serves a " + std::string(to_text(l.home.open->message.kind)) + " of " + std::to_string(l.home.open->cache);
    if (l.home.is_recalling) text += ", recalls";
    if (l.home.is_locked) text += ", has recalled";
    for (unsigned c = 0; c < l.caches.size(); ++c) {
      text += "; cache " + std::to_string(c) + ": " + to_text(l.caches[c].state);
      for (const auto& channel : l.channels[c])
        for (const Message& m : channel) text += std::string(" <") + to_text(m.kind) + ">";
    }
    text += "\n";
  }
  return text;
}

}  // namespace sluice::coherence::protocol
