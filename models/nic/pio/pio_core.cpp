// SPDX-License-Identifier: Apache-2.0
#include "models/nic/pio/pio_core.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/base/systemc/model.h"
#include "models/nic/pio/pio_regs.h"

namespace sluice::nic {

PioCore::PioCore(std::string path, base::ComponentKey key, const PioParameters& p, net::Wire& wire, net::Wire::End end)
    : path_(std::move(path)),
      key_(key),
      component_(base::ledger().component(path_)),
      parameters_(p),
      clock_(p.clock.clock()),
      mac_(base::module_name(path_ + ".mac").c_str(), p.mac, wire, end),
      bank_(path_, PIO_REGISTERS_SIZE),
      buffer_(p.rx_buffer.count()),
      block_(p.rx_block) {
  mac_.set_client(*this);
  mac_.set_max_frame(kLongestFrame);
  declare_registers();
}

void PioCore::add_stamp(const char* name, std::uint64_t offset, std::uint64_t PioSample::*stamp) {
  bank_.add(
      {.name = name, .offset = offset, .width = 8, .access = base::Access::ro, .on_read = [this, stamp](unsigned) {
         return stamps_.*stamp;
       }});
}

void PioCore::add_host_stamp(const char* name, std::uint64_t offset, std::uint64_t PioSample::*stamp) {
  bank_.add({.name = name,
             .offset = offset,
             .width = 8,
             .access = base::Access::wo,
             .on_write = [this, stamp](const base::RegisterWrite& w) { stamps_.*stamp = w.value; }});
}

void PioCore::declare_registers() {
  using base::Access;
  bank_.add({.name = "counter", .offset = PIO_COUNTER, .width = 8, .access = Access::ro, .on_read = [this](unsigned) {
               return cycles(base::now());
             }});
  bank_.add({.name = "control",
             .offset = PIO_CONTROL,
             .width = 8,
             .write_mask = PIO_CONTROL_LOOPBACK | PIO_CONTROL_TURN_AROUND,
             .on_write = [this](const base::RegisterWrite& w) {
               using enum net::Mac::Loopback;
               mac_.set_loopback(w.value & PIO_CONTROL_TURN_AROUND ? interface
                                 : w.value & PIO_CONTROL_LOOPBACK  ? line
                                                                   : none);
             }});
  bank_.add({.name = "rx_block",
             .offset = PIO_RX_BLOCK,
             .width = 8,
             .write_mask = 0xffff'ffff,
             .on_read = [this](unsigned) { return cycles(block_); },
             .on_write = [this](const base::RegisterWrite& w) { block_ = clock_.time_of(w.value); }});
  bank_.add({.name = "max_frame", .offset = PIO_MAX_FRAME, .width = 8, .access = Access::ro, .reset = kLongestFrame});
  bank_.add(
      {.name = "rx_dropped", .offset = PIO_RX_DROPPED, .width = 8, .access = Access::ro, .on_read = [this](unsigned) {
         return rx_dropped_;
       }});
  bank_.add(
      {.name = "tx_errors", .offset = PIO_TX_ERRORS, .width = 8, .access = Access::ro, .on_read = [this](unsigned) {
         return tx_errors_;
       }});
  add_stamp("tx_commit", PIO_TX_COMMIT, &PioSample::after_tx_commit);
  add_stamp("tx_dma_read", PIO_TX_DMA_READ, &PioSample::after_dma_read);
  add_stamp("tx_exit", PIO_TX_EXIT, &PioSample::exit);
  add_stamp("rx_entry", PIO_RX_ENTRY, &PioSample::entry);
  add_stamp("rx_queue", PIO_RX_QUEUE, &PioSample::after_rx_queue);
  add_stamp("rx_dma_write", PIO_RX_DMA_WRITE, &PioSample::after_dma_write);
  add_stamp("rx_read_start", PIO_RX_READ_START, &PioSample::read_start);
  add_stamp("rx_read", PIO_RX_READ, &PioSample::after_read);
  add_host_stamp("host_round_trip", PIO_HOST_ROUND_TRIP, &PioSample::round_trip);
  add_host_stamp("host_tx_buffer", PIO_HOST_TX_BUFFER, &PioSample::host_got_tx_buffer);
  add_host_stamp("host_read_complete", PIO_HOST_READ_COMPLETE, &PioSample::host_read_complete);
  bank_.add({.name = "sample",
             .offset = PIO_SAMPLE,
             .width = 8,
             .access = Access::wo,
             .on_write = [this](const base::RegisterWrite& w) {
               stamps_.bytes = static_cast<std::uint32_t>(w.value);
               samples_.push_back(stamps_);
             }});
}

void PioCore::mac_received(net::PacketPtr packet, base::Time available) {
  const std::uint32_t bytes = packet->length;
  const auto buffer = buffer_.allocate(bytes);
  if (!buffer) {
    ++rx_dropped_;
    return base::drop_all(packet->spans, "receive buffer full", base::now());
  }
  ++rx_frames_;
  queue_free_ = std::max(available, queue_free_) + parameters_.receive_queue(bytes);
  stream_free_ = std::max(queue_free_, stream_free_) + parameters_.rx_stream;
  arriving_.push_back({std::move(packet), *buffer, cycles(available), cycles(queue_free_), cycles(stream_free_)});
  base::calendar().at(available, key_, [this, generation = generation_] {
    if (generation == generation_) enter_queue();
  });
  base::calendar().at(stream_free_, key_, [this, generation = generation_] {
    if (generation != generation_) return;
    ready_.push_back(std::move(arriving_.front()));
    arriving_.pop_front();
    enter(ready_.back().packet->spans, SLUICE_STAGE_wait_core);
    on_frame();
  });
}

/// A frame that the wire brings twice may belong to a request that has moved on.
void PioCore::enter(const base::Spans& spans, base::Stage stage, base::StepSet steps) const {
  for (const base::Span& s : spans)
    base::ledger().try_enter(s.id, stage, component_, base::now(), {}, {steps, base::Owner::nic});
}

/// The first frame that the MAC has not handed over yet has come from it.
void PioCore::enter_queue() {
  Received& r = *std::find_if(arriving_.begin(), arriving_.end(), [](const Received& f) { return !f.is_queued; });
  r.is_queued = true;
  enter(r.packet->spans, SLUICE_STAGE_nic_queue, {SLUICE_STEP_read_packet});
}

void PioCore::stamp_read_start() { stamps_.read_start = cycles(base::now()); }

void PioCore::stamp_read() {
  const Received& r = ready_.front();
  stamps_.entry = r.entry;
  stamps_.after_rx_queue = r.after_queue;
  stamps_.after_dma_write = r.after_write;
  stamps_.after_read = cycles(base::now());
}

PioCore::Given PioCore::take_frame() {
  Given given{std::move(ready_.front().packet), ready_.front().buffer};
  ready_.pop_front();
  return given;
}

void PioCore::stamp_commit() { stamps_.after_tx_commit = cycles(base::now()); }

base::Time PioCore::transmit(net::PacketPtr packet, base::RequestId of) {
  ++tx_frames_;
  packet->spans.add({0, packet->length, of});
  enter(packet->spans, SLUICE_STAGE_transmit);
  tx_stream_free_ = std::max(base::now(), tx_stream_free_) + parameters_.transmit_stream(packet->length);
  tx_queue_free_ = std::max(tx_stream_free_, tx_queue_free_) + parameters_.transmit_queue(packet->length);
  stamps_.after_dma_read = cycles(tx_stream_free_);
  stamps_.exit = cycles(tx_queue_free_);
  base::calendar().at(tx_queue_free_, key_, [this, generation = generation_, p = std::move(packet)]() mutable {
    if (generation == generation_) mac_.send(std::move(p), base::now());
  });
  return tx_stream_free_;
}

void PioCore::bad_length(std::uint64_t length, const base::Site& by) {
  bad_commit(fmt::format("a frame of {} bytes was committed; frames have 1 to {}", length, kLongestFrame), by);
}

void PioCore::bad_commit(const std::string& what, const base::Site& by) {
  ++tx_errors_;
  base::mistakes().report(path_ + ": " + what, by);
}

void PioCore::reset() {
  ++generation_;
  arriving_.clear();
  ready_.clear();
  samples_.clear();
  buffer_.reset();
  block_ = parameters_.rx_block;
  stamps_ = {};
  bank_.reset();
  mac_.set_loopback(net::Mac::Loopback::none);
  mac_.set_max_frame(kLongestFrame);
}

void PioCore::register_statistics(base::StatisticsGroup& group) {
  group.counter("rx_frames", "frames", "received into the packet buffer", rx_frames_);
  group.counter("rx_dropped", "frames", "for which the packet buffer had no room", rx_dropped_);
  group.counter("rx_nacks", "answers", "to receives that no frame had come for in time", rx_nacks_);
  group.counter("tx_frames", "frames", "taken from the host", tx_frames_);
  group.counter("tx_errors", "commits", "of what cannot be sent", tx_errors_);
  bank_.register_statistics(group);
}

}  // namespace sluice::nic
