// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The faults of single TLPs and frames, for faults.cpp: which message each of them hits, and what becomes of it.

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/board/board.h"
#include "platform/faults/faults.h"

namespace sluice::platform {

/// Picks the messages of one [fault.NAME].
class Faults::Chooser {
 public:
  Chooser(const config::Instance& i, const MessageChoice& choice, base::RandomSeed seed, std::string_view purpose)
      : choice_(choice), random_(seed, i.path(), purpose) {
    std::sort(choice_.at.begin(), choice_.at.end());
  }

  /// Whether the fault is due for a message that starts at `start`. Every message is counted, or takes its random draw,
  /// whatever other faults do. The fault stays due until hit(): if another fault hits this message, it hits the next
  /// one.
  bool due(base::Time start) {
    if (!choice_.at.empty()) return next_at_ < choice_.at.size() && choice_.at[next_at_] <= start;
    if (choice_.most != 0 && hits_ == choice_.most) return false;
    if (start >= choice_.from && drawn()) ++turns_;
    return turns_ > 0;
  }
  void hit(base::Time start) {
    ++hits_;
    if (turns_ > 0) --turns_;
    while (next_at_ < choice_.at.size() && choice_.at[next_at_] <= start) ++next_at_;
  }
  base::RandomStream& random() { return random_; }

 private:
  bool drawn() { return choice_.every > 0 ? ++seen_ % choice_.every == 0 : random_.uniform() < choice_.probability; }

  MessageChoice choice_;
  std::size_t next_at_ = 0;
  std::uint64_t seen_ = 0;
  std::uint64_t turns_ = 0;  ///< due faults that wait for a message that no other fault hits
  std::uint64_t hits_ = 0;
  base::RandomStream random_;
};

/// All faults of the messages of one link direction of which the link sends again what does not arrive.
template <class P>
class Faults::ReplayPlan : public base::FaultPlan<P> {
 public:
  using Message = typename P::Message;
  using Direction = base::LinkDirection<P>;
  /// Whether a message that is sent, or sent again, is counted, drawn and hit.
  using Concerns = std::function<bool(const Message&, bool replay)>;
  /// What a record calls the messages that it counts.
  struct Names {
    const char *messages, *delayed, *replayed;
  };

  ReplayPlan(Faults& faults, std::string path, Direction& direction, Direction& reverse, const Names& names)
      : faults_(faults), path_(std::move(path)), direction_(direction), reverse_(reverse), names_(names) {}

  bool is_for(const Direction& direction) const { return &direction_ == &direction; }

  void add(const config::Instance& i, base::MessageFate fate, Concerns concerns, const MessageChoice& choice) {
    members_.push_back(
        {i.path(), i.model(), fate, std::move(concerns), Chooser(i, choice, faults_.seed_, names_.messages), {}});
  }

  /// The link takes the longest of the times that its faults name.
  void need(const base::ReplayTiming& t) {
    timing_.nak_latency = std::max(timing_.nak_latency, t.nak_latency);
    timing_.ack_latency = std::max(timing_.ack_latency, t.ack_latency);
    timing_.replay_timer = std::max(timing_.replay_timer, t.replay_timer);
    timing_.retrain = std::max(timing_.retrain, t.retrain);
    timing_.nak_bytes = std::max(timing_.nak_bytes, t.nak_bytes);
  }
  /// Call once every fault has been added.
  void start() { layer_.emplace(path_, direction_, reverse_, timing_, *this); }

  base::MessageFault* next(const Message& message, bool replay) override {
    base::MessageFault* hit = nullptr;
    for (Member& m : members_) {
      if (!m.concerns(message, replay) || !m.chooser.due(base::now()) || hit) continue;
      m.chooser.hit(base::now());
      faults_.note(m.name);
      m.faults.emplace_back().fate = m.fate;
      hit = &m.faults.back();
    }
    return hit;
  }

  void add_records(std::vector<FaultRecord>& all) const {
    for (const Member& m : members_)
      for (const base::MessageFault& f : m.faults) all.push_back(record(m, f));
  }

