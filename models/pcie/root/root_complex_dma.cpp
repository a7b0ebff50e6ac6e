// SPDX-License-Identifier: Apache-2.0
/// Requests of devices to the RootComplex: for memory, interrupt controllers and other devices.

#include <algorithm>
#include <cstring>

#include "models/base/fabric/interrupt_line.h"
#include "models/pcie/bad_request.h"
#include "models/pcie/completions.h"
#include "models/pcie/root/root_complex.h"

namespace sluice::pcie {

void RootComplex::receive(unsigned port, TlpPtr tlp) {
  RootPort& p = *ports_[port];
  tlp->ingress = static_cast<std::uint8_t>(port);
  if (tlp->carries_journey) tlp->journey.enter(SLUICE_STAGE_memory, component(), base::now());
  switch (tlp->type) {
    case TlpType::kMWr:
      return receive_write(p, std::move(tlp));
    case TlpType::kMRd:
      return receive_read(p, std::move(tlp));
    case TlpType::kCpl:
    case TlpType::kCplD:
      return receive_completion(std::move(tlp));
    case TlpType::kMsg:
      return receive_message(p, std::move(tlp));
    default:
      return refuse(p, std::move(tlp));
  }
}

/// The physical address of the request's bytes, or why the IOMMU refuses it.
Translation RootComplex::translate(const Tlp& t, bool write) {
  if (!translator_) return {t.first_byte(), false, {}, nullptr};
  return translator_->translate(t.requester, t.first_byte(), t.enabled_bytes(), write);
}

namespace {

constexpr const char* kBridgeOff = "bus mastering is off in the command register of the root port above it";
constexpr const char* kAskNowhere = "";  // the cause is what RootComplex::nowhere() says of the address

}  // namespace

/// Why a device's request to this address is a mistake: nothing there takes it, or it is an interrupt message and no
/// interrupt controller is there.
std::string RootComplex::nowhere(const Tlp& t) const {
  const std::uint64_t address = t.first_byte();
  if (in_configuration_space(address)) return "devices do not reach configuration space";
  std::string unclaimed = in_memory_windows(address) ? why_unclaimed(address) : std::string();
  if (!unclaimed.empty()) return unclaimed;
  if (t.origin.interrupt) return "no interrupt controller is there";
  const std::string name = soc_ ? soc_->name_at(address) : std::string();
  if (name.empty()) return "neither memory nor a device is there";
  return name + (t.has_data() ? " does not take it" : " cannot be read by devices");
}

/// Why a request outside memory is not forwarded to root port `to` (null: no port leads there). Returns null if it is
/// forwarded, or if the link is down, which is not the software's fault.
const char* RootComplex::refusal(const RootPort& from, const RootPort* to) const {
  if (!to) return kAskNowhere;
  if (to == &from) return "the address leads back to the port that it comes from";
  return parameters_.peer_to_peer ? nullptr : "requests do not pass between root ports (root.peer_to_peer)";
}

/// cause: the software's mistake; kAskNowhere: the address is wrong; null: no mistake.
void RootComplex::refuse(RootPort& p, TlpPtr request, const char* cause) {
  request->release_buffer();
  answer_refused(p, *request, cause);
}

void RootComplex::answer_refused(RootPort& p, const Tlp& request, const char* cause) {
  ++counters_.unsupported_requests;
  if (cause) report_bad_request(request, path(), *cause ? std::string(cause) : nowhere(request));
  if (request.tlp_class() == TlpClass::kNonPosted)
    p.port.send(make_completion(request, kSelf, CompletionStatus::kUnsupportedRequest));
}

/// As refuse(), but answers after the writes that came before the read, because a read never passes writes.
void RootComplex::refuse_read(RootPort& p, TlpPtr request, const char* cause, base::Time latency) {
  request->release_buffer();
  const base::Time when = std::max(base::now() + latency, p.last_landing);
  base::calendar().at(when, key(), [this, &p, cause, r = std::move(request), losses = p.losses] {
    if (losses == p.losses) answer_refused(p, *r, cause);
  });
}

/// Sends the TLP out of another root port. The caller ensures that `when` is no earlier than the posted writes that the
/// TLP may not pass.
void RootComplex::forward(RootPort& to, TlpPtr tlp, base::Time when) {
  base::calendar().at(when, key(), [&to, t = std::move(tlp)]() mutable { to.port.send(std::move(t)); });
}

void RootComplex::receive_write(RootPort& p, TlpPtr tlp) {
  Tlp& t = *tlp;
  const std::uint32_t bytes = t.enabled_bytes();
  const Translation where = translate(t, true);
  if (!p.bridge.forwards_upstream()) return refuse(p, std::move(tlp), kBridgeOff);
  if (where.fault) return refuse(p, std::move(tlp), where.why);
  if (bytes == 0) return t.release_buffer();  // a flush: nothing is written
  t.address = where.address & ~std::uint64_t{3};
  base::GuestRam* ram = memory_.ram_at(where.address, bytes);
  RootPort* peer = ram ? nullptr : port_of_address(where.address);
  counters_.peer_requests += peer && peer != &p;
  if (peer && (peer == &p || !parameters_.peer_to_peer || !peer->port.up()))
    return refuse(p, std::move(tlp), refusal(p, peer));
  base::Time when = base::now() + parameters_.write_latency + where.latency;
  if (ram) when += memory_.write_latency(where.address, bytes);
  if (!t.relaxed_ordering) when = std::max(when, p.last_landing);
  p.last_landing = std::max(when, p.last_landing);
  if (peer) return forward(*peer, std::move(tlp), when);
  base::calendar().at(when, key(), [this, request = std::move(tlp), ram]() mutable { land(std::move(request), ram); });
}

void RootComplex::land(TlpPtr tlp, base::GuestRam* ram) {
  Tlp& t = *tlp;
  t.release_buffer();
  const std::uint64_t first = t.first_byte();
  const std::uint32_t bytes = t.enabled_bytes();
  const std::uint8_t* data = t.payload() + first % 4;
  if (ram) {
    ++counters_.dma_writes;
    if (ram->holds_code(first, bytes)) [[unlikely]]
      report_bad_request(t, path(), "code lies there");
    else if (t.origin.interrupt) [[unlikely]]
      report_bad_request(t, path(), nowhere(t));
    memory_.written(first, bytes);
    if (t.contiguous()) {
      ram->write(first, data, bytes);
    } else {
      for (std::uint32_t i = 0; i < bytes; ++i)
        if (t.enabled(static_cast<std::uint32_t>(first % 4) + i)) ram->write(first + i, data + i, 1);
    }
    tag_lines(*ram, first, bytes, t.spans, t.content);
  }
  move_requests(t.spans, t.ending, t.arrival_stage, t.journey);
  if (ram) return;
  const base::InterruptRequests waiting(t.spans);
  write_soc(t);
}

/// Hands a device's write outside RAM to the SoC: an interrupt message, or a write to another device. If the receiver
/// finds the write wrong, its reason is the cause in the report of the device's mistake; an interrupt controller's
/// report about a message that it has taken stays as it is. The root complex's own windows are excluded: they are on
/// the SoC's bus for harts only, because an access there waits.
void RootComplex::write_soc(const Tlp& t) {
  const std::uint64_t first = t.first_byte();
  bool taken = false;
  std::string wrong;
  const bool meant = !t.origin.interrupt || (soc_ && soc_->takes_interrupts(first));
  if (soc_ && meant && !in_configuration_space(first) && !in_memory_windows(first)) {
    const base::AccessSiteScope by(t.by);
    const base::CaughtReport report;
    taken = soc_->write(first, t.payload() + first % 4, t.enabled_bytes());
    wrong = report.what();
  }
  ++(taken ? counters_.messages_signalled : counters_.unsupported_requests);
  if (taken && wrong.empty()) return;
  if (taken && t.origin.interrupt) return base::mistakes().report(std::move(wrong), t.by);
  report_bad_request(t, path(), wrong.empty() ? nowhere(t) : wrong);
}

void RootComplex::receive_read(RootPort& p, TlpPtr tlp) {
  if (p.reads >= parameters_.reads || !p.waiting_reads.empty()) {
    ++counters_.read_stalls;
    p.waiting_reads.push(std::move(tlp));
    return;
  }
  start_read(p, std::move(tlp));
}

void RootComplex::start_read(RootPort& p, TlpPtr tlp) {
  Tlp& t = *tlp;
  const std::uint32_t bytes = std::max(t.enabled_bytes(), 1u);  // a read of no bytes flushes and returns one DW
  const Translation where = translate(t, false);
  base::GuestRam* ram = where.fault ? nullptr : memory_.ram_at(where.address, bytes);
  if (!p.bridge.forwards_upstream()) return refuse(p, std::move(tlp), kBridgeOff);
  // A walk finds a fault at its end.
  if (where.fault) return refuse_read(p, std::move(tlp), where.why, where.latency);
  if (!ram) {
    t.address = where.address & ~std::uint64_t{3};
    RootPort* peer = port_of_address(where.address);
    counters_.peer_requests += peer && peer != &p;
    if (!peer || peer == &p || !parameters_.peer_to_peer || !peer->port.up())
      return refuse_read(p, std::move(tlp), refusal(p, peer), where.latency);
    const base::Time when = base::now() + parameters_.write_latency + where.latency;
    return forward(*peer, std::move(tlp), std::max(when, p.last_landing));
  }
  t.release_buffer();
  ++p.reads;
  ++counters_.dma_reads;
  // A read never passes the writes before it: it begins when memory has them. Its translation does not wait for them.
  const base::Time translated = base::now() + where.latency;
  MemoryRead read{std::move(tlp), ram, where.address, p.losses};
  if (p.last_landing <= translated) return read_memory(std::move(read), translated);
  base::calendar().at(p.last_landing, key(),
                      [this, r = std::move(read)]() mutable { read_memory(std::move(r), base::now()); });
}

/// Where the bytes are, and so how long they take, is looked up now, when the writes before the read are in memory.
void RootComplex::read_memory(MemoryRead read, base::Time begin) {
  const std::uint32_t bytes = std::max(read.request->enabled_bytes(), 1u);
  const base::Time when = begin + parameters_.read_latency + memory_.read_latency(read.address, bytes);
  base::calendar().at(when, key(), [this, r = std::move(read)]() mutable {
    RootPort& p = *ports_[r.request->ingress];
    --p.reads;
    if (r.losses == p.losses) finish_read(std::move(r.request), *r.ram, r.address);
    start_waiting_reads(p);
  });
}

void RootComplex::start_waiting_reads(RootPort& p) {
  while (!p.waiting_reads.empty() && p.reads < parameters_.reads) start_read(p, p.waiting_reads.pop());
}

void RootComplex::finish_read(TlpPtr tlp, base::GuestRam& ram, std::uint64_t address) {
  const Tlp& t = *tlp;
  RootPort& p = *ports_[t.ingress];
  // Software may have chosen a smaller maximum payload than the board did.
  const auto most = std::min(static_cast<std::uint32_t>(parameters_.completion_size.count()),
                             std::uint32_t{p.bridge.config().max_payload()});
  const std::uint64_t first = t.first_byte();
  make_completions(t, kSelf, first, std::max(t.enabled_bytes(), 1u), most, most,
                   [&](TlpPtr c, std::uint32_t offset, std::uint32_t bytes) {
                     const std::uint64_t from = address + offset;
                     ram.read(from, c->payload() + ((first + offset) & 3), bytes);
                     if (t.wants_tags) read_tags(ram, from, bytes, c->line_tags);
                     p.port.send(std::move(c));
                   });
}

/// A message does not pass earlier writes: the data is in memory before INTx reports it.
void RootComplex::receive_message(RootPort& p, TlpPtr tlp) {
  tlp->release_buffer();
  base::calendar().at(std::max(base::now(), p.last_landing), key(),
                      [this, &p, message = std::move(tlp)] { signal(p, *message); });
}

void RootComplex::signal(RootPort& p, const Tlp& t) {
  const unsigned code = t.message_code;
  if (code >= kAssertIntA && code < kAssertIntA + 4)
    p.asserted |= static_cast<std::uint8_t>(1u << (code - kAssertIntA));
  else if (code >= kDeassertIntA && code < kDeassertIntA + 4)
    p.asserted &= static_cast<std::uint8_t>(~(1u << (code - kDeassertIntA)));
  else
    ++counters_.unsupported_requests;
  move_requests(t.spans, t.ending, t.arrival_stage, t.journey);
  const base::InterruptRequests waiting(t.spans);
  update_lines();
}

void RootComplex::update_lines() {
  std::array<bool, 4> level{};
  for (unsigned i = 0; i < ports_.size(); ++i)
    for (unsigned pin = 0; pin < 4; ++pin)
      if (ports_[i]->asserted >> pin & 1) level[(pin + i + 1) % 4] = true;
  for (unsigned pin = 0; pin < 4; ++pin) intx[pin].set(level[pin]);
}

}  // namespace sluice::pcie
