#pragma once
/// One direction of a link between two message ports: a queue and credits for each virtual channel, one serialiser,
/// flight. Plain C++.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/calendar.h"
#include "models/base/credits.h"
#include "models/base/key.h"
#include "models/base/port.h"
#include "models/base/quantity.h"
#include "models/base/ring.h"
#include "models/base/trace.h"
#include "models/base/waiting.h"

namespace sluice::base {

/// A message starts when the serialiser is free and the receiver has room for it, that is, when its channel has the
/// credits; its last bit arrives wire_time() and the flight later. Channels take turns; nothing passes within one.
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
    Ratio femtoseconds_per_byte;  ///< what is left for messages
    Time flight;
    Time credit_update;                         ///< from a buffer freed to the credit at the sender, flight included
    std::array<Credits, P::kChannels> credits;  ///< that the receiver advertises, by channel; 0: infinite
  };
  explicit LinkDirection(Setup);
  LinkDirection(const LinkDirection&) = delete;

  /// Sees every message when it starts on the link, with the times of its first and its last bit: for traces and tests.
  using Tap = Callback<void(const Message&, Time first_bit, Time last_bit)>;
  void add_tap(Tap tap) { taps_.push_back(std::move(tap)); }

  void connect(Port<P>& from, Port<P>& to);
  void send(Pointer);
  void release(unsigned channel, unsigned data_units) override;

  unsigned queued(Channel c) const { return static_cast<unsigned>(queues_[index(c)].size()); }
  /// Nothing of what is queued has credits.
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
  static constexpr int kNone = -1;

  static constexpr unsigned index(Channel c) { return static_cast<unsigned>(c); }
  bool affordable(const Message& m) const { return credits_.affords(index(P::channel(m)), P::data_units(m)); }
  void pump();
  int choose() const;
  bool held_back(unsigned channel) const;
  void transmit(Pointer, Time now);
  void note_wait(Message&, Time now);
  void count(const Message&, Time duration);
  void show(const Message&, Time first_bit, Time last_bit);
  void deliver();
  void arm_delivery();
  void wake_at(Time);

  Setup setup_;
  ComponentKey key_;
  Port<P>* from_ = nullptr;
  Port<P>* to_ = nullptr;
  Time free_at_;
  std::uint64_t sequence_ = 0;
  unsigned last_channel_ = P::kChannels - 1;
  unsigned waiting_ = 0;
  bool blocked_ = false;
  std::array<Ring<Pointer>, P::kChannels> queues_;
  CreditPools<P::kChannels> credits_;
  Ring<InFlight> in_flight_;
  Calendar::Handle wake_;
  Time wake_time_;
  std::optional<Waiting> stalled_;
  typename P::Statistics statistics_;
  std::vector<Tap> taps_;
  TrackId track_;
};

template <MessageProtocol P>
LinkDirection<P>::LinkDirection(Setup setup)
    : setup_(std::move(setup)),
      key_(path_key(setup_.path)),
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
  message->queued = time;
  if (message->carries_journey) message->journey.enter(setup_.stage, setup_.component, time);
  if (waiting_ == 0 && free_at_ <= time) {
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
  credits_.give_back(channel, data_units, now() + setup_.credit_update);
  if (!blocked_) return;
  stalled_.reset();
  wake_at(credits_.next_return());
}

/// Starts what may start now, and sees to it that the rest is looked at again.
template <MessageProtocol P>
void LinkDirection<P>::pump() {
  const Time time = now();
  while (waiting_ > 0) {
    if (free_at_ > time) {
      wake_at(free_at_);
      return;
    }
    credits_.collect(time);
    const int c = choose();
    if (c == kNone) {
      blocked_ = true;
      if (credits_.returning())
        wake_at(credits_.next_return());
      else if (!stalled_)
        stalled_.emplace(from_->owner().c_str(), "flow-control credits", to_->owner().c_str());
      return;
    }
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

/// By an older message that the channel's first one may not pass.
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

  const Time duration = wire_time(P::wire_bytes(m));
  // A message that is cut through starts late enough for its last bit to be there in time.
  const Time end = std::max(time + duration, m.tail);
  free_at_ = end;
  count(m, duration);
  if (!taps_.empty() || trace().enabled()) [[unlikely]]
    show(m, end - duration + from_->transmit_latency, end + from_->transmit_latency);
  m.return_credits(last_channel_, P::data_units(m));

  const Time delay = from_->transmit_latency + setup_.flight + to_->receive_latency;
  m.tail = end + delay;
  Time arrival = m.tail;
  if (to_->cut_through) arrival = end - duration + wire_time(P::header_bytes(m)) + delay;
  P::transmitted(m, end + from_->transmit_latency);
  m.buffer = credits_.unlimited(last_channel_) ? nullptr : this;
  in_flight_.push({arrival, std::move(message)});
  if (in_flight_.size() == 1) arm_delivery();
}

/// Where the link was free and the message there, and yet it did not start, credits were missing.
template <MessageProtocol P>
void LinkDirection<P>::note_wait(Message& m, Time time) {
  const Time could = std::max(m.queued, free_at_);
  if (time <= could) return;
  ++statistics_.credit_stalls;
  statistics_.credit_wait += time - could;
  if (!m.carries_journey) return;
  m.journey.enter(SLUICE_STAGE_credit_wait, setup_.component, could);
  m.journey.enter(setup_.stage, setup_.component, time);
}

template <MessageProtocol P>
void LinkDirection<P>::count(const Message& m, Time duration) {
  statistics_.bytes += P::wire_bytes(m);
  statistics_.busy += duration;
  statistics_.count(m);
}

template <MessageProtocol P>
void LinkDirection<P>::show(const Message& m, Time first_bit, Time last_bit) {
  if (trace().enabled()) trace().slice(track_, P::name(m), first_bit, last_bit, P::shown_for(m));
  for (Tap& tap : taps_) tap(m, first_bit, last_bit);
}

template <MessageProtocol P>
void LinkDirection<P>::arm_delivery() {
  calendar().at(in_flight_.front().when, key_, [this] { deliver(); });
}

template <MessageProtocol P>
void LinkDirection<P>::deliver() {
  Pointer message = std::move(in_flight_.pop().message);
  if (!in_flight_.empty()) arm_delivery();
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
