// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The memory and the interrupt controllers of a host, as a device reaches them that is behind a link of the host's
/// caches. Plain C++.

#include <cstdint>
#include <optional>
#include <span>

#include "models/base/measure/ledger.h"
#include "models/base/measure/mistakes.h"
#include "models/base/time/callback.h"

namespace sluice::base {

struct HostWrite {
  std::uint64_t address = 0;
  std::span<const std::uint8_t> bytes;
  /// The ledger's request that the lines belong to from then on; 0: none. Nothing: they belong to whom they did.
  std::optional<RequestId> of = {};
  /// The stage that this request enters when all bytes are visible. Nothing: the write leaves the ledger alone.
  struct Arrival {
    Stage stage;
    Ledger::Component component;
  };
  std::optional<Arrival> arrival = {};
};

struct HostRead {
  bool ok;                              ///< all bytes are there
  std::span<const std::uint8_t> bytes;  ///< during the call; undefined unless ok
  RequestId of;                         ///< the ledger's request that the first line belongs to; 0: none
};

/// All functions are called at now(), with a bus address. A transfer is divided at the ends of cache lines, and its
/// parts travel by themselves: transfers do not stay in order, so a device that needs an order waits for `done`. What
/// no RAM holds is a mistake of access_site() and ends with ok = false, as what is under way does when the link goes
/// down or the system is reset, and what is begun while the link is down; a device that tries again at once and for
/// ever then ends no run. Throws std::logic_error for transfers of no bytes, or of more than kMostBytes.
class HostAccess {
 public:
  static constexpr std::uint32_t kMostBytes = 65536;

  virtual ~HostAccess() = default;
  virtual void read(std::uint64_t address, std::uint32_t bytes, Callback<void(const HostRead&)> done) = 0;
  /// done: the host says that all bytes are visible to its harts.
  virtual void write(const HostWrite&, Callback<void(bool ok)> done) = 0;
  /// Sends an interrupt: a write of four bytes, at a multiple of 4, to an interrupt controller that takes messages. The
  /// requests wait for the hart's handler. One that the link loses is lost without a word.
  virtual void interrupt(std::uint64_t address, std::uint32_t value, std::span<const RequestId> requests = {}) = 0;
};

}  // namespace sluice::base
