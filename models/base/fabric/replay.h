// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The link layer of one direction of a link while something goes wrong: sequence numbers, Nak, replay timer and
/// replay. A link without faults needs no such layer, since acknowledged messages cost nothing but a share of the rate.
/// Plain C++.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/fabric/link_direction.h"
#include "models/base/time/calendar.h"

namespace sluice::base {

enum class MessageFate : std::uint8_t {
  corrupted,  ///< its check fails: the receiver sends a Nak
  lost,       ///< it never arrives: the receiver misses it at the next one, or the sender's replay timer ends
  poisoned,   ///< it arrives with its content marked as wrong
  unsent,     ///< it was never sent
};

/// One fault of a message, and what it cost.
struct MessageFault {
  MessageFate fate = MessageFate::corrupted;
  Time at;         ///< start of the message, or of the replay that it is part of
  Time recovered;  ///< arrival of the last replayed message; Time::max(): not yet, never, or nothing to recover
  std::uint64_t delayed = 0;  ///< messages
  Time delay;                 ///< of these, summed
  std::uint64_t replayed = 0;
  std::uint64_t replayed_bytes = 0;  ///< on the wire
  std::uint64_t naks = 0;
  std::uint64_t timeouts = 0;  ///< of the replay timer
  std::uint64_t retrains = 0;
  std::vector<RequestId> requests;  ///< whose bytes these messages carry, as far as known
};

/// Decides which fault happens to which message.
template <MessageProtocol P>
class FaultPlan {
 public:
  virtual ~FaultPlan() = default;
  /// Called with each message that is sent, and again with each replay of it. Returns null if the message arrives. For
  /// a replay, only corrupted and lost are allowed. The fault must live until the end of the simulation.
  virtual MessageFault* next(const typename P::Message&, bool replay) = 0;
};

struct ReplayTiming {
  Time nak_latency;    ///< from a bad message's last bit to the first of the Nak on an idle link
  Time ack_latency;    ///< from a good message's last bit to the first of its Ack, at most
  Time replay_timer;   ///< without Ack or Nak, from the end of the oldest message
  Time retrain;        ///< during which neither direction sends
  unsigned nak_bytes;  ///< on the wire
};

/// P has, besides what links need: poison(message), which marks its content as wrong, and for_each_request(message, f),
/// which calls f with each of the ledger's requests whose bytes it carries.
///
/// The receiver discards a message whose check fails or that follows a missing one, and all messages behind it, and
/// asks for all of them with one Nak. The sender sends them again in order, before anything new. If a message fails
/// again before any has got through, there is no second Nak: the replay timer ends the wait. After three replays
/// without progress, the fourth begins with a retraining of the link, during which nothing is sent in either direction.
template <MessageProtocol P>
class ReplayLayer : public LinkDirection<P>::Guard {
 public:
  using Direction = LinkDirection<P>;
  using Message = typename P::Message;
  using Pointer = typename P::Pointer;
  using Verdict = typename Direction::Guard::Verdict;

  /// Becomes the guard of `direction`; Naks travel in `reverse`. path: of the direction.
  ReplayLayer(const std::string& path, Direction& direction, Direction& reverse, const ReplayTiming& timing,
              FaultPlan<P>& plan)
      : direction_(direction), reverse_(reverse), timing_(timing), plan_(plan), key_(path_key(path + ".data_link")) {
    direction.set_guard(this);
  }
  ~ReplayLayer() override { direction_.set_guard(nullptr); }
  ReplayLayer(const ReplayLayer&) = delete;
  ReplayLayer& operator=(const ReplayLayer&) = delete;

  Verdict judge(Pointer&, Time end, Time arrival) override;
  void retrain(bool on) override;
  std::uint64_t cut() override;
  void for_each_taken(const std::function<void(const Message&)>& f) const override {
    for (const ReplayEntry& k : replay_buffer_) f(*k.message);
  }

 private:
  struct ReplayEntry {
    Pointer message;
    Time due;              ///< when it would have arrived
    bool offered = false;  ///< the plan has seen it
  };

