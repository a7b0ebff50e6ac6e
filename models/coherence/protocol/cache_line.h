// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One line in one cache: the states of MESI or MOESI, and those between them. Plain C++.

#include <optional>

#include "models/coherence/protocol/message.h"

namespace sluice::coherence::protocol {

enum class CacheState : std::uint8_t {
  invalid,
  shared,
  exclusive,
  modified,
  owned,
  // A request is open.
  invalid_to_shared,
  invalid_to_modified,
  shared_to_modified,  ///< it may be read on
  owned_to_modified,   ///< likewise
  // A victim is under way, and its bytes stay here until the home has it.
  evicting,          ///< unchanged
  evicting_changed,  ///< changed
  evicting_nothing   ///< a snoop has taken it in the meantime
};

const char* to_text(CacheState);

class CacheLine {
 public:
  bool may_read() const;
  bool may_write() const { return state == CacheState::exclusive || state == CacheState::modified; }
  bool is_stable() const { return state <= CacheState::owned; }
  /// Whether the cache waits for the home's answer to a request.
  bool is_open() const { return state >= CacheState::invalid_to_shared && state <= CacheState::owned_to_modified; }

  /// An access that the line does not allow yet, in a stable state: returns the request for the home.
  Message ask(bool to_write);
  /// The core has written: may_write() is true.
  void write(Data);
  /// Whether evict() may be called.
  bool may_evict() const { return is_stable() && state != CacheState::invalid && !snoop && !is_granted; }
  /// The cache needs the place of the line. Returns the victim, or nothing where the home is not told.
  std::optional<Message> evict(const Rules&);

  /// Takes a message of the home. Returns the answer, if there is one now. From a grant or a refusal on (is_granted),
  /// the line stays as it is until settle(): the access that has waited takes place in between, at once or later.
  /// Throws ProtocolError.
  std::optional<Message> receive(const Message&, const Rules&);
  /// The access that has waited has taken place, or is given up. Answers a snoop that has come in the meantime. Throws
  /// ProtocolError where nothing was granted.
  std::optional<Message> settle(const Rules&);

  CacheState state = CacheState::invalid;
  Data data = 0;
  std::optional<Message> snoop;  ///< that has not been answered
  bool is_granted = false;       ///< an answer has come, and settle() has not been called
  bool awaits_conflict = false;  ///< the answer to Kind::conflict has not come

  bool operator==(const CacheLine&) const = default;

 private:
  std::optional<Message> take_snoop(const Message&, const Rules&);
  bool concerns_what_is_held(const Message&) const;
  Message answer(const Message&, const Rules&);
  void take_grant(const Message&);
};

}  // namespace sluice::coherence::protocol
