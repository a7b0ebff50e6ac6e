// SPDX-License-Identifier: Apache-2.0
#include "models/nic/pio/coherent_pio.h"

#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/base/measure/mistakes.h"

namespace sluice::nic {
namespace {

constexpr LineWindow::Shape kShape{PIO_LINE, PIO_INLINE, PIO_OVERFLOW, PIO_OVERFLOW_LINES};

/// The control word, which a control line begins with.
std::uint64_t control_word(std::span<const std::uint8_t> line) {
  std::uint64_t word = 0;
  std::memcpy(&word, line.data(), sizeof word);
  return word;
}
void set_control_word(std::span<std::uint8_t> line, std::uint64_t word) {
  std::memcpy(line.data(), &word, sizeof word);
}

}  // namespace

void CoherentPioParameters::describe(base::Schema<CoherentPioParameters>& s) {
  using P = CoherentPioParameters;
  s.summary("PIO NIC on a coherent link");
  s.add("grant", &P::grant, "what a load gets: shared, to be upgraded by the first store, or exclusive")
      .choices({{"shared", LineGrant::shared}, {"exclusive", LineGrant::exclusive}})
      .acts_with({"rx_frames", "tx_frames"}, "no frame went through the NIC")
      .assumed("not published");
  s.include("", &P::pio);
}

CoherentPio::CoherentPio(const sc_core::sc_module_name& name, const CoherentPioParameters& p, net::Wire& wire,
                         net::Wire::End end)
    : Model(name),
      core_(path(), key(), p.pio, wire, end),
      rx_(kShape, p.grant == LineGrant::exclusive, key(), *this),
      tx_(kShape, p.grant == LineGrant::exclusive, *this) {
  core_.on_frame = [this] {
    if (rx_.is_ready()) receive_ready(rx_);
  };
}

void CoherentPio::attach(base::LineCaches& caches, std::uint64_t base) {
  if (caches.line_bytes() != PIO_LINE)
    throw std::logic_error(
        fmt::format("its lines have {} B, and those of the caches (caches.line) {} B", PIO_LINE, caches.line_bytes()));
  caches_ = &caches;
  base_ = base;
  rx_.attach(caches, base + PIO_RX_LINES);
  tx_.attach(caches, base + PIO_TX_LINES);
}

void CoherentPio::connect(const memory::ChipPorts& chip, memory::SocBus::Region region) { chip.map(region, socket); }

void CoherentPio::connect_lines(base::LineHomes& homes, std::uint64_t address, std::uint64_t size,
                                const std::string& path) {
  homes.add_home(*this, address, size, path);
}

void CoherentPio::line_requested(const base::LineRequest& r) {
  const char* wrong = is_receive(r.line) ? rx_.requested(r) : tx_.requested(r);
  if (!wrong) return;
  base::mistakes().report(fmt::format("{}: line {:#x} {}", path(), r.line - base_, wrong));
  caches_->refuse(r.number);
}

void CoherentPio::line_written(const base::LineWritten& w) {
  if (is_receive(w.line))
    rx_.written(w);
  else
    tx_.written(w);
}

void CoherentPio::line_recalled(std::uint64_t line) {
  if (is_receive(line))
    rx_.recalled();
  else
    tx_.recalled();
}

base::Time CoherentPio::receive_begins(ReceiveLines&) {
  core_.stamp_read_start();
  return core_.receive_block();
}

void CoherentPio::receive_done(ReceiveLines&) {
  if (std::exchange(has_frame_, false)) core_.release_frame();
}

void CoherentPio::receive_ready(ReceiveLines&) {
  if (!core_.has_frame()) return;
  const net::Packet& frame = core_.frame();
  has_frame_ = true;
  rx_.put({frame.bytes, frame.length});
  set_control_word(
      rx_.next(), PIO_WORD_VALID | PIO_WORD_TYPE_BYPASS << PIO_WORD_TYPE_SHIFT | frame.length << PIO_WORD_LENGTH_SHIFT);
  core_.stamp_read();
  rx_.answer(frame.request());
}

void CoherentPio::receive_due(ReceiveLines&) {
  core_.count_nack();
  set_control_word(rx_.next(), 0);
  rx_.answer();
}

std::uint32_t CoherentPio::transmit_length(TransmitLines&) {
  const std::uint64_t bytes = control_word(tx_.message()) >> PIO_WORD_LENGTH_SHIFT & PIO_WORD_LENGTH_MASK;
  if (bytes != 0 && bytes <= PioCore::kLongestFrame) return static_cast<std::uint32_t>(bytes);
  core_.bad_length(bytes, tx_.by());
  return 0;
}

void CoherentPio::transmit_done(TransmitLines&, std::uint32_t bytes) {
  if (bytes == 0) return;
  net::PacketPtr packet = net::make_packet();
  packet->length = bytes;
  tx_.get({packet->bytes, bytes});
  tx_.apply_journeys();
  core_.transmit(std::move(packet), tx_.request());
}

void CoherentPio::caches_reset() {
  rx_.reset();
  tx_.reset();
  receive_done(rx_);
}

void CoherentPio::reset() {
  has_frame_ = false;  // reset() of the core drops the frame
  core_.reset();
}

}  // namespace sluice::nic
