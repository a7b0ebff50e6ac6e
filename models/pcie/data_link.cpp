// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/data_link.h"

#include <algorithm>
#include <utility>

namespace sluice::pcie {

using base::Time;

namespace {
constexpr unsigned kDllp = 8;          // bytes on the wire
constexpr unsigned kReplayFactor = 3;  // replay timer: this many Ack latencies
constexpr unsigned kMostReplays = 4;   // replay at which REPLAY_NUM overflows: the link retrains first
}  // namespace

DataLink::Timing DataLink::timing_of(const Link::Parameters& p, Time retrain) {
  const Time symbol = symbol_time(p.generation);
  const Time ack = symbol * update_limit_symbols(p.lanes, static_cast<unsigned>(p.max_payload.count()));
  return {symbol * kInternalDelay, ack, ack * kReplayFactor, retrain};
}

DataLink::DataLink(const std::string& path, LinkDirection& direction, LinkDirection& reverse, const Timing& timing,
                   TlpFaultPlan& plan)
    : direction_(direction),
      reverse_(reverse),
      timing_(timing),
      plan_(plan),
      key_(base::path_key(path + ".data_link")) {
  direction.set_guard(this);
}

void DataLink::note_requests(TlpFault& fault, const Tlp& t) {
  const auto note = [&fault](base::RequestId id) {
    if (id != 0 && std::find(fault.requests.begin(), fault.requests.end(), id) == fault.requests.end())
      fault.requests.push_back(id);
  };
  for (const base::Span& s : t.spans) note(s.id);
  for (const base::RequestId id : t.line_tags) note(id);
}

DataLink::Verdict DataLink::judge(TlpPtr& tlp, Time end, Time arrival) {
  if (recovering_) {
    // The receiver misses the lost TLP when the next one arrives.
    if (open_.back()->fate == TlpFate::kLost) expect_nak(arrival);
    replay_buffer_.push_back({std::move(tlp), arrival});
    return Verdict::taken;
  }
  TlpFault* fault = plan_.next(*tlp, false);
  if (!fault) {
    last_arrival_ = arrival;
    return Verdict::arrives;
  }
  ReplayEntry k{std::move(tlp), arrival, true};
  const Verdict verdict = meet(fault, k, end, arrival);
  if (verdict == Verdict::arrives) tlp = std::move(k.tlp);
  return verdict;
}

DataLink::Verdict DataLink::meet(TlpFault* fault, ReplayEntry& k, Time end, Time arrival) {
  fault->at = base::now();
  fault->recovered = Time::max();
  note_requests(*fault, *k.tlp);
  switch (fault->fate) {
    case TlpFate::kPoisoned:
      k.tlp->poisoned = true;
      return Verdict::arrives;
    case TlpFate::kUnanswered:
      k.tlp->release_buffer();
      k.tlp.reset();
      return Verdict::unsent;
    case TlpFate::kCorrupted:
    case TlpFate::kLost:
      break;
  }
  recovering_ = true;
  open_.push_back(fault);
  start_timer(end);
  if (fault->fate == TlpFate::kCorrupted) expect_nak(arrival);
  k.offered = true;
  replay_buffer_.push_back(std::move(k));
  return Verdict::taken;
}

/// At most one Nak is under way.
void DataLink::expect_nak(Time bad_arrival) {
  if (nak_sent_ || nak_waits_ || base::calendar().pending(nak_)) return;
  nak_ = base::calendar().at(bad_arrival + timing_.nak_latency, key_, [this] { make_nak(); });
}

void DataLink::make_nak() {
  if (reverse_.free_at() <= base::now()) return send_nak();
  nak_ = base::calendar().at(reverse_.free_at(), key_, [this] { send_nak(); });
}

void DataLink::send_nak() {
  nak_waits_ = retraining_;
  if (nak_waits_) return;
  nak_sent_ = true;
  ++open_.back()->naks;
  nak_ = base::calendar().after(reverse_.wire_time(kDllp) + reverse_.flight(), key_, [this] { replay(); });
}

/// The timer restarts with each Ack, so also with that of the last good TLP if that Ack is still under way.
void DataLink::start_timer(Time end) {
  Time start = end;
  if (last_arrival_ > Time{}) start = std::max(start, last_arrival_ + timing_.ack_latency + reverse_.flight());
  run_timer(start + timing_.replay_timer);
}

void DataLink::run_timer(Time until) {
  timer_end_ = until;
  timer_ = base::calendar().at(until, key_, [this] {
    ++open_.back()->timeouts;
    base::calendar().cancel(nak_);
    nak_waits_ = false;
    replay();
  });
}

void DataLink::replay() {
  base::calendar().cancel(timer_);
  timer_left_.reset();
  const bool overflow = ++replays_ == kMostReplays;
  if (overflow) replays_ = 0;
  if (!overflow && !retraining_) return send_again();
  replay_waits_ = true;
  if (retraining_) return;
  ++open_.back()->retrains;
  direction_.retrain(true);
  reverse_.retrain(true);
  trained_ = base::calendar().after(timing_.retrain, key_, [this] {
    // A Nak for the other direction goes before the replay.
    reverse_.retrain(false);
    direction_.retrain(false);
  });
}

void DataLink::retrain(bool on) {
  retraining_ = on;
  if (on) {
    if (!base::calendar().pending(timer_)) return;
    timer_left_ = timer_end_ - base::now();
    base::calendar().cancel(timer_);
    return;
  }
  if (nak_waits_) send_nak();
  if (const auto left = std::exchange(timer_left_, {})) run_timer(base::now() + *left);
  if (std::exchange(replay_waits_, false)) send_again();
}

void DataLink::send_again() {
  recovering_ = false;
  TlpFault* cause = open_.back();
  std::vector<ReplayEntry> sent = std::move(replay_buffer_);
  replay_buffer_.clear();
  Time last = base::now();
  for (ReplayEntry& k : sent) {
    const auto [end, arrival] = direction_.repeat(*k.tlp);
    ++cause->replayed_tlps;
    cause->replayed_bytes += k.tlp->wire_bytes();
    note_requests(*cause, *k.tlp);
    if (recovering_) {
      if (open_.back()->fate == TlpFate::kLost) expect_nak(arrival);
      replay_buffer_.push_back(std::move(k));
      continue;
    }
    TlpFault* again = plan_.next(*k.tlp, k.offered);
    if (again && meet(again, k, end, arrival) != Verdict::arrives) continue;
    // The requested TLP has come.
    nak_sent_ = false;
    replays_ = 0;
    ++cause->delayed_tlps;
    cause->delay += arrival - std::min(arrival, k.due);
    last = last_arrival_ = arrival;
    direction_.deliver_at(arrival, std::move(k.tlp));
  }
  if (!recovering_) recovered(last);
}

void DataLink::recovered(Time at) {
  for (TlpFault* f : open_) f->recovered = at;
  done_ = std::exchange(open_, {});
}

std::uint64_t DataLink::cut() {
  for (base::Calendar::Handle* h : {&nak_, &timer_, &trained_}) base::calendar().cancel(*h);
  // If the last replayed TLP is still under way, it is lost.
  for (TlpFault* f : done_)
    if (f->recovered > base::now()) f->recovered = Time::max();
  done_.clear();
  open_.clear();
  const std::uint64_t lost = replay_buffer_.size();
  replay_buffer_.clear();
  recovering_ = nak_sent_ = retraining_ = nak_waits_ = replay_waits_ = false;
  timer_left_.reset();
  last_arrival_ = {};
  replays_ = 0;
  return lost;
}

}  // namespace sluice::pcie
