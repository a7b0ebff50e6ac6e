// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One direction of a link between two message ports: a queue and credits for each virtual channel, one serialiser and
/// a propagation delay. Plain C++.

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/base/fabric/credits.h"
#include "models/base/fabric/port.h"
#include "models/base/fabric/ring.h"
#include "models/base/measure/trace.h"
#include "models/base/parameters/quantity.h"
#include "models/base/time/calendar.h"
#include "models/base/time/key.h"
#include "models/base/time/who_waits.h"

namespace sluice::base {

/// What the physical layer sends between messages: one set in each period, of which one is due at `first`. It waits for
/// the end of the message that is being sent, and messages wait for its end.
struct OrderedSets {
  Time every = {};  ///< 0: none
  Time lasts = {};
  Time first = {};
};

/// A message starts when the serialiser is free and the receiver has room for it, that is, when its channel has the
/// credits; its last bit arrives wire_time() and the flight later. Channels take turns; messages of one channel stay in
/// order.
template <MessageProtocol P>
class LinkDirection : public MessageBuffer {
 public:
  using Message = typename P::Message;
  using Pointer = typename P::Pointer;
  using Channel = typename P::Channel;

  struct Setup {
    std::string path;             ///< "pcie.slot0.up"
    Stage stage;                  ///< upstream_link or downstream_link
    Ledger::Component component;  ///< of the link
    Ratio femtoseconds_per_byte;  ///< at the rate that is left for messages
    Time flight;
    Time credit_update;                         ///< from a buffer freed to the credit at the sender, flight included
    std::array<Credits, P::kChannels> credits;  ///< that the receiver advertises, by channel; 0: infinite
    OrderedSets ordered_sets = {};
  };
  /// Models transmission errors: decides whether a message that has started arrives. Most links have no guard.
  class Guard {
   public:
    enum class Verdict : std::uint8_t {
      arrives,  ///< on time
      taken,    ///< is on the wire, but the guard delivers it later, by repeat() and deliver_at()
      unsent,   ///< the guard has dropped it: it counts as sent, but was never on the wire
    };
    virtual ~Guard() = default;
    /// The message has started: its last bit leaves at `end`, and it is due at `arrival`. The guard may change it.
    virtual Verdict judge(Pointer&, Time end, Time arrival) = 0;
    /// The link begins or ends its retraining: see LinkDirection::retrain(). Messages that the guard repeats at the end
    /// go before all that wait.
    virtual void retrain(bool on) = 0;
    /// The link goes down, which ends a retraining. Returns how many messages are lost of those that the guard has
    /// taken.
    virtual std::uint64_t cut() = 0;
    /// Calls f with each message that the guard has taken and not delivered yet.
    virtual void for_each_taken(const std::function<void(const Message&)>& f) const = 0;
  };

  explicit LinkDirection(Setup);
  LinkDirection(const LinkDirection&) = delete;

  /// Sees every message when it starts on the link, with the times of its first and its last bit: for traces and tests.
  using Tap = Callback<void(const Message&, Time first_bit, Time last_bit)>;
  void add_tap(Tap tap) { taps_.push_back(std::move(tap)); }

  void connect(Port<P>& from, Port<P>& to);
  void set_guard(Guard* guard) { guard_ = guard; }
  void send(Pointer);
  void release(unsigned channel, unsigned data_units) override;

  /// When the serialiser has done with a message, and when the message arrives.
  struct Transmission {
    Time end;
    Time arrival;
  };
  /// Sends a message once more, after what is being serialised and before all that waits. The caller keeps the message.
  Transmission repeat(Message&);
  /// Delivers a message that the guard has taken. `arrival` must not be before that of any message already on its way.
  void deliver_at(Time arrival, Pointer);
  /// While the sender holds the link, messages wait; repeat() still works. Calls nest: each hold(true) needs a
  /// hold(false).
  void hold(bool on);
  /// The physical layer retrains: messages wait, and the guard may send nothing either. A link that goes down ends its
  /// retraining.
  void retrain(bool on);
  /// Takes the link down or up. When it goes down, everything under way and waiting is lost, and so is what is sent
  /// until it is up again. From then on, the receiver's buffers count as empty.
  void set_up(bool up);
  bool up() const { return up_; }
  std::uint64_t lost() const { return lost_; }  ///< messages, because the link was or went down
  /// For tests: how often the link went down with messages in the receiver's buffers, some of which are still there.
  std::size_t old_buffers() const { return old_buffers_.size(); }
  /// How long the serialiser has been free while all that waited had no credits, up to now().
  Time starved() const { return starved(now()); }
  Time free_at() const { return free_at_; }  ///< when the serialiser is free
  Time flight() const { return setup_.flight; }

