// SPDX-License-Identifier: Apache-2.0
#include "models/coherence/protocol/cache_line.h"

#include <string>
#include <utility>

namespace sluice::coherence::protocol {
namespace {

[[noreturn]] void refuse(const CacheLine& line, const char* what) {
  throw ProtocolError(std::string("a cache whose line is ") + to_text(line.state) + " " + what);
}

}  // namespace

const char* to_text(CacheState state) {
  switch (state) {
    case CacheState::invalid:
      return "invalid";
    case CacheState::shared:
      return "shared";
    case CacheState::exclusive:
      return "exclusive";
    case CacheState::modified:
      return "modified";
    case CacheState::owned:
      return "owned";
    case CacheState::invalid_to_shared:
      return "asked for to read";
    case CacheState::invalid_to_modified:
      return "asked for to write";
    case CacheState::shared_to_modified:
      return "shared, and asked for to write";
    case CacheState::owned_to_modified:
      return "owned, and asked for to write";
    case CacheState::evicting:
    case CacheState::evicting_changed:
    case CacheState::evicting_nothing:
      return "on its way home";
  }
  return "?";
}

bool CacheLine::may_read() const {
  return (state >= CacheState::shared && state <= CacheState::owned) || state == CacheState::shared_to_modified ||
         state == CacheState::owned_to_modified;
}

Message CacheLine::ask(bool to_write) {
  if (is_granted) refuse(*this, "asks for it before the access that was granted");
  switch (state) {
    case CacheState::invalid:
      state = to_write ? CacheState::invalid_to_modified : CacheState::invalid_to_shared;
      return {to_write ? Kind::read_unique : Kind::read_shared};
    case CacheState::shared:
    case CacheState::owned:
      if (!to_write) break;
      state = state == CacheState::shared ? CacheState::shared_to_modified : CacheState::owned_to_modified;
      return {Kind::upgrade};
    default:
      break;
  }
  refuse(*this, "asks for it");
}

void CacheLine::write(Data written) {
  if (!may_write()) refuse(*this, "writes it");
  state = CacheState::modified;
  data = written;
}

std::optional<Message> CacheLine::evict(const Rules& rules) {
  if (!may_evict()) refuse(*this, "evicts it");
  if (state == CacheState::modified || state == CacheState::owned) {
    state = CacheState::evicting_changed;
    return Message{Kind::write_back, Holding::none, data};
  }
  if (rules.has_conflicts) {
    state = CacheState::invalid;
    return {};
  }
  state = CacheState::evicting;
  return Message{Kind::evict};
}

std::optional<Message> CacheLine::receive(const Message& m, const Rules& rules) {
  switch (m.kind) {
    case Kind::grant_shared:
    case Kind::grant_exclusive:
    case Kind::grant_upgrade:
    case Kind::refuse:
      take_grant(m);
      return {};
    case Kind::evict_done:
      if (state < CacheState::evicting) refuse(*this, "is told that it has been evicted");
      state = CacheState::invalid;
      return {};
    case Kind::conflict_done:
      if (!awaits_conflict) refuse(*this, "gets an answer to a conflict that it has not told of");
      awaits_conflict = false;
      if (is_granted) return {};
      return answer(*std::exchange(snoop, {}), rules);
    case Kind::snoop_shared:
    case Kind::snoop_unique:
      return take_snoop(m, rules);
    default:
      refuse(*this, "gets what is for a home");
  }
}

/// Whether a snoop means what the cache has now, and not what a grant that is under way will give it.
bool CacheLine::concerns_what_is_held(const Message& m) const {
  if (state == CacheState::shared_to_modified) return m.holding == Holding::shared;
  if (state == CacheState::owned_to_modified) return m.holding == Holding::owned;
  return !is_open();
}

std::optional<Message> CacheLine::take_snoop(const Message& m, const Rules& rules) {
  if (snoop) refuse(*this, "gets a second snoop before it has answered the first");
  if (rules.has_conflicts && is_open()) {
    snoop = m;
    awaits_conflict = true;
    return Message{Kind::conflict};
  }
  if (!is_granted && concerns_what_is_held(m)) return answer(m, rules);
  snoop = m;
  return {};
}

std::optional<Message> CacheLine::settle(const Rules& rules) {
  if (!is_granted) refuse(*this, "ends an access that was not granted");
  is_granted = false;
  if (!snoop || awaits_conflict) return {};
  return answer(*std::exchange(snoop, {}), rules);
}

Message CacheLine::answer(const Message& m, const Rules& rules) {
  const bool to_share = m.kind == Kind::snoop_shared;
  switch (state) {
    case CacheState::shared:
    case CacheState::exclusive:
      state = to_share ? CacheState::shared : CacheState::invalid;
      return {Kind::ack, to_share ? Holding::shared : Holding::none};
    case CacheState::modified:
    case CacheState::owned:
      state = !to_share ? CacheState::invalid : rules.has_owned ? CacheState::owned : CacheState::shared;
      return {Kind::ack_data, !to_share ? Holding::none : rules.has_owned ? Holding::owned : Holding::shared, data};
    case CacheState::shared_to_modified:
      if (to_share) return {Kind::ack, Holding::shared};
      state = CacheState::invalid_to_modified;
      return {Kind::ack};
    case CacheState::owned_to_modified:
      if (to_share) return {Kind::ack_data, Holding::owned, data};
      state = CacheState::invalid_to_modified;
      return {Kind::ack_data, Holding::none, data};
    case CacheState::evicting_changed:
      state = CacheState::evicting_nothing;
      return {Kind::ack_data, Holding::none, data};
    case CacheState::evicting:
      state = CacheState::evicting_nothing;
      return {Kind::ack};
    case CacheState::invalid:
    case CacheState::invalid_to_shared:
    case CacheState::invalid_to_modified:
    case CacheState::evicting_nothing:
      // Only a home that is not told of each eviction asks for what is not there.
      if (!rules.has_conflicts) refuse(*this, "is asked for it");
      return {Kind::ack};
  }
  refuse(*this, "is asked for it");
}

void CacheLine::take_grant(const Message& m) {
  const bool to_write = state != CacheState::invalid_to_shared;
  const bool has_bytes = state == CacheState::shared_to_modified || state == CacheState::owned_to_modified;
  if (!is_open()) refuse(*this, "gets an answer to a request that it has not sent");
  switch (m.kind) {
    case Kind::grant_shared:
      if (to_write) refuse(*this, "gets it to read only");
      state = CacheState::shared;
      data = m.data;
      break;
    case Kind::grant_exclusive:
      if (state == CacheState::owned_to_modified) refuse(*this, "gets bytes for those that it has changed");
      state = CacheState::exclusive;
      data = m.data;
      break;
    case Kind::grant_upgrade:
      if (!has_bytes) refuse(*this, "gets it without its bytes");
      // What it owns the home may not have.
      state = state == CacheState::owned_to_modified ? CacheState::modified : CacheState::exclusive;
      break;
    default:
      state = state == CacheState::shared_to_modified  ? CacheState::shared
              : state == CacheState::owned_to_modified ? CacheState::owned
                                                       : CacheState::invalid;
  }
  is_granted = true;
}

}  // namespace sluice::coherence::protocol
