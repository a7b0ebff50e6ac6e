// SPDX-License-Identifier: Apache-2.0
#include "models/nic/descriptor/transmit.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "models/nic/descriptor/descriptor_nic.h"

namespace sluice::nic {

using base::now;

namespace {

std::uint32_t size_of(const desc_tx& d) {
  return static_cast<std::uint32_t>(d.command >> DESC_TX_SIZE_SHIFT) & DESC_TX_SIZE_MAX;
}
unsigned ethernet_length(std::uint64_t command) { return (command >> DESC_TX_MAC_LENGTH_SHIFT & 0x7f) * 2; }
unsigned ip_length(std::uint64_t command) { return (command >> DESC_TX_IP_LENGTH_SHIFT & 0x7f) * 4; }
unsigned stamp_entry(std::uint64_t command) { return command >> DESC_TX_STAMP_SHIFT & (DESC_TX_STAMPS - 1); }
unsigned l4_length(std::uint64_t command) { return (command >> DESC_TX_L4_LENGTH_SHIFT & 0xf) * 4; }

}  // namespace

TransmitEngine::TransmitEngine(DescriptorNic& nic)
    : nic_(nic), queues_(nic.parameters_.queues), slots_(nic.parameters_.tx_frames) {
  for (Queue& q : queues_) q.cache.resize(nic.parameters_.tx_cache);
}

// ---------------------------------------------------------------------------------------------- software's view

bool TransmitEngine::active(unsigned number) const {
  const Queue& q = queues_[number];
  return q.enabled || q.fetch_head != q.fetch_tail || q.in_flight;
}

std::uint32_t TransmitEngine::control(unsigned q) const {
  return (queues_[q].enabled ? DESC_RING_ENABLE : 0) | (active(q) ? DESC_RING_ACTIVE : 0) |
         (queues_[q].failed ? DESC_RING_ERROR : 0);
}

void TransmitEngine::set_enabled(unsigned number, bool on) {
  Queue& q = queues_[number];
  if (on == q.enabled) return;
  if (on) {
    if (active(number))
      return nic_.error(DESC_ERROR_RING_BUSY, number,
                        fmt::format("transmit queue {}: enabled while it is still active from its last use", number));
    if (q.registers.length == 0)
      return nic_.error(DESC_ERROR_VALUE, number, fmt::format("transmit queue {}: enabled with tx_length 0", number));
    q.posted = q.requested = q.fetched = q.next = q.completed = 0;
    q.frames = 0;
    q.tail = 0;
    q.failed = q.skipping = false;
    q.doorbells.clear();
    q.fetch_arrivals.clear();
    q.doorbell_sites = {};
    q.enabled = true;
    return;
  }
  q.enabled = false;
  base::calendar().cancel(q.fetch_timer);
  update_ready(number);
}

std::uint32_t TransmitEngine::head(unsigned number) const {
  const Queue& q = queues_[number];
  return q.registers.length ? static_cast<std::uint32_t>(q.next % q.registers.length) : 0;
}

void TransmitEngine::write_tail(unsigned number, std::uint32_t tail, const base::Journey& doorbell) {
  Queue& q = queues_[number];
  const std::uint32_t length = q.registers.length;
  const std::uint64_t free = length - 1 - (q.posted - q.completed);
  if (!q.enabled || tail >= length) return nic_.tail_error("transmit", number, tail, length, q.enabled, free);
  const std::uint64_t posted = q.posted + (tail + length - q.tail) % length;
  // Descriptors whose frames are not yet sent cannot be given a second time.
  if (posted - q.completed >= length) return nic_.tail_error("transmit", number, tail, length, q.enabled, free);
  q.tail = tail;
  if (posted == q.posted) return;
  q.posted = posted;
  q.doorbell_sites.post(posted, base::access_site());
  q.doorbells.push({posted, now(), doorbell});
  if (!base::calendar().pending(q.fetch_timer))
    q.fetch_timer = base::calendar().after(nic_.parameters_.tx_doorbell, nic_.key(), [this, number] { fetch(number); });
}

void TransmitEngine::reset(bool forget_reads) {
  ++generation_;
  for (; slot_head_ != slot_tail_; ++slot_head_) {
    Slot& s = slot(slot_head_);
    if (s.packet) base::drop_all(s.packet->spans, "NIC reset", now());
    // The DMA engine still writes into the frames of reads in flight.
    if (s.reads && !forget_reads) {
      orphan_reads_ += s.reads;
      orphans_.push_back(std::move(s.packet));
    }
    s = {};
  }
  if (forget_reads) {
    orphans_.clear();
    orphan_reads_ = 0;
  }
  for (Queue& q : queues_) {
    base::calendar().cancel(q.fetch_timer);
    std::vector<desc_tx> cache = std::move(q.cache);
    q = {};
    q.cache = std::move(cache);
  }
  base::calendar().cancel(wake_);
  base::calendar().cancel(retry_);
  ready_ = 0;
  last_ = 0;
  buffer_used_ = 0;
  turns_ = base::Server();
}

// ---------------------------------------------------------------------------------------------- descriptors

void TransmitEngine::fetch(unsigned number) {
  Queue& q = queues_[number];
  const DescriptorParameters& p = nic_.parameters_;
  while (q.enabled && !q.failed && q.posted != q.requested) {
    if (q.fetch_tail - q.fetch_head >= p.tx_fetches) {
      ++limited_.by_fetches;
      return;
    }
    const std::uint64_t on_chip = q.requested - q.next;
    const std::uint32_t at = static_cast<std::uint32_t>(q.requested % q.registers.length);
    const std::uint64_t there = std::min(q.posted - q.requested, std::uint64_t{q.registers.length - at});
    const std::uint64_t wanted = std::min(there, std::uint64_t{p.tx_fetch_batch});
    const std::uint64_t n = std::min(wanted, p.tx_cache - on_chip);
    limited_.by_batch += wanted < there;
    limited_.by_cache += n < wanted;
    // A full cache is refilled by batches, not by single descriptors.
    if (n == 0 || (n < wanted && on_chip > p.tx_cache / 2)) return;
    const std::uint64_t fetch = q.fetch_tail++;
    q.fetches[fetch % kMostFetches] = {q.requested, static_cast<std::uint32_t>(n), false, {}, {}};
    const pcie::DmaOptions options =
        q.doorbell_sites.options(number, q.requested, q.registers.length, "transmit descriptor");
    q.requested += n;
    nic_.read_begins();
    nic_.dma_read(q.registers.base + std::uint64_t{at} * sizeof(desc_tx),
                  static_cast<std::uint32_t>(n * sizeof(desc_tx)), options,
                  [this, number, fetch, generation = generation_](const pcie::DmaCompletion& c) {
                    fetched(number, generation, fetch, c);
                  });
  }
}

void TransmitEngine::fetched(unsigned number, std::uint32_t generation, std::uint64_t fetch_number,
                             const pcie::DmaCompletion& completion) {
  nic_.read_ended();
  if (generation != generation_) return;
  Queue& q = queues_[number];
  Fetch& f = q.fetches[fetch_number % kMostFetches];
  f.done = true;
  f.arrived = now();
  f.journey = completion.journey;
  if (completion.status != pcie::DmaStatus::kOk)
    fail(number);
  else
    for (std::uint32_t i = 0; i < f.count; ++i)
      std::memcpy(&q.cache[(f.first + i) % q.cache.size()], completion.data.data() + i * sizeof(desc_tx),
                  sizeof(desc_tx));
  // Reads may end in any order, but descriptors are used in ring order.
  for (; q.fetch_head != q.fetch_tail && q.fetches[q.fetch_head % kMostFetches].done; ++q.fetch_head) {
    const Fetch& done = q.fetches[q.fetch_head % kMostFetches];
    for (std::uint32_t i = 0; i < done.count; ++i)
      if (q.cache[(done.first + i) % q.cache.size()].command & DESC_TX_EOP) ++q.frames;
    q.fetched = done.first + done.count;
    q.fetch_arrivals.push({q.fetched, done.arrived, done.journey});
  }
  fetch(number);
  update_ready(number);
  pump();
}

void TransmitEngine::fail(unsigned number) {
  nic_.error(DESC_ERROR_DMA, number);
  queues_[number].failed = true;
  update_ready(number);
}

// ---------------------------------------------------------------------------------------------- from memory

void TransmitEngine::update_ready(unsigned number) {
  const Queue& q = queues_[number];
  const std::uint64_t bit = std::uint64_t{1} << number;
  const bool frame = q.frames > 0 || (!q.skipping && q.fetched - q.next > DESC_TX_MAX_PIECES);
  ready_ = q.enabled && !q.failed && frame ? ready_ | bit : ready_ & ~bit;
}

void TransmitEngine::pump() {
  while (ready_ != 0 && slot_tail_ - slot_head_ < slots_.size() && nic_.control_ & DESC_CONTROL_TX_ENABLE) {
    if (now() < turns_.free_at()) {
      if (!base::calendar().pending(wake_))
        wake_ = base::calendar().at(turns_.free_at(), nic_.key(), [this] { pump(); });
      return;
    }
    const std::uint64_t later = last_ == 63 ? 0 : ready_ & (~std::uint64_t{0} << (last_ + 1));
    if (!start(static_cast<unsigned>(std::countr_zero(later ? later : ready_)))) return;
  }
  limited_.by_frames += ready_ != 0 && slot_tail_ - slot_head_ == slots_.size();
}

TransmitEngine::Shape TransmitEngine::shape(const Queue& q) const {
  Shape s;
  s.good = !q.skipping;
  const std::uint64_t first = q.cache[q.next % q.cache.size()].command;
  for (std::uint64_t n = q.next; n < q.fetched; ++n) {
    const desc_tx& d = q.cache[n % q.cache.size()];
    ++s.pieces;
    s.bytes += size_of(d);
    const bool ends = d.command & DESC_TX_EOP;
    s.good = s.good && (d.command & DESC_TX_TYPE) == DESC_TX_TYPE_DATA && size_of(d) != 0 &&
             (ends || !(d.command & (DESC_TX_RS | DESC_TX_STAMP))) && s.pieces <= DESC_TX_MAX_PIECES;
    if (!ends) continue;
    s.complete = true;
    s.report = d.command & DESC_TX_RS;
    s.stamp = d.command & DESC_TX_STAMP;
    break;
  }
  const std::uint64_t ip = first & DESC_TX_IPV4_CHECKSUM;
  const std::uint64_t udp = first & DESC_TX_UDP_CHECKSUM;
  s.good = s.good && s.complete && (ip == 0 || ip == DESC_TX_IPV4_CHECKSUM) &&
           (udp == 0 || udp == DESC_TX_UDP_CHECKSUM) && (udp == 0 || l4_length(first) == 8) && s.bytes >= 14 &&
           s.bytes <= nic_.max_frame_;
  return s;
}

void TransmitEngine::refuse_frame(unsigned number, const Queue& q, const Shape& shape) {
  nic_.error(DESC_ERROR_DESCRIPTOR, number,
             fmt::format("transmit queue {}: the frame of descriptor {} is dropped, {}", number,
                         q.next % q.registers.length, flaw(q, shape)),
             q.doorbell_sites.of(q.next));
  ++nic_.count(DESC_STAT_TX_DROP_DESCRIPTOR);
}

/// Says what is wrong with the next frame's descriptors, as the end of a sentence.
std::string TransmitEngine::flaw(const Queue& q, const Shape& shape) const {
  for (std::uint64_t n = q.next; n < q.next + std::min<std::uint64_t>(shape.pieces, DESC_TX_MAX_PIECES); ++n) {
    const desc_tx& d = q.cache[n % q.cache.size()];
    const std::uint64_t index = n % q.registers.length;
    if ((d.command & DESC_TX_TYPE) != DESC_TX_TYPE_DATA)
      return fmt::format("descriptor {} has type {} and not 0, data", index, d.command & DESC_TX_TYPE);
    if (size_of(d) == 0) return fmt::format("descriptor {} has size 0", index);
    if (!(d.command & DESC_TX_EOP) && d.command & (DESC_TX_RS | DESC_TX_STAMP))
      return fmt::format("descriptor {} has RS or STAMP without EOP", index);
  }
  if (shape.pieces > DESC_TX_MAX_PIECES || !shape.complete)
    return fmt::format("it has more than {} descriptors without EOP", DESC_TX_MAX_PIECES);
  if (shape.bytes < 14 || shape.bytes > nic_.max_frame_)
    return fmt::format("it has {} bytes and not 14 to {}, max_frame", shape.bytes, nic_.max_frame_);
  return "its checksum bits are not both set, or the UDP header's length is not 8";
}

bool TransmitEngine::start(unsigned number) {
  Queue& q = queues_[number];
  const Shape shape = this->shape(q);
  if (shape.good && buffer_used_ + shape.bytes > nic_.parameters_.tx_buffer.count()) {
    ++limited_.by_buffer;
    return false;
  }
  last_ = number;
  turns_.reserve_for(nic_.parameters_.tx_interval);
  busy_ += nic_.parameters_.tx_interval;
  if (!shape.good && !q.skipping) refuse_frame(number, q, shape);
  if (!shape.complete) {
    q.skipping = true;
    q.next = q.fetched;
    update_ready(number);
    fetch(number);
    return true;
  }
  q.skipping = false;
  --q.frames;
  const std::uint64_t first = q.next;
  const std::uint64_t last = first + shape.pieces - 1;
  Slot& s = slot(slot_tail_);
  const auto slot_number = static_cast<std::uint32_t>(slot_tail_++ % slots_.size());
  s.queue = number;
  s.good = shape.good;
  s.report = shape.report;
  s.stamp = shape.stamp;
  s.stamp_entry = stamp_entry(q.cache[last % q.cache.size()].command);
  s.last_descriptor = last;
  s.first_command = q.cache[first % q.cache.size()].command;
  s.reads = shape.good ? shape.pieces : 0;
  note_arrivals(q, s);
  ++q.in_flight;
  if (shape.good) {
    s.packet = net::make_packet();
    s.packet->length = shape.bytes;
    buffer_used_ += shape.bytes;
    read_pieces(q, s, slot_number);
  }
  q.next = last + 1;
  update_ready(number);
  fetch(number);
  if (!shape.good) retire();
  return true;
}

void TransmitEngine::note_arrivals(Queue& q, Slot& s) {
  while (q.doorbells.front().end <= s.last_descriptor) q.doorbells.pop();
  while (q.fetch_arrivals.front().end <= s.last_descriptor) q.fetch_arrivals.pop();
  s.rung = q.doorbells.front().arrived;
  s.doorbell = q.doorbells.front().journey;
  s.fetched = q.fetch_arrivals.front().arrived;
  s.fetch = q.fetch_arrivals.front().journey;
}

void TransmitEngine::read_pieces(const Queue& q, Slot& s, std::uint32_t slot_number) {
  std::uint32_t offset = 0;
  for (std::uint32_t i = 0; i < s.reads; ++i) {
    const desc_tx& d = q.cache[(q.next + i) % q.cache.size()];
    pcie::DmaOptions options =
        q.doorbell_sites.options(s.queue, q.next + i, q.registers.length, "the data of transmit descriptor");
    options.content = pcie::Content::kPayload;
    options.want_tags = true;
    options.into = s.packet->bytes + offset;
    nic_.read_begins();
    nic_.dma_read(d.address, size_of(d), options,
                  [this, slot_number, generation = generation_, offset, bytes = size_of(d)](
                      const pcie::DmaCompletion& c) { piece_read(slot_number, generation, offset, bytes, c); });
    offset += size_of(d);
  }
}

void TransmitEngine::piece_read(std::uint32_t slot_number, std::uint32_t generation, std::uint32_t offset,
                                std::uint32_t bytes, const pcie::DmaCompletion& completion) {
  nic_.read_ended();
  if (generation != generation_) {
    if (--orphan_reads_ == 0) orphans_.clear();
    return;
  }
  Slot& s = slots_[slot_number];
  if (completion.status != pcie::DmaStatus::kOk) {
    s.good = false;
    nic_.error(DESC_ERROR_DMA, s.queue);
  } else {
    note_requests(*s.packet, offset, bytes, completion);
  }
  if (--s.reads != 0) return;
  if (s.good) {
    apply_journeys(s, completion.journey);
  } else {
    ++nic_.count(DESC_STAT_TX_DROP_DMA);
    base::drop_all(s.packet->spans, "transmit DMA failed", now());
  }
  retire();
}

void TransmitEngine::note_requests(net::Packet& packet, std::uint32_t offset, std::uint32_t bytes,
                                   const pcie::DmaCompletion& completion) {
  constexpr std::uint64_t kLine = base::GuestRam::kTagLine;
  base::Span span;
  for (std::uint32_t at = 0; at < bytes;) {
    const auto end =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, at + kLine - (completion.address + at) % kLine));
    const base::RequestId id = completion.tag_at(at);
    if (id == span.id) {
      span.length += end - at;
    } else {
      packet.spans.add(span);
      span = {offset + at, end - at, id};
    }
    at = end;
  }
  packet.spans.add(span);
}

