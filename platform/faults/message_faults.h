// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The faults of single TLPs and frames, for faults.cpp: which message each of them hits, and what becomes of it.

#include <algorithm>
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

/// All faults of the TLPs of one link direction.
class Faults::TlpPlan : public pcie::TlpFaultPlan {
 public:
  TlpPlan(Faults& faults, std::string path, pcie::Link& link, LinkSide side)
      : faults_(faults), path_(std::move(path)), link_(link), side_(side) {}

  bool is_for(const pcie::Link& link, LinkSide side) const { return &link_ == &link && side_ == side; }

  void add(const config::Instance& instance, pcie::TlpFate fate, TlpFilter filter, const MessageChoice& choice) {
    members_.push_back(
        {instance.path(), instance.model(), fate, filter, Chooser(instance, choice, faults_.seed_, "TLPs"), {}});
  }

  void need_retrain(base::Time t) { retrain_ = std::max(retrain_, t); }
  /// Call once every fault has been added.
  void start() {
    auto& direction = side_ == LinkSide::up ? link_.up() : link_.down();
    auto& reverse = side_ == LinkSide::up ? link_.down() : link_.up();
    data_link_.emplace(path_, direction, reverse, pcie::DataLink::timing_of(link_.parameters(), retrain_), *this);
  }

  pcie::TlpFault* next(const pcie::Tlp& tlp, bool replay) override {
    pcie::TlpFault* hit = nullptr;
    for (Member& m : members_) {
      if (!concerns(m, tlp, replay) || !m.chooser.due(base::now()) || hit) continue;
      m.chooser.hit(base::now());
      faults_.note(m.name);
      m.faults.emplace_back().fate = m.fate;
      hit = &m.faults.back();
    }
    return hit;
  }

  void add_records(std::vector<FaultRecord>& all) const {
    for (const Member& m : members_)
      for (const pcie::TlpFault& f : m.faults) all.push_back(record(m, f));
  }

 private:
  struct Member {
    std::string name;
    std::string kind;
    pcie::TlpFate fate;
    TlpFilter filter;
    Chooser chooser;
    std::deque<pcie::TlpFault> faults;  ///< a deque, because the link keeps their addresses
  };

  static bool recoverable(pcie::TlpFate f) { return f == pcie::TlpFate::kCorrupted || f == pcie::TlpFate::kLost; }

  static bool concerns(const Member& m, const pcie::Tlp& t, bool replay) {
    if (!recoverable(m.fate)) return !replay && t.type == pcie::TlpType::kCplD;
    switch (m.filter) {
      case TlpFilter::any:
        return true;
      case TlpFilter::posted:
        return t.tlp_class() == pcie::TlpClass::kPosted;
      case TlpFilter::non_posted:
        return t.tlp_class() == pcie::TlpClass::kNonPosted;
      case TlpFilter::completion:
        return t.tlp_class() == pcie::TlpClass::kCompletion;
    }
    return false;
  }

  FaultRecord record(const Member& m, const pcie::TlpFault& f) const {
    FaultRecord r{m.name, m.kind, path_, f.at, f.recovered, !recoverable(m.fate), {}, {}};
    r.counts.emplace_back("requests_hit", f.requests.size());
    r.counts.emplace_back("requests_dropped", faults_.dropped_among(f.requests));
    if (!recoverable(m.fate)) return r;
    r.times.emplace_back("added_latency_ns", f.delay);
    r.counts.emplace_back("delayed_tlps", f.delayed_tlps);
    r.counts.emplace_back("replayed_tlps", f.replayed_tlps);
    r.counts.emplace_back("replayed_bytes", f.replayed_bytes);
    r.counts.emplace_back("naks", f.naks);
    r.counts.emplace_back("replay_timeouts", f.timeouts);
    r.counts.emplace_back("retrains", f.retrains);
    return r;
  }

  Faults& faults_;
  std::string path_;
  pcie::Link& link_;
  LinkSide side_;
  base::Time retrain_;
  std::vector<Member> members_;
  std::optional<pcie::DataLink> data_link_;
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
