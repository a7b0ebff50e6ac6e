// SPDX-License-Identifier: Apache-2.0
#include "models/nic/descriptor/vectors.h"

#include <utility>

#include "models/nic/descriptor/descriptor_regs.h"

namespace sluice::nic {

namespace {

/// Adds a span. If there is no room, the first span is removed.
void add_latest(base::Spans& spans, const base::Span& s) {
  if (spans.add(s)) return;
  base::Spans later;
  for (const base::Span* old = spans.begin() + 1; old != spans.end(); ++old) later.add(*old);
  later.add(s);
  spans = later;
}

}  // namespace

Vectors::Vectors(unsigned count, base::ComponentKey key) : key_(key), vectors_(count) {}

void Vectors::cause(std::uint32_t cause_register, const base::Spans& requests) {
  if (!(cause_register & DESC_CAUSE_ENABLE)) return;
  const unsigned number = cause_register & DESC_CAUSE_VECTOR;
  Vector& v = vectors_[number];
  // While the vector asserts INTA, software knows already: these requests do not wait for another interrupt.
  if (messages_ || !v.pending || !v.enable)
    for (const base::Span& s : requests) add_latest(v.requests, s);
  v.pending = true;
  consider(number);
}

bool Vectors::will_interrupt(std::uint32_t cause_register) const {
  if (!(cause_register & DESC_CAUSE_ENABLE)) return false;
  const Vector& v = vectors_[cause_register & DESC_CAUSE_VECTOR];
  return v.enable && (messages_ || !v.pending);
}

void Vectors::write_control(unsigned vector, std::uint32_t value) {
  Vector& v = vectors_[vector];
  if (value & DESC_VECTOR_CLEAR_PENDING) {
    v.pending = false;
    v.requests = {};
  }
  if (value & DESC_VECTOR_TRIGGER) v.pending = true;
  v.enable = value & DESC_VECTOR_ENABLE;
  v.auto_mask = value & DESC_VECTOR_AUTO_MASK;
  consider(vector);
}

std::uint32_t Vectors::read_control(unsigned vector) const {
  const Vector& v = vectors_[vector];
  return (v.enable ? DESC_VECTOR_ENABLE : 0) | (v.auto_mask ? DESC_VECTOR_AUTO_MASK : 0);
}

std::uint32_t Vectors::moderation(unsigned vector) const {
  return static_cast<std::uint32_t>(vectors_[vector].interval / base::Time::ns(DESC_VECTOR_MODERATION_UNIT_NS));
}

void Vectors::set_moderation(unsigned vector, std::uint32_t units) {
  Vector& v = vectors_[vector];
  const base::Time interval = base::Time::ns(std::uint64_t{DESC_VECTOR_MODERATION_UNIT_NS} * units);
  // The new interval also counts from the last message.
  if (v.not_before != base::Time{}) v.not_before = v.not_before - v.interval + interval;
  v.interval = interval;
  base::calendar().cancel(v.timer);
  consider(vector);
}

void Vectors::use_messages(bool on) {
  if (on == messages_) return;
  messages_ = on;
  update_line();
  for (unsigned v = 0; v < count(); ++v) consider(v);
}

void Vectors::consider(unsigned vector) {
  Vector& v = vectors_[vector];
  const bool tell = v.pending && v.enable;
  if (!messages_) return update_line(tell ? std::exchange(v.requests, {}) : base::Spans{});
  if (!tell) return;
  if (base::now() < v.not_before) {
    if (!base::calendar().pending(v.timer))
      v.timer = base::calendar().at(v.not_before, key_, [this, vector] { consider(vector); });
    return;
  }
  v.pending = false;
  if (v.auto_mask) v.enable = false;
  v.not_before = base::now() + v.interval;
  send(vector, std::exchange(v.requests, {}));
}

void Vectors::update_line(const base::Spans& requests) {
  bool level = false;
  for (const Vector& v : vectors_) level = level || (v.pending && v.enable);
  if (set_line) set_line(level && !messages_, requests);
}

void Vectors::reset() {
  for (Vector& v : vectors_) {
    base::calendar().cancel(v.timer);
    v = {};
  }
  update_line();
}

}  // namespace sluice::nic