/// From `since` on, the request waits inside the NIC until the next message starts.
void TransmitEngine::queue_until(base::RequestId id, base::Time since, const base::Journey& next) const {
  if (next.empty() || next.start() != since) base::ledger().enter(id, SLUICE_STAGE_nic_queue, nic_.component(), since);
}

void TransmitEngine::apply_journeys(const Slot& s, const base::Journey& read) {
  // The requests that waited for the doorbell, the descriptor and the data are known only now. A request of several
  // spans is moved once: the ledger ignores a step into the request's present stage, but not one into an earlier stage.
  const base::Spans& spans = s.packet->spans;
  for (const base::Span* span = spans.begin(); span != spans.end(); ++span) {
    if (std::any_of(spans.begin(), span, [&](const base::Span& earlier) { return earlier.id == span->id; })) continue;
    if (base::ledger().waited_since(span->id, s.doorbell.empty() ? s.rung : s.doorbell.start())) {
      s.doorbell.apply(span->id);
      queue_until(span->id, s.rung, s.fetch);
      s.fetch.apply(span->id);
      queue_until(span->id, s.fetched, read);
      read.apply(span->id);
    }
    base::ledger().try_enter(span->id, SLUICE_STAGE_transmit, nic_.component(), now());
  }
}

// ---------------------------------------------------------------------------------------------- to the wire

