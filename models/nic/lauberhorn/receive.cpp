// SPDX-License-Identifier: Apache-2.0
/// From the MAC through the decoder to the scheduler.
#include <algorithm>
#include <utility>

#include "models/base/measure/waveforms.h"
#include "models/net/headers.h"
#include "models/nic/lauberhorn/lauberhorn_nic.h"
#include "models/nic/lauberhorn/mac_bits.h"

namespace sluice::nic {

namespace {

/// What the pipeline does between two stages of the ledger, in one pass.
constexpr base::StepSet kQueue{SLUICE_STEP_read_packet};
constexpr base::StepSet kDecoder{SLUICE_STEP_protocol,         SLUICE_STEP_demultiplex, SLUICE_STEP_general_protocol,
                                 SLUICE_STEP_identify_process, SLUICE_STEP_unmarshal,   SLUICE_STEP_find_function};
constexpr base::StepSet kScheduler{SLUICE_STEP_find_core, SLUICE_STEP_schedule};

}  // namespace

/// A frame that the wire brings twice may belong to a request that has moved on.
void Lauberhorn::enter(const base::Spans& spans, base::Stage stage, base::StepSet steps) const {
  for (const base::Span& s : spans)
    base::ledger().try_enter(s.id, stage, component_, base::now(), {}, {steps, base::Owner::nic});
}

void Lauberhorn::mac_received(net::PacketPtr packet, base::Time available) {
  ++counters_.rx_frames;
  const std::uint64_t to = lauberhorn::mac_bits(packet->bytes);
  if (to != mac_address_ && (to >> 40 & 1) == 0) {
    ++counters_.filtered;
    return base::drop_all(packet->spans, "address of another NIC", base::now());
  }
  const auto buffer = buffer_.allocate(packet->length);
  if (!buffer) {
    ++counters_.dropped_buffer;
    return base::drop_all(packet->spans, "packet buffer full", base::now());
  }
  rx_queue_free_ = std::max(available, rx_queue_free_) + parameters_.receive_queue(packet->length);
  arriving_.push({std::move(packet), *buffer, {}});
  const std::uint64_t number = arrived_ + arriving_.size() - 1;
  base::calendar().at(available, key(), [this, generation = generation_, number] {
    if (generation == generation_) enter(arriving_.at(number - arrived_).packet->spans, SLUICE_STAGE_nic_queue, kQueue);
  });
  base::calendar().at(rx_queue_free_, key(), [this, generation = generation_] {
    if (generation == generation_) decode();
  });
}

void Lauberhorn::decode() {
  ++arrived_;
  decode(arriving_.pop());
}

void Lauberhorn::decode(Arriving a) {
  enter(a.packet->spans, SLUICE_STAGE_decode, kDecoder);
  const std::span<const std::uint8_t> bytes(a.packet->bytes, a.packet->length);
  const bool watched = base::is_watched(a.packet->spans);
  decoding_.push(std::move(a));
  decoder_->put(bytes, watched);
}

/// The decoder has made this of the oldest frame in it.
void Lauberhorn::decoded(const rpc::Decoded& d) {
  Arriving a = decoding_.pop();
  const Work work = add_job();
  Job& job = jobs_[work];
  job.spans = a.packet->spans;
  job.packet = std::move(a.packet);
  job.buffer = a.buffer;
  job.caller = a.caller;
  enter(job.spans, SLUICE_STAGE_nic_queue, kScheduler);
  if (is_call(*job.packet, d)) {
    const Service& service = services_[d.owner];
    job.kind = Job::Kind::call;
    job.call = d;
    job.process = service.process;
    job.data = service.data;
    job.result = service.result;
  } else if (job.caller) {
    return discard(work, counters_.unknown_calls, "call of no service");
  } else if (is_unknown_call(*job.packet, d)) {
    if (parameters_.unknown == UnknownCall::drop) return discard(work, counters_.unknown_calls, "call of no service");
    ++counters_.unknown_calls;
  }
  schedule_behind_stream(work);
}

bool Lauberhorn::is_call(const net::Packet& packet, const rpc::Decoded& d) const {
  return d.verdict == RPCD_CALL && d.owner < services_.size() && services_[d.owner].exists &&
         d.destination == bank_.value(ipv4_) && lauberhorn::mac_bits(packet.bytes) == mac_address_;
}

/// Whether a frame would be a call if the service table had it, or its schema took it.
bool Lauberhorn::is_unknown_call(const net::Packet& packet, const rpc::Decoded& d) const {
  if (d.verdict != RPCD_NO_SERVICE && d.verdict != RPCD_ARGUMENTS) return false;
  const net::Headers headers = net::parse_headers(packet.bytes, packet.length);
  return headers.udp && headers.destination == bank_.value(ipv4_) &&
         std::any_of(services_.begin(), services_.end(),
                     [&](const Service& s) { return s.exists && s.port == headers.destination_port; });
}

/// A new job, which is nobody's yet.
Lauberhorn::Work Lauberhorn::add_job() {
  if (free_jobs_.empty()) {
    free_jobs_.push_back(static_cast<Work>(jobs_.size()));
    jobs_.emplace_back();
  }
  const Work work = free_jobs_.back();
  free_jobs_.pop_back();
  Job& job = jobs_[work];
  const std::uint32_t generation = job.generation + 1;
  job = {};
  job.exists = true;
  job.generation = generation;
  job.process = lauberhorn::Scheduler::kKernel;
  return work;
}

/// There is no place for a job, or nobody will answer it. If a handler has made the call, its continuation learns so.
void Lauberhorn::discard(Work work, std::uint64_t& counter, const char* reason) {
  ++counter;
  const std::optional<Work> request = request_of(work);
  if (!request) return;
  const Job& job = jobs_[*request];
  if (job.caller)
    resume(*job.caller, {RPCE_SYSTEM_ERR, {}});
  else
    base::drop_all(job.spans, reason, base::now());
  free(*request);
}

/// A job goes through the stream into the packet buffer, if it is not withdrawn meanwhile.
void Lauberhorn::schedule_behind_stream(Work work) {
  base::calendar().after(parameters_.rx_stream, key(), [this, generation = generation_, own = reference(work)] {
    if (generation == generation_ && exists(own)) schedule(own.number);
  });
}

/// A job is in the packet buffer.
void Lauberhorn::schedule(Work work) {
  Job& job = jobs_[work];
  if (job.kind == Job::Kind::call) {
    if (!scheduler_.has_process(job.process)) return discard(work, counters_.dropped_process, "no process");
    // A handler's call has its reply end-point.
    if (!job.caller) {
      if (sessions_ == parameters_.sessions) return discard(work, counters_.dropped_sessions, "session table full");
      job.has_session = true;
      ++sessions_;
    }
    ++counters_.calls;
  } else if (job.is_frame()) {
    ++counters_.frames;
  } else if (!exists(job.parent)) {
    ++counters_.late_results;
    return free(work);
  }
  enter(job.spans, SLUICE_STAGE_wait_core);
  // Every result finds room, for `continuations` limits their number.
  const bool is_bounded = job.kind == Job::Kind::call;
  if (!scheduler_.arrive(job.process, work, is_bounded))
    discard(work, counters_.dropped_queue, "queue of the process full");
}

/// The host has done with a job, or never sees it.
void Lauberhorn::free(Work work) {
  Job& job = jobs_[work];
  if (job.has_session) --sessions_;
  if (job.buffer) buffer_.free(*job.buffer);
  job.exists = false;
  job.packet.reset();
  if (job.kind == Job::Kind::continuation) release(continuations_[job.end_point]);
  if (job.calls > 0) cancel_calls(work);
  free_jobs_.push_back(work);
}

}  // namespace sluice::nic
