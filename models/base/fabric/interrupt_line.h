// SPDX-License-Identifier: Apache-2.0
#pragma once
/// From an interrupt controller's output to a hart's pipeline. Plain C++.

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "models/base/measure/ledger.h"
#include "models/base/time/calendar.h"
#include "models/base/time/callback.h"
#include "models/base/time/key.h"

namespace sluice::base {

/// The requests that wait for the interrupt that is being raised, until the end of the scope. The interrupt's way from
/// its message to its hart is one call, which no request is passed along.
class InterruptRequests {
 public:
  explicit InterruptRequests(std::span<const RequestId> ids);
  explicit InterruptRequests(const Spans&);
  ~InterruptRequests();
  InterruptRequests(const InterruptRequests&) = delete;
  InterruptRequests& operator=(const InterruptRequests&) = delete;
  static std::span<const RequestId> now();

 private:
  std::array<RequestId, Spans::kMost> own_{};
  std::span<const RequestId> before_;
};

/// A rise takes a time to reach the hart, a fall takes none: a hart that has claimed its last interrupt is not told of
/// it again. A rise that is taken back on its way never arrives. The line must not move.
class InterruptLine {
 public:
  /// Called when the level at the hart changes, at base::now(); and also when it stays high and
  /// InterruptRequests::now() has more requests that wait for the hart's handler.
  Callback<void(bool)> on_change;

  /// path: of the controller.
  void set_delivery(Time delivery, std::string_view path);
  /// Setting the present level again tells the hart of InterruptRequests::now() only. Called at base::now().
  void set(bool level);
  bool level() const { return level_; }      ///< the controller's
  bool arrived() const { return arrived_; }  ///< the level at the hart

 private:
  void arrive();
  void take_back_requests();

  Time delivery_;
  ComponentKey key_ = 0;
  Ledger::Component component_ = 0;
  bool level_ = false;
  bool arrived_ = false;
  Calendar::Handle rise_;
  std::vector<RequestId> requests_;  ///< on their way with the rise
};

}  // namespace sluice::base
