// SPDX-License-Identifier: Apache-2.0
/// The DMA engine of Endpoint.

#include <algorithm>
#include <stdexcept>

#include "models/pcie/bad_request.h"
#include "models/pcie/endpoint/endpoint.h"

namespace sluice::pcie {
namespace {

constexpr std::uint32_t kMostRead = 16u << 20;  // bytes of one transfer

/// Returns how many of `left` bytes the first TLP carries. `most` limits whole DWs, so bytes of the first DW before
/// `address` count, too; and no TLP crosses 4 KiB.
std::uint32_t piece(std::uint64_t address, std::uint32_t left, std::uint32_t most) {
  return std::min({left, most - static_cast<std::uint32_t>(address % 4),
                   static_cast<std::uint32_t>(Tlp::kBoundary - address % Tlp::kBoundary)});
}

/// Puts into a TLP the part of a transfer's spans that lies in [offset, offset + bytes), and which of them end there.
/// Spans without bytes, and spans beyond the transfer's end, end in its last TLP.
void slice(const base::Spans& all, std::uint32_t offset, std::uint32_t bytes, bool last, Tlp& t) {
  unsigned n = 0;
  for (const base::Span& s : all) {
    const std::uint32_t from = std::max(s.offset, offset);
    const std::uint32_t to = std::min(s.offset + s.length, offset + bytes);
    const bool here = from < to;
    const bool ends = s.length == 0 || s.offset + s.length > offset + bytes ? last : here && s.offset + s.length == to;
    if (!here && !ends) continue;
    t.spans.add({here ? from - offset : 0, here ? to - from : 0, s.id});
    if (ends) t.ending |= static_cast<std::uint8_t>(1u << n);
    ++n;
  }
}

/// The instruction that a transfer is made for. The load that a hart may wait for is not this one.
base::Site starter(const DmaOptions& options) {
  base::Site by = options.by.hart ? options.by : base::access_site();
  by.load = {};
  return by;
}

}  // namespace

const char* to_text(DmaStatus s) {
  switch (s) {
    case DmaStatus::kOk:
      return "ok";
    case DmaStatus::kUnsupportedRequest:
      return "unsupported request";
    case DmaStatus::kCompleterAbort:
      return "completer abort";
    case DmaStatus::kTimeout:
      return "completion timeout";
    case DmaStatus::kBusMasterOff:
      return "bus mastering off";
    case DmaStatus::kPoisoned:
      return "poisoned completion";
  }
  return "";
}

Origin Endpoint::origin_of(std::uint64_t address, std::uint32_t length, const Purpose& purpose) {
  return {&path(), address, length, ++transfers_made_, purpose, false};
}

void Endpoint::report_bus_master_off(std::uint64_t address, std::uint32_t length, bool write,
                                     const DmaOptions& options) {
  base::mistakes().report(transfer_text(origin_of(address, length, options.purpose), write) +
                              ": bus mastering is off in its command register",
                          starter(options));
}

// ------------------------------------------------------------------------------------------------------------- writes

bool Endpoint::dma_write(std::uint64_t address, std::span<const std::uint8_t> data, const DmaOptions& options,
                         WriteSent on_sent) {
  const auto length = static_cast<std::uint32_t>(data.size());
  if (!config_.bus_master()) {
    ++counters_.dma_refused;
    report_bus_master_off(address, length, true, options);
    return false;
  }
  ++counters_.dma_writes;
  counters_.dma_write_bytes += data.size();
  const base::Site by = starter(options);
  const Origin origin = origin_of(address, length, options.purpose);
  const std::uint32_t most = config_.max_payload();
  TlpPtr t;
  for (std::uint32_t offset = 0, bytes; offset < length; offset += bytes) {
    bytes = piece(address + offset, length - offset, most);
    const bool last = offset + bytes == length;
    t = make_tlp(TlpType::kMWr);
    t->requester = id_;
    t->cover(address + offset, bytes);
    t->content = options.content;
    t->relaxed_ordering = options.relaxed_ordering;
    t->by = by;
    t->origin = origin;
    t->resize_payload();
    std::memcpy(t->payload() + ((address + offset) & 3), data.data() + offset, bytes);
    if (!options.spans.empty()) {
      slice(options.spans, offset, bytes, last, *t);
      t->arrival_stage = options.arrival_stage;
      t->carries_journey = options.arrival_stage.set() && t->ending;
    }
    if (last) break;
    port_.send(std::move(t));
  }
  if (on_sent) {
    const std::uint32_t slot = take_slot(sent_, free_sent_);
    sent_[slot] = {std::move(on_sent), base::now()};
    if (t) {  // NOLINT(bugprone-use-after-move): the loop ends with the last TLP in t
      t->observer = this;
      t->cookie = slot;
    } else {
      report_sent(slot, base::now());
    }
  }
  if (t) port_.send(std::move(t));
  return true;
}

void Endpoint::transmitted(Tlp& t, base::Time sent) { report_sent(t.cookie, sent); }

void Endpoint::report_sent(std::uint32_t slot, base::Time when) {
  base::calendar().at(when, key(), [this, slot] {
    Sent s = std::move(sent_[slot]);
    free_sent_.push_back(slot);
    s.callback(DmaSent{s.issued, base::now()});
  });
}

// -------------------------------------------------------------------------------------------------------------- reads

void Endpoint::dma_read(std::uint64_t address, std::uint32_t length, const DmaOptions& options, ReadDone done) {
  if (!done) [[unlikely]]
    throw std::invalid_argument("dma_read() has no function to call when it is done");
  const std::uint32_t n = take_slot(transfers_, free_transfers_);
  Transfer& t = transfers_[n];
  t.address = address;
  t.length = length;
  t.requested = 0;
  t.outstanding = 0;
  t.status = DmaStatus::kOk;
  t.active = true;
  t.abandoned = false;
  t.options = options;
  t.options.by = starter(options);
  t.origin = origin_of(address, length, options.purpose);
  t.done = std::move(done);
  t.journey.clear();
  t.issued = base::now();
  t.tags.clear();
  ++reads_in_flight_;
  ++counters_.dma_reads;
  if (length == 0 || length > kMostRead) {
    base::mistakes().report(transfer_text(t.origin, false) + ": a DMA read has 1 byte to 16 MiB", t.options.by);
    return fail_read(n, DmaStatus::kCompleterAbort);
  }
  if (!config_.bus_master()) {
    report_bus_master_off(address, length, false, t.options);
    return fail_read(n, DmaStatus::kBusMasterOff);
  }
  counters_.dma_read_bytes += length;
  t.bytes = options.into;
  if (!t.bytes) {
    if (t.buffer.size() < length) t.buffer.resize(length);
    t.bytes = t.buffer.data();
  }
  if (options.want_tags)
    t.tags.assign((address % base::GuestRam::kTagLine + length - 1) / base::GuestRam::kTagLine + 1, 0);
  if (!waiting_.empty() || free_tags_.empty()) ++counters_.tag_stalls;
  waiting_.push(n);
  issue_reads();
}

/// Ends a transfer of which nothing is in flight. Its callback comes from a calendar entry, never from inside
/// dma_read().
void Endpoint::fail_read(std::uint32_t n, DmaStatus status) {
  if (status == DmaStatus::kBusMasterOff) ++counters_.dma_refused;
  transfers_[n].status = status;
  transfers_[n].requested = transfers_[n].length;
  base::calendar().at(base::now(), key(), [this, n] { finish_read(n); });
}

void Endpoint::issue_reads() {
  while (!waiting_.empty() && !free_tags_.empty()) {
    const std::uint32_t n = waiting_.front();
    Transfer& t = transfers_[n];
    if (!config_.bus_master()) {
      waiting_.pop();
      if (t.outstanding == 0) {
        fail_read(n, DmaStatus::kBusMasterOff);
      } else {
        ++counters_.dma_refused;
        t.status = DmaStatus::kBusMasterOff;
        t.requested = t.length;
      }
      continue;
    }
    issue_read(t, n);
    if (t.requested == t.length) waiting_.pop();
  }
}

void Endpoint::issue_read(Transfer& t, std::uint32_t n) {
  const std::uint64_t at = t.address + t.requested;
  const std::uint32_t bytes = piece(at, t.length - t.requested, config_.max_read_request());
  const std::uint16_t number = free_tags_.pop();
  const bool last = t.requested + bytes == t.length;
  counters_.cut_reads += last && t.requested != 0;
  tags_[number] = {n, t.requested, bytes, last, ++serial_};
  t.requested += bytes;
  ++t.outstanding;

  TlpPtr r = make_tlp(TlpType::kMRd);
  r->requester = id_;
  r->tag = number;
  r->cover(at, bytes);
  r->content = t.options.content;
  r->relaxed_ordering = t.options.relaxed_ordering;
  r->wants_tags = t.options.want_tags;
  r->by = t.options.by;
  r->origin = t.origin;
  if (last) {
    r->carries_journey = true;
    if (t.issued < base::now()) r->journey.enter(SLUICE_STAGE_dma_read, component(), t.issued);
  }
  deadlines_.push({base::now() + parameters_.completion_timeout, number, serial_});
  if (!base::calendar().pending(deadline_)) arm_deadline();
  port_.send(std::move(r));
}

void Endpoint::receive_completion(TlpPtr tlp) {
  Tlp& c = *tlp;
  if (c.tag >= tags_.size() || c.requester != id_ || tags_[c.tag].transfer == kNone) {
    ++counters_.unexpected_completions;
    return;
  }
  Tag& tag = tags_[c.tag];
  Transfer& t = transfers_[tag.transfer];
  if (c.status != CompletionStatus::kSuccess || c.type != TlpType::kCplD) {
    ++counters_.dma_errors;
    t.status =
        c.status == CompletionStatus::kCompleterAbort ? DmaStatus::kCompleterAbort : DmaStatus::kUnsupportedRequest;
    return settle(c.tag);
  }
  const std::uint32_t skip = c.lower_address & 3;
  const std::uint32_t bytes = std::min<std::uint32_t>(c.payload_bytes() - skip, c.byte_count);
  if (c.byte_count != tag.remaining || bytes == 0) {
    ++counters_.unexpected_completions;  // malformed: not the bytes that come next
    return;
  }
  const std::uint32_t offset = tag.offset;
  tag.offset += bytes;
  tag.remaining -= bytes;
  if (c.poisoned) {
    ++counters_.poisoned_completions;
    t.status = DmaStatus::kPoisoned;
  } else if (!t.abandoned) {
    std::memcpy(t.bytes + offset, c.payload() + skip, bytes);
    const std::size_t line = (t.address % base::GuestRam::kTagLine + offset) / base::GuestRam::kTagLine;
    for (std::size_t i = 0; i < c.line_tags.size() && line + i < t.tags.size(); ++i) t.tags[line + i] = c.line_tags[i];
    if (tag.last && tag.remaining == 0) t.journey = c.journey;
  }
  if (tag.remaining == 0) settle(c.tag);
}

/// Frees the tag of a request that has all its completions, or will get no more.
void Endpoint::settle(std::uint16_t number) {
  Tag& tag = tags_[number];
  const std::uint32_t n = tag.transfer;
  tag.transfer = kNone;
  tag.serial = 0;
  free_tags_.push(number);
  while (!deadlines_.empty() && tags_[deadlines_.front().tag].serial != deadlines_.front().serial) deadlines_.pop();
  Transfer& t = transfers_[n];
  --t.outstanding;
  const bool over = t.outstanding == 0 && t.requested == t.length;
  issue_reads();
  if (over) finish_read(n);
}

/// Frees all tags: the link is lost, and with it every completion.
void Endpoint::forget_completions() {
  for (std::size_t n = 0; n < tags_.size(); ++n)
    if (tags_[n].transfer != kNone) settle(static_cast<std::uint16_t>(n));
}

void Endpoint::finish_read(std::uint32_t n) {
  Transfer& t = transfers_[n];
  --reads_in_flight_;
  // The callback may start further reads. This transfer is freed for reuse only after the callback has returned.
  if (!t.abandoned) {
    if (!t.journey.empty()) t.journey.apply(t.options.spans);
    ReadDone done = std::move(t.done);
    t.done = nullptr;
    const bool ok = t.status == DmaStatus::kOk;
    done(
        DmaCompletion{t.status, {t.bytes, ok ? t.length : 0}, t.options.spans, t.journey, t.issued, t.address, t.tags});
  }
  t.active = false;
  free_transfers_.push_back(n);
}

void Endpoint::arm_deadline() {
  deadline_ = base::calendar().at(deadlines_.front().when, key(), [this] { check_deadlines(); });
}

void Endpoint::check_deadlines() {
  while (!deadlines_.empty() && deadlines_.front().when <= base::now()) {
    const Deadline d = deadlines_.pop();
    if (tags_[d.tag].serial != d.serial) continue;
    ++counters_.completion_timeouts;
    transfers_[tags_[d.tag].transfer].status = DmaStatus::kTimeout;
    settle(d.tag);
  }
  if (!deadlines_.empty() && !base::calendar().pending(deadline_)) arm_deadline();
}

void Endpoint::fill_statistics(base::StatisticsGroup& own) {
  const std::string beside = function_group();
  if (beside.empty()) {
    register_function_statistics(own);
    register_statistics(own);
    return;
  }
  register_statistics(own);
  function_statistics_ = std::make_unique<base::StatisticsGroup>(path() + beside, &base::statistics());
  register_function_statistics(*function_statistics_);
}

void Endpoint::register_function_statistics(base::StatisticsGroup& group) {
  const Counters& c = counters_;
  group.counter("dma_reads", "transfers", "reads of memory", c.dma_reads);
  group.counter("dma_read_bytes", "bytes", "asked for", c.dma_read_bytes);
  group.counter("dma_writes", "transfers", "writes to memory", c.dma_writes);
  group.counter("dma_write_bytes", "bytes", "written", c.dma_write_bytes);
  group.counter("dma_refused", "transfers", "while bus mastering was off", c.dma_refused);
  group.counter("dma_errors", "TLPs", "reads that ended with UR or CA", c.dma_errors);
  group.counter("cut_reads", "transfers", "reads that took more than one TLP", c.cut_reads);
  group.counter("tag_stalls", "transfers", "reads that waited for a tag", c.tag_stalls);
  group.counter("completion_timeouts", "TLPs", "reads without an answer", c.completion_timeouts);
  group.counter("poisoned_completions", "TLPs", "that came with EP set", c.poisoned_completions);
  group.counter("unexpected_completions", "TLPs", "completions nobody waits for", c.unexpected_completions);
  group.counter("unsupported_requests", "TLPs", "requests that the function refused", c.unsupported_requests);
  group.counter("msix_sent", "messages", "MSI-X messages", c.msix_sent);
  group.counter("msix_pended", "messages", "vectors that fired while masked", c.msix_pended);
  group.counter("msix_dropped", "messages", "while MSI-X or bus mastering was off, or for no vector", c.msix_dropped);
}

}  // namespace sluice::pcie
