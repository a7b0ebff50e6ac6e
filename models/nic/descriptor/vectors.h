#pragma once
/// The NIC's interrupt vectors: causes latch, moderation spaces messages, AUTO_MASK closes the door behind one.

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

  /// Sends the message of a vector; behind it come MSI-X's own masks. The requests wait for it.
  base::Callback<void(unsigned vector, const base::Spans& requests)> send;
  /// Level of INTA: while messages are off, asserted as long as any vector is pending and enabled. The requests wait
  /// for its assertion.
  base::Callback<void(bool level, const base::Spans& requests)> set_line;

  unsigned count() const { return static_cast<unsigned>(vectors_.size()); }
  /// Something happened whose cause register (DESC_CAUSE_*) holds this; a disabled cause does nothing. The requests
  /// travel with the message by which software learns of it, now or when the vector is unmasked: the latest that a
  /// message has room for.
  void cause(std::uint32_t cause_register, const base::Spans& requests = {});
  /// Whether this cause would raise an interrupt, at once or when moderation lets it: not while the vector is masked,
  /// nor while INTA is asserted already.
  bool will_interrupt(std::uint32_t cause_register) const;

  void write_control(unsigned vector, std::uint32_t value);
  std::uint32_t read_control(unsigned vector) const;
  /// Moderation in units of DESC_VECTOR_MODERATION_UNIT_NS, at most DESC_VECTOR_MODERATION_MAX.
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
