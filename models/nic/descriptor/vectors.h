// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The NIC's interrupt vectors: causes are latched, moderation spaces the messages, and AUTO_MASK disables a vector
/// when it sends one.

#include <cstdint>
#include <vector>

#include "models/base/measure/ledger.h"
#include "models/base/time/calendar.h"
#include "models/base/time/callback.h"

namespace sluice::nic {

/// Rules: descriptor_regs.h, "interrupts".
class Vectors {
 public:
  /// count: 1 to DESC_MAX_VECTORS.
  Vectors(unsigned count, base::ComponentKey key);

  /// Called to send the message of a vector, before MSI-X's own masks are applied. The requests wait for the message.
  base::Callback<void(unsigned vector, const base::Spans& requests)> send;
  /// Called to set the level of INTA. While messages are off, INTA is asserted as long as any vector is pending and
  /// enabled. The requests wait for the assertion.
  base::Callback<void(bool level, const base::Spans& requests)> set_line;

  unsigned count() const { return static_cast<unsigned>(vectors_.size()); }
  /// Handles an event. cause_register: value of the event's cause register (DESC_CAUSE_*); a disabled cause does
  /// nothing. The requests go with the vector's next send() or set_line(): at once, or when the vector is enabled and,
  /// for a message, moderation allows it. They are not kept if the vector already asserts INTA. If a message has no
  /// room for all requests, it takes the latest ones.
  void cause(std::uint32_t cause_register, const base::Spans& requests = {});
  /// Whether this cause would raise an interrupt, at once or as soon as moderation allows. It would not while the
  /// vector is disabled, nor if the vector already asserts INTA.
  bool will_interrupt(std::uint32_t cause_register) const;

  void write_control(unsigned vector, std::uint32_t value);
  std::uint32_t read_control(unsigned vector) const;
  /// Sets the moderation interval in units of DESC_VECTOR_MODERATION_UNIT_NS, at most DESC_VECTOR_MODERATION_MAX.
  void set_moderation(unsigned vector, std::uint32_t units);
  std::uint32_t moderation(unsigned vector) const;
  bool pending(unsigned vector) const { return vectors_[vector].pending; }
  /// MSI-X was switched on or off in configuration space.
  void use_messages(bool on);
  void reset();

 private:
  struct Vector {
    bool enable = false;
    bool auto_mask = false;
    bool pending = false;
    base::Time interval;
    base::Time not_before;  ///< earliest time of the next message
    base::Calendar::Handle timer;
    base::Spans requests;  ///< the latest, as many as a message has room for
  };

  void consider(unsigned vector);
  void update_line(const base::Spans& requests = {});

  base::ComponentKey key_;
  std::vector<Vector> vectors_;
  bool messages_ = false;
};

}  // namespace sluice::nic
