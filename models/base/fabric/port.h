// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Message ports with credits: how models talk across a fabric. A protocol says what its messages are, how many virtual
/// channels they have, and which may pass which; the ports at both ends of a link and the two directions between them
/// (link_direction.h) are the same for all protocols. Plain C++.

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

#include "models/base/measure/journey.h"
#include "models/base/time/callback.h"
#include "models/base/time/time.h"

namespace sluice::base {

/// Where a received message waits; gives the sender's credits back.
class MessageBuffer {
 public:
  virtual ~MessageBuffer() = default;
  virtual void release(unsigned channel, unsigned data_units) = 0;
};

/// What links need of every message; a protocol's message derives from it.
struct Message {
  bool carries_journey = false;  ///< the receiver applies the journey, so links record their hops
  MessageBuffer* buffer = nullptr;
  std::uint64_t sequence = 0;  ///< set by the link: order of arrival in its queues
  Time queued;                 ///< when it was handed to the link
  Time starved;                ///< set by the link: how long the link had stood idle for credits at `queued`
  Time tail;                   ///< cut-through: earliest time at which the last bit can leave
  Journey journey;

  /// Returns to the sender the credits of the receive buffer that holds the message. Does nothing if no buffer holds
  /// it. The arguments are the message's channel and data size.
  void return_credits(unsigned channel, unsigned data_units) {
    if (buffer) std::exchange(buffer, nullptr)->release(channel, data_units);
  }
};

/// What every link direction counts; a protocol may add to it.
struct DirectionStatistics {
  std::uint64_t bytes = 0;          ///< on the wire, framing included
  Time busy;                        ///< serialising
  std::uint64_t credit_stalls = 0;  ///< messages that waited for credits
  Time credit_wait;                 ///< how long they waited, summed
};

template <class P>
concept MessageProtocol = std::derived_from<typename P::Message, Message> &&
    std::derived_from<typename P::Statistics, DirectionStatistics> &&
    requires(const typename P::Message& m, typename P::Message& leaving, typename P::Pointer& pointer,
             typename P::Statistics& statistics, typename P::Channel channel, Time at) {
  { *pointer } -> std::same_as<typename P::Message&>;  // owns a message; movable
  { P::kChannels } -> std::convertible_to<unsigned>;   // values of Channel, from 0
  { P::channel(m) } -> std::same_as<typename P::Channel>;
  { P::data_units(m) } -> std::convertible_to<unsigned>;    // credits for its data
  { P::wire_bytes(m) } -> std::convertible_to<unsigned>;    // framing included
  { P::header_bytes(m) } -> std::convertible_to<unsigned>;  // what a port that cuts through waits for
  // Whether a message of the first channel may leave before an older one of the second.
  { P::may_pass(channel, channel) } -> std::same_as<bool>;
  { P::name(m) } -> std::same_as<const char*>;     // for traces
  { P::shown_for(m) } -> std::same_as<RequestId>;  // for traces; 0: none
  P::transmitted(leaving, at);                     // it has left the queue; its last bit leaves at `at`
  statistics.count(m);                             // what the protocol adds to the statistics
  statistics.count_again(m);                       // likewise, of a message that is repeated
};

template <MessageProtocol P>
class LinkDirection;

/// One end of a link. A component owns its ports and sets on_receive before the simulation starts.
template <MessageProtocol P>
class Port {
 public:
  /// owner: path of the component, for the stall diagnosis.
  explicit Port(std::string owner) : owner_(std::move(owner)) {}
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  /// Takes a message that has arrived. Called at now(), receive_latency after the message's last bit has arrived (with
  /// cut_through, its header's last bit). The receiver calls release_buffer() when it has consumed the message.
  Callback<void(typename P::Pointer)> on_receive;

  /// Pipelines of the owner, before the serialiser and after the last bit. The ledger counts them to the link's stage.
  /// Set before the port is connected.
  Time transmit_latency;
  Time receive_latency;
  bool cut_through = false;

  bool connected() const { return out_ != nullptr; }
  /// Whether a link is connected and up.
  bool up() const { return out_ && out_->up(); }
  void hold(bool on) {
    if (out_) out_->hold(on);
  }
  /// Queues a message for the link; there is always room. A sender limits its queue with queued() and P::transmitted().
  /// The message is dropped if no link is connected.
  void send(typename P::Pointer message) {
    if (out_) out_->send(std::move(message));
  }
  unsigned queued(typename P::Channel channel) const { return out_ ? out_->queued(channel) : 0; }
  const std::string& owner() const { return owner_; }

 private:
  friend class LinkDirection<P>;
  std::string owner_;
  LinkDirection<P>* out_ = nullptr;
};

}  // namespace sluice::base
