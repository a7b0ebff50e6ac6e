// SPDX-License-Identifier: Apache-2.0
#include "models/coherence/link/host_path.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/base/fabric/interrupt_line.h"

namespace sluice::coherence {

using PartKind = HostPart::Kind;

HostPath::HostPath(const sc_core::sc_module_name& name, CoherentLink& link, base::MemoryPath& memory, unsigned line,
                   Interrupt interrupt, std::string device)
    : Model(name),
      link_(link),
      memory_(memory),
      line_(line),
      interrupt_(std::move(interrupt)),
      device_(std::move(device)) {
  link.set_line_bytes(line);
  link.add_host_path(*this);
}

// --------------------------------------------------------------------------------------------------------------------
// At the device

HostPath::Transfer& HostPath::open(std::uint64_t address, std::size_t bytes) {
  if (bytes == 0 || bytes > kMostBytes)
    throw std::logic_error(
        fmt::format("it reads or writes {} bytes of host memory; a transfer has 1 to {}", bytes, kMostBytes));
  Transfer& t = open_[++last_];
  t.address = address;
  t.bytes.resize(bytes);
  t.by = base::access_site();
  return t;
}

void HostPath::read(std::uint64_t address, std::uint32_t bytes, base::Callback<void(const base::HostRead&)> done) {
  Transfer& t = open(address, bytes);
  t.read_done = std::move(done);
  ++reads_;
  send_parts(t, PartKind::read);
}

void HostPath::write(const base::HostWrite& w, base::Callback<void(bool)> done) {
  Transfer& t = open(w.address, w.bytes.size());
  std::copy(w.bytes.begin(), w.bytes.end(), t.bytes.begin());
  t.of = w.of;
  t.arrival = w.arrival;
  t.write_done = std::move(done);
  ++writes_;
  send_parts(t, PartKind::write);
}

void HostPath::interrupt(std::uint64_t address, std::uint32_t value, std::span<const base::RequestId> requests) {
  if (address % sizeof value != 0)
    throw std::logic_error(fmt::format("it interrupts at {:#x}, which is no multiple of 4", address));
  Transfer& t = open(address, sizeof value);
  for (unsigned i = 0; i < sizeof value; ++i) t.bytes[i] = static_cast<std::uint8_t>(value >> 8 * i);
  t.requests.assign(requests.begin(), requests.end());
  t.write_done = [](bool) {};
  ++interrupts_;
  send_parts(t, PartKind::interrupt);
}

void HostPath::send_parts(Transfer& t, PartKind kind) {
  const std::uint64_t number = last_;
  const std::uint64_t end = t.address + t.bytes.size();
  t.missing = t.unseen = static_cast<unsigned>((end - 1) / line_ - t.address / line_ + 1);
  if (!link_.is_up()) {
    // Not from inside the device's call.
    base::calendar().at(base::now(), key(), [this, number] {
      if (open_.contains(number)) end_part(number, false);
    });
    return;
  }
  for (std::uint64_t at = t.address; at < end;) {
    const std::uint64_t next = std::min(end, (at / line_ + 1) * line_);
    CoherentMessagePtr m = make_coherent_message();
    m->host = {this, kind, number, static_cast<std::uint32_t>(at - t.address), static_cast<std::uint32_t>(next - at)};
    m->line = at;
    m->by = t.by;
    m->of = t.requests.empty() ? t.of.value_or(0) : t.requests.front();
    m->carries_journey = t.arrival || !t.requests.empty();
    if (kind != PartKind::read) std::copy_n(t.bytes.begin() + m->host.offset, m->host.bytes, m->bytes.begin());
    at = next;
    link_.send_about_host(std::move(m), true);
  }
}

void HostPath::arrive_at_device(const CoherentMessage& m) {
  const auto found = open_.find(m.host.transfer);
  if (found == open_.end()) return;
  Transfer& t = found->second;
  if (m.host.kind == PartKind::pull) {
    CoherentMessagePtr data = answer_to(m, PartKind::write_data);
    std::copy_n(t.bytes.begin() + m.host.offset, m.host.bytes, data->bytes.begin());
    data->of = t.of.value_or(0);
    data->carries_journey = m.carries_journey;
    data->journey = m.journey;
    return link_.send_about_host(std::move(data), true);
  }
  if (m.host.kind == PartKind::data) {
    std::copy_n(m.bytes.begin(), m.host.bytes, t.bytes.begin() + m.host.offset);
    if (m.host.offset == 0) t.of = m.of;
  }
  end_part(m.host.transfer, m.host.kind != PartKind::refused);
}

/// A part has its answer. One that has failed ends the transfer.
void HostPath::end_part(std::uint64_t number, bool ok) {
  const auto found = open_.find(number);
  if (ok && --found->second.missing > 0) return;
  Transfer ended = std::move(found->second);
  open_.erase(found);
  end(ended, ok);
}

void HostPath::end(Transfer& ended, bool ok) {
  base::name_what_is_thrown(device_, [&] {
    if (ended.read_done) return ended.read_done(base::HostRead{ok, ended.bytes, ended.of.value_or(0)});
    ended.write_done(ok);
  });
}

void HostPath::reset() {
  // What the device begins when it is told is not under way yet.
  for (auto& [number, transfer] : std::exchange(open_, {})) end(transfer, false);
}

// --------------------------------------------------------------------------------------------------------------------
// At the host

namespace {

constexpr const char* kNoMemory = "no memory is there";

}  // namespace

CoherentMessagePtr HostPath::answer_to(const CoherentMessage& m, PartKind kind) const {
  CoherentMessagePtr answer = make_coherent_message();
  answer->host = m.host;
  answer->host.kind = kind;
  answer->line = m.line;
  answer->by = m.by;
  return answer;
}

void HostPath::arrive_at_host(const CoherentMessage& m) {
  switch (m.host.kind) {
    case PartKind::read:
      return start_read(m);
    case PartKind::write:
      return start_write(m);
    case PartKind::write_data:
      return land(m);
    case PartKind::interrupt:
      return take_interrupt(m);
    default:
      return;
  }
}

void HostPath::report(const CoherentMessage& m, const char* what, const char* why) const {
  base::mistakes().report(fmt::format("{}: {} of {} bytes at {:#x}: {}", device_, what, m.host.bytes, m.line, why),
                          m.by);
}

void HostPath::refuse(const CoherentMessage& m, const char* what, const char* why) {
  ++refused_;
  report(m, what, why);
  link_.send_about_host(answer_to(m, PartKind::refused), false);
}

void HostPath::start_read(const CoherentMessage& m) {
  base::GuestRam* const ram = memory_.ram_at(m.line, m.host.bytes);
  if (!ram) return refuse(m, "read", kNoMemory);
  CoherentMessagePtr answer = answer_to(m, PartKind::data);
  base::calendar().after(memory_.read_latency(m.line, m.host.bytes), key(),
                         [this, ram, resets = link_.resets(), a = std::move(answer)]() mutable {
                           if (resets != link_.resets()) return;
                           ram->read(a->line, a->bytes.data(), a->host.bytes);
                           a->of = ram->tag(a->line);
                           link_.send_about_host(std::move(a), false);
                         });
}

/// A link whose writes say first that they are coming asks for the bytes.
void HostPath::start_write(const CoherentMessage& m) {
  if (!memory_.ram_at(m.line, m.host.bytes)) return refuse(m, "write", kNoMemory);
  if (!link_.dialect().pulls_writes) return land(m);
  CoherentMessagePtr pull = answer_to(m, PartKind::pull);
  pull->carries_journey = m.carries_journey;
  pull->journey = m.journey;
  link_.send_about_host(std::move(pull), false);
}

/// The bytes are here, and visible when memory has them.
void HostPath::land(const CoherentMessage& m) {
  base::GuestRam* const ram = memory_.ram_at(m.line, m.host.bytes);
  CoherentMessagePtr copy = answer_to(m, PartKind::done);
  std::copy_n(m.bytes.begin(), m.host.bytes, copy->bytes.begin());
  copy->of = m.of;
  copy->journey = m.journey;
  if (m.carries_journey) copy->journey.enter(SLUICE_STAGE_memory, component(), base::now());
  base::calendar().after(memory_.write_latency(m.line, m.host.bytes), key(),
                         [this, ram, resets = link_.resets(), c = std::move(copy)]() mutable {
                           if (resets != link_.resets()) return;
                           if (ram->holds_code(c->line, c->host.bytes)) report(*c, "write", "code lies there");
                           memory_.written(c->line, c->host.bytes);
                           ram->write(c->line, c->bytes.data(), c->host.bytes);
                           note_visible(*ram, *c);
                           c->journey.clear();
                           c->of = 0;
                           link_.send_about_host(std::move(c), false);
                         });
}

/// A part of a write can be seen. The last one moves the request on.
void HostPath::note_visible(base::GuestRam& ram, const CoherentMessage& m) {
  const auto found = open_.find(m.host.transfer);
  if (found == open_.end()) return;
  Transfer& t = found->second;
  if (t.of) ram.set_tag(m.line, m.host.bytes, *t.of);
  if (--t.unseen > 0 || !t.arrival || !t.of) return;
  m.journey.apply(*t.of);
  base::ledger().try_enter(*t.of, t.arrival->stage, t.arrival->component, base::now());
}

void HostPath::take_interrupt(const CoherentMessage& m) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < sizeof value; ++i) value |= std::uint32_t{m.bytes[i]} << 8 * i;
  const std::vector<base::RequestId> requests = std::move(open_.at(m.host.transfer).requests);
  end_part(m.host.transfer, true);
  for (const base::RequestId id : requests) {
    m.journey.apply(id);
    base::ledger().try_enter(id, SLUICE_STAGE_interrupt, component(), base::now());
  }
  const base::InterruptRequests waiting(requests);
  const base::AccessSiteScope by(m.by);
  if (interrupt_(m.line, value)) return;
  ++refused_;
  report(m, "interrupt", "no interrupt controller takes it");
}

void HostPath::register_statistics(base::StatisticsGroup& group) {
  group.counter("reads", "transfers", "of host memory, by the device", reads_);
  group.counter("writes", "transfers", "to host memory, by the device", writes_);
  group.counter("interrupts", "messages", "to interrupt controllers, by the device", interrupts_);
  group.counter("refused", "messages", "of these that neither memory nor a controller takes", refused_);
}

}  // namespace sluice::coherence
