// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Shared resources: a link direction, a DRAM channel, a DMA engine, a switch stage. Plain C++.

#include <cstdint>
#include <deque>
#include <optional>

#include "models/base/time/calendar.h"
#include "models/base/time/time.h"

namespace sluice::base {

/// Time that `bytes` take at a rate in bit/s (more than 0), rounded to the nearest femtosecond.
Time transfer_time(std::uint64_t bytes, std::uint64_t bits_per_second);

struct Reservation {
  Time start;  ///< the resource is the caller's from here
  Time end;    ///< to here; the server's latency is not included
};

/// Serves in order of the calls. reserve() asks for the resource from now() on: a caller that needs the resource later
/// makes a calendar entry and reserves there. Debug builds abort when time runs backwards between calls.
class Server {
 public:
  explicit Server(std::uint64_t bits_per_second = 0) : rate_(bits_per_second) {}

  Reservation reserve(std::uint64_t bytes) { return reserve_for(transfer_time(bytes, rate_), bytes); }
  Reservation reserve_for(Time duration, std::uint64_t bytes = 0);
  Time free_at() const { return free_at_; }
  std::uint64_t rate() const { return rate_; }

  std::uint64_t bytes() const { return bytes_; }
  Time busy() const { return busy_; }

 private:
  std::uint64_t rate_;
  Time free_at_;
  Time last_call_;
  std::uint64_t bytes_ = 0;
  Time busy_;
};

/// For harts that run ahead of each other inside a window: calls may come out of order by up to `window` (0: not at
/// all), and a reservation takes the first gap that is long enough at or after the asked time. Without a window, calls
/// come in any order, and the caller says by forget() what it will not ask for.
class GapServer {
 public:
  explicit GapServer(std::optional<Time> window) : window_(window) {}
  Reservation reserve_at(Time asked, Time duration);
  /// No later call asks for a time before this.
  void forget(Time before) {
    while (!busy_.empty() && busy_.front().end <= before) busy_.pop_front();
  }

 private:
  struct Busy {
    Time start, end;
  };
  std::optional<Time> window_;
  Time latest_;
  std::deque<Busy> busy_;  ///< in order of time, not touching
};

}  // namespace sluice::base
