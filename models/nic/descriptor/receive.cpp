// SPDX-License-Identifier: Apache-2.0
#include "models/nic/descriptor/receive.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "models/nic/descriptor/descriptor_nic.h"

namespace sluice::nic {

using base::now;

ReceiveEngine::ReceiveEngine(DescriptorNic& nic) : nic_(nic), queues_(nic.parameters_.queues) {
  for (Queue& q : queues_) q.cache.resize(nic.parameters_.rx_cache);
  const DescriptorParameters& p = nic.parameters_;
  if (p.decoder == Decoder::none) return;
  steering_ = std::make_unique<Steering>(
      p.decoder, p.parse, nic.path(), nic.key(),
      [this](net::PacketPtr packet, base::Time available, std::uint32_t generation, std::optional<unsigned> queue) {
        if (generation == generation_) fifo_used_ -= packet->length;  // until it has its queue
        parsed(std::move(packet), available, generation, queue);
      });
}

// ---------------------------------------------------------------------------------------------- software's view

bool ReceiveEngine::active(unsigned number) const {
  const Queue& q = queues_[number];
  return q.enabled || q.fetch_head != q.fetch_tail || q.in_pipeline || q.done_count;
}

std::uint32_t ReceiveEngine::control(unsigned q) const {
  return (queues_[q].enabled ? DESC_RING_ENABLE : 0) | (active(q) ? DESC_RING_ACTIVE : 0) |
         (queues_[q].failed ? DESC_RING_ERROR : 0);
}

void ReceiveEngine::set_enabled(unsigned number, bool on) {
  Queue& q = queues_[number];
  if (on == q.enabled) return;
  if (on) {
    if (active(number))
      return nic_.error(DESC_ERROR_RING_BUSY, number,
                        fmt::format("receive queue {}: enabled while it is still active from its last use", number));
    if (q.registers.length == 0)
      return nic_.error(DESC_ERROR_VALUE, number, fmt::format("receive queue {}: enabled with rx_length 0", number));
    q.posted = q.requested = q.fetched = q.next = q.written = 0;
    q.tail = 0;
    q.failed = q.stopped = false;
    q.doorbell_sites = {};
    q.enabled = true;
    return;
  }
  q.enabled = false;
  discard_frames(q, DESC_STAT_RX_DROP_NO_QUEUE, "receive queue disabled");
  update_ready(number);
  if (q.in_pipeline == 0) write_back(number, 0);
}

std::uint32_t ReceiveEngine::head(unsigned number) const {
  const Queue& q = queues_[number];
  return q.registers.length ? static_cast<std::uint32_t>(q.next % q.registers.length) : 0;
}

void ReceiveEngine::write_tail(unsigned number, std::uint32_t tail) {
  Queue& q = queues_[number];
  const std::uint32_t length = q.registers.length;
  const std::uint64_t free = length - 1 - (q.posted - q.written);
  if (!q.enabled || tail >= length) return nic_.tail_error("receive", number, tail, length, q.enabled, free);
  const std::uint64_t posted = q.posted + (tail + length - q.tail) % length;
  // Descriptors that are not yet written back cannot be given a second time.
  if (posted - q.written >= length) return nic_.tail_error("receive", number, tail, length, q.enabled, free);
  q.tail = tail;
  q.posted = posted;
  q.doorbell_sites.post(posted, base::access_site());
  refill(number);
}

std::uint32_t ReceiveEngine::rss_key(unsigned word) const {
  std::uint32_t v;
  std::memcpy(&v, &rss_key_[4 * word], 4);
  return v;
}

void ReceiveEngine::set_rss_key(unsigned word, std::uint32_t value) {
  std::memcpy(&rss_key_[4 * word], &value, 4);
  key_changed_ = true;
}

std::uint32_t ReceiveEngine::rss_table(unsigned word) const {
  std::uint32_t v;
  std::memcpy(&v, &rss_table_[4 * word], 4);
  return v;
}

void ReceiveEngine::set_rss_table(unsigned word, std::uint32_t value) { std::memcpy(&rss_table_[4 * word], &value, 4); }

void ReceiveEngine::reset() {
  ++generation_;
  if (steering_)
    steering_->reset([this](const net::Packet& p) { nic_.drop_received(p, DESC_STAT_RX_DROP_DISABLED, "NIC reset"); });
  for (; !pipeline_.empty(); pipeline_.pop())
    nic_.drop_received(*pipeline_.front().frame.packet, DESC_STAT_RX_DROP_DISABLED, "NIC reset");
  for (Queue& q : queues_) {
    discard_frames(q, DESC_STAT_RX_DROP_DISABLED, "NIC reset");
    discard_reports(q, DESC_STAT_RX_DROP_DISABLED, "NIC reset");
    base::calendar().cancel(q.timer);
    std::vector<std::uint64_t> cache = std::move(q.cache);
    q = {};
    q.cache = std::move(cache);
  }
  base::calendar().cancel(wake_);
  rss_key_ = {};
  rss_table_ = {};
  rss_control_ = 0;
  udp_rules_.reset();
  key_changed_ = true;
  fifo_used_ = 0;
  ready_ = 0;
  last_ = 0;
  writes_ = 0;
  turns_ = base::Server();
}

// ---------------------------------------------------------------------------------------------- from the wire

void ReceiveEngine::accept(net::PacketPtr packet, base::Time available) {
  if (steering_) {
    // The decoder may be slower than the wire: what waits for it is in the FIFO.
    if (fifo_used_ + packet->length > nic_.parameters_.rx_fifo.count())
      return nic_.drop_received(*packet, DESC_STAT_RX_DROP_FIFO, "receive FIFO full");
    fifo_used_ += packet->length;
    return steering_->accept(std::move(packet), available, generation_);
  }
  base::calendar().at(available + nic_.parameters_.parse, nic_.key(),
                      [this, generation = generation_, available, p = std::move(packet)]() mutable {
                        parsed(std::move(p), available, generation);
                      });
}

void ReceiveEngine::parsed(net::PacketPtr packet, base::Time available, std::uint32_t generation,
                           std::optional<unsigned> queue) {
  static constexpr base::Mark kParse{{SLUICE_STEP_protocol, SLUICE_STEP_demultiplex}, base::Owner::nic};
  base::enter_all(packet->spans, SLUICE_STAGE_parse, nic_.component(), available, kParse);
  if (generation != generation_) return nic_.drop_received(*packet, DESC_STAT_RX_DROP_DISABLED, "NIC reset");
  if (!(nic_.control_ & DESC_CONTROL_RX_ENABLE))
    return nic_.drop_received(*packet, DESC_STAT_RX_DROP_DISABLED, "receive disabled");
  if (!for_us(packet->bytes)) return nic_.drop_received(*packet, DESC_STAT_RX_DROP_ADDRESS, "other station");
  Frame frame;
  unsigned chosen = classify(*packet, frame.report);
  if (queue && *queue < queues_.size() && queues_[*queue].enabled) chosen = *queue;
  const unsigned q = chosen < queues_.size() && queues_[chosen].enabled ? chosen : 0;
  frame.packet = std::move(packet);
  admit(q, std::move(frame));
}

bool ReceiveEngine::for_us(const std::uint8_t* destination) const {
  if (destination[0] & 1 || nic_.control_ & DESC_CONTROL_PROMISCUOUS) return true;
  std::uint64_t address = 0;
  std::memcpy(&address, destination, 6);
  return address == nic_.address_;
}

unsigned ReceiveEngine::classify(const net::Packet& packet, desc_rx_writeback& report) {
  const net::Headers h = net::parse_headers(packet.bytes, packet.length);
  static constexpr std::uint8_t kBroadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  report.profile = DESC_RX_PROFILE;
  report.cast = static_cast<std::uint8_t>(std::memcmp(packet.bytes, kBroadcast, 6) == 0 ? DESC_RX_CAST_BROADCAST
                                          : packet.bytes[0] & 1                         ? DESC_RX_CAST_MULTICAST
                                                                                        : DESC_RX_CAST_UNICAST);
  report.packet_type = static_cast<std::uint16_t>(!h.ipv4      ? DESC_RX_TYPE_OTHER
                                                  : h.fragment ? DESC_RX_TYPE_FRAGMENT
                                                  : h.udp      ? DESC_RX_TYPE_UDP
                                                               : DESC_RX_TYPE_IPV4);
  report.packet_length = static_cast<std::uint16_t>(packet.length);
  report.header_length = h.length;
  unsigned status = DESC_RX_DD | DESC_RX_EOF;
  if (h.ipv4) {
    status |= DESC_RX_CHECKED;
    if (!h.ip_checksum_good) status |= DESC_RX_IP_ERROR;
    if (h.udp && !h.udp_checksum_good) status |= DESC_RX_L4_ERROR;
  }
  unsigned queue = 0;
  const bool with_ports = h.udp && rss_control_ & DESC_RSS_CONTROL_UDP;
  if (with_ports || (h.ipv4 && rss_control_ & DESC_RSS_CONTROL_IPV4)) {
    if (key_changed_) toeplitz_.set_key(rss_key_);
    key_changed_ = false;
    report.rss_hash = toeplitz_.hash(h, with_ports);
    status |= DESC_RX_RSS_VALID;
    queue = rss_table_[report.rss_hash % DESC_RSS_TABLE_ENTRIES];
  }
  if (h.udp) {
    const std::optional<unsigned> exact = udp_rules_.find(h.destination_port);
    if (exact && queues_[*exact].enabled) queue = *exact;
  }
  report.status = static_cast<std::uint16_t>(status);
  report.timestamp = nic_.mac_.receive_stamp(packet) / base::Time::ns(1);
  return queue;
}

void ReceiveEngine::admit(unsigned number, Frame frame) {
  Queue& q = queues_[number];
  const net::Packet& packet = *frame.packet;
  if (!q.enabled) return nic_.drop_received(packet, DESC_STAT_RX_DROP_NO_QUEUE, "no receive queue");
  if (q.failed) return nic_.drop_received(packet, DESC_STAT_RX_DROP_DMA, "receive descriptor unreadable");
  if (packet.length > q.registers.buffer)
    return nic_.drop_received(packet, DESC_STAT_RX_DROP_LENGTH, "longer than the receive buffer");
  if (fifo_used_ + packet.length > nic_.parameters_.rx_fifo.count()) {
    ++q.drops;
    return nic_.drop_received(packet, DESC_STAT_RX_DROP_FIFO, "receive FIFO full");
  }
  fifo_used_ += packet.length;
  base::enter_all(packet.spans, SLUICE_STAGE_nic_queue, nic_.component(), now());
  q.frames.push(std::move(frame));
  update_ready(number);
  pump();
}

// ---------------------------------------------------------------------------------------------- descriptors

void ReceiveEngine::refill(unsigned number) {
  Queue& q = queues_[number];
  const DescriptorParameters& p = nic_.parameters_;
  while (q.enabled && !q.failed && q.fetch_tail - q.fetch_head < kMostFetches) {
    const std::uint64_t on_chip = q.requested - q.next;
    const std::uint32_t at = static_cast<std::uint32_t>(q.requested % q.registers.length);
    const std::uint64_t wanted = std::min(q.posted - q.requested, std::uint64_t{q.registers.length - at});
    const std::uint64_t room = p.rx_cache - on_chip;
    const std::uint64_t n = std::min({wanted, std::uint64_t{p.rx_fetch_batch}, room});
    limited_.by_cache += n == room && room < wanted && room < p.rx_fetch_batch;
    limited_.by_batch += p.rx_fetch_batch < wanted;
    if (n == 0) return;
    limited_.by_threshold += n < p.rx_fetch_batch;
    if (n < p.rx_fetch_batch && on_chip >= p.rx_fetch_threshold) return;
    const std::uint64_t fetch = q.fetch_tail++;
    q.fetches[fetch % kMostFetches] = {q.requested, static_cast<std::uint32_t>(n), false};
    const pcie::DmaOptions options =
        q.doorbell_sites.options(number, q.requested, q.registers.length, "receive descriptor");
    q.requested += n;
    nic_.read_begins();
    nic_.dma_read(q.registers.base + std::uint64_t{at} * sizeof(desc_rx_read),
                  static_cast<std::uint32_t>(n * sizeof(desc_rx_read)), options,
                  [this, number, fetch, generation = generation_](const pcie::DmaCompletion& c) {
                    fetched(number, generation, fetch, c);
                  });
  }
}

void ReceiveEngine::fetched(unsigned number, std::uint32_t generation, std::uint64_t fetch,
                            const pcie::DmaCompletion& completion) {
  nic_.read_ended();
  if (generation != generation_) return;
  Queue& q = queues_[number];
  Fetch& f = q.fetches[fetch % kMostFetches];
  f.done = true;
  if (completion.status != pcie::DmaStatus::kOk) {
    fail(number);
  } else {
    for (std::uint32_t i = 0; i < f.count; ++i)
      std::memcpy(&q.cache[(f.first + i) % q.cache.size()], completion.data.data() + i * sizeof(desc_rx_read), 8);
  }
  // Reads may end in any order, but descriptors are used in ring order.
  for (; q.fetch_head != q.fetch_tail && q.fetches[q.fetch_head % kMostFetches].done; ++q.fetch_head)
    q.fetched = q.fetches[q.fetch_head % kMostFetches].first + q.fetches[q.fetch_head % kMostFetches].count;
  refill(number);
  update_ready(number);
  pump();
}

void ReceiveEngine::fail(unsigned number) {
  Queue& q = queues_[number];
  nic_.error(DESC_ERROR_DMA, number);
  q.failed = true;
  discard_frames(q, DESC_STAT_RX_DROP_DMA, "receive descriptor unreadable");
  update_ready(number);
}

/// Bus mastering is off: no frame reaches memory any more, and frames that are there are not reported.
void ReceiveEngine::stop(unsigned number) {
  Queue& q = queues_[number];
  q.stopped = true;
  base::calendar().cancel(q.timer);
  discard_reports(q, DESC_STAT_RX_DROP_DMA, "bus mastering off");
  fail(number);
}

/// Drops frames that are in memory and not yet reported.
void ReceiveEngine::discard_reports(Queue& q, unsigned statistic, const char* reason) {
  nic_.count(statistic) += q.done_count;
  for (unsigned i = 0; i < q.done_count; ++i) base::drop_all(q.done[i].spans, reason, now());
  q.done_count = q.span_count = 0;
}

void ReceiveEngine::discard_frames(Queue& q, unsigned statistic, const char* reason) {
  for (; !q.frames.empty(); q.frames.pop()) {
    const net::Packet& packet = *q.frames.front().packet;
    fifo_used_ -= packet.length;
    nic_.drop_received(packet, statistic, reason);
  }
}

// ---------------------------------------------------------------------------------------------- to memory

void ReceiveEngine::update_ready(unsigned number) {
  const Queue& q = queues_[number];
  const std::uint64_t bit = std::uint64_t{1} << number;
  const bool ready = q.enabled && !q.failed && !q.frames.empty() && q.next < q.fetched;
  ready_ = ready ? ready_ | bit : ready_ & ~bit;
}

void ReceiveEngine::pump() {
  while (ready_ != 0 && writes_ < nic_.parameters_.rx_writes) {
    if (now() < turns_.free_at()) {
      if (!base::calendar().pending(wake_))
        wake_ = base::calendar().at(turns_.free_at(), nic_.key(), [this] { pump(); });
      return;
    }
    // Round robin: the first ready queue after the one that had the last turn.
    const std::uint64_t later = last_ == 63 ? 0 : ready_ & (~std::uint64_t{0} << (last_ + 1));
    start(static_cast<unsigned>(std::countr_zero(later ? later : ready_)));
  }
  limited_.by_writes += ready_ != 0;
}

void ReceiveEngine::start(unsigned number) {
  Queue& q = queues_[number];
  last_ = number;
  turns_.reserve_for(nic_.parameters_.rx_interval);
  busy_ += nic_.parameters_.rx_interval;
  ++writes_;
  ++q.in_pipeline;
  pipeline_.push({number, q.next, q.cache[q.next % q.cache.size()], q.frames.pop()});
  ++q.next;
  update_ready(number);
  refill(number);
  base::calendar().after(nic_.parameters_.rx_pipeline, nic_.key(),
                         [this, generation = generation_] { deliver(generation); });
}

void ReceiveEngine::deliver(std::uint32_t generation) {
  if (generation != generation_) return;
  const Transit t = pipeline_.pop();
  Queue& q = queues_[t.queue];
  const net::Packet& packet = *t.frame.packet;
  --q.in_pipeline;
  pcie::DmaOptions options =
      q.doorbell_sites.options(t.queue, t.descriptor, q.registers.length, "the buffer of receive descriptor");
  if (!q.stopped && !nic_.bus_master()) {
    nic_.report_bus_master_off(t.address, packet.length, true, options);
    stop(t.queue);
  }
  if (q.stopped) {
    nic_.drop_received(packet, DESC_STAT_RX_DROP_DMA, "bus mastering off");
    released(packet.length);
    return pump();
  }
  if (t.frame.report.status & DESC_RX_IP_ERROR) ++nic_.count(DESC_STAT_RX_CHECKSUM_IP);
  if (t.frame.report.status & DESC_RX_L4_ERROR) ++nic_.count(DESC_STAT_RX_CHECKSUM_UDP);

  const auto requests = static_cast<unsigned>(packet.spans.end() - packet.spans.begin());
  if (q.span_count + requests > base::Spans::kMost) write_back(t.queue, 0);
  q.done[q.done_count++] = {t.frame.report, packet.spans};
  q.span_count += requests;

  options.spans = packet.spans;
  options.content = pcie::Content::kPayload;
  base::enter_all(packet.spans, SLUICE_STAGE_upstream_link, nic_.link_component(), now());
  if (write_back_due(q)) {
    // The write-back follows at once: when the write-back has left, the frame has left too.
    nic_.dma_write(t.address, {packet.bytes, packet.length}, options);
    write_back(t.queue, packet.length);
    return;
  }
  nic_.dma_write(t.address, {packet.bytes, packet.length}, options,
                 [this, number = t.queue, generation, descriptor = t.descriptor,
                  bytes = packet.length](const pcie::DmaSent&) { sent(number, generation, descriptor, bytes); });
  if (!base::calendar().pending(q.timer))
    q.timer = base::calendar().after(nic_.parameters_.writeback_timeout, nic_.key(), [this, number = t.queue] {
      ++limited_.by_timeout;
      write_back(number, 0);
    });
}

bool ReceiveEngine::write_back_due(const Queue& q) {
  if (q.done_count == nic_.parameters_.writeback_batch || !q.enabled) {
    ++limited_.by_writeback;
    return true;
  }
  if ((q.written + q.done_count) % q.registers.length == 0) return true;
  // Frames without a descriptor will not follow soon: software posts more only after it has seen the present frames.
  return nic_.parameters_.writeback_when_idle && q.in_pipeline == 0 && (q.frames.empty() || q.next == q.fetched);
}

void ReceiveEngine::sent(unsigned number, std::uint32_t generation, std::uint64_t descriptor, std::uint32_t bytes) {
  if (generation != generation_) return;
  const Queue& q = queues_[number];
  if (descriptor >= q.written && descriptor - q.written < q.done_count)
    base::enter_all(q.done[descriptor - q.written].spans, SLUICE_STAGE_notify, nic_.component(), now());
  released(bytes);
  pump();
}

void ReceiveEngine::released(std::uint32_t bytes) {
  --writes_;
  fifo_used_ -= bytes;
}

void ReceiveEngine::write_back(unsigned number, std::uint32_t frame_bytes) {
  Queue& q = queues_[number];
  base::calendar().cancel(q.timer);
  if (q.done_count == 0) return;
  std::array<desc_rx_writeback, kMostWriteback> block;
  pcie::DmaOptions options =
      q.doorbell_sites.options(number, q.written, q.registers.length, "the write-back of receive descriptor");
  for (unsigned i = 0; i < q.done_count; ++i) {
    block[i] = q.done[i].report;
    for (const base::Span& s : q.done[i].spans)
      options.spans.add({static_cast<std::uint32_t>(i * sizeof(desc_rx_writeback)), sizeof(desc_rx_writeback), s.id});
  }
  const bool interrupts = nic_.vectors_.will_interrupt(q.registers.cause);
  options.arrival_stage = {interrupts ? SLUICE_STAGE_notify : SLUICE_STAGE_wait_core, nic_.component()};
  if (interrupts) options.arrival_stage.mark = DescriptorNic::kInterrupts;
  const std::uint64_t address = q.registers.base + q.written % q.registers.length * sizeof(desc_rx_writeback);
  const std::span<const std::uint8_t> bytes{reinterpret_cast<const std::uint8_t*>(block.data()),
                                            q.done_count * sizeof(desc_rx_writeback)};
  DescriptorNic::WriteSent on_sent;
  if (frame_bytes != 0)
    on_sent = [this, generation = generation_, frame_bytes](const pcie::DmaSent&) {
      if (generation != generation_) return;
      released(frame_bytes);
      pump();
    };
  if (!nic_.dma_write(address, bytes, options, std::move(on_sent))) return stop(number);
  nic_.count(DESC_STAT_RX_PACKETS) += q.done_count;
  for (unsigned i = 0; i < q.done_count; ++i) nic_.count(DESC_STAT_RX_BYTES) += q.done[i].report.packet_length;
  q.written += q.done_count;
  q.doorbell_sites.retire(q.written);
  q.done_count = q.span_count = 0;
  nic_.vectors_.cause(q.registers.cause, options.spans);
}

}  // namespace sluice::nic
