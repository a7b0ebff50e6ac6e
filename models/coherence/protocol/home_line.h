// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One line at its home: which caches hold it, whose turn it is, and what the device behind the home says to that.
/// Plain C++.

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "models/coherence/protocol/message.h"

namespace sluice::coherence::protocol {

/// A message to or from the cache of this number.
struct Addressed {
  unsigned cache;
  Message message;

  bool operator==(const Addressed&) const = default;
};

/// What follows from a step of the home.
struct Step {
  std::vector<Addressed> sent;
  std::optional<Data> written;  ///< the device's line has these bytes from now on
  bool asked = false;           ///< the device is to answer HomeLine::open, at any time at which may_answer()
  bool recalled = false;        ///< what the device has recalled is there, and locked until unlock()
};

/// Serves one request at a time, and in the order in which they come. First it makes the other caches give up what the
/// request excludes, and then the device is asked, which may take its time. The device may recall the line at any time,
/// also while it holds back an answer.
class HomeLine {
 public:
  explicit HomeLine(unsigned caches)
      : held(caches, Holding::none), snooped(caches, false), is_evicting(caches, false) {}

  /// Takes a message of a cache. Throws ProtocolError.
  Step receive(unsigned cache, const Message&, const Rules&);

  /// The device answers the open request with the bytes of its line. They reach the cache unless it has those of the
  /// last write already, or another cache has: then the device was not allowed to change them (may_write()). alone: a
  /// cache that reads may have it exclusively where no other holds it. Throws ProtocolError where nothing is asked, or
  /// the line is recalled.
  Step grant(Data, bool alone, const Rules&);
  /// The device refuses it.
  Step refuse(const Rules&);
  /// The device wants what caches hold: they give it up, or keep it to read. Throws ProtocolError for a line that it
  /// has recalled already.
  Step recall(Kind snoop, const Rules&);
  /// The device goes on without the line.
  Step unlock(const Rules&);

  bool is_idle() const { return !open && !recall_wanted && !is_locked && queue.empty(); }
  /// Whether grant() and refuse() may be called.
  bool may_answer() const { return open && is_asked && !recall_wanted && !is_locked; }
  /// Whether the device may change its bytes of the line: no cache has any.
  bool may_write() const;
  bool may_recall() const { return !recall_wanted && !is_locked; }

  std::vector<Holding> held;          ///< by cache
  std::vector<bool> snooped;          ///< caches whose answers to snoops are missing
  std::vector<bool> is_evicting;      ///< caches whose victims have come, and are told so when they have answered
  std::deque<Addressed> queue;        ///< requests that wait
  std::optional<Addressed> open;      ///< the request that is served
  bool is_asked = false;              ///< the device is to answer it
  std::optional<Data> kept;           ///< bytes that a cache has changed and keeps, for the open request
  std::optional<Kind> recall_wanted;  ///< by the device
  bool is_recalling = false;          ///< the snoops that are out are for the recall
  bool is_locked = false;             ///< the device has what it has recalled
  bool is_wholly_recalled = false;    ///< and no cache has kept anything

  bool operator==(const HomeLine&) const = default;

 private:
  bool is_waiting() const;
  bool any_other(unsigned cache) const;
  void snoop(unsigned cache, Kind, Step&);
  void go_on(const Rules&, Step&);
  void start(const Rules&, Step&);
  void start_recall(Step&);
  void end_recall(Step&);
  void take_answer(unsigned cache, const Message&, Step&);
  void take_victim(unsigned cache, const Message&, Step&);
  void end_request(Step&, Kind, Data, const Rules&);
};

}  // namespace sluice::coherence::protocol