  /// Returns whether the message, whose last bit leaves at `end`, gets through.
  Verdict meet(MessageFault*, ReplayEntry&, Time end, Time arrival);
  void expect_nak(Time bad_arrival);
  void make_nak();
  void send_nak();
  void start_timer(Time end);
  void run_timer(Time until);
  void replay();
  void send_again();
  void recovered(Time at);
  static void note_requests(MessageFault&, const Message&);

  /// Replay at which the count overflows: the link retrains first.
  static constexpr unsigned kMostReplays = 4;

  Direction& direction_;
  Direction& reverse_;
  ReplayTiming timing_;
  FaultPlan<P>& plan_;
  ComponentKey key_;
  std::vector<ReplayEntry> replay_buffer_;  ///< sent, not received: to be replayed
  std::vector<MessageFault*> open_;         ///< not recovered from; the last one caused the current recovery
  std::vector<MessageFault*> done_;         ///< faults that the last recovery has recovered from
  bool recovering_ = false;
  bool nak_sent_ = false;           ///< NAK_SCHEDULED: set until the requested message has come
  bool retraining_ = false;         ///< for a fault of either direction
  bool nak_waits_ = false;          ///< a Nak waits for the end of retraining
  bool replay_waits_ = false;       ///< a replay waits for the end of retraining
  std::optional<Time> timer_left_;  ///< time left on the replay timer while retraining holds it
  unsigned replays_ = 0;            ///< replays since a message last got through or the link retrained
  Time last_arrival_;               ///< of a good message
  Calendar::Handle nak_;            ///< entry that makes the Nak, then sends it, then delivers it
  Calendar::Handle timer_;
  Time timer_end_;
  Calendar::Handle trained_;
};

template <MessageProtocol P>
void ReplayLayer<P>::note_requests(MessageFault& fault, const Message& m) {
  P::for_each_request(m, [&fault](RequestId id) {
    if (id != 0 && std::find(fault.requests.begin(), fault.requests.end(), id) == fault.requests.end())
      fault.requests.push_back(id);
  });
}

template <MessageProtocol P>
typename ReplayLayer<P>::Verdict ReplayLayer<P>::judge(Pointer& message, Time end, Time arrival) {
  if (recovering_) {
    // The receiver misses the lost message when the next one arrives.
    if (open_.back()->fate == MessageFate::lost) expect_nak(arrival);
    replay_buffer_.push_back({std::move(message), arrival});
    return Verdict::taken;
  }
  MessageFault* fault = plan_.next(*message, false);
  if (!fault) {
    last_arrival_ = arrival;
    return Verdict::arrives;
  }
  ReplayEntry k{std::move(message), arrival, true};
  const Verdict verdict = meet(fault, k, end, arrival);
  if (verdict == Verdict::arrives) message = std::move(k.message);
  return verdict;
}

template <MessageProtocol P>
typename ReplayLayer<P>::Verdict ReplayLayer<P>::meet(MessageFault* fault, ReplayEntry& k, Time end, Time arrival) {
  fault->at = now();
  fault->recovered = Time::max();
  note_requests(*fault, *k.message);
  switch (fault->fate) {
    case MessageFate::poisoned:
      P::poison(*k.message);
      return Verdict::arrives;
    case MessageFate::unsent:
      k.message->return_credits(static_cast<unsigned>(P::channel(*k.message)), P::data_units(*k.message));
      k.message.reset();
      return Verdict::unsent;
    case MessageFate::corrupted:
    case MessageFate::lost:
      break;
  }
  recovering_ = true;
  open_.push_back(fault);
  start_timer(end);
  if (fault->fate == MessageFate::corrupted) expect_nak(arrival);
  k.offered = true;
  replay_buffer_.push_back(std::move(k));
  return Verdict::taken;
}

/// At most one Nak is under way.
template <MessageProtocol P>
void ReplayLayer<P>::expect_nak(Time bad_arrival) {
  if (nak_sent_ || nak_waits_ || calendar().pending(nak_)) return;
  nak_ = calendar().at(bad_arrival + timing_.nak_latency, key_, [this] { make_nak(); });
}

template <MessageProtocol P>
void ReplayLayer<P>::make_nak() {
  if (reverse_.free_at() <= now()) return send_nak();
  nak_ = calendar().at(reverse_.free_at(), key_, [this] { send_nak(); });
}

template <MessageProtocol P>
void ReplayLayer<P>::send_nak() {
  nak_waits_ = retraining_;
  if (nak_waits_) return;
  nak_sent_ = true;
  ++open_.back()->naks;
  nak_ = calendar().after(reverse_.wire_time(timing_.nak_bytes) + reverse_.flight(), key_, [this] { replay(); });
}

/// The timer restarts with each Ack, so also with that of the last good message if that Ack is still under way.
template <MessageProtocol P>
void ReplayLayer<P>::start_timer(Time end) {
  Time start = end;
  if (last_arrival_ > Time{}) start = std::max(start, last_arrival_ + timing_.ack_latency + reverse_.flight());
  run_timer(start + timing_.replay_timer);
}

template <MessageProtocol P>
void ReplayLayer<P>::run_timer(Time until) {
  timer_end_ = until;
  timer_ = calendar().at(until, key_, [this] {
    ++open_.back()->timeouts;
    calendar().cancel(nak_);
    nak_waits_ = false;
    replay();
  });
}

template <MessageProtocol P>
void ReplayLayer<P>::replay() {
  calendar().cancel(timer_);
  timer_left_.reset();
  const bool overflow = ++replays_ == kMostReplays;
  if (overflow) replays_ = 0;
  if (!overflow && !retraining_) return send_again();
  replay_waits_ = true;
  if (retraining_) return;
  ++open_.back()->retrains;
  direction_.retrain(true);
  reverse_.retrain(true);
  trained_ = calendar().after(timing_.retrain, key_, [this] {
    // A Nak for the other direction goes before the replay.
    reverse_.retrain(false);
    direction_.retrain(false);
  });
}

template <MessageProtocol P>
void ReplayLayer<P>::retrain(bool on) {
  retraining_ = on;
  if (on) {
    if (!calendar().pending(timer_)) return;
    timer_left_ = timer_end_ - now();
    calendar().cancel(timer_);
    return;
  }
  if (nak_waits_) send_nak();
  if (const auto left = std::exchange(timer_left_, {})) run_timer(now() + *left);
  if (std::exchange(replay_waits_, false)) send_again();
}

template <MessageProtocol P>
void ReplayLayer<P>::send_again() {
  recovering_ = false;
  MessageFault* cause = open_.back();
  std::vector<ReplayEntry> sent = std::move(replay_buffer_);
  replay_buffer_.clear();
  Time last = now();
  for (ReplayEntry& k : sent) {
    const auto [end, arrival] = direction_.repeat(*k.message);
    ++cause->replayed;
    cause->replayed_bytes += P::wire_bytes(*k.message);
    note_requests(*cause, *k.message);
    if (recovering_) {
      if (open_.back()->fate == MessageFate::lost) expect_nak(arrival);
      replay_buffer_.push_back(std::move(k));
      continue;
    }
    MessageFault* again = plan_.next(*k.message, k.offered);
    if (again && meet(again, k, end, arrival) != Verdict::arrives) continue;
    // The requested message has come.
    nak_sent_ = false;
    replays_ = 0;
    ++cause->delayed;
    cause->delay += arrival - std::min(arrival, k.due);
    last = last_arrival_ = arrival;
    direction_.deliver_at(arrival, std::move(k.message));
  }
  if (!recovering_) recovered(last);
}

template <MessageProtocol P>
void ReplayLayer<P>::recovered(Time at) {
  for (MessageFault* f : open_) f->recovered = at;
  done_ = std::exchange(open_, {});
}

template <MessageProtocol P>
std::uint64_t ReplayLayer<P>::cut() {
  for (Calendar::Handle* h : {&nak_, &timer_, &trained_}) calendar().cancel(*h);
  // If the last replayed message is still under way, it is lost.
  for (MessageFault* f : done_)
    if (f->recovered > now()) f->recovered = Time::max();
  done_.clear();
  open_.clear();
  const std::uint64_t lost = replay_buffer_.size();
  replay_buffer_.clear();
  recovering_ = nak_sent_ = retraining_ = nak_waits_ = replay_waits_ = false;
  timer_left_.reset();
  last_arrival_ = {};
  replays_ = 0;
  return lost;
}

}  // namespace sluice::base
