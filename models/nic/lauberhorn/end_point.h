// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One of Lauberhorn's end-points: the lines through which it gives requests to one core, or to one worker of a
/// process, and takes what they send.

#include <cstdint>
#include <optional>

#include "models/base/memory/line_home.h"
#include "models/base/time/key.h"
#include "models/nic/lauberhorn/job.h"
#include "models/nic/lauberhorn/scheduler.h"
#include "models/nic/lines/receive_lines.h"
#include "models/nic/lines/transmit_lines.h"

namespace sluice::nic::lauberhorn {

class EndPoint final : private ReceiveLines::Client, private TransmitLines::Client {
 public:
  /// What an end-point calls, at now().
  class Owner {
   public:
    virtual ~Owner() = default;
    /// How long a load may be held back.
    virtual base::Time block(const EndPoint&) const = 0;
    /// The software has done with what it was given: the message that it has left is in rx.message().
    virtual void finished(EndPoint&, Work) = 0;
    /// A load may be answered.
    virtual void polls(EndPoint&) = 0;
    /// A load has been held back for its time.
    virtual void due(EndPoint&) = 0;
    /// The software commits a message, whose head is in tx.message(). Returns the bytes behind the head.
    virtual std::uint32_t commits(EndPoint&) = 0;
    /// All of it has come.
    virtual void sends(EndPoint&, std::uint32_t bytes) = 0;
  };

  EndPoint(EndPointId own, const LineWindow::Shape& shape, base::ComponentKey key, Owner& owner)
      : id(own), rx(shape, true, key, *this), tx(shape, true, *this), owner_(owner) {}

  const EndPointId id;
  bool is_kernel() const { return id.process == Scheduler::kKernel; }
  ReceiveLines rx;
  TransmitLines tx;
  /// What the software has been given and has not done with.
  std::optional<Work> current;
  std::optional<Reference> sends;   ///< the kept request that the message in the transmit lines answers
  std::optional<Reference> caller;  ///< that gets the results of the call in the transmit lines
  std::uint32_t calls = 0;          ///< the service of that call
  bool is_lost = false;             ///< nobody will answer it
  bool never_waits = false;         ///< a load is answered at once

 private:
  base::Time receive_begins(ReceiveLines&) override { return owner_.block(*this); }
  void receive_done(ReceiveLines&) override {
    if (!current) return;
    const Work work = *current;
    current.reset();
    owner_.finished(*this, work);
  }
  void receive_ready(ReceiveLines&) override { owner_.polls(*this); }
  void receive_due(ReceiveLines&) override { owner_.due(*this); }
  void transmit_begins(TransmitLines&) override {}
  std::uint32_t transmit_length(TransmitLines&) override { return owner_.commits(*this); }
  void transmit_done(TransmitLines&, std::uint32_t bytes) override {
    if (bytes != 0) owner_.sends(*this, bytes);
  }

  Owner& owner_;
};

}  // namespace sluice::nic::lauberhorn
