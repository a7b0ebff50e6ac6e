// SPDX-License-Identifier: Apache-2.0
#include "models/nic/pio/pcie_pio.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "models/nic/pio/pio_regs.h"

namespace sluice::nic {
namespace {

/// The longest frame, in whole beats.
constexpr std::uint32_t kTransmitBytes =
    (PioCore::kLongestFrame + PacketBuffer::kBeat - 1) / PacketBuffer::kBeat * PacketBuffer::kBeat;

std::uint64_t word_of(std::uint64_t bytes, std::uint64_t offset) {
  return PIO_WORD_VALID | PIO_WORD_TYPE_BYPASS << PIO_WORD_TYPE_SHIFT | bytes << PIO_WORD_LENGTH_SHIFT |
         offset << PIO_WORD_OFFSET_SHIFT;
}

std::uint64_t bar_bytes(const PciePioParameters& p) {
  return std::bit_ceil(PIO_PACKET_BUFFER + p.pio.rx_buffer.count() + kTransmitBytes);
}

pcie::Endpoint::Function function_of(const PciePioParameters& p) {
  pcie::Endpoint::Function f;
  f.identity = {PIO_VENDOR_ID, PIO_DEVICE_ID, PIO_CLASS_CODE, 1, PIO_VENDOR_ID, PIO_DEVICE_ID};
  f.bars[PIO_BAR] = {pcie::Bar::Kind::kMemory64, true, bar_bytes(p)};
  return f;
}

}  // namespace

PioParameters PciePioParameters::pipelines() {
  PioParameters p;
  p.rx_stream = 16_ns;
  p.tx_stream = 32_ns;
  p.tx_stream_beat = 4_ns;
  return p;
}

void PciePioParameters::describe(base::Schema<PciePioParameters>& s) {
  using P = PciePioParameters;
  s.summary("NIC on PCIe whose frames the host reads and writes itself");
  s.include("pcie", &P::pcie);
  s.add("read", &P::read, "from a read's arrival until a register or the packet buffer is read for it")
      .range(0_ns, 10_us)
      .acts_with({"reads"}, "nothing was read")
      .assumed("no time of its own");
  s.include("", &P::pio);
}

PciePio::PciePio(sc_core::sc_module_name name, const Parameters& p, net::Wire& wire, net::Wire::End end)
    : PcieNic(name, p.pcie, function_of(p)),
      read_(p.read),
      core_(path(), key(), p.pio, wire, end),
      memory_(p.pio.rx_buffer.count() + kTransmitBytes),
      tx_buffer_(static_cast<std::uint32_t>(p.pio.rx_buffer.count())) {
  core_.on_frame = [this] {
    if (is_receiving_) give_frame();
  };
  declare_registers();
}

void PciePio::declare_registers() {
  using base::Access;
  // A read of it waits, so mmio_read() answers it; the bank knows its width and name.
  registers().add({.name = "host_rx_next", .offset = PIO_HOST_RX_NEXT, .width = 8, .access = Access::ro});
  registers().add({.name = "host_rx_next_ack",
                   .offset = PIO_HOST_RX_NEXT_ACK,
                   .width = 8,
                   .access = Access::wo,
                   .on_write = [this](const base::RegisterWrite& w) { acknowledge_receive(w); }});
  registers().add(
      {.name = "host_tx", .offset = PIO_HOST_TX, .width = 8, .access = Access::ro, .on_read = [this](unsigned) {
         return transmit_buffer();
       }});
  registers().add({.name = "host_tx_ack",
                   .offset = PIO_HOST_TX_ACK,
                   .width = 8,
                   .access = Access::wo,
                   .on_write = [this](const base::RegisterWrite& w) { acknowledge_transmit(w); }});
}

/// The packet buffer's bytes at an offset in the BAR; null: not all of them are in it.
std::uint8_t* PciePio::packet_bytes(std::uint64_t offset, std::uint64_t size) {
  const bool inside = offset >= PIO_PACKET_BUFFER && offset - PIO_PACKET_BUFFER + size <= memory_.size();
  return inside ? memory_.data() + (offset - PIO_PACKET_BUFFER) : nullptr;
}

void PciePio::mmio_read(unsigned, std::uint64_t offset, unsigned size, pcie::MmioReply reply) {
  ++reads_;
  arriving_.push_back({offset, size, reply, base::access_site()});
  base::calendar().after(read_, key(), [this, resets = resets_] {
    if (resets != resets_) return;
    const Read r = arriving_.front();
    arriving_.pop_front();
    read(r);
  });
}

void PciePio::read(const Read& r) {
  const base::AccessSiteScope by(r.by);
  pcie::MmioReply reply = r.reply;
  if (r.offset == PIO_HOST_RX_NEXT && r.size == 8) return receive_requested(reply);
  if (std::uint8_t* const bytes = packet_bytes(r.offset, r.size)) return reply.data({bytes, r.size});
  std::uint64_t value = 0;
  if (registers().read(r.offset, &value, r.size) == base::Answer::ok) return reply.value(value);
  reply.unsupported();
}

void PciePio::mmio_write(unsigned, std::uint64_t offset, std::span<const std::uint8_t> data,
                         const base::Journey& journey) {
  if (std::uint8_t* const bytes = packet_bytes(offset, data.size()))
    std::copy(data.begin(), data.end(), bytes);
  else {
    write_journey_ = &journey;
    registers().write(offset, data.data(), static_cast<unsigned>(data.size()));
    write_journey_ = nullptr;
  }
}

// --------------------------------------------------------------------------------------------------------------------
// Receive

void PciePio::receive_requested(pcie::MmioReply reply) {
  if (is_receiving_) {
    base::mistakes().report(
        path() + ": host_rx_next was read while another read of it is held back, and is answered with no frame",
        base::access_site());
    core_.count_nack();
    return reply.value(0);
  }
  core_.stamp_read_start();
  is_receiving_ = true;
  receive_ = reply;
  if (core_.has_frame()) return give_frame();
  receive_.hold();
  receive_timer_ = base::calendar().after(core_.receive_block(), key(), [this] {
    core_.count_nack();
    answer(0);
  });
}

void PciePio::give_frame() {
  core_.stamp_read();
  const PioCore::Given given = core_.take_frame();
  const net::Packet& frame = *given.packet;
  std::copy_n(frame.bytes, frame.length, memory_.begin() + given.buffer);
  given_.insert(given.buffer);
  answer(word_of(frame.length, given.buffer), frame.request());
}

void PciePio::answer(std::uint64_t word, base::RequestId of) {
  base::calendar().cancel(receive_timer_);
  is_receiving_ = false;
  receive_.value(word, of);
}

void PciePio::acknowledge_receive(const base::RegisterWrite& w) {
  const auto offset = static_cast<std::uint32_t>(w.value >> PIO_WORD_OFFSET_SHIFT);
  if (given_.erase(offset) != 0) return core_.free_buffer(offset);
  ++acknowledge_errors_;
  base::mistakes().report(fmt::format("{}: the host gave back offset {:#x}, at which it has no frame", path(), offset),
                          base::access_site());
}

// --------------------------------------------------------------------------------------------------------------------
// Transmit

std::uint64_t PciePio::transmit_buffer() const {
  return base::now() < tx_free_ ? 0 : word_of(kTransmitBytes, tx_buffer_);
}

void PciePio::acknowledge_transmit(const base::RegisterWrite& w) {
  const std::uint64_t bytes = w.value >> PIO_WORD_LENGTH_SHIFT & PIO_WORD_LENGTH_MASK;
  const std::uint64_t offset = w.value >> PIO_WORD_OFFSET_SHIFT;
  const base::Site by = base::access_site();
  if (offset != tx_buffer_)
    return core_.bad_commit(
        fmt::format("a frame at offset {:#x} was committed; the buffer is at {:#x}", offset, tx_buffer_), by);
  if (base::now() < tx_free_)
    return core_.bad_commit("a frame was committed while the one before was still in the buffer", by);
  if (bytes == 0 || bytes > PioCore::kLongestFrame) return core_.bad_length(bytes, by);
  core_.stamp_commit();
  if (write_journey_) write_journey_->apply(by.serves);
  tx_free_ = core_.transmit(net::make_packet(memory_.data() + tx_buffer_, bytes), by.serves);
}

// --------------------------------------------------------------------------------------------------------------------

void PciePio::function_reset() {
  ++resets_;
  arriving_.clear();
  base::calendar().cancel(receive_timer_);
  is_receiving_ = false;
  given_.clear();
  tx_free_ = {};
  core_.reset();
}

void PciePio::register_statistics(base::StatisticsGroup& group) {
  group.counter("reads", "reads", "of registers and the packet buffer, by the host", reads_);
  group.counter("acknowledge_errors", "writes", "that gave back a frame which the host did not have",
                acknowledge_errors_);
  core_.register_statistics(group);
}

}  // namespace sluice::nic
