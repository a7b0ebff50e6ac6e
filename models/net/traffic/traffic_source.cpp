// SPDX-License-Identifier: Apache-2.0
#include "models/net/traffic/traffic_source.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/net/traffic/rpc.h"

namespace sluice::net {

namespace {
constexpr base::Time kPauseAfterLoss = 10_us;
// Why the source itself drops the requests of its calls.
constexpr const char* kSentAgain = "sent again";
constexpr const char* kGivenUp = "no reply in time";
}  // namespace

std::uint64_t TrafficSource::Counts::dropped_sum() const {
  std::uint64_t sum = 0;
  for (const auto& [reason, n] : dropped) sum += n;
  return sum;
}

void TrafficSource::Counts::note_sent(base::Time due, base::Time start, std::uint16_t service) {
  if (sent++ == 0) {
    first_due = due;
    first_bit = start;
  }
  last_due = due;
  last_start = start;
  if (!services.empty()) services[service].note_sent(due, start, service);
}

void TrafficSource::Counts::note_answered(base::Time due, base::Time at, std::uint16_t service) {
  if (completed++ == 0) first_answered = at;
  latency.add(at - due);
  last_bit = at;
  if (!services.empty()) services[service].note_answered(due, at, service);
}

void TrafficSource::Counts::note_given_up(const std::string& reason, std::uint16_t service) {
  ++(reason.empty() ? lost : dropped[reason]);
  if (!services.empty()) services[service].note_given_up(reason, service);
}

void TrafficSource::Counts::merge(const Counts& o) {
  // Without a call or an answer there is no time of the first one.
  if (o.sent > 0) {
    first_due = sent > 0 ? std::min(first_due, o.first_due) : o.first_due;
    first_bit = sent > 0 ? std::min(first_bit, o.first_bit) : o.first_bit;
  }
  if (o.completed > 0) first_answered = completed > 0 ? std::min(first_answered, o.first_answered) : o.first_answered;
  sent += o.sent;
  completed += o.completed;
  for (const auto& [reason, n] : o.dropped) dropped[reason] += n;
  lost += o.lost;
  latency.merge(o.latency);
  last_due = std::max(last_due, o.last_due);
  last_start = std::max(last_start, o.last_start);
  last_bit = std::max(last_bit, o.last_bit);
  services.clear();
}

TrafficSource::TrafficSource(const sc_core::sc_module_name& name, const Parameters& p, base::RandomSeed seed,
                             Wire& wire, Wire::End end)
    : RemoteHost(name, p.host, wire, end),
      parameters_(p),
      seed_(seed),
      services_(p, seed, path()),
      arrivals_(seed, path(), "arrivals"),
      thinking_(seed, path(), "think"),
      interval_(1'000'000'000'000'000, p.rate),
      total_(p.warmup + p.requests),
      search_(p.rate, p.resolution) {
  if (p.kind == Kind::size_sweep) parameters_.call.bytes = p.size_list().front();
  if (p.kind == Kind::replay) parameters_.services = 1;
  parameters_.server_port = p.first_service_port();
  calls_ = std::make_unique<CallMaker>(parameters_.call, seed_, path(), parameters_.services);
  if (parameters_.services > 1) results_.services.resize(parameters_.services);
  if (p.kind == Kind::replay) {
    accept_all();
    total_ = calls_in_capture();
    capture_ = std::make_unique<PcapReader>(p.pcap);
  }
  base::ledger().on_drop(
      [this](const base::Ledger::Request& r, std::string_view reason, base::Time) { drop_seen(r, reason); });
}

void TrafficSource::register_statistics(base::StatisticsGroup& group) {
  group.counter("calls", "calls", "calls that count, sent", results_.sent);
  group.counter("completed", "calls", "of those, answered", results_.completed);
  group.counter("errors", "calls", "of those, answered wrongly", results_.errors);
  group.counter("lost", "calls", "given up, and nobody said why", results_.lost);
  group.counter_of("dropped", "calls", "given up, and somebody said why", [this] { return results_.dropped_sum(); });
  group.counter("timeouts", "calls", "without an answer after the timeout", timeouts_);
  group.counter("retransmissions", "frames", "calls sent again", results_.retransmissions);
  group.counter("late_duplicates", "frames", "replies to calls answered or given up before", results_.late_duplicates);
  group.counter("replies_without_id", "frames", "replies whose bytes the ledger knows no request of", without_id_);
  group.counter("hot_set_moves", "moves", "hot sets that calls met after another", services_.moves());
  group.counter("replayed_others", "frames", "frames of a capture that are no calls, sent", replayed_);
  group.histogram("latency", "fs", "from when the call was due to the last bit of the reply", results_.latency);
}

// ---------------------------------------------------------------------------------------------------- making calls

void TrafficSource::resolved() {
  running_ = true;
  started_ = next_arrival_ = base::now();
  if (parameters_.kind == Kind::replay) return replay_next();
  if (parameters_.kind == Kind::open_loop) return schedule_arrival();
  if (!phased()) return start_closed_loop(total_);
  if (parameters_.warmup == 0) {
    next_phase();
    return;
  }
  if (is_closed()) return start_closed_loop(parameters_.warmup);
  // The warm-up is a phase of its own at a tenth of the first rate, so that no backlog remains after it.
  const std::uint64_t first = parameters_.kind == Kind::zero_loss ? search_.rate() : parameters_.rates.front();
  start_phase(std::max<std::uint64_t>(1, first / 10), parameters_.warmup);
}

TrafficSource::Phase& TrafficSource::add_phase() {
  Phase& phase = phases_.emplace_back();
  if (parameters_.services > 1) phase.services.resize(parameters_.services);
  return phase;
}

/// Starts the next size of a sweep.
bool TrafficSource::next_size() {
  const std::vector<std::uint32_t> sizes = parameters_.size_list();
  if (phases_.size() == sizes.size()) return false;
  parameters_.call.bytes = sizes[phases_.size()];
  calls_ = std::make_unique<CallMaker>(parameters_.call, seed_, path(), parameters_.services);
  add_phase().bytes = parameters_.call.bytes;
  start_closed_loop(parameters_.requests);
  return true;
}

/// So many more calls, in a closed loop.
void TrafficSource::start_closed_loop(std::uint64_t calls) {
  total_ = settled_ + calls;
  started_ = base::now();
  // What was due behind the last call of the phase before is not made.
  waiting_.assign(std::min<std::uint64_t>(parameters_.outstanding, calls), base::now());
  pump();
}

/// Starts the next rate of a sweep or the next trial of a search. Returns false when there is none.
bool TrafficSource::next_phase() {
  if (parameters_.kind == Kind::size_sweep) return next_size();
  const bool search = parameters_.kind == Kind::zero_loss;
  if (search && !phases_.empty()) search_.record(phases_.back().loss());
  if (search ? search_.done() : phases_.size() == parameters_.rates.size()) return false;
  const std::uint64_t rate = search ? search_.rate() : parameters_.rates[phases_.size()];
  add_phase().rate = rate;
  start_phase(rate, std::max(parameters_.requests, search ? search_.shortest_trial(buffered_) : 0));
  return true;
}

std::uint64_t TrafficSource::most_calls_of_search() const {
  const std::uint64_t longest = std::max(parameters_.requests, search_.shortest_trial(buffered_));
  return parameters_.warmup + RateSearch::most_trials(parameters_.rate, parameters_.resolution) * longest;
}

/// Called when a call is lost. If a trial was lengthened to find a loss, it ends early.
void TrafficSource::end_trial() {
  if (parameters_.kind != Kind::zero_loss || phases_.empty()) return;
  total_ = std::min(total_, std::max(arrived_, phase_start_ + parameters_.requests));
  if (arrived_ == total_) base::calendar().cancel(arrival_);
}

void TrafficSource::start_phase(std::uint64_t rate, std::uint64_t calls) {
  interval_ = base::Ratio(1'000'000'000'000'000, rate);
  phase_start_ = arrived_;
  total_ = arrived_ + calls;
  // Behind a phase with losses, whatever was full becomes empty first.
  const std::size_t ended = phases_.size() - (phases_.empty() || phases_.back().sent != 0 ? 0 : 1);
  const bool lossy = ended != 0 && phases_[ended - 1].loss();
  started_ = next_arrival_ = base::now() + (lossy ? kPauseAfterLoss : base::Time{});
  schedule_arrival();
}

/// Open loop: makes the calendar entry for the next call.
void TrafficSource::schedule_arrival() {
  if (arrived_ == total_) return;
  if (parameters_.arrivals == Arrivals::poisson && parameters_.kind != Kind::zero_loss)
    next_arrival_ += arrivals_.exponential(base::Time::fs(interval_.of(1)));
  else
    next_arrival_ = started_ + base::Time::fs(interval_.of(arrived_ - phase_start_));
  arrival_ = base::calendar().at(next_arrival_, key(), [this] {
    ++arrived_;
    arrive();
    schedule_arrival();
  });
}

void TrafficSource::arrive() {
  waiting_.push_back(base::now());
  pump();
}

void TrafficSource::arrive_after_thinking() {
  if (parameters_.think == base::Time()) return arrive();
  const bool constant = parameters_.think_times == ThinkTimes::constant;
  const base::Time think = constant ? parameters_.think : thinking_.exponential(parameters_.think);
  base::calendar().after(think, key(), [this, phase = phases_.size()] {
    if (phase == phases_.size()) arrive();
  });
}

/// Makes the calls that are due, each as soon as the line is free.
void TrafficSource::pump() {
  while (!waiting_.empty() && next_ <= total_) {
    const base::Time free = wire().next_start(end());
    if (free > base::now()) {
      if (pump_pending_) return;
      pump_pending_ = true;
      base::calendar().at(free, key(), [this] {
        pump_pending_ = false;
        pump();
      });
      return;
    }
    issue();
  }
}

void TrafficSource::issue() {
  const base::Time due = waiting_.front();
  waiting_.pop_front();
  const std::uint16_t service = services_.next(due - started_);
  Slot& slot = open(due, base::now(), service);
  slot.call = calls_->next(service);
  send(slot, build(slot, static_cast<std::uint32_t>(slot.number)));
  if (next_ > total_ && parameters_.retries == 0 && !drop_reasons_.empty()) give_up_all_dropped();
}

/// Opens the slot of the next call, which is due at `due` and whose first bit leaves at `start`.
TrafficSource::Slot& TrafficSource::open(base::Time due, base::Time start, std::uint16_t service) {
  const std::uint64_t number = next_++;
  if (number == parameters_.warmup + 1) begin_measuring();
  while (slots_[number & (slots_.size() - 1)].number != 0) {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (Slot& s : old)
      if (s.number) slots_[s.number & (slots_.size() - 1)] = std::move(s);
  }
  Slot& slot = slots_[number & (slots_.size() - 1)];
  slot.number = number;
  slot.attempts = 1;
  slot.measured = number > parameters_.warmup;
  slot.drop_noted = false;
  if (slot.measured && phased() && phases_.back().sent == 0 && phase_callback_) phase_callback_();
  slot.due = due;
  base::ledger().measure(slot.measured);
  slot.id = open_request(due, start, number);
  if (!slot.measured) return slot;
  results_.note_sent(due, start, service);
  if (phased()) phases_.back().note_sent(due, start, service);
  return slot;
}

PacketPtr TrafficSource::build(const Slot& slot, std::uint32_t xid) const {
  PacketPtr p = make_packet();
  const std::uint32_t length = calls_->encode(slot.call, xid, p->bytes + kUdpPayload);
  Endpoint from = self(), to = partner();
  from.port = static_cast<std::uint16_t>(port_of(slot.number));
  to.port = service_port(slot.call.service);
  finish_udp(*p, from, to, length);
  pad(*p);
  return p;
}

void TrafficSource::send(Slot& slot, PacketPtr p) {
  p->spans = base::Spans(0, p->length, slot.id);
  slot.last_sent = transmit(std::move(p)).start;
  if (slot.attempts == 1) {
    arm_timer();
    return;
  }
  base::calendar().at(slot.last_sent + parameters_.timeout, key(), [this, n = slot.number] {
    Slot* s = find(n);
    if (!s) return;
    ++timeouts_;
    expire(*s);
  });
}

// -------------------------------------------------------------------------------------------------- calls not answered

/// First attempts time out in the order of their numbers, so one calendar entry at a time is enough for all.
void TrafficSource::arm_timer() {
  if (base::calendar().pending(timer_)) return;
  while (timer_next_ < next_) {
    if (const Slot* s = find(timer_next_); s && s->attempts == 1) {
      timer_ = base::calendar().at(s->last_sent + parameters_.timeout, key(), [this] { timer(); });
      return;
    }
    ++timer_next_;
  }
}

void TrafficSource::timer() {
  while (timer_next_ < next_) {
    Slot* s = find(timer_next_);
    if (s && s->attempts == 1) {
      if (s->last_sent + parameters_.timeout > base::now()) break;
      ++timer_next_;
      ++timeouts_;
      expire(*s);
    } else {
      ++timer_next_;
    }
  }
  arm_timer();
}

void TrafficSource::drop_seen(const base::Ledger::Request& r, std::string_view reason) {
  const auto opener = r.tiles.front().component;
  if (opener != wire().component() && opener != component()) return;
  drop_reasons_[r.id] = reason;
  const bool own = reason == kSentAgain || reason == kGivenUp;
  if (Slot* s = find(r.number); s && measuring_ && !own) note_drop_in_warmup(*s);
  if (parameters_.retries != 0) return;
  end_trial();
  if (!is_closed() || next_ > total_) give_up_dropped(r.number);
}

/// Gives up a dropped call before its timeout, because nobody waits for it: a client of a closed loop would, with its
/// next call. The component that drops it may be called by this source, hence the calendar entry.
void TrafficSource::give_up_dropped(std::uint64_t number) {
  base::calendar().at(base::now(), key(), [this, number] {
    if (Slot* s = find(number)) expire(*s);
  });
}

/// When all calls of a closed loop are made, nobody waits for those that were dropped before.
void TrafficSource::give_up_all_dropped() {
  for (std::uint64_t n = timer_next_; n < next_; ++n)
    if (const Slot* s = find(n); s && drop_reasons_.contains(s->id)) give_up_dropped(n);
}

/// What follows counts. Clients may still wait for answers to calls that were dropped before.
void TrafficSource::begin_measuring() {
  measuring_ = true;
  for (std::uint64_t n = 1; n <= parameters_.warmup; ++n)
    if (Slot* s = find(n); s && drop_reasons_.contains(s->id)) note_drop_in_warmup(*s);
  if (measuring_callback_) measuring_callback_();
}

void TrafficSource::note_drop_in_warmup(Slot& slot) {
  if (slot.measured || std::exchange(slot.drop_noted, true)) return;
  ++results_.dropped_in_warmup;
}

void TrafficSource::expire(Slot& slot) {
  if (slot.attempts <= parameters_.retries) return retransmit(slot);
  if (slot.measured) {
    const auto noted = drop_reasons_.find(slot.id);
    const std::string reason = noted != drop_reasons_.end() ? noted->second
                               : silence_callback_          ? silence_callback_()
                                                            : std::string();
    results_.note_given_up(reason, slot.call.service);
    if (phased()) phases_.back().note_given_up(reason, slot.call.service);
  }
  base::ledger().drop(slot.id, kGivenUp, base::now());
  end_trial();
  settle(slot);
}

void TrafficSource::retransmit(Slot& slot) {
  PacketPtr p = slot.copy ? copy_packet(*slot.copy) : build(slot, static_cast<std::uint32_t>(slot.number));
  const base::RequestId before = slot.id;
  base::ledger().drop(before, kSentAgain, base::now());
  drop_reasons_.erase(before);
  ++slot.attempts;
  results_.retransmissions += slot.measured;
  base::ledger().measure(slot.measured);
  slot.id = base::ledger().open(SLUICE_STAGE_retransmit, component(), slot.due, before, slot.number);
  send(slot, std::move(p));
}

/// The latest attempt was dropped, and an earlier one is answered, of which nobody knows any more where it was.
void TrafficSource::reopen(Slot& slot) {
  base::ledger().measure(slot.measured);
  slot.id = base::ledger().open(SLUICE_STAGE_unattributed, component(), slot.due, slot.id, slot.number);
}

/// Frees the slot of a call that has been answered or given up.
void TrafficSource::settle(Slot& slot) {
  drop_reasons_.erase(slot.id);
  slot.number = 0;
  slot.copy.reset();
  if (++settled_ == total_) {
    if (phased() && next_phase()) return;
    base::calendar().cancel(timer_);
    finished_ = true;
    if (finished_callback_) finished_callback_();
    return;
  }
  if (is_closed()) arrive_after_thinking();
}

// ------------------------------------------------------------------------------------------------------------- replies

void TrafficSource::datagram_arrived(PacketPtr packet, const FrameView& view) {
  const std::uint64_t number = number_of(*packet, view);
  if (number == 0) return unexpected();
  Slot* slot = find(number);
  if (!slot) {
    ++results_.late_duplicates;
    return;
  }
  if (!from_service_of(*slot, view)) return unexpected();
  answered(*slot, *packet, check(*slot, *packet, view));
}

/// Number of the call that a datagram replies to, under way or not; 0 when it replies to no call.
std::uint64_t TrafficSource::number_of(const Packet& p, const FrameView& v) const {
  if (v.kind != FrameView::Kind::udp || v.from.ip != partner().ip) return 0;
  const std::uint32_t xid = CallMaker::xid_of(p.bytes + v.payload, v.length);
  if (parameters_.kind == Kind::replay) {
    const auto known = by_reply_.find({std::uint64_t{v.to.ip} << 16 | v.to.port, xid});
    return known == by_reply_.end() ? 0 : known->second;
  }
  // xid is the low half of the number, which is not far below next_.
  const std::uint64_t number = next_ - static_cast<std::uint32_t>(static_cast<std::uint32_t>(next_) - xid);
  if (number == 0 || number >= next_) return 0;
  const bool from_a_service = v.from.port - parameters_.server_port < parameters_.services;
  return from_a_service && v.to.port == port_of(number) ? number : 0;
}

/// Whether a reply to a call comes from the service that was called.
bool TrafficSource::from_service_of(const Slot& slot, const FrameView& v) const {
  return parameters_.kind == Kind::replay || v.from.port == service_port(slot.call.service);
}

const char* TrafficSource::check(const Slot& slot, const Packet& p, const FrameView& v) const {
  if (parameters_.kind != Kind::replay)
    return calls_->check(slot.call, static_cast<std::uint32_t>(slot.number), p.bytes + v.payload, v.length);
  ReplyView reply;
  if (const char* wrong = parse_reply(p.bytes + v.payload, v.length, reply)) return wrong;
  return reply_failure(reply);
}

void TrafficSource::answered(Slot& slot, const Packet& packet, const char* wrong) {
  without_id_ += packet.request() != slot.id && slot.attempts == 1;
  if (slot.attempts > 1 && drop_reasons_.erase(slot.id) != 0) reopen(slot);
  const bool is_to_earlier = packet.request() != 0 && packet.request() != slot.id;
  if (slot.attempts > 1 && is_to_earlier) base::ledger().take_back(slot.id, packet.last_bit);
  base::ledger().complete(slot.id, packet.last_bit, slot.due);
  if (!wrong) calls_->answered(slot.call);
  if (slot.measured) {
    results_.note_answered(slot.due, packet.last_bit, slot.call.service);
    if (phased()) phases_.back().note_answered(slot.due, packet.last_bit, slot.call.service);
    if (wrong && results_.errors++ == 0) results_.first_error = fmt::format("call {}: {}", slot.number, wrong);
    if (next_ > total_ && late_answer_callback_ && may_be_last(under_way() - 1)) late_answer_callback_();
  }
  settle(slot);
}

}  // namespace sluice::net
