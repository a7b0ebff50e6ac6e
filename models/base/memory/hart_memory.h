// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The memory that harts share, as one hart sees it: caches, directories and homes of lines are behind it. Plain C++.

#include <cstdint>
#include <string>
#include <utility>

#include "models/base/memory/guest_ram.h"
#include "models/base/memory/line_state.h"
#include "models/base/time/time.h"

namespace sluice::base {

class StatisticsGroup;

/// Is told when a hart's caches lose a line that is not RAM. The hart uses it for its reservation.
class LineWatcher {
 public:
  virtual ~LineWatcher() = default;
  virtual void line_changed(std::uint64_t address, std::uint64_t length) = 0;
};

/// hart: its number among those that share the memory. Addresses are physical.
class HartMemory {
 public:
  virtual ~HartMemory() = default;

  // RAM: bytes are read and written in place, and an access only costs time.

  /// The RAM that holds [address, address + length); null when no single RAM does.
  virtual GuestRam* ram_at(std::uint64_t address, std::uint64_t length) = 0;
  /// Null where accesses cost nothing.
  virtual LineState* l1i(unsigned hart) = 0;
  virtual LineState* l1d(unsigned hart) = 0;
  /// An access of `hart` at time `at` that its L1 could not answer. Returns the time at which the hart may go on, and
  /// leaves the line in its L1.
  virtual Time miss(unsigned hart, std::uint64_t address, LineUse use, Time at) = 0;
  /// Whether the harts have instruction windows: they then call fill() and not miss().
  virtual bool windowed() const { return false; }
  /// As miss(), but returns the time at which the line arrives, whatever the use. `at` may be before or after that of
  /// an earlier call. earliest: no later call for any hart, and no DMA, is before this.
  virtual Time fill(unsigned hart, std::uint64_t address, LineUse use, Time at, [[maybe_unused]] Time earliest) {
    return miss(hart, address, use, at);
  }

  /// An access of `hart` at time `at` that passes the caches. Returns the time at which the bytes have been read, or
  /// the write is taken.
  virtual Time uncached([[maybe_unused]] unsigned hart, [[maybe_unused]] std::uint64_t address,
                        [[maybe_unused]] bool write, Time at) {
    return at;
  }

  /// The line of RAM is written to memory if a cache has changed it, and leaves the caches of all harts unless `keep`
  /// is set. Returns the time at which `hart`, which asks for it at time `at`, may go on.
  virtual Time clean([[maybe_unused]] unsigned hart, [[maybe_unused]] std::uint64_t address, [[maybe_unused]] bool keep,
                     Time at) {
    return at;
  }

  // Lines with a home of their own: the caches hold the bytes, and an access may wait.

  /// Whether the address lies in a line with a home of its own.
  virtual bool homed(std::uint64_t address) const = 0;
  virtual unsigned line_bytes() const = 0;
  /// The line's bytes from `address` on, if the hart's caches hold the line for this use; else null. A line that is
  /// held alone counts as changed from a store on.
  virtual std::uint8_t* held(unsigned hart, std::uint64_t address, LineUse use) = 0;
  /// Called on the hart's thread, at now(): waits until the hart's caches hold the line for this use, at most for a
  /// time (Time::max(): as long as it takes). Returns its bytes as held() does, valid until let_go(); null: the home
  /// refuses, cannot be reached, or has not answered in time.
  virtual std::uint8_t* hold(unsigned hart, std::uint64_t address, LineUse use, Time most) = 0;
  /// The time, up to `until`, in which the device has held back what the hart waits for in hold(), or has waited for
  /// last: from when it was asked until it has answered. Two equal times: it has not.
  virtual std::pair<Time, Time> held_back(unsigned hart, Time until) const = 0;
  /// The ledger's request that a line belongs to; 0: none, or the hart does not hold the line.
  virtual RequestId request_of(unsigned hart, std::uint64_t address) = 0;
  /// Does nothing to a line that the hart may not write.
  virtual void set_request_of(unsigned hart, std::uint64_t address, RequestId) = 0;
  /// Why the last hold() for the hart returned null: "coherent.eci0 is down". Empty: the home has refused.
  virtual std::string why_refused(unsigned hart) const = 0;
  /// The access for which hold() has returned bytes has taken place, at the same time: the line may go.
  virtual void let_go(unsigned hart) = 0;
  /// The hart gives the line to its home, at now(), if it holds it.
  virtual void give_back([[maybe_unused]] unsigned hart, [[maybe_unused]] std::uint64_t line) {}
  /// The watcher is told of lines that the hart loses.
  virtual void add_watcher(unsigned hart, LineWatcher&) = 0;

  /// Registers what the memory counts for the hart.
  virtual void register_hart_statistics(unsigned hart, StatisticsGroup&) = 0;
};

}  // namespace sluice::base