void TransmitEngine::retire() {
  const base::Time limit = nic_.mac_.octets(nic_.parameters_.tx_mac_fifo.count());
  while (slot_head_ != slot_tail_ && slot(slot_head_).reads == 0) {
    Slot& s = slot(slot_head_);
    const base::Time ready = now() + nic_.parameters_.tx_pipeline;
    if (s.good) {
      const base::Time backlog = nic_.mac_.backlog(ready);
      if (backlog > limit) {
        ++limited_.by_mac_fifo;
        if (!base::calendar().pending(retry_))
          retry_ = base::calendar().after(backlog - limit, nic_.key(), [this] { retire(); });
        return;
      }
      send(s, ready);
    }
    if (s.packet) buffer_used_ -= s.packet->length;
    s.packet.reset();
    ++slot_head_;
    Queue& q = queues_[s.queue];
    --q.in_flight;
    q.completed = s.last_descriptor + 1;
    q.doorbell_sites.retire(s.last_descriptor);
    if (s.report) report(s.queue, s.last_descriptor);
  }
  if (slot_head_ == slot_tail_) slot_head_ = slot_tail_ = 0;  // so that few frames in flight use few cache lines
  pump();
}

void TransmitEngine::send(Slot& s, base::Time ready) {
  if (!insert_checksums(s)) {
    const Queue& q = queues_[s.queue];
    nic_.error(
        DESC_ERROR_DESCRIPTOR, s.queue,
        fmt::format("transmit queue {}: the frame of descriptor {} is dropped, its lengths fit no IPv4 header, or "
                    "no unfragmented UDP datagram, to put a checksum in",
                    s.queue, s.last_descriptor % q.registers.length),
        q.doorbell_sites.of(s.last_descriptor));
    ++nic_.count(DESC_STAT_TX_DROP_DESCRIPTOR);
    base::drop_all(s.packet->spans, "checksum offload impossible", now());
    return;
  }
  const bool leaves = nic_.mac_.can_send();
  if (leaves) {
    ++nic_.count(DESC_STAT_TX_PACKETS);
    nic_.count(DESC_STAT_TX_BYTES) += s.packet->length;
  } else {
    ++nic_.count(DESC_STAT_TX_DROP_LINK);
  }
  buffer_used_ -= s.packet->length;
  leave_sent_requests(s.packet->spans);
  const base::Reservation sent = nic_.mac_.send(std::move(s.packet), ready);
  if (s.stamp && leaves) nic_.stamps_.take(s.stamp_entry, nic_.mac_.transmit_stamp(sent));
}

