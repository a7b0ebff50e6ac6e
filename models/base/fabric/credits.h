// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Credits: a sender's account of the room in its receiver's buffers. Plain C++.

#include <array>
#include <cstdint>

#include "models/base/fabric/ring.h"
#include "models/base/time/time.h"

namespace sluice::base {

/// Room for messages, and for their data in the protocol's units.
struct Credits {
  std::uint32_t messages = 0;
  std::uint32_t data = 0;
};

/// One pool for each of a link's virtual channels; returned credits are available after a delay.
template <unsigned kChannels>
class CreditPools {
 public:
  /// What the receiver advertises; 0: infinite, that kind of credit never runs out in that channel.
  explicit CreditPools(const std::array<Credits, kChannels>& advertised) {
    for (unsigned c = 0; c < kChannels; ++c)
      pools_[c] = {advertised[c], advertised[c].messages == 0, advertised[c].data == 0};
  }

  bool unlimited(unsigned channel) const {
    return pools_[channel].unlimited_messages && pools_[channel].unlimited_data;
  }
  /// Whether a message with `data` units of data may go.
  bool affords(unsigned channel, std::uint32_t data) const {
    const Pool& pool = pools_[channel];
    return (pool.unlimited_messages || pool.left.messages > 0) && (pool.unlimited_data || pool.left.data >= data);
  }
  /// For one message that affords() has allowed.
  void take(unsigned channel, std::uint32_t data) {
    Pool& pool = pools_[channel];
    if (!pool.unlimited_messages) --pool.left.messages;
    if (!pool.unlimited_data) pool.left.data -= data;
  }

  /// One message's credits are back at `when`, which must not be before that of any earlier call.
  void give_back(unsigned channel, std::uint32_t data, Time when) {
    // One update returns all buffers freed at the same time.
    if (!returns_.empty() && returns_.back().when == when && returns_.back().channel == channel) {
      ++returns_.back().credits.messages;
      returns_.back().credits.data += data;
    } else {
      returns_.push({when, channel, {1, data}});
    }
  }
  /// Adds the credits that are back by now.
  void collect(Time now) {
    while (!returns_.empty() && returns_.front().when <= now) {
      const Return back = returns_.pop();
      pools_[back.channel].left.messages += back.credits.messages;
      pools_[back.channel].left.data += back.credits.data;
    }
  }
  bool returning() const { return !returns_.empty(); }
  Time next_return() const { return returns_.front().when; }  ///< while returning()

  /// What the sender has, as last collected; all ones where infinite.
  Credits available(unsigned channel) const {
    const Pool& pool = pools_[channel];
    return {pool.unlimited_messages ? ~0u : pool.left.messages, pool.unlimited_data ? ~0u : pool.left.data};
  }

 private:
  struct Pool {
    Credits left;
    bool unlimited_messages = false;
    bool unlimited_data = false;
  };
  struct Return {
    Time when;
    unsigned channel = 0;
    Credits credits;
  };
  std::array<Pool, kChannels> pools_;
  Ring<Return> returns_;
};

}  // namespace sluice::base