  /// Calls f with each message that waits or is on its way: for a diagnosis.
  template <class F>
  void for_each_under_way(const F& f) const {
    for (const auto& queue : queues_)
      for (std::size_t n = 0; n < queue.size(); ++n) f(*queue.at(n));
    for (std::size_t n = 0; n < in_flight_.size(); ++n) f(*in_flight_.at(n).message);
    if (guard_) guard_->for_each_taken(f);
  }

  unsigned queued(Channel c) const { return static_cast<unsigned>(queues_[index(c)].size()); }
  /// Messages are queued, and none may start for want of credits.
  bool blocked() const { return blocked_; }
  Time wire_time(unsigned bytes) const { return Time::fs(setup_.femtoseconds_per_byte.of_rounded_up(bytes)); }
  const typename P::Statistics& statistics() const { return statistics_; }
  /// Credits that the sender has now; all ones where infinite.
  Credits available(Channel c) {
    credits_.collect(now());
    return credits_.available(index(c));
  }

 private:
  struct InFlight {
    Time when;
    Pointer message;
  };
  /// The receiver's buffers since the link last went down. Messages in older buffers return no credits.
  struct Buffers : MessageBuffer {
    explicit Buffers(LinkDirection& d) : direction(d) {}
    void release(unsigned channel, unsigned data_units) override {
      --messages;
      if (direction.buffers_.get() == this)
        direction.give_back(channel, data_units);
      else if (messages == 0)
        direction.forget(this);
    }
    LinkDirection& direction;
    std::uint64_t messages = 0;  ///< in these buffers; only messages that have arrived survive a loss of the link
  };
  /// The buffer of a message that is on its way, on a link that has been down before.
  struct UnderWay : MessageBuffer {
    explicit UnderWay(LinkDirection& d) : direction(d) {}
    void release(unsigned channel, unsigned data_units) override { direction.give_back(channel, data_units); }
    LinkDirection& direction;
  };
  static constexpr int kNone = -1;

  static constexpr unsigned index(Channel c) { return static_cast<unsigned>(c); }
  bool held() const { return holds_ > 0 || retraining_; }
  Time starved(Time t) const {
    return blocked_ && !held() && t > blocked_since_ ? starved_ + (t - blocked_since_) : starved_;
  }
  bool affordable(const Message& m) const { return credits_.affords(index(P::channel(m)), P::data_units(m)); }
  void give_back(unsigned channel, unsigned data_units);
  void forget(const Buffers* old);
  void go_on();
  void lose(Pointer);
  Transmission serialise(Message&, Time start);
  Time behind_ordered_sets(Time start);
  void pump();
  int choose() const;
  bool held_back(unsigned channel) const;
  void transmit(Pointer, Time now);
  void note_wait(Message&, Time now);
  void show(const Message&, Time end);
  void deliver();
  void arm_delivery();
  void wake_at(Time);

