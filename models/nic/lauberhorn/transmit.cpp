// SPDX-License-Identifier: Apache-2.0
/// From the lines that software has written to the MAC.
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "models/base/measure/mistakes.h"
#include "models/nic/lauberhorn/lauberhorn_nic.h"
#include "models/nic/lauberhorn/mac_bits.h"

namespace sluice::nic {
namespace {

std::uint32_t load(std::span<const std::uint8_t> line, std::size_t at) {
  std::uint32_t value;
  std::memcpy(&value, line.data() + at, sizeof value);
  return value;
}
unsigned type_of(std::uint32_t word) { return word >> LAUB_WORD_TYPE_SHIFT & LAUB_WORD_TYPE_MASK; }
std::uint32_t length_of(std::uint32_t word) { return word >> LAUB_WORD_LENGTH_SHIFT & LAUB_WORD_LENGTH_MASK; }

}  // namespace

void Lauberhorn::bad_message(const std::string& what, const base::Site& by) {
  ++counters_.message_errors;
  bank_.value(error_) |= LAUB_ERROR_MESSAGE;
  base::mistakes().report(path() + ": " + what, by);
}

// --------------------------------------------------------------------------------------------------------------------
// Replies

/// The software has done with what it was given. Of a call it has written the reply over the line.
void Lauberhorn::finished(EndPoint& e, Work work) {
  Job& job = jobs_[work];
  const bool is_lost = std::exchange(e.is_lost, false);
  if (!job.is_call) return free(work);
  const std::uint32_t word = load(e.rx.message(), LAUB_HEAD_WORD);
  const std::uint32_t bytes = length_of(word);
  const unsigned type = word & LAUB_WORD_VALID ? type_of(word) : LAUB_CALL;
  e.rx.apply_journeys();
  if (type == LAUB_REPLY && bytes <= e.rx.window().capacity()) {
    std::vector<std::uint8_t> data(bytes);
    e.rx.get(data);
    reply(job, load(e.rx.message(), LAUB_HEAD_XID), std::move(data));
  } else if (is_lost) {
    ++counters_.lost;
    if (parameters_.lost == LostRequest::answer)
      reply(job, RPCE_SYSTEM_ERR);
    else
      base::drop_all(job.packet->spans, "process ended", base::now());
  } else if (type == LAUB_KEPT && e.id.process == lauberhorn::Scheduler::kKernel) {
    ++counters_.kept;
    job.is_kept = true;
    return;
  } else if (type == LAUB_CALL) {
    ++counters_.unanswered;
    base::drop_all(job.packet->spans, "no reply", base::now());
  } else {
    if (type != LAUB_ERROR_REPLY) bad_message(fmt::format("a reply of type {} with {} bytes", type, bytes), e.rx.by());
    ++counters_.error_replies;
    reply(job, RPCE_SYSTEM_ERR);
  }
  free(work);
}

void Lauberhorn::reply(const Job& job, std::uint32_t accept_stat, std::vector<std::uint8_t> data) {
  ++counters_.replies;
  Leaving l;
  l.of = job.request();
  l.data = std::move(data);
  rpc::Request& r = l.request;
  r.accept_stat = static_cast<std::uint8_t>(std::min(accept_stat, 7u));
  r.schema = job.result;
  r.peer_mac = lauberhorn::mac_bits(job.packet->bytes + 6);
  r.own_mac = mac_address_;
  r.peer_address = job.call.source;
  r.own_address = job.call.destination;
  r.peer_port = job.call.source_port;
  r.own_port = job.call.port;
  r.xid = load(job.call.line, 4);
  const std::uint64_t bytes = l.data.size();
  stream(std::move(l), bytes);
}

/// The encoder has made this of the oldest reply in it.
void Lauberhorn::encoded(const rpc::Encoded& frame) {
  const base::RequestId of = encoding_.pop();
  transmit(net::make_packet(frame.frame.data(), frame.frame.size()), of);
}

// --------------------------------------------------------------------------------------------------------------------
// Frames

bool Lauberhorn::is_kept_session(std::uint32_t number) const { return number < jobs_.size() && jobs_[number].is_kept; }

/// The kernel sends frames, and the replies to calls that it has kept.
std::uint32_t Lauberhorn::commits(EndPoint& e) {
  const std::uint32_t word = load(e.tx.message(), LAUB_HEAD_WORD);
  const std::uint32_t bytes = length_of(word), session = load(e.tx.message(), LAUB_HEAD_SESSION) >> 16;
  const unsigned type = word & LAUB_WORD_VALID ? type_of(word) : LAUB_CALL;
  const bool is_kernel = e.id.process == lauberhorn::Scheduler::kKernel;
  if (is_kernel && type == LAUB_REPLY && is_kept_session(session) && bytes <= e.tx.window().capacity()) {
    jobs_[session].is_kept = false;  // from now on it is this end-point's
    e.sends = session;
    if (bytes == 0) sends(e, 0);
    return bytes;
  }
  if (!is_kernel || type != LAUB_FRAME)
    bad_message(fmt::format("a message that is none was committed, with the word {:#x}", word), e.tx.by());
  else if (bytes == 0 || bytes > kLongestFrame)
    bad_message(fmt::format("a frame of {} bytes was committed; frames have 1 to {}", bytes, kLongestFrame), e.tx.by());
  else
    return bytes;
  return 0;
}

void Lauberhorn::sends(EndPoint& e, std::uint32_t bytes) {
  e.tx.apply_journeys();
  if (e.sends) {
    const Work work = *std::exchange(e.sends, std::nullopt);
    std::vector<std::uint8_t> data(bytes);
    e.tx.get(data);
    reply(jobs_[work], load(e.tx.message(), LAUB_HEAD_XID), std::move(data));
    return free(work);
  }
  net::PacketPtr packet = net::make_packet();
  packet->length = bytes;
  e.tx.get({packet->bytes, bytes});
  Leaving l;
  l.of = e.tx.request();
  l.frame = std::move(packet);
  stream(std::move(l), bytes);
}

// --------------------------------------------------------------------------------------------------------------------
// Both

/// What has come from the lines goes through the stream buffer.
void Lauberhorn::stream(Leaving l, std::uint64_t bytes) {
  base::ledger().try_enter(l.of, SLUICE_STAGE_transmit, component_, base::now());
  tx_stream_free_ = std::max(base::now(), tx_stream_free_) + parameters_.transmit_stream(bytes);
  leaving_.push(std::move(l));
  base::calendar().at(tx_stream_free_, key(), [this, generation = generation_] {
    if (generation == generation_) streamed();
  });
}

void Lauberhorn::streamed() {
  Leaving l = leaving_.pop();
  if (l.frame) return transmit(std::move(l.frame), l.of);
  encoding_.push(l.of);
  encoder_->put(l.data, l.request);
}

/// A frame is at the transmit queue.
void Lauberhorn::transmit(net::PacketPtr packet, base::RequestId of) {
  ++counters_.tx_frames;
  packet->spans.add({0, packet->length, of});
  tx_queue_free_ = std::max(base::now(), tx_queue_free_) + parameters_.transmit_queue(packet->length);
  sending_.push(std::move(packet));
  base::calendar().at(tx_queue_free_, key(), [this, generation = generation_] {
    if (generation == generation_) mac_.send(sending_.pop(), base::now());
  });
}

}  // namespace sluice::nic
