// SPDX-License-Identifier: Apache-2.0
#include "models/nic/lauberhorn/lauberhorn_nic.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/base/measure/mistakes.h"
#include "models/net/frame.h"
#include "models/nic/lauberhorn/mac_bits.h"

namespace sluice::nic {

Lauberhorn::Lauberhorn(const sc_core::sc_module_name& name, const Parameters& p, net::Wire& wire, net::Wire::End end)
    : Model(name),
      parameters_(p),
      mac_(base::module_name(path() + ".mac").c_str(), p.mac, wire, end),
      bank_(path(), LAUB_REGISTERS_SIZE),
      clock_(p.clock.clock()),
      component_(base::ledger().component(path())),
      mac_address_(lauberhorn::mac_bits(net::parse_host_mac(p.address).bytes.data())),
      buffer_(p.rx_buffer.count()),
      decoder_(rpc::make_decoder(p.decoder == LauberhornDecoder::rtl, path(), p.services,
                                 [this](const rpc::Decoded& d) { decoded(d); })),
      encoder_(rpc::make_encoder(p.decoder == LauberhornDecoder::rtl, path(),
                                 [this](const rpc::Encoded& e) { encoded(e); })),
      process_ids_(p.processes + 1),
      services_(p.services),
      cores_(p.cores),
      continuations_(p.continuations),
      end_points_(p.cores + std::size_t{p.processes} * p.workers),
      scheduler_({p.cores, p.processes, p.workers, p.queue}, *this) {
  mac_.set_client(*this);
  mac_.set_max_frame(kLongestFrame);
  declare_registers();
}

void Lauberhorn::attach(base::LineCaches& caches, std::uint64_t base) {
  caches_ = &caches;
  base_ = base;
  const unsigned line = caches.line_bytes();
  shape_ = {line, LAUB_HEAD_BYTES, LAUB_OVERFLOW, LAUB_OVERFLOW_BYTES / line};
}

void Lauberhorn::connect(const memory::ChipPorts& chip, memory::SocBus::Region region) {
  chip.map(region, socket);
  host_ = chip.host;
}

void Lauberhorn::connect_lines(base::LineHomes& homes, std::uint64_t address, std::uint64_t size,
                               const std::string& path) {
  homes.add_home(*this, address, size, path);
}

// --------------------------------------------------------------------------------------------------------------------
// Lines

Lauberhorn::EndPoint& Lauberhorn::at(EndPointId id) {
  const unsigned n = id.process == lauberhorn::Scheduler::kKernel
                         ? id.number
                         : parameters_.cores + (id.process - 1) * parameters_.workers + id.number;
  std::unique_ptr<EndPoint>& e = end_points_[n];
  if (!e) {
    EndPoint::Owner& owner = *this;
    e = std::make_unique<EndPoint>(id, shape_, key(), owner);
    const std::uint64_t start = base_ + std::uint64_t{n} * LAUB_ENDPOINT_SIZE;
    e->rx.attach(*caches_, start + LAUB_RX);
    e->tx.attach(*caches_, start + LAUB_TX);
  }
  return *e;
}

/// The end-point that a line belongs to.
Lauberhorn::EndPoint& Lauberhorn::at(std::uint64_t line) {
  const auto n = static_cast<unsigned>((line - base_) / LAUB_ENDPOINT_SIZE);
  if (n < parameters_.cores) return at(EndPointId{lauberhorn::Scheduler::kKernel, n});
  const unsigned user = n - parameters_.cores;
  return at(EndPointId{1 + user / parameters_.workers, user % parameters_.workers});
}

void Lauberhorn::line_requested(const base::LineRequest& r) {
  EndPoint& e = at(r.line);
  const char* wrong = r.hart >= parameters_.cores ? "is asked for by a core that the NIC does not know"
                      : is_receive(r.line)        ? e.rx.requested(r)
                                                  : e.tx.requested(r);
  if (!wrong) return;
  base::mistakes().report(fmt::format("{}: line {:#x} {}", path(), r.line - base_, wrong));
  caches_->refuse(r.number);
}

void Lauberhorn::line_written(const base::LineWritten& w) {
  if (is_receive(w.line))
    at(w.line).rx.written(w);
  else
    at(w.line).tx.written(w);
}

void Lauberhorn::line_recalled(std::uint64_t line) {
  if (is_receive(line))
    at(line).rx.recalled();
  else
    at(line).tx.recalled();
}

void Lauberhorn::caches_reset() {
  for (auto& e : end_points_) {
    if (!e) continue;
    if (e->rx.is_waiting()) scheduler_.unpark(e->id);
    e->rx.reset();
    e->tx.reset();
    e->is_lost = false;
    if (e->current) discard(*std::exchange(e->current, std::nullopt), counters_.lost, "caches reset");
    if (const auto sends = std::exchange(e->sends, std::nullopt); sends && exists(*sends))
      discard(sends->number, counters_.lost, "caches reset");
    if (const auto caller = std::exchange(e->caller, std::nullopt)) resume(*caller, {RPCE_SYSTEM_ERR, {}});
  }
}

// --------------------------------------------------------------------------------------------------------------------
// What end-points are given

/// Answers the load of an end-point with a message that has no bytes.
void Lauberhorn::tell(EndPoint& e, std::uint32_t word) {
  const std::span<std::uint8_t> line = e.rx.next();
  std::fill_n(line.begin(), LAUB_HEAD_BYTES, std::uint8_t{0});
  std::memcpy(line.data() + LAUB_HEAD_WORD, &word, sizeof word);
  e.rx.answer();
}

void Lauberhorn::polls(EndPoint& e) { scheduler_.poll(e.id, e.rx.hart()); }

base::Time Lauberhorn::block(const EndPoint& e) const {
  if (e.never_waits || (e.is_kernel() && cores_[e.id.number].goes_back)) return {};
  return cycles(bank_.value(is_given_back(e) ? give_back_ : block_));
}

void Lauberhorn::due(EndPoint& e) {
  if (!e.never_waits && is_given_back(e)) return give_back(e);
  ++counters_.tryagain;
  scheduler_.unpark(e.id);
  tell(e, 0);
}

/// The core has waited as long as its kernel likes: from a process it goes to the kernel, and from there to other work.
void Lauberhorn::give_back(EndPoint& e) {
  cores_[e.rx.hart()].goes_back = !e.is_kernel();
  if (e.is_kernel()) ++counters_.given_back;
  scheduler_.give_back(e.id, e.rx.hart());
}

void Lauberhorn::yield(EndPointId id) {
  ++counters_.yields;
  tell(at(id), message_word(LAUB_YIELDNOW, 0));
}

void Lauberhorn::retire(EndPointId id) {
  ++counters_.retires;
  bank_.value(retire_) = scheduler_.to_retire();
  tell(at(id), message_word(LAUB_RETIRE_THREAD, 0));
}

void Lauberhorn::give(EndPointId id, Work work) {
  EndPoint& e = at(id);
  if (e.is_kernel()) cores_[id.number].goes_back = false;
  const Job& job = jobs_[work];
  std::uint8_t* const head = e.rx.next().data();
  std::fill_n(head, LAUB_HEAD_BYTES, std::uint8_t{0});
  std::span<const std::uint8_t> bytes;
  std::uint32_t word;
  if (!job.is_frame()) {
    bytes = std::span(job.call.line).subspan(RPCD_LINE_HEAD_BYTES);
    word = message_word(job.kind == Job::Kind::call ? LAUB_CALL : LAUB_CONTINUE, bytes.size());
    std::memcpy(head + LAUB_HEAD_XID, job.call.line.data() + 4, 12);  // and the code pointer behind it
    std::memcpy(head + LAUB_HEAD_DATA, &job.data, 8);
  } else {
    bytes = {job.packet->bytes, job.packet->length};
    word = message_word(LAUB_FRAME, bytes.size());
  }
  const std::uint32_t process = job.process | std::uint32_t{process_ids_[job.process]} << 16;
  const Work request = job.kind == Job::Kind::continuation ? job.parent.number : work;
  const std::uint32_t session = std::min(scheduler_.queued(job.process), 0xffffu) | request << 16;
  std::memcpy(head + LAUB_HEAD_WORD, &word, sizeof word);
  std::memcpy(head + LAUB_HEAD_PROCESS, &process, sizeof process);
  std::memcpy(head + LAUB_HEAD_SESSION, &session, sizeof session);
  e.rx.put(bytes);
  jobs_[work].state = Job::State::given;
  e.current = work;
  e.rx.answer(job.request());
}

/// A core that is wanted elsewhere may go on with its handler for a time, but not with batch work.
void Lauberhorn::want(unsigned core) {
  const bool is_batch = scheduler_.running(core) == lauberhorn::Scheduler::kBatch;
  const base::Time after = is_batch ? base::Time{} : cycles(bank_.value(preempt_));
  cores_[core].timer = base::calendar().after(after, key(), [this, core] {
    if (cores_[core].address == 0 || !host_) return;
    ++counters_.interrupts;
    host_->interrupt(cores_[core].address, cores_[core].value);
  });
}

void Lauberhorn::stop_waiting(unsigned core) { base::calendar().cancel(cores_[core].timer); }

void Lauberhorn::reset() {
  ++generation_;
  for (Job& job : jobs_)
    if (job.exists) base::drop_all(job.spans, "NIC reset", base::now());
  for (base::Ring<Arriving>* const ring : {&arriving_, &decoding_})
    for (; !ring->empty(); ring->pop()) base::drop_all(ring->front().packet->spans, "NIC reset", base::now());
  for (; !leaving_.empty(); leaving_.pop()) base::ledger().drop(leaving_.front().of, "NIC reset", base::now());
  for (; !encoding_.empty(); encoding_.pop()) base::ledger().drop(encoding_.front().of, "NIC reset", base::now());
  for (; !sending_.empty(); sending_.pop()) base::drop_all(sending_.front()->spans, "NIC reset", base::now());
  jobs_.clear();
  free_jobs_.clear();
  for (Continuation& c : continuations_) release(c);
  sessions_ = 0;
  for (auto& e : end_points_) {
    if (!e) continue;
    e->current.reset();
    e->sends.reset();
    e->caller.reset();
    e->is_lost = e->never_waits = false;
  }
  for (unsigned core = 0; core < cores_.size(); ++core) stop_waiting(core);
  process_ids_.assign(process_ids_.size(), 0);
  services_.assign(services_.size(), {});
  cores_.assign(cores_.size(), {});
  buffer_.reset();
  decoder_->reset();
  encoder_->reset();
  scheduler_.reset();
  bank_.reset();
  mac_.set_loopback(net::Mac::Loopback::none);
  mac_.set_max_frame(kLongestFrame);
}

}  // namespace sluice::nic
