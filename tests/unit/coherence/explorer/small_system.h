// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A few caches, a device that is the home of a few lines, and every message that is under way between them: one state
/// of a search through all that can happen.

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/coherence/protocol/cache_line.h"
#include "models/coherence/protocol/home_line.h"

namespace sluice::coherence::protocol {

/// What a message or a step is changed to, to see whether the search finds it.
enum class Fault {
  none,
  lost_ack,  ///< a cache's answer to a snoop does not arrive
  lost_grant,
  lost_evict_done,
  lost_conflict_done,
  lost_snoop,              ///< and the home does not wait for its answer
  forgotten_invalidation,  ///< a cache answers that it has given up what it goes on reading
  stale_grant,             ///< the device answers with bytes of an earlier write
  stale_ack,               ///< a cache answers a snoop with such bytes
  lost_write_back,         ///< the device does not take a victim's bytes
  early_grant,             ///< a request is answered though another cache has the line
  second_grant,            ///< a request is answered twice
  grant_for_another,       ///< the answer goes to another cache
  shared_as_exclusive,     ///< a reader gets the line alone while others read
  lost_parked_request,     ///< a recall forgets the request that the device holds back
  early_recall,            ///< the device takes a recall for done before the caches have answered
  no_unlock,               ///< the device keeps what it has recalled
  wrong_holding            ///< a snoop says that a cache has the line alone which shares it
};

struct Bounds {
  unsigned caches = 2;
  unsigned lines = 1;
  /// Accesses and evictions of each cache; nothing: any number.
  std::optional<unsigned> accesses;
  /// Recalls of each line; nothing: any number.
  std::optional<unsigned> recalls;
  bool may_refuse = true;
};

enum class Channel { request, victim, answer, response, snoop };

struct SmallSystem {
  struct Access {
    unsigned line;
    bool to_write;
    bool is_refused = false;
    bool operator==(const Access&) const = default;
  };
  struct Line {
    std::vector<CacheLine> caches;
    HomeLine home;
    /// By cache and Channel. Nothing is in order but messages of one channel, for one line.
    std::vector<std::array<std::deque<Message>, 5>> channels;
    Data device;                   ///< bytes of the device
    std::optional<Kind> recalled;  ///< what the device has asked for, until it goes on
    bool has_recalled = false;     ///< and got
    bool is_asked = false;         ///< the device has a request to answer
    unsigned recalls_left;
  };

  SmallSystem(const Bounds&, const Rules&);

  /// Calls `next` with each state that one step leads to. is_new: the step is an access, an eviction, a recall or a
  /// write of the device; else it carries on what is under way.
  void for_each_step(const std::function<void(SmallSystem&&, bool is_new)>& next) const;
  /// Nothing is under way, and nobody waits.
  bool is_quiet() const;
  /// Throws ProtocolError for two writers, a writer and a reader, or bytes that are not those of the last write.
  void check() const;
  /// The same for the same state.
  std::string key() const;
  std::string text() const;

  Bounds bounds;
  Rules rules;
  Fault fault = Fault::none;
  std::vector<Line> lines;
  std::vector<std::optional<Access>> waits;  ///< by cache
  std::vector<unsigned> accesses_left;
  /// Called with what a cache or a home has met in which state.
  std::function<void(const std::string&)> on_transition;

 private:
  void access(unsigned cache, unsigned line, bool to_write);
  void deliver(unsigned cache, unsigned line, Channel);
  void deliver_to_cache(unsigned cache, unsigned line, Message);
  void apply(unsigned line, Step);
  void send(unsigned cache, unsigned line, const Message&);
  void send_answer(unsigned cache, unsigned line, Message);
  void written(unsigned line);
  void end_access(unsigned cache, bool takes_place);
  void note(const char* who, const std::string& state, const std::string& what) const;
  using Change = std::function<void(SmallSystem&)>;
  using TakeStep = std::function<void(bool is_new, const Change&)>;
  void cache_steps(unsigned cache, unsigned line, const TakeStep&) const;
  void device_steps(unsigned line, const TakeStep&) const;
};

}  // namespace sluice::coherence::protocol
