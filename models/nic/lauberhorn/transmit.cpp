// SPDX-License-Identifier: Apache-2.0
/// From the lines that software has written to the MAC.
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "models/base/measure/mistakes.h"
#include "models/net/frame.h"
#include "models/nic/lauberhorn/lauberhorn_nic.h"
#include "models/nic/lauberhorn/mac_bits.h"
#include "protocols/rpc/onc_rpc.h"

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
  const bool is_lost = std::exchange(e.is_lost, false);
  if (jobs_[work].is_frame()) return free(work);
  const std::optional<Work> request = request_of(work);
  if (!request) return;  // another result has answered it
  const Work of = *request;
  const std::uint32_t word = load(e.rx.message(), LAUB_HEAD_WORD);
  const std::uint32_t bytes = length_of(word);
  const unsigned type = word & LAUB_WORD_VALID ? type_of(word) : LAUB_CALL;
  const bool is_for_result = !e.is_kernel() || load(e.rx.message(), LAUB_HEAD_XID) == LAUB_KEPT_FOR_RESULT;
  e.rx.apply_journeys();
  if (type == LAUB_REPLY && bytes <= e.rx.window().capacity()) {
    std::vector<std::uint8_t> data(bytes);
    e.rx.get(data);
    answer(of, load(e.rx.message(), LAUB_HEAD_XID), std::move(data));
  } else if (is_lost) {
    lose(of);
  } else if (type == LAUB_KEPT && may_keep(of, is_for_result)) {
    keep(of, is_for_result ? Job::State::waiting_for_result : Job::State::kept_by_kernel);
  } else if (type == LAUB_CALL || type == LAUB_CONTINUE) {
    discard(of, counters_.unanswered, "no reply");
  } else {
    if (type != LAUB_ERROR_REPLY) bad_message(fmt::format("a reply of type {} with {} bytes", type, bytes), e.rx.by());
    ++counters_.error_replies;
    answer(of, RPCE_SYSTEM_ERR);
  }
}

/// The request that a job is of; nothing: there is none any more. A result is dealt with.
std::optional<Lauberhorn::Work> Lauberhorn::request_of(Work work) {
  if (jobs_[work].kind != Job::Kind::continuation) return work;
  const lauberhorn::Reference parent = jobs_[work].parent;
  free(work);
  if (!exists(parent)) return {};
  if (jobs_[parent.number].calls > 0) --jobs_[parent.number].calls;
  return parent.number;
}

/// Whether somebody can answer a request later: the kernel, or a result that will come.
bool Lauberhorn::may_keep(Work work, bool is_for_result) const {
  return scheduler_.has_process(jobs_[work].process) && (!is_for_result || jobs_[work].calls > 0);
}

/// The request will be answered later.
void Lauberhorn::keep(Work work, Job::State state) {
  Job& job = jobs_[work];
  ++counters_.kept;
  job.state = state;
  if (job.buffer) buffer_.free(*std::exchange(job.buffer, std::nullopt));
  if (state == Job::State::waiting_for_result) results_may_go_on(work);
}

/// Nobody will answer the request.
void Lauberhorn::lose(Work work) {
  if (parameters_.lost == LostRequest::drop) return discard(work, counters_.lost, "process ended");
  ++counters_.lost;
  answer(work, RPCE_SYSTEM_ERR);
}

/// Ends a request.
void Lauberhorn::answer(Work work, std::uint32_t accept_stat, std::vector<std::uint8_t> data) {
  const Job& job = jobs_[work];
  Leaving l;
  l.of = job.request();
  l.caller = job.caller;
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
  free(work);
}

/// The encoder has made this frame. A call that does not fit its schema gives none: its entry is passed over, and its
/// continuation learns so when its time is over.
void Lauberhorn::encoded(const rpc::Encoded& frame) {
  const bool is_call = net::load32(frame.frame.data() + net::kUdpPayload + 4) == RPC_CALL;
  const std::uint32_t xid = net::load32(frame.frame.data() + net::kUdpPayload);
  Leaving l = encoding_.pop();
  while (l.request.is_call && (!is_call || l.request.xid != xid)) l = encoding_.pop();
  if (is_call) return call_turns_around(l, frame);
  if (l.caller) return result_turns_around(std::move(l), frame);
  ++counters_.replies;
  transmit(net::make_packet(frame.frame.data(), frame.frame.size()), l.of);
}

// --------------------------------------------------------------------------------------------------------------------
// Frames

bool Lauberhorn::is_kept_by_kernel(std::uint32_t number) const {
  return number < jobs_.size() && jobs_[number].exists && jobs_[number].state == Job::State::kept_by_kernel;
}

/// The handler of a request that the kernel has kept has ended, and waits for a result.
void Lauberhorn::commits_keep(std::uint32_t session) {
  Job& job = jobs_[session];
  if (job.calls == 0) {
    ++counters_.error_replies;
    return answer(session, RPCE_SYSTEM_ERR);
  }
  job.state = Job::State::waiting_for_result;
  results_may_go_on(session);
}

/// The kernel sends frames, and the replies to calls that it has kept; a process calls services.
std::uint32_t Lauberhorn::commits(EndPoint& e) {
  const std::uint32_t word = load(e.tx.message(), LAUB_HEAD_WORD);
  const std::uint32_t bytes = length_of(word), session = load(e.tx.message(), LAUB_HEAD_SESSION) >> 16;
  const unsigned type = word & LAUB_WORD_VALID ? type_of(word) : LAUB_CALL;
  if (!e.is_kernel() && word & LAUB_WORD_VALID && type == LAUB_CALL) return commits_call(e, session, bytes);
  if (e.is_kernel() && type == LAUB_KEPT && is_kept_by_kernel(session)) {
    commits_keep(session);
    return 0;
  }
  if (e.is_kernel() && type == LAUB_REPLY && is_kept_by_kernel(session) && bytes <= e.tx.window().capacity()) {
    jobs_[session].state = Job::State::given;  // from now on it is this end-point's
    e.sends = reference(session);
    if (bytes == 0) sends(e, 0);
    return bytes;
  }
  if (!e.is_kernel() || type != LAUB_FRAME)
    bad_message(fmt::format("a message that is none was committed, with the word {:#x}", word), e.tx.by());
  else if (bytes == 0 || bytes > kLongestFrame)
    bad_message(fmt::format("a frame of {} bytes was committed; frames have 1 to {}", bytes, kLongestFrame), e.tx.by());
  else
    return bytes;
  return 0;
}

void Lauberhorn::sends(EndPoint& e, std::uint32_t bytes) {
  e.tx.apply_journeys();
  if (e.sends || e.caller) {
    std::vector<std::uint8_t> data(bytes);
    e.tx.get(data);
    if (e.caller) return sends_call(e, std::move(data));
    const lauberhorn::Reference of = *std::exchange(e.sends, std::nullopt);
    if (exists(of)) answer(of.number, load(e.tx.message(), LAUB_HEAD_XID), std::move(data));
    return;
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
  encoder_->put(l.data, l.request);
  encoding_.push(std::move(l));
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