  Setup setup_;
  ComponentKey key_;
  Port<P>* from_ = nullptr;
  Port<P>* to_ = nullptr;
  Time free_at_;
  Time next_set_;  ///< when the next ordered set is due
  std::uint64_t sequence_ = 0;
  unsigned last_channel_ = P::kChannels - 1;
  unsigned waiting_ = 0;
  bool blocked_ = false;
  Time blocked_since_;
  Time starved_;  ///< how long the link was free while all that waited had no credits
  std::array<Ring<Pointer>, P::kChannels> queues_;
  CreditPools<P::kChannels> credits_;
  Ring<InFlight> in_flight_;
  Calendar::Handle wake_;
  Time wake_time_;
  std::optional<Waiting> stalled_;
  Guard* guard_ = nullptr;
  unsigned holds_ = 0;
  bool retraining_ = false;
  bool up_ = true;
  std::uint64_t lost_ = 0;
  std::unique_ptr<Buffers> buffers_;                   ///< null: the link was never down
  std::vector<std::unique_ptr<Buffers>> old_buffers_;  ///< those that still hold messages
  UnderWay under_way_{*this};
  Calendar::Handle delivery_;
  typename P::Statistics statistics_;
  std::vector<Tap> taps_;
  TrackId track_;
};

template <MessageProtocol P>
LinkDirection<P>::LinkDirection(Setup setup)
    : setup_(std::move(setup)),
      key_(path_key(setup_.path)),
      next_set_(setup_.ordered_sets.first),
      credits_(setup_.credits),
      track_(trace().track(setup_.path)) {}

template <MessageProtocol P>
void LinkDirection<P>::connect(Port<P>& from, Port<P>& to) {
  from_ = &from;
  to_ = &to;
  from.out_ = this;
}

template <MessageProtocol P>
void LinkDirection<P>::send(Pointer message) {
  const Time time = now();
  if (!up_) [[unlikely]]
    return lose(std::move(message));
  message->queued = time;
  message->starved = starved(time);
  if (message->carries_journey) message->journey.enter(setup_.stage, setup_.component, time);
  if (waiting_ == 0 && free_at_ <= time && !held()) {
    credits_.collect(time);
    if (affordable(*message)) {
      transmit(std::move(message), time);
      return;
    }
  }
  message->sequence = sequence_++;
  ++waiting_;
  const unsigned c = index(P::channel(*message));
  queues_[c].push(std::move(message));
  pump();
}

template <MessageProtocol P>
void LinkDirection<P>::release(unsigned channel, unsigned data_units) {
  if (!buffers_) give_back(channel, data_units);
}

template <MessageProtocol P>
void LinkDirection<P>::give_back(unsigned channel, unsigned data_units) {
  credits_.give_back(channel, data_units, now() + setup_.credit_update);
  if (!blocked_) return;
  stalled_.reset();
  wake_at(credits_.next_return());
}

template <MessageProtocol P>
void LinkDirection<P>::forget(const Buffers* old) {
  std::erase_if(old_buffers_, [old](const auto& b) { return b.get() == old; });
}

/// Starts the messages that may start now, and arranges to run again for the rest.
template <MessageProtocol P>
void LinkDirection<P>::pump() {
  const Time time = now();
  while (waiting_ > 0 && !held()) {
    if (free_at_ > time) {
      wake_at(free_at_);
      return;
    }
    credits_.collect(time);
    const int c = choose();
    if (c == kNone) {
      if (!blocked_) blocked_since_ = time;
      blocked_ = true;
      if (credits_.returning())
        wake_at(credits_.next_return());
      else if (!stalled_)
        stalled_.emplace(from_->owner().c_str(), "flow-control credits", to_->owner().c_str());
      return;
    }
    starved_ = starved(time);
    blocked_ = false;
    stalled_.reset();
    --waiting_;
    transmit(queues_[static_cast<unsigned>(c)].pop(), time);
  }
}

/// The next channel in turn whose first message has credits and may go before all older ones.
template <MessageProtocol P>
int LinkDirection<P>::choose() const {
  for (unsigned i = 1; i <= P::kChannels; ++i) {
    const unsigned c = (last_channel_ + i) % P::kChannels;
    if (!queues_[c].empty() && affordable(*queues_[c].front()) && !held_back(c)) return static_cast<int>(c);
  }
  return kNone;
}

/// Whether the channel's first message must wait because it may not pass an older message.
template <MessageProtocol P>
bool LinkDirection<P>::held_back(unsigned channel) const {
  const std::uint64_t sequence = queues_[channel].front()->sequence;
  for (unsigned other = 0; other < P::kChannels; ++other)
    if (!P::may_pass(static_cast<Channel>(channel), static_cast<Channel>(other)) && !queues_[other].empty() &&
        queues_[other].front()->sequence < sequence)
      return true;
  return false;
}

template <MessageProtocol P>
void LinkDirection<P>::transmit(Pointer message, Time time) {
  Message& m = *message;
  last_channel_ = index(P::channel(m));
  credits_.take(last_channel_, P::data_units(m));
  note_wait(m, time);

  const Transmission sent = serialise(m, time);
  statistics_.count(m);
  m.return_credits(last_channel_, P::data_units(m));
  P::transmitted(m, sent.end + from_->transmit_latency);
  m.buffer = credits_.unlimited(last_channel_) ? nullptr : buffers_ ? static_cast<MessageBuffer*>(&under_way_) : this;
  const auto verdict = guard_ ? guard_->judge(message, sent.end, sent.arrival) : Guard::Verdict::arrives;
  if (verdict != Guard::Verdict::unsent) show(m, sent.end);
  if (verdict == Guard::Verdict::arrives) [[likely]]
    deliver_at(sent.arrival, std::move(message));
}

/// Serialises a message from `start` on.
template <MessageProtocol P>
typename LinkDirection<P>::Transmission LinkDirection<P>::serialise(Message& m, Time start) {
  const Time duration = wire_time(P::wire_bytes(m));
  if (setup_.ordered_sets.every != Time{}) start = behind_ordered_sets(start);
  // A cut-through message starts late enough that its last bit is there when it must leave.
  const Time end = std::max(start + duration, m.tail);
  free_at_ = end;
  statistics_.bytes += P::wire_bytes(m);
  statistics_.busy += duration;
  const Time delay = from_->transmit_latency + setup_.flight + to_->receive_latency;
  m.tail = end + delay;
  Time arrival = m.tail;
  if (to_->cut_through) arrival = end - duration + wire_time(P::header_bytes(m)) + delay;
  return {end, arrival};
}

/// Sends the ordered sets that are due by `start`, each as soon as the serialiser is free. Returns when a message that
/// was to start then may start.
template <MessageProtocol P>
Time LinkDirection<P>::behind_ordered_sets(Time start) {
  const OrderedSets& sets = setup_.ordered_sets;
  while (next_set_ <= start) {
    // Of those that find the link idle, only the last may still be under way.
    if (next_set_ > free_at_) next_set_ += sets.every * ((start - next_set_) / sets.every);
    free_at_ = std::max(next_set_, free_at_) + sets.lasts;
    next_set_ += sets.every;
  }
  return std::max(start, free_at_);
}

template <MessageProtocol P>
typename LinkDirection<P>::Transmission LinkDirection<P>::repeat(Message& m) {
  m.tail = {};
  statistics_.count_again(m);
  const Transmission sent = serialise(m, std::max(now(), free_at_));
  show(m, sent.end);
  return sent;
}

template <MessageProtocol P>
void LinkDirection<P>::deliver_at(Time arrival, Pointer message) {
  in_flight_.push({arrival, std::move(message)});
  if (in_flight_.size() == 1) arm_delivery();
}

template <MessageProtocol P>
void LinkDirection<P>::hold(bool on) {
  if (on) {
    starved_ = starved(now());
    ++holds_;
    return;
  }
  --holds_;
  go_on();
}

template <MessageProtocol P>
void LinkDirection<P>::retrain(bool on) {
  if (on) starved_ = starved(now());
  retraining_ = on;
  if (guard_) guard_->retrain(on);
  if (!on) go_on();
}

template <MessageProtocol P>
void LinkDirection<P>::go_on() {
  if (held()) return;
  // The messages have waited for the link, not for credits.
  free_at_ = std::max(free_at_, now());
  blocked_since_ = free_at_;
  pump();
}

template <MessageProtocol P>
void LinkDirection<P>::lose(Pointer message) {
  ++lost_;
  P::transmitted(*message, now());
  message->return_credits(index(P::channel(*message)), P::data_units(*message));
}

template <MessageProtocol P>
void LinkDirection<P>::set_up(bool up) {
  if (up == up_) return;
  up_ = up;
  if (up) return;
  retraining_ = false;
  if (guard_) lost_ += guard_->cut();
  calendar().cancel(wake_);
  calendar().cancel(delivery_);
  starved_ = starved(now());
  free_at_ = now();
  blocked_ = false;
  stalled_.reset();
  credits_ = CreditPools<P::kChannels>(setup_.credits);
  if (buffers_ && buffers_->messages > 0) old_buffers_.push_back(std::move(buffers_));
  if (!buffers_) buffers_ = std::make_unique<Buffers>(*this);
  while (!in_flight_.empty()) {
    ++lost_;
    in_flight_.pop();
  }
  waiting_ = 0;
  for (auto& queue : queues_)
    while (!queue.empty()) lose(queue.pop());
}

/// A message that did not start although the link was free has waited for credits. Its journey records, as one wait,
/// all the time since it was queued in which the link stood idle for credits, even for those of earlier messages.
template <MessageProtocol P>
void LinkDirection<P>::note_wait(Message& m, Time time) {
  const Time could = std::max(m.queued, free_at_);
  if (time > could) {
    ++statistics_.credit_stalls;
    statistics_.credit_wait += time - could;
  }
  const Time waited = starved_ - m.starved;
  if (!m.carries_journey || waited == Time{}) return;
  m.journey.enter(SLUICE_STAGE_credit_wait, setup_.component, time - waited);
  m.journey.enter(setup_.stage, setup_.component, time);
}

template <MessageProtocol P>
void LinkDirection<P>::show(const Message& m, Time end) {
  if (taps_.empty() && !trace().enabled()) [[likely]]
    return;
  const Time last_bit = end + from_->transmit_latency, first_bit = last_bit - wire_time(P::wire_bytes(m));
  if (trace().enabled()) trace().slice(track_, P::name(m), first_bit, last_bit, P::shown_for(m));
  for (Tap& tap : taps_) tap(m, first_bit, last_bit);
}

template <MessageProtocol P>
void LinkDirection<P>::arm_delivery() {
  delivery_ = calendar().at(in_flight_.front().when, key_, [this] { deliver(); });
}

template <MessageProtocol P>
void LinkDirection<P>::deliver() {
  Pointer message = std::move(in_flight_.pop().message);
  if (!in_flight_.empty()) arm_delivery();
  if (buffers_ && message->buffer) [[unlikely]] {
    message->buffer = buffers_.get();
    ++buffers_->messages;
  }
  to_->on_receive(std::move(message));
}

template <MessageProtocol P>
void LinkDirection<P>::wake_at(Time when) {
  if (calendar().pending(wake_)) {
    if (wake_time_ <= when) return;
    calendar().cancel(wake_);
  }
  wake_time_ = when;
  wake_ = calendar().at(when, key_, [this] { pump(); });
}

}  // namespace sluice::base
