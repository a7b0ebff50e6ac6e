#include "models/pcie/data_link.h"

#include <algorithm>
#include <utility>

namespace sluice::pcie {

using base::Time;

namespace {
constexpr unsigned kDllp = 8;          // bytes on the wire
constexpr unsigned kReplayFactor = 3;  // replay timer: this many Ack latencies
constexpr unsigned kMostReplays = 4;   // REPLAY_NUM overflows: the link retrains
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

bool DataLink::arrives(TlpPtr& tlp, Time end, Time arrival) {
  if (recovering_) {
    // The receiver misses the lost one when the next arrives.
    if (open_.back()->fate == TlpFate::kLost) expect_nak(arrival);
    kept_.push_back({std::move(tlp), arrival});
    return false;
  }
  TlpFault* fault = plan_.next(*tlp, false);
  if (!fault) {
    last_arrival_ = arrival;
    return true;
  }
  Kept k{std::move(tlp), arrival, true};
  if (!meet(fault, k, end, arrival)) return false;
  tlp = std::move(k.tlp);
  return true;
}

bool DataLink::meet(TlpFault* fault, Kept& k, Time end, Time arrival) {
  fault->at = base::now();
  fault->recovered = Time::max();
  note_requests(*fault, *k.tlp);
  switch (fault->fate) {
    case TlpFate::kPoisoned:
      k.tlp->poisoned = true;
      return true;
    case TlpFate::kUnanswered:
      k.tlp->release_buffer();
      k.tlp.reset();
      return false;
    case TlpFate::kCorrupted:
    case TlpFate::kLost:
      break;
  }
  recovering_ = true;
  open_.push_back(fault);
  start_timer(end);
  if (fault->fate == TlpFate::kCorrupted) expect_nak(arrival);
  k.offered = true;
  kept_.push_back(std::move(k));
  return false;
}

/// At most one Nak is under way.
void DataLink::expect_nak(Time bad_arrival) {
  if (nak_sent_ || base::calendar().pending(nak_)) return;
  nak_ = base::calendar().at(bad_arrival + timing_.nak_latency, key_, [this] { send_nak(); });
}

void DataLink::send_nak() {
  nak_sent_ = true;
  ++open_.back()->naks;
  const Time start = std::max(base::now(), reverse_.free_at());
  nak_ = base::calendar().at(start + reverse_.wire_time(kDllp) + reverse_.flight(), key_, [this] { replay(); });
}

/// It starts again with each Ack: with that of the last good TLP, should it still be under way.
void DataLink::start_timer(Time end) {
  Time start = end;
  if (last_arrival_ > Time{}) start = std::max(start, last_arrival_ + timing_.ack_latency + reverse_.flight());
  timer_ = base::calendar().at(start + timing_.replay_timer, key_, [this] {
    ++open_.back()->timeouts;
    base::calendar().cancel(nak_);
    replay();
  });
}

void DataLink::replay() {
  base::calendar().cancel(timer_);
  if (++replays_ < kMostReplays) return send_again();
  replays_ = 0;
  ++open_.back()->retrains;
  retraining_ = true;
  direction_.hold(true);
  reverse_.hold(true);
  nak_ = base::calendar().after(timing_.retrain, key_, [this] {
    retraining_ = false;
    send_again();
    direction_.hold(false);
    reverse_.hold(false);
  });
}

void DataLink::send_again() {
  recovering_ = false;
  TlpFault* cause = open_.back();
  std::vector<Kept> sent = std::move(kept_);
  kept_.clear();
  Time last = base::now();
  for (Kept& k : sent) {
    const auto [end, arrival] = direction_.repeat(*k.tlp);
    ++cause->replayed_tlps;
    cause->replayed_bytes += k.tlp->wire_bytes();
    note_requests(*cause, *k.tlp);
    if (recovering_) {
      if (open_.back()->fate == TlpFate::kLost) expect_nak(arrival);
      kept_.push_back(std::move(k));
      continue;
    }
    TlpFault* again = plan_.next(*k.tlp, k.offered);
    if (again && !meet(again, k, end, arrival)) continue;
    // The TLP that was asked for has come.
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
  open_.clear();
}

void DataLink::cut() {
  base::calendar().cancel(nak_);
  base::calendar().cancel(timer_);
  if (std::exchange(retraining_, false)) {
    direction_.hold(false);
    reverse_.hold(false);
  }
  recovered(base::now());
  kept_.clear();
  recovering_ = false;
  nak_sent_ = false;
  replays_ = 0;
}

}  // namespace sluice::pcie
