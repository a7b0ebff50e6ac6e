// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The transmit half of the two-control-line protocol: the host writes a message into the control line that it holds,
/// and into the overflow lines; a load of the other control line commits it. The NIC takes the control line back, which
/// says how many bytes there are, then the overflow lines of these, and answers the load when it has all.

#include <array>
#include <cstdint>
#include <span>

#include "models/base/measure/journey.h"
#include "models/base/measure/mistakes.h"
#include "models/base/memory/line_home.h"
#include "models/nic/lines/line_window.h"

namespace sluice::nic {

class TransmitLines {
 public:
  /// What it calls, at now().
  class Client {
   public:
    virtual ~Client() = default;
    /// A commit has arrived.
    virtual void transmit_begins(TransmitLines&) = 0;
    /// The control line has come. Returns the bytes of the message in it; 0: there is none.
    virtual std::uint32_t transmit_length(TransmitLines&) = 0;
    /// All of the message has come, if it has any bytes.
    virtual void transmit_done(TransmitLines&, std::uint32_t bytes) = 0;
  };

  TransmitLines(const LineWindow::Shape& shape, bool exclusive, Client& client)
      : window_(shape), exclusive_(exclusive), client_(client) {}

  /// base: bus address of its first control line.
  void attach(base::LineCaches& caches, std::uint64_t base);

  // As ReceiveLines.
  const char* requested(const base::LineRequest&);
  void written(const base::LineWritten&);
  void recalled();
  void reset();

  /// Whoever has written to the lines is gone: they are taken back, without a commit, and are as at first. No commit
  /// may be under way.
  void forget();

  const LineWindow& window() const { return window_; }

  // During the client's functions.
  std::span<std::uint8_t> message() { return window_.control(line_); }  ///< the control line
  void get(std::span<std::uint8_t> message) { window_.get(line_, message); }
  std::span<std::uint8_t> next() { return window_.control(next_); }  ///< the one that the load gets: zeros
  const base::Site& by() const { return by_; }                       ///< that commits
  base::RequestId request() const { return request_; }  ///< the ledger's, that the message's bytes belong to; 0: none
  /// Writes into the ledger how the commit and the lines came here.
  void apply_journeys() const;

 private:
  void forgotten();
  void take_control_line();
  void take_message();

  LineWindow window_;
  const bool exclusive_;
  Client& client_;
  base::LineCaches* caches_ = nullptr;
  unsigned line_ = LineWindow::kNone;  ///< that the host writes to
  unsigned next_ = LineWindow::kNone;  ///< that it waits for
  std::uint64_t waiting_ = 0;          ///< number of the request that waits; 0: none
  bool has_control_ = false;
  bool is_forgetting_ = false;
  std::uint32_t bytes_ = 0;
  base::Site by_;
  base::RequestId request_ = 0;
  base::Time committed_;
  std::array<base::Journey, 3> journeys_;  ///< of the commit, the control line, and the last overflow line
};

}  // namespace sluice::nic
