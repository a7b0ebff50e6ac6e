// SPDX-License-Identifier: Apache-2.0
/// Calls that handlers make to services of this NIC. They go through the encoder and turn around to the decoder. Their
/// results turn around behind the encoder, which has checked them, and let the request go on for which the call was
/// made.
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "models/net/frame.h"
#include "models/nic/lauberhorn/lauberhorn_nic.h"
#include "models/nic/rpc_encoder/rpc_encoder_regs.h"

namespace sluice::nic {
namespace {

// Of a call that stays in the NIC: where its reply would go.
constexpr std::uint16_t kCallPort = 1023;
// In a reply's frame: where accept_stat is; and bytes in front of the results, behind the UDP header.
constexpr unsigned kAcceptStat = net::kUdpPayload + 20, kReplyHeader = 24;

/// Bytes of the UDP payload of a frame that the encoder has made.
std::size_t udp_bytes(std::span<const std::uint8_t> frame) {
  constexpr unsigned kLength = net::kUdpPayload - 4;
  return (std::size_t{frame[kLength]} << 8 | frame[kLength + 1]) - net::kUdpHeader;
}

}  // namespace

// --------------------------------------------------------------------------------------------------------------------
// The call

/// What is wrong with a call that a process commits; empty: nothing.
std::string Lauberhorn::why_no_call(const EndPoint& e, std::uint32_t service, std::uint32_t session,
                                    std::uint32_t bytes) const {
  if (service >= services_.size() || !services_[service].exists || services_[service].arguments == LAUB_NO_SCHEMA)
    return fmt::format("to service {}", service);
  const bool is_own = session < jobs_.size() && jobs_[session].exists && jobs_[session].kind == Job::Kind::call &&
                      jobs_[session].state != Job::State::waiting && jobs_[session].process == e.id.process;
  if (!is_own) return fmt::format("for request {}, which the process does not have", session);
  if (bytes > e.tx.window().capacity()) return fmt::format("with {} bytes", bytes);
  return {};
}

/// Makes a reply end-point for the call whose head is in the transmit lines. Returns nothing if the table is full.
std::optional<lauberhorn::Reference> Lauberhorn::add_continuation(EndPoint& e, Work parent) {
  for (std::uint32_t n = 0; n < continuations_.size(); ++n) {
    Continuation& c = continuations_[n];
    if (c.exists) continue;
    c.exists = true;
    c.process = e.id.process;
    std::memcpy(&c.code, e.tx.message().data() + LAUB_HEAD_CODE, sizeof c.code);
    std::memcpy(&c.data, e.tx.message().data() + LAUB_HEAD_DATA, sizeof c.data);
    c.parent = reference(parent);
    const lauberhorn::Reference own{n, ++c.generation};
    c.timer = base::calendar().after(cycles(bank_.value(call_timeout_)), key(), [this, own] {
      ++counters_.nested_timeouts;
      resume(own, {RPCE_SYSTEM_ERR, {}});
    });
    return own;
  }
  return {};
}

/// A process commits a call. Returns the bytes of its arguments.
std::uint32_t Lauberhorn::commits_call(EndPoint& e, std::uint32_t session, std::uint32_t bytes) {
  std::uint32_t service = 0;
  std::memcpy(&service, e.tx.message().data() + LAUB_HEAD_XID, sizeof service);
  e.caller.reset();
  const std::string why = why_no_call(e, service, session, bytes);
  if (!why.empty())
    bad_message("a call was committed " + why, e.tx.by());
  else if (!(e.caller = add_continuation(e, session)))
    ++counters_.nested_refused;
  if (!e.caller) {
    const std::uint32_t refused = message_word(LAUB_ERROR_REPLY, 0);
    std::memcpy(e.tx.next().data() + LAUB_HEAD_WORD, &refused, sizeof refused);
    return 0;
  }
  ++counters_.nested_calls;
  ++jobs_[session].calls;
  e.calls = service;
  if (bytes == 0) sends(e, 0);
  return bytes;
}

/// All arguments of a call have come.
void Lauberhorn::sends_call(EndPoint& e, std::vector<std::uint8_t> arguments) {
  Leaving l;
  l.caller = std::exchange(e.caller, std::nullopt);
  const Continuation& c = continuations_[l.caller->number];
  const Service& service = services_[e.calls];
  const std::optional<rpc::ServiceKey>& key = decoder_->key(e.calls);
  // What it was made for may have been answered meanwhile, and the service may be gone.
  if (!c.exists || c.generation != l.caller->generation) return;
  if (!service.exists || !key) return resume(*l.caller, {RPCE_SYSTEM_ERR, {}});
  l.of = jobs_[c.parent.number].request();
  l.data = std::move(arguments);
  rpc::Request& r = l.request;
  r.is_call = true;
  r.schema = service.arguments;
  r.peer_mac = r.own_mac = mac_address_;
  r.peer_address = r.own_address = static_cast<std::uint32_t>(bank_.value(ipv4_));
  r.peer_port = key->port;
  r.own_port = kCallPort;
  r.xid = ++call_xid_;
  r.program = key->program;
  r.version = key->version;
  r.procedure = key->procedure;
  const std::uint64_t bytes = l.data.size();
  stream(std::move(l), bytes);
}

/// The encoder has made a frame of a call.
void Lauberhorn::call_turns_around(const Leaving& l, const rpc::Encoded& frame) {
  net::PacketPtr packet = net::make_packet(frame.frame.data(), frame.frame.size());
  packet->spans.add({0, packet->length, l.of});
  const auto buffer = buffer_.allocate(packet->length);
  if (!buffer) {
    ++counters_.dropped_buffer;
    return resume(*l.caller, {RPCE_SYSTEM_ERR, {}});
  }
  decode({std::move(packet), *buffer, l.caller});
}

// --------------------------------------------------------------------------------------------------------------------
// The result

/// The encoder has made a frame of a result, or of an error where it does not fit its schema.
void Lauberhorn::result_turns_around(Leaving l, const rpc::Encoded& frame) {
  const std::uint32_t accept_stat = net::load32(frame.frame.data() + kAcceptStat);
  // XDR has as many bytes as the software's layout: what lies behind the result's schema has not been encoded.
  const std::size_t results = accept_stat == RPCE_SUCCESS ? udp_bytes(frame.frame) - kReplyHeader : 0;
  l.data.resize(std::min(l.data.size(), results));
  resume(*l.caller, {accept_stat, std::move(l.data)});
}

/// The result of a call is there, or there will be none.
void Lauberhorn::resume(lauberhorn::Reference continuation, Continuation::Result result) {
  Continuation& c = continuations_[continuation.number];
  if (!c.exists || c.generation != continuation.generation || c.result || c.has_job) {
    ++counters_.late_results;
    return;
  }
  base::calendar().cancel(c.timer);
  c.result = std::move(result);
  if (jobs_[c.parent.number].state == Job::State::waiting_for_result) go_on(c);
}

/// The handler of a request has ended: results that have come before go to its process now.
void Lauberhorn::results_may_go_on(Work parent) {
  if (jobs_[parent].calls == 0) return;
  for (Continuation& c : continuations_)
    if (c.exists && c.result && c.parent.number == parent) go_on(c);
}

/// Makes a job of a result.
void Lauberhorn::go_on(Continuation& c) {
  Continuation::Result result = *std::exchange(c.result, std::nullopt);
  const Work work = add_job();
  Job& job = jobs_[work];
  job.buffer = buffer_.allocate(static_cast<std::uint32_t>(result.bytes.size()));
  if (!job.buffer) {
    ++counters_.dropped_buffer;
    result = {RPCE_SYSTEM_ERR, {}};
  }
  job.kind = Job::Kind::continuation;
  job.spans = jobs_[c.parent.number].spans;
  job.process = c.process;
  job.parent = c.parent;
  job.data = c.data;
  std::vector<std::uint8_t>& line = job.call.line;
  line.resize(RPCD_LINE_HEAD_BYTES + result.bytes.size());
  std::memcpy(line.data() + 4, &result.accept_stat, sizeof result.accept_stat);
  std::memcpy(line.data() + 8, &c.code, sizeof c.code);
  std::copy(result.bytes.begin(), result.bytes.end(), line.begin() + RPCD_LINE_HEAD_BYTES);
  job.end_point = static_cast<std::uint32_t>(&c - continuations_.data());
  c.has_job = true;
  schedule_behind_stream(work);
}

void Lauberhorn::release(Continuation& c) {
  base::calendar().cancel(c.timer);
  c.exists = c.has_job = false;
  c.result.reset();
}

/// Takes results that nobody may have any more out of the queue of a process.
void Lauberhorn::withdraw(unsigned process, const std::function<bool(const Job&)>& is_it) {
  const auto is_result = [&](Work w) { return jobs_[w].kind == Job::Kind::continuation && is_it(jobs_[w]); };
  for (const Work work : scheduler_.withdraw(process, is_result)) {
    ++counters_.late_results;
    free(work);
  }
}

/// A request has been answered: results of calls that were made for it go nowhere.
void Lauberhorn::cancel_calls(Work parent) {
  for (Continuation& c : continuations_)
    if (c.exists && !c.has_job && c.parent.number == parent) release(c);
  withdraw(jobs_[parent].process, [&](const Job& result) { return result.parent.number == parent; });
}

/// The process has ended: nobody answers what it has kept, and no result may come to the next one.
void Lauberhorn::lose_kept(unsigned process) {
  for (Continuation& c : continuations_)
    if (c.exists && !c.has_job && c.process == process) release(c);
  withdraw(process, [](const Job&) { return true; });
  for (Work work = 0; work < jobs_.size(); ++work) {
    Job& job = jobs_[work];
    if (!job.exists || job.process != process || job.kind != Job::Kind::call) continue;
    job.calls = 0;
    if (job.is_kept()) lose(work);
  }
}

}  // namespace sluice::nic
