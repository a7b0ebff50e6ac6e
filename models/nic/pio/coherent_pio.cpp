// SPDX-License-Identifier: Apache-2.0
#include "models/nic/pio/coherent_pio.h"

#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/base/measure/mistakes.h"

namespace sluice::nic {

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
    : Model(name), grant_(p.grant), core_(path(), key(), p.pio, wire, end) {
  core_.on_frame = [this] { try_receive(); };
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

void CoherentPio::answer(std::uint64_t request, LineWindow::Line& line, base::RequestId of) {
  caches_->grant(request, line, grant_ == LineGrant::exclusive, of);
}

void CoherentPio::refuse(const base::LineRequest& r, const char* why) {
  base::mistakes().report(fmt::format("{}: line {:#x} {}", path(), r.line - base_, why));
  caches_->refuse(r.number);
}

void CoherentPio::line_requested(const base::LineRequest& r) {
  LineWindow& window = window_of(r.line);
  const unsigned control = window.control_at(r.line);
  const unsigned overflow = window.overflow_at(r.line);
  if (overflow < PIO_OVERFLOW_LINES) {
    window.give_overflow(overflow);
    return answer(r.number, window.overflow(overflow), &window == &rx_ ? rx_request_ : 0);
  }
  if (control == kNone) return refuse(r, "is neither a control line nor an overflow line");
  if (&window == &rx_)
    receive_requested(r, control);
  else
    transmit_requested(r, control);
}

void CoherentPio::line_written(const base::LineWritten& w) {
  LineWindow& window = window_of(w.line);
  window.written(w.line, w.bytes);
  if (&window == &tx_ && w.request != 0) note_reply(w);
}

void CoherentPio::line_recalled(std::uint64_t line) {
  LineWindow& window = window_of(line);
  if (!window.take()) return;
  if (&window == &rx_)
    end_of_frame();
  else
    take_control_line();
}

// --------------------------------------------------------------------------------------------------------------------
// Receive

void CoherentPio::receive_requested(const base::LineRequest& r, unsigned control) {
  if (control == rx_line_) return answer(r.number, rx_.control(control), rx_request_);
  if (rx_waiting_.request != 0) return refuse(r, "is asked for while a load of the other control line is held back");
  core_.stamp_read_start();
  rx_waiting_ = {r.number, control};
  rx_is_due_ = false;
  rx_timer_ = base::calendar().after(core_.receive_block(), key(), [this] { no_frame(); });
  if (rx_line_ == kNone) return try_receive();
  // The host has done with what the other control line had.
  rx_.begin_recalls();
  rx_.recall(rx_.control_line(rx_line_));
  rx_.recall_overflow(PIO_OVERFLOW_LINES);
  if (rx_.take()) end_of_frame();
}

void CoherentPio::end_of_frame() {
  if (rx_bytes_ != 0) core_.release_frame();
  rx_line_ = kNone;
  rx_bytes_ = 0;
  rx_request_ = 0;
  rx_.unlock();  // who has asked for these lines meanwhile is answered now
  try_receive();
}

void CoherentPio::try_receive() {
  if (rx_waiting_.request == 0 || rx_.is_recalling()) return;
  if (!core_.has_frame()) {
    if (rx_is_due_) answer_without_frame();
    return;
  }
  const net::Packet& frame = core_.frame();
  rx_bytes_ = frame.length;
  rx_request_ = frame.request();
  rx_.put(rx_waiting_.control, {frame.bytes, frame.length});
  core_.stamp_read();
  answer_receive(PIO_WORD_VALID | PIO_WORD_TYPE_BYPASS << PIO_WORD_TYPE_SHIFT | rx_bytes_ << PIO_WORD_LENGTH_SHIFT);
}

void CoherentPio::answer_receive(std::uint64_t word) {
  base::calendar().cancel(rx_timer_);
  const Waiting answered = std::exchange(rx_waiting_, {});
  rx_line_ = answered.control;
  std::memcpy(rx_.control(rx_line_).data(), &word, sizeof word);
  answer(answered.request, rx_.control(rx_line_), rx_request_);
}

/// The time for which a receive may be held back is over. Lines that are still to come back are waited for.
void CoherentPio::no_frame() {
  rx_is_due_ = true;
  if (!rx_.is_recalling()) answer_without_frame();
}

void CoherentPio::answer_without_frame() {
  core_.count_nack();
  answer_receive(0);
}

// --------------------------------------------------------------------------------------------------------------------
// Transmit

void CoherentPio::transmit_requested(const base::LineRequest& r, unsigned control) {
  if (tx_line_ == kNone) tx_line_ = control;
  if (control == tx_line_) return answer(r.number, tx_.control(control));
  if (tx_waiting_.request != 0) return refuse(r, "is asked for while a commit is under way");
  core_.stamp_commit();
  tx_by_ = base::access_site();
  tx_waiting_ = {r.number, control};
  tx_has_control_ = false;
  tx_request_ = 0;
  tx_committed_ = base::now();
  for (base::Journey& j : tx_journeys_) j.clear();
  if (r.serves != 0) tx_journeys_[0] = r.journey;
  // The control line comes first: it says how long the frame is.
  tx_.begin_recalls();
  tx_.recall(tx_.control_line(tx_line_));
  if (tx_.take()) take_control_line();
}

void CoherentPio::take_control_line() {
  if (tx_has_control_) return take_frame();
  tx_has_control_ = true;
  std::uint64_t word = 0;
  std::memcpy(&word, tx_.control(tx_line_).data(), sizeof word);
  const std::uint64_t bytes = word >> PIO_WORD_LENGTH_SHIFT & PIO_WORD_LENGTH_MASK;
  const bool is_good = bytes != 0 && bytes <= PioCore::kLongestFrame;
  if (!is_good) core_.bad_length(bytes, tx_by_);
  tx_bytes_ = is_good ? static_cast<std::uint32_t>(bytes) : 0;
  tx_.begin_recalls();
  tx_.recall_overflow(LineWindow::overflow_lines(tx_bytes_));
  if (tx_.take()) take_frame();
}

/// A line that was taken back for a commit has brought bytes of a request.
void CoherentPio::note_reply(const base::LineWritten& w) {
  if (tx_waiting_.request == 0 || w.journey.start() < tx_committed_) return;
  tx_request_ = w.request;
  tx_journeys_[tx_has_control_ ? 2 : 1] = w.journey;
}

void CoherentPio::take_frame() {
  if (tx_bytes_ != 0) {
    net::PacketPtr packet = net::make_packet();
    packet->length = tx_bytes_;
    tx_.get(tx_line_, {packet->bytes, tx_bytes_});
    for (const base::Journey& j : tx_journeys_) j.apply(tx_request_);
    core_.transmit(std::move(packet), tx_request_);
  }
  tx_.control(tx_line_) = {};
  tx_line_ = tx_waiting_.control;
  tx_.unlock();  // who has asked for the old line meanwhile is refused: the commit is still under way
  answer(std::exchange(tx_waiting_, {}).request, tx_.control(tx_line_));
}

// --------------------------------------------------------------------------------------------------------------------

void CoherentPio::caches_reset() {
  base::calendar().cancel(rx_timer_);
  rx_.reset();
  tx_.reset();
  if (rx_bytes_ != 0) core_.release_frame();
  rx_line_ = tx_line_ = kNone;
  rx_bytes_ = tx_bytes_ = 0;
  rx_request_ = 0;
  rx_waiting_ = tx_waiting_ = {};
}

void CoherentPio::reset() {
  rx_bytes_ = 0;  // reset() of the core drops the frame
  rx_request_ = 0;
  core_.reset();
}

}  // namespace sluice::nic
