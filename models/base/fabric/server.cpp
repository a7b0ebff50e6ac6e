// SPDX-License-Identifier: Apache-2.0
#include "models/base/fabric/server.h"

#include <algorithm>
#include <cstdlib>

namespace sluice::base {

Time transfer_time(std::uint64_t bytes, std::uint64_t bits_per_second) {
  const unsigned __int128 femtobits = static_cast<unsigned __int128>(bytes) * 8u * 1'000'000'000'000'000u;
  return Time::fs(static_cast<std::uint64_t>((femtobits + bits_per_second / 2) / bits_per_second));
}

Reservation Server::reserve_for(Time duration, std::uint64_t bytes) {
#ifndef NDEBUG
  if (now() < last_call_) std::abort();
#endif
  last_call_ = now();
  const Time start = std::max(now(), free_at_);
  free_at_ = start + duration;
  bytes_ += bytes;
  busy_ += duration;
  return {start, free_at_};
}

Reservation GapServer::reserve_at(Time asked, Time duration) {
  latest_ = std::max(latest_, asked);
  while (window_ && !busy_.empty() && busy_.front().end + *window_ < latest_) busy_.pop_front();
  auto next = std::partition_point(busy_.begin(), busy_.end(), [&](const Busy& b) { return b.end <= asked; });
  Time start = asked;
  while (next != busy_.end() && next->start < start + duration) {
    start = std::max(start, next->end);
    ++next;
  }
  const Reservation r{start, start + duration};
  const bool joins_next = next != busy_.end() && next->start == r.end;
  const bool joins_previous = next != busy_.begin() && std::prev(next)->end == r.start;
  if (joins_next && joins_previous) {
    std::prev(next)->end = next->end;
    busy_.erase(next);
  } else if (joins_next) {
    next->start = r.start;
  } else if (joins_previous) {
    std::prev(next)->end = r.end;
  } else {
    busy_.insert(next, {r.start, r.end});
  }
  return r;
}

}  // namespace sluice::base
