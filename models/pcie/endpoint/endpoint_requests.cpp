// SPDX-License-Identifier: Apache-2.0
/// What software and other devices ask of an endpoint: reads and writes of its BARs.

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "models/base/measure/mistakes.h"
#include "models/base/registers/register_bank.h"
#include "models/pcie/bad_request.h"
#include "models/pcie/completions.h"
#include "models/pcie/endpoint/endpoint.h"

namespace sluice::pcie {
namespace {
constexpr std::uint64_t kBoundary = 128;  // an endpoint's completions break at multiples of it
}  // namespace

void MmioReply::value(std::uint64_t value, base::RequestId of) {
  std::array<std::uint8_t, 8> bytes;
  for (unsigned i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(value >> 8 * i);
  const Tlp* request = endpoint_->request_of(*this);
  if (!request) return;
  const std::span answer(bytes.data(), std::min<std::size_t>(8, request->enabled_bytes()));
  if (of == 0) return data(answer);
  const std::array<base::RequestId, 2> tags{of, of};  // the read may touch two lines
  data(answer, tags);
}
void MmioReply::data(std::span<const std::uint8_t> bytes) {
  endpoint_->complete(*this, CompletionStatus::kSuccess, bytes);
}
void MmioReply::data(std::span<const std::uint8_t> bytes, std::span<const base::RequestId> tags) {
  endpoint_->complete(*this, CompletionStatus::kSuccess, bytes, tags);
}
bool MmioReply::wants_tags() const {
  const Tlp* request = endpoint_->request_of(*this);
  return request && request->wants_tags;
}
void MmioReply::hold() {
  if (const Tlp* request = endpoint_->request_of(*this)) request->by.load.hold(base::now());
}
void MmioReply::unsupported() { endpoint_->complete(*this, CompletionStatus::kUnsupportedRequest, {}); }
void MmioReply::abort() { endpoint_->complete(*this, CompletionStatus::kCompleterAbort, {}); }

void Endpoint::receive_write(TlpPtr tlp) {
  const Tlp& t = *tlp;
  const std::uint32_t bytes = t.enabled_bytes();
  if (bytes == 0) return;  // a flush: nothing is written
  std::uint64_t offset = 0;
  const int bar = decode(t.first_byte(), bytes, offset);
  if (bar < 0) {
    report_unclaimed(t);
    return refuse(t);
  }
  const unsigned skip = t.first_byte() & 3;
  const base::AccessSiteScope by(t.by);
  if (t.contiguous()) {
    note_arrival(t, 0, bytes);
    register_write(static_cast<unsigned>(bar), offset, {t.payload() + skip, bytes}, t.journey);
    return end_arrival();
  }
  // Byte enables with holes: one write for each run.
  for (std::uint32_t i = 0; i < bytes;) {
    std::uint32_t end = i;
    while (end < bytes && t.enabled(skip + end)) ++end;
    if (end > i) {
      note_arrival(t, i, end - i);
      register_write(static_cast<unsigned>(bar), offset + i, {t.payload() + skip + i, end - i}, t.journey);
      end_arrival();
    }
    i = end + 1;
  }
}

void Endpoint::register_write(unsigned bar, std::uint64_t offset, std::span<const std::uint8_t> data,
                              const base::Journey& journey) {
  const auto size = static_cast<unsigned>(data.size());
  if (in_msix_pba(bar, offset))
    return base::report_refused(path(), base::Answer::read_only, "write", offset, size, "MSI-X PBA");
  if (!in_msix_table(bar, offset)) return mmio_write(bar, offset, data, journey);
  if ((size != 4 && size != 8) || offset % size != 0)
    base::report_refused(path(), offset % 4 ? base::Answer::misaligned : base::Answer::wrong_width, "write", offset,
                         size, "MSI-X table");
  write_msix_table(offset - function_.msix.table_offset, data);
}

/// Stores the bytes whatever the size of the write; register_write() has reported a wrong size.
void Endpoint::write_msix_table(std::uint64_t at, std::span<const std::uint8_t> data) {
  const std::uint64_t size = msix_table_.size() * sizeof(pcie_msix_entry);
  const std::uint64_t end = at + std::min<std::uint64_t>(data.size(), size - at);
  std::memcpy(reinterpret_cast<std::uint8_t*>(msix_table_.data()) + at, data.data(), end - at);
  for (std::uint64_t vector = at / sizeof(pcie_msix_entry); vector * sizeof(pcie_msix_entry) < end; ++vector) {
    const pcie_msix_entry& entry = msix_table_[vector];
    msix_entries_[vector].by = base::access_site();
    if (at < vector * sizeof entry + sizeof entry.address_low && entry.address_low % 4 != 0)
      base::mistakes().report(
          fmt::format("{}: message address {:#x} of vector {} is not a multiple of 4: the low bits "
                      "are dropped",
                      path(), std::uint64_t{entry.address_high} << 32 | entry.address_low, vector));
  }
  note_unmasked();
  fire_unmasked();
}

/// Notes which requests a part of a write belongs to. Requests without bytes come with the write's end.
void Endpoint::note_arrival(const Tlp& t, std::uint32_t from, std::uint32_t bytes) {
  arrival_taken_ = false;
  if (!arriving_.spans.empty()) arriving_ = {};
  arriving_.content = t.content;
  if (t.spans.empty()) return;
  arriving_.stage = t.arrival_stage;
  arriving_.journey = t.journey;
  const bool last = from + bytes == t.enabled_bytes();
  unsigned n = 0, kept = 0;
  for (const base::Span& s : t.spans) {
    const bool ends = t.ending >> n++ & 1;
    const std::uint32_t first = std::max(s.offset, from), end = std::min(s.offset + s.length, from + bytes);
    if (first >= end && !(s.length == 0 && last)) continue;
    arriving_.spans.add({first < end ? first - from : 0, first < end ? end - first : 0, s.id});
    if (ends && (s.length == 0 || s.offset + s.length <= from + bytes))
      arriving_.ending |= static_cast<std::uint8_t>(1u << kept);
    ++kept;
  }
}

void Endpoint::end_arrival() {
  if (!arrival_taken_) arriving_.move_requests();
}

Arrival Endpoint::take_arrival() {
  arrival_taken_ = true;
  return arriving_;
}

void Endpoint::receive_read(TlpPtr tlp) {
  const Tlp& t = *tlp;
  const std::uint64_t first = t.first_byte();
  const std::uint32_t bytes = t.enabled_bytes();
  std::uint64_t offset = 0;
  const int bar = decode(first, std::max(bytes, 1u), offset);
  if (bar < 0) {
    report_unclaimed(t);
    return refuse(t);
  }
  const base::AccessSiteScope by(t.by);
  const MmioReply reply = open_read(std::move(tlp));
  if (bytes == 0) return mmio_flush(static_cast<unsigned>(bar), reply);
  const auto n = static_cast<unsigned>(bar);
  if (!in_msix_table(n, offset) && !in_msix_pba(n, offset)) return mmio_read(n, offset, bytes, reply);
  std::array<std::uint8_t, 64> table{};
  const std::uint32_t count = std::min<std::uint32_t>(bytes, table.size());
  for (std::uint32_t i = 0; i < count; ++i) table[i] = msix_byte(n, offset + i);
  MmioReply(reply).data({table.data(), count});
}

/// The answer may be given long after this call, and takes the request's journey back with it.
MmioReply Endpoint::open_read(TlpPtr request) {
  if (request->carries_journey) request->journey.enter(SLUICE_STAGE_memory, component(), base::now());
  const std::uint32_t n = take_slot(open_reads_, free_reads_);
  open_reads_[n].request = std::move(request);
  MmioReply reply;
  reply.endpoint_ = this;
  reply.read_ = n;
  reply.serial_ = open_reads_[n].serial;
  reply.resets_ = resets_;
  return reply;
}

/// The request of a reply. Null: a reset has come since, and nobody waits for the answer.
const Tlp* Endpoint::request_of(const MmioReply& reply) const {
  if (reply.resets_ != resets_) return nullptr;
  const OpenRead& read = open_reads_.at(reply.read_);
  if (read.serial != reply.serial_) throw base::ComponentError(path(), "it answers a read twice");
  return read.request.get();
}

void Endpoint::complete(const MmioReply& reply, CompletionStatus status, std::span<const std::uint8_t> data,
                        std::span<const base::RequestId> tags) {
  constexpr std::uint64_t kLine = base::GuestRam::kTagLine;
  if (!request_of(reply)) return;
  OpenRead& read = open_reads_[reply.read_];
  ++read.serial;
  const TlpPtr request = std::move(read.request);
  free_reads_.push_back(reply.read_);
  request->by.load.release(base::now());
  if (status != CompletionStatus::kSuccess) {
    ++counters_.unsupported_requests;
    port_.send(make_completion(*request, id_, status));
    return;
  }
  const std::uint64_t first = request->first_byte();
  make_completions(*request, id_, first, std::max(request->enabled_bytes(), 1u), kBoundary, config_.max_payload(),
                   [&](TlpPtr c, std::uint32_t offset, std::uint32_t bytes) {
                     std::uint8_t* to = c->payload() + ((first + offset) & 3);
                     std::memset(to, 0, bytes);
                     if (offset < data.size())
                       std::memcpy(to, data.data() + offset, std::min<std::size_t>(bytes, data.size() - offset));
                     const std::uint64_t from = (first + offset) / kLine - first / kLine;
                     const std::uint64_t to_line = (first + offset + bytes - 1) / kLine - first / kLine;
                     for (std::uint64_t line = from; line <= to_line && line < tags.size(); ++line)
                       c->line_tags.push_back(tags[line]);
                     // Nobody's transfer: the requests have waited for the answer, and not for the question.
                     c->carries_journey |= !c->line_tags.empty();
                     port_.send(std::move(c));
                   });
}

void Arrival::move_requests() const { pcie::move_requests(spans, ending, stage, journey); }

}  // namespace sluice::pcie
