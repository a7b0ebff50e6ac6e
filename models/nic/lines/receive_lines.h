// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The receive half of the two-control-line protocol: the host loads a control line, and the NIC holds the load back
/// until it has an answer. A load of the same line is answered once more with the same bytes; a load of the other one
/// says that the host has done with the first, which the NIC takes back before it answers.

#include <array>
#include <cstdint>
#include <span>

#include "models/base/measure/journey.h"
#include "models/base/measure/mistakes.h"
#include "models/base/memory/line_home.h"
#include "models/base/time/calendar.h"
#include "models/nic/lines/line_window.h"

namespace sluice::nic {

class ReceiveLines {
 public:
  /// What it calls, at now(). Each function may answer.
  class Client {
   public:
    virtual ~Client() = default;
    /// A load of a control line has come that is to be answered anew. Returns how long it may be held back.
    virtual base::Time receive_begins(ReceiveLines&) = 0;
    /// The host has done with the control line that it held, and what it wrote there and to the overflow lines has
    /// come: message().
    virtual void receive_done(ReceiveLines&) = 0;
    /// A load may be answered now.
    virtual void receive_ready(ReceiveLines&) = 0;
    /// A load has been held back for its time, and may be answered.
    virtual void receive_due(ReceiveLines&) = 0;
  };

  /// exclusive: a load gets its line so that a store to it needs no request.
  ReceiveLines(const LineWindow::Shape& shape, bool exclusive, base::ComponentKey key, Client& client)
      : window_(shape), exclusive_(exclusive), key_(key), client_(client) {}

  /// base: bus address of its first control line.
  void attach(base::LineCaches& caches, std::uint64_t base);

  // The home's calls for lines of this window.
  /// Returns what is wrong with the request, which the caller then refuses; null: it is or will be answered.
  const char* requested(const base::LineRequest&);
  void written(const base::LineWritten&);
  void recalled();
  void reset();

  /// The host has done with the control line that it holds here, though it loads no other.
  void finish();

  LineWindow& window() { return window_; }
  /// Whether a load waits, and may be answered.
  bool is_ready() const { return waiting_ != 0 && !window_.is_recalling(); }
  bool is_waiting() const { return waiting_ != 0; }
  /// A load waits, and its time is over.
  bool is_due() const { return is_due_; }
  unsigned hart() const { return hart_; }  ///< that has loaded a control line last
  /// The control line whose load waits.
  std::span<std::uint8_t> next() { return window_.control(next_); }
  /// Puts a message's bytes into that line and the overflow lines.
  void put(std::span<const std::uint8_t> message) { window_.put(next_, message); }
  /// Answers the load that waits with the bytes of next(), which belong to this request of the ledger.
  void answer(base::RequestId of = 0);
  /// During receive_done(): the control line that the host has done with.
  std::span<std::uint8_t> message() { return window_.control(line_); }
  void get(std::span<std::uint8_t> message) { window_.get(line_, message); }
  base::RequestId of() const { return of_; }    ///< the ledger's request, of the last answer
  const base::Site& by() const { return by_; }  ///< that has loaded the other line
  /// Writes into the ledger how the load of the other line, and what the host had written, came here.
  void apply_journeys() const;

 private:
  void begin_taking_back(const base::LineRequest*);
  void take_back();
  void due();

  LineWindow window_;
  const bool exclusive_;
  const base::ComponentKey key_;
  Client& client_;
  base::LineCaches* caches_ = nullptr;
  unsigned line_ = LineWindow::kNone;  ///< that the host has an answer in
  unsigned next_ = LineWindow::kNone;  ///< that the host waits for
  unsigned hart_ = 0;
  std::uint64_t waiting_ = 0;  ///< number of the request that waits; 0: none
  bool is_due_ = false;
  base::RequestId of_ = 0;
  base::Calendar::Handle timer_;
  base::Site by_;
  base::Time asked_;                       ///< when the load of the other line came
  std::array<base::Journey, 3> journeys_;  ///< of that load, the control line, and the last overflow line
};

}  // namespace sluice::nic
