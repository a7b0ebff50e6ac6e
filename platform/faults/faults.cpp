// SPDX-License-Identifier: Apache-2.0
#include "platform/faults/faults.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "platform/board/board.h"
#include "platform/config/nearest_name.h"
#include "platform/faults/message_faults.h"

namespace sluice::platform {

using base::Time;

namespace {

template <class Link>
std::uint64_t lost_on(Link& l) {
  return l.up().lost() + l.down().lost();
}
std::uint64_t lost_on(net::Wire& w) { return w.statistics(net::Wire::kA).lost + w.statistics(net::Wire::kB).lost; }

constexpr const char* kSeveral = "several faults";

bool passes(TlpFilter filter, const pcie::Tlp& t) {
  switch (filter) {
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

bool passes(CoherentFilter filter, const coherence::CoherentMessage& m) {
  switch (filter) {
    case CoherentFilter::any:
      return true;
    case CoherentFilter::lines:
      return !m.access && !m.host.path;
    case CoherentFilter::registers:
      return m.access != nullptr;
    case CoherentFilter::host_memory:
      return m.host.path != nullptr;
  }
  return false;
}

/// A fault needs a time or a probability; a fault that never happens must say so (probability = 0).
void require_times(const config::BoardConfig& board, const config::Instance& i) {
  std::string names;
  for (const char* key : {"at", "every", "mean_every", "probability"}) {
    if (!i.schema().find(key)) continue;
    if (i.origin(key).layer > 0) return;
    if (key != std::string("at")) names += (names.empty() ? "" : " or ") + std::string(key);
  }
  throw board.error(i, "at", "must be set, or else " + names);
}

}  // namespace

// --------------------------------------------------------------------------------------------- of agents and of links

/// One [fault.NAME] that begins at a time, and may end.
class Faults::Timed {
 public:
  struct Effect {
    std::function<void()> begin;
    std::function<void()> end;            ///< empty: the fault lasts
    std::function<std::uint64_t()> lost;  ///< count so far of what `lost_name` names; empty: the fault loses nothing
    const char* lost_name = "";
    const char* duration_name = "";
  };

  Timed(Faults& faults, const config::Instance& instance, std::string target, const FaultTimes& times, Time duration)
      : faults_(faults),
        name_(instance.path()),
        kind_(instance.model()),
        target_(std::move(target)),
        times_(times),
        duration_(duration),
        key_(base::path_key(name_)),
        random_(faults.seed_, name_, "times") {}

  const std::string& name() const { return name_; }
  void start(Effect effect) {
    effect_ = std::move(effect);
    for (const Time t : times_.at) base::calendar().at(t, key_, [this] { begin(); });
    if (times_.every > Time{} || times_.mean_every > Time{}) schedule(times_.from);
  }
  void add_records(std::vector<FaultRecord>& all, Time now) const {
    for (const Happened& h : happened_) all.push_back(record(h, now));
  }

 private:
  struct Happened {
    Time at;
    Time recovered = Time::max();
    std::uint64_t drops_before = 0;
    std::uint64_t lost_before = 0;
    std::uint64_t drops = 0;  ///< set when the fault is over
    std::uint64_t lost = 0;
    std::uint64_t delayed = 0;
  };

  std::uint64_t lost() const { return effect_.lost ? effect_.lost() : 0; }

  /// Schedules the next periodic or random fault, counted from `since`.
  void schedule(Time since) {
    if (times_.most != 0 && happened_.size() >= times_.most) return;
    const Time step = times_.every > Time{} ? times_.every : random_.exponential(times_.mean_every);
    // base::Time ends at 18,446 s.
    if (step >= Time::s(18'000) || since >= Time::s(18'000) - step) return;
    base::calendar().at(std::max(since + step, base::now()), key_, [this, when = since + step] {
      begin();
      // A random interval starts where the previous fault ends.
      if (times_.every > Time{} || happened_.back().recovered != Time::max()) schedule(when);
    });
  }

  void begin() {
    if (!happened_.empty() && happened_.back().recovered == Time::max()) return;  // the previous one still lasts
    Happened h;
    h.at = base::now();
    h.drops_before = faults_.dropped_.size();
    h.lost_before = lost();
    happened_.push_back(h);
    faults_.note(name_);
    effect_.begin();
    if (effect_.end) base::calendar().after(duration_, key_, [this] { end(); });
  }

  void end() {
    effect_.end();
    settle(happened_.back());
    happened_.back().recovered = base::now();
    if (times_.mean_every > Time{}) schedule(base::now());
  }

  void settle(Happened& h) const {
    h.drops = faults_.dropped_.size() - h.drops_before;
    h.lost = lost() - h.lost_before;
    h.delayed = faults_.under_way();
  }

  FaultRecord record(Happened h, Time now) const {
    const bool lasts = h.recovered == Time::max();
    if (lasts) settle(h);
    FaultRecord r{name_, kind_, target_, h.at, h.recovered, false, {}, {}};
    r.times.emplace_back(effect_.duration_name, (lasts ? std::max(now, h.at) : h.recovered) - h.at);
    r.counts.emplace_back("requests_dropped", h.drops);
    r.counts.emplace_back("requests_delayed", h.delayed);
    if (effect_.lost) r.counts.emplace_back(effect_.lost_name, h.lost);
    return r;
  }

  Faults& faults_;
  std::string name_;
  std::string kind_;
  std::string target_;
  FaultTimes times_;
  Time duration_;
  base::ComponentKey key_;
  base::RandomStream random_;
  Effect effect_;
  std::vector<Happened> happened_;
};

// ----------------------------------------------------------------------------------------------------------- the board

Faults::Faults(Board& board) : board_(board), seed_{board.run_parameters().seed, board.run_parameters().replication} {
  base::ledger().on_drop([this](const base::Ledger::Request& r, std::string_view, Time) { dropped_.push_back(r.id); });
  for (const config::Instance* i : board.config().of_kind("fault")) add(*i);
  for (auto& p : tlp_plans_) p->start();
  for (auto& p : coherent_plans_) p->start();
  for (const Clients& c : board.clients()) c.source->on_silence([this] { return so_far_; });
}

Faults::~Faults() = default;

void Faults::note(const std::string& name) {
  if (so_far_ != name) so_far_ = so_far_.empty() ? name : kSeveral;
}

void Faults::add(const config::Instance& i) {
  require_times(board_.config(), i);
  const std::string& kind = i.model();
  if (kind == "kill" || kind == "hang") {
    const auto& p = i.parameters<AgentFault>();
    return add_agent_fault(i, p.target, p.times, Time{});
  }
  if (kind == "pause") {
    const auto& p = i.parameters<PauseFault>();
    return add_agent_fault(i, p.target, p.times, p.duration);
  }
  if (kind == "link-down") return add_link_down(i);
  if (kind == "corrupt-tlp" || kind == "lost-tlp") {
    const auto& p = i.parameters<TlpLinkFault>();
    const auto fate = kind == "lost-tlp" ? base::MessageFate::lost : base::MessageFate::corrupted;
    const auto concerns = [filter = p.tlps](const pcie::Tlp& t, bool) { return passes(filter, t); };
    return plan_for(i, p.target, p.direction, p.retrain).add(i, fate, concerns, p.choice);
  }
  if (kind == "corrupt-message") return add_corrupt_message(i);
  if (kind == "corrupt-frame" || kind == "lost-frame") {
    const auto& p = i.parameters<FrameFault>();
    return plan_for(i, p.target).add(i, p);
  }
  const auto& p = i.parameters<CompletionFault>();
  const auto fate = kind == "poisoned-completion" ? base::MessageFate::poisoned : base::MessageFate::unsent;
  const auto concerns = [](const pcie::Tlp& t, bool replay) { return !replay && t.type == pcie::TlpType::kCplD; };
  plan_for(i, p.target, p.direction, Time{}).add(i, fate, concerns, p.choice);
}

Faults::Agents Faults::agents(const config::Instance& i, const std::string& target) {
  Agents a;
  std::vector<std::string> names;
  for (Cluster& c : board_.clusters()) {
    const std::string cluster = "cluster." + c.name;
    const std::string system = c.system->path();
    names.push_back(cluster);
    if (!system.empty()) names.push_back(system);
    for (auto& core : c.cores) {
      names.push_back(core->path());
      const bool all = target == cluster || (target == system && !system.empty());
      if (all || target == core->path()) a.cores.push_back(core.get());
    }
  }
  const auto add_device = [&](pcie::Endpoint& device, const std::string& slot) {
    names.push_back(device.path());
    if (target != device.path()) return;
    a.devices.push_back(&device);
    for (SlotInstance& s : board_.slots())
      if (s.path == slot) a.links.push_back(s.link.get());
  };
  for (NicInstance& n : board_.nics()) {
    if (!n.endpoint) continue;
    add_device(*n.endpoint, n.place.slot);
    if (target != n.path) continue;
    for (WireInstance& w : board_.wires())
      if (w.path == n.place.wire) a.wires.push_back(w.wire.get());
  }
  for (DeviceInstance& d : board_.devices()) add_device(*d.endpoint, d.slot);
  if (a.cores.empty() && a.devices.empty())
    no_target(i, target, "a cluster, a hart, a system-on-chip or a device", names);
  return a;
}

void Faults::no_target(const config::Instance& i, const std::string& target, const char* what,
                       const std::vector<std::string>& names) const {
  const std::string others = names.empty() ? "; the board has none" : config::suggestion(target, names);
  throw board_.config().error(i, "target",
                              std::string("must name ") + what + " of the board, not \"" + target + "\"" + others);
}

Faults::Timed& Faults::add_timed(const config::Instance& i, const std::string& target, const FaultTimes& times,
                                 Time duration) {
  timed_.push_back(std::make_unique<Timed>(*this, i, target, times, duration));
  return *timed_.back();
}

void Faults::add_agent_fault(const config::Instance& i, const std::string& target, const FaultTimes& times,
                             Time duration) {
  const Agents a = agents(i, target);
  const bool kill = i.model() == "kill";
  const bool pause = i.model() == "pause";
  Timed& fault = add_timed(i, target, times, duration);
  const char* why = kill ? "nothing: it was killed" : pause ? "the end of a pause" : "nothing: it hangs";
  Timed::Effect effect;
  effect.duration_name = "stopped_ns";
  effect.begin = [a, kill, why, who = fault.name().c_str()] {
    for (riscv::Core* c : a.cores) c->stop(why, who);
    for (pcie::Endpoint* d : a.devices) d->stop();
    if (!kill) return;
    for (pcie::Link* l : a.links) l->hold_down(true);
    for (net::Wire* w : a.wires) w->hold_down(true);
  };
  if (pause) {
    effect.end = [a] {
      for (riscv::Core* c : a.cores) c->resume();
      for (pcie::Endpoint* d : a.devices) d->resume();
    };
  }
  fault.start(std::move(effect));
}

void Faults::add_link_down(const config::Instance& i) {
  const auto& p = i.parameters<LinkDownFault>();
  std::vector<std::string> names;
  Timed::Effect effect;
  effect.duration_name = "down_ns";
  const auto consider = [&](const std::string& path, auto& link, const char* lost_name) {
    names.push_back(path);
    if (path != p.target) return;
    effect.begin = [&link] { link.hold_down(true); };
    effect.end = [&link] { link.hold_down(false); };
    effect.lost = [&link] { return lost_on(link); };
    effect.lost_name = lost_name;
  };
  for (WireInstance& w : board_.wires()) consider(w.path, *w.wire, "frames_lost");
  for (SlotInstance& s : board_.slots()) consider(s.path, *s.link, "tlps_lost");
  for (CoherentInstance& c : board_.coherent_links()) consider(c.path, *c.link, "messages_lost");
  if (!effect.begin) no_target(i, p.target, "an Ethernet, PCIe or coherent link", names);
  add_timed(i, p.target, p.times, p.duration).start(std::move(effect));
}

Faults::TlpPlan& Faults::plan_for(const config::Instance& i, const std::string& target, LinkSide side, Time retrain) {
  std::vector<std::string> names;
  for (SlotInstance& s : board_.slots()) {
    names.push_back(s.path);
    if (s.path != target) continue;
    TlpPlan& plan =
        plan_on<pcie::TlpProtocol>(tlp_plans_, target, *s.link, side, {"TLPs", "delayed_tlps", "replayed_tlps"});
    plan.need(pcie::replay_timing(s.link->parameters(), retrain));
    return plan;
  }
  no_target(i, target, "a PCIe link", names);
}

/// The plan of one direction of a link.
template <class P, class Link>
Faults::ReplayPlan<P>& Faults::plan_on(std::vector<std::unique_ptr<ReplayPlan<P>>>& plans, const std::string& target,
                                       Link& link, LinkSide side, const typename ReplayPlan<P>::Names& names) {
  auto& direction = side == LinkSide::up ? link.up() : link.down();
  auto& reverse = side == LinkSide::up ? link.down() : link.up();
  const auto found = std::find_if(plans.begin(), plans.end(), [&](const auto& p) { return p->is_for(direction); });
  if (found != plans.end()) return **found;
  const std::string path = target + (side == LinkSide::up ? ".up" : ".down");
  return *plans.emplace_back(std::make_unique<ReplayPlan<P>>(*this, path, direction, reverse, names));
}

void Faults::add_corrupt_message(const config::Instance& i) {
  const auto& p = i.parameters<CoherentMessageFault>();
  std::vector<std::string> names;
  for (CoherentInstance& c : board_.coherent_links()) {
    names.push_back(c.path);
    if (c.path != p.target) continue;
    CoherentPlan& plan = plan_on<coherence::CoherentProtocol>(coherent_plans_, c.path, *c.link, p.direction,
                                                              {"messages", "delayed_messages", "replayed_messages"});
    plan.need({p.retry, p.retry, p.retry_timer, p.retrain, c.link->dialect().header});
    const auto concerns = [filter = p.messages](const coherence::CoherentMessage& m, bool) {
      return passes(filter, m);
    };
    return plan.add(i, base::MessageFate::corrupted, concerns, p.choice);
  }
  no_target(i, p.target, "a coherent link", names);
}

Faults::FramePlan& Faults::plan_for(const config::Instance& i, const std::string& target) {
  std::vector<std::string> names;
  for (WireInstance& w : board_.wires()) {
    names.push_back(w.path);
    if (w.path != target) continue;
    const auto found =
        std::find_if(frame_plans_.begin(), frame_plans_.end(), [&](const auto& p) { return p->is_for(*w.wire); });
    if (found != frame_plans_.end()) return **found;
    return *frame_plans_.emplace_back(std::make_unique<FramePlan>(*this, *w.wire));
  }
  no_target(i, target, "an Ethernet link", names);
}

std::uint64_t Faults::under_way() const { return board_.workload() ? board_.workload()->under_way() : 0; }

std::uint64_t Faults::dropped_among(const std::vector<base::RequestId>& requests) const {
  return static_cast<std::uint64_t>(std::count_if(requests.begin(), requests.end(), [&](base::RequestId id) {
    return std::find(dropped_.begin(), dropped_.end(), id) != dropped_.end();
  }));
}

std::vector<FaultRecord> Faults::records(Time now) const {
  std::vector<FaultRecord> all;
  for (const auto& t : timed_) t->add_records(all, now);
  for (const auto& p : tlp_plans_) p->add_records(all);
  for (const auto& p : coherent_plans_) p->add_records(all);
  for (const auto& p : frame_plans_) p->add_records(all);
  std::stable_sort(all.begin(), all.end(), [](const FaultRecord& a, const FaultRecord& b) { return a.at < b.at; });
  return all;
}

}  // namespace sluice::platform