 private:
  struct Member {
    std::string name;
    std::string kind;
    base::MessageFate fate;
    Concerns concerns;
    Chooser chooser;
    std::deque<base::MessageFault> faults;  ///< a deque, because the link keeps their addresses
  };

  FaultRecord record(const Member& m, const base::MessageFault& f) const {
    const bool recoverable = f.fate == base::MessageFate::corrupted || f.fate == base::MessageFate::lost;
    FaultRecord r{m.name, m.kind, path_, f.at, f.recovered, !recoverable, {}, {}};
    r.counts.emplace_back("requests_hit", f.requests.size());
    r.counts.emplace_back("requests_dropped", faults_.dropped_among(f.requests));
    if (!recoverable) return r;
    r.times.emplace_back("added_latency_ns", f.delay);
    r.counts.emplace_back(names_.delayed, f.delayed);
    r.counts.emplace_back(names_.replayed, f.replayed);
    r.counts.emplace_back("replayed_bytes", f.replayed_bytes);
    r.counts.emplace_back("naks", f.naks);
    r.counts.emplace_back("replay_timeouts", f.timeouts);
    r.counts.emplace_back("retrains", f.retrains);
    return r;
  }

  Faults& faults_;
  std::string path_;
  Direction& direction_;
  Direction& reverse_;
  const Names names_;
  base::ReplayTiming timing_{};
  std::vector<Member> members_;
  std::optional<base::ReplayLayer<P>> layer_;
};

/// All faults of the frames of one wire.
class Faults::FramePlan : public net::Wire::FaultPlan {
 public:
  FramePlan(Faults& faults, net::Wire& wire) : faults_(faults), wire_(wire) { wire.set_faults(this); }

  bool is_for(const net::Wire& wire) const { return &wire_ == &wire; }

  void add(const config::Instance& i, const FrameFault& p) {
    const Fate fate = i.model() == "lost-frame" ? Fate::lost : Fate::corrupted;
    members_.push_back({i.path(), i.model(), p.direction, fate, Chooser(i, p.choice, faults_.seed_, "frames"), {}});
  }

  Fate fate_of(net::Wire::End from, net::Packet& packet, base::Time start) override {
    Fate fate = Fate::arrives;
    const WireSide direction = from == kOutside ? WireSide::in : WireSide::out;
    for (Member& m : members_) {
      if (m.direction != direction || !m.chooser.due(start) || fate != Fate::arrives) continue;
      m.chooser.hit(start);
      faults_.note(m.name);
      fate = m.fate;
      Hit& hit = m.hits.emplace_back();
      hit.at = start;
      for (const base::Span& s : packet.spans) hit.requests.push_back(s.id);
      // Flips one bit, so that a capture at the receiver shows the error.
      if (fate == Fate::corrupted)
        packet.bytes[m.chooser.random().below(packet.length)] ^=
            static_cast<std::uint8_t>(1u << m.chooser.random().below(8));
    }
    return fate;
  }

  void add_records(std::vector<FaultRecord>& all) const {
    for (const Member& m : members_) {
      const std::string target = wire_.path() + (m.direction == WireSide::in ? ".in" : ".out");
      for (const Hit& h : m.hits) {
        FaultRecord& r = all.emplace_back(FaultRecord{m.name, m.kind, target, h.at, base::Time::max(), true, {}, {}});
        r.counts.emplace_back("requests_hit", h.requests.size());
        r.counts.emplace_back("requests_dropped", faults_.dropped_among(h.requests));
      }
    }
  }

 private:
  static constexpr net::Wire::End kOutside = net::Wire::kA;
  struct Hit {
    base::Time at;
    std::vector<base::RequestId> requests;
  };
  struct Member {
    std::string name;
    std::string kind;
    WireSide direction;
    Fate fate;
    Chooser chooser;
    std::vector<Hit> hits;
  };

  Faults& faults_;
  net::Wire& wire_;
  std::vector<Member> members_;
};

}  // namespace sluice::platform