/// Software may send the bytes of a request twice. The request goes with the first frame and is removed from the
/// second.
void TransmitEngine::leave_sent_requests(base::Spans& spans) {
  const auto sent = [](const base::Span& s) {
    const base::Ledger::Request* r = base::ledger().find(s.id);
    return r && (r->tiles.back().stage == SLUICE_STAGE_mac || r->tiles.back().stage == SLUICE_STAGE_wire);
  };
  if (std::none_of(spans.begin(), spans.end(), sent)) return;
  base::Spans others;
  for (const base::Span& s : spans)
    if (!sent(s)) others.add(s);
  spans = others;
}

bool TransmitEngine::insert_checksums(Slot& s) {
  const std::uint64_t c = s.first_command;
  net::Packet& p = *s.packet;
  if (c & DESC_TX_UDP_CHECKSUM && !net::insert_udp_checksum(p.bytes, p.length, ethernet_length(c), ip_length(c)))
    return false;
  return !(c & DESC_TX_IPV4_CHECKSUM) || net::insert_ipv4_checksum(p.bytes, p.length, ethernet_length(c), ip_length(c));
}

void TransmitEngine::report(unsigned number, std::uint64_t descriptor) {
  Queue& q = queues_[number];
  const std::uint64_t done = DESC_TX_TYPE_DONE;
  const std::uint64_t at = descriptor % q.registers.length;
  const std::uint64_t address = q.registers.base + at * sizeof(desc_tx) + offsetof(desc_tx, command);
  const pcie::DmaOptions options =
      q.doorbell_sites.options(number, descriptor, q.registers.length, "the write-back of transmit descriptor");
  if (!nic_.dma_write(address, {reinterpret_cast<const std::uint8_t*>(&done), sizeof done}, options))
    return fail(number);
  nic_.vectors_.cause(q.registers.cause);
}

}  // namespace sluice::nic
