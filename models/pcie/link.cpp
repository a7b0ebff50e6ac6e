#include "models/pcie/link.h"

#include <algorithm>
#include <stdexcept>

namespace sluice::pcie {
namespace {

constexpr unsigned kSkipBytes = 4;        // a SKP ordered set ...
constexpr unsigned kSkipInterval = 1538;  // ... in each 1538 bytes
constexpr unsigned kDllpBytes = 8;        // an ACK and an UpdateFC within each limit
constexpr unsigned kInternalDelay = 115;  // symbol times

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string text_of(const char* what, std::uint64_t least) {
  return std::string("must be 0 (infinite) or at least ") + std::to_string(least) + ": one TLP of " + what;
}

}  // namespace

unsigned update_limit_symbols(unsigned lanes, unsigned max_payload) {
  unsigned tenths = 14;
  if (max_payload >= 512)
    tenths = lanes >= 12 ? 20 : 10;
  else if (lanes >= 12)
    tenths = 30;
  else if (lanes >= 8)
    tenths = 25;
  return (max_payload + 28) * tenths / (10 * lanes) + kInternalDelay;
}

base::Time symbol_time(unsigned generation) { return base::Time::ps(4000 >> (generation - 1)); }

base::Ratio raw_femtoseconds_per_byte(unsigned generation, unsigned lanes) {
  static constexpr std::uint64_t kMegatransfers[] = {2500, 5000, 8000, 16000, 32000};
  const std::uint64_t femtoseconds_per_byte_and_lane = 8'000'000'000 / kMegatransfers[generation - 1];
  return generation <= 2 ? base::Ratio(femtoseconds_per_byte_and_lane * 10, 8ull * lanes)
                         : base::Ratio(femtoseconds_per_byte_and_lane * 130, 128ull * lanes);
}

base::Ratio usable_femtoseconds_per_byte(unsigned generation, unsigned lanes, unsigned max_payload) {
  const base::Ratio raw = raw_femtoseconds_per_byte(generation, lanes);
  const std::uint64_t limit = update_limit_symbols(lanes, max_payload);
  const std::uint64_t all = kSkipInterval * limit;
  const std::uint64_t left = all - kSkipBytes * limit - 2 * kDllpBytes * kSkipInterval;
  return {raw.numerator() * all, raw.denominator() * left};
}

void Port::send(TlpPtr tlp) {
  if (out_) out_->send(std::move(tlp));
}
unsigned Port::queued(TlpClass c) const { return out_ ? out_->queued(c) : 0; }
void Port::hot_reset() {
  if (peer_ && peer_->on_hot_reset) peer_->on_hot_reset();
}

LinkDirection::LinkDirection(Setup setup)
    : setup_(std::move(setup)),
      rate_(setup_.femtoseconds_per_byte),
      key_(base::path_key(setup_.path)),
      track_(base::trace().track(setup_.path)) {
  for (unsigned c = 0; c < kTlpClasses; ++c) {
    pools_[c].left = setup_.credits[c];
    pools_[c].infinite_headers = setup_.credits[c].headers == 0;
    pools_[c].infinite_data = setup_.credits[c].data == 0;
  }
}

void LinkDirection::connect(Port& from, Port& to) {
  from_ = &from;
  to_ = &to;
}

void LinkDirection::send(TlpPtr tlp) {
  const base::Time now = base::now();
  tlp->queued = now;
  if (tlp->carries_journey) tlp->journey.enter(setup_.stage, setup_.component, now);
  if (waiting_tlps_ == 0 && free_at_ <= now) {
    collect();
    if (affordable(*tlp)) {
      transmit(std::move(tlp), now);
      return;
    }
  }
  tlp->sequence = sequence_++;
  ++waiting_tlps_;
  const unsigned c = index(tlp->tlp_class());
  queues_[c].push(std::move(tlp));
  pump();
}

bool LinkDirection::affordable(const Tlp& t) const {
  const Pool& pool = pools_[index(t.tlp_class())];
  return (pool.infinite_headers || pool.left.headers > 0) && (pool.infinite_data || pool.left.data >= t.data_units());
}

LinkDirection::Credits LinkDirection::available(TlpClass c) {
  collect();
  const Pool& pool = pools_[index(c)];
  return {pool.infinite_headers ? ~0u : pool.left.headers, pool.infinite_data ? ~0u : pool.left.data};
}

/// Takes in the credits that have arrived.
void LinkDirection::collect() {
  const base::Time now = base::now();
  while (!returns_.empty() && returns_.front().when <= now) {
    const Return& r = returns_.front();
    pools_[index(r.tlp_class)].left.headers += r.headers;
    pools_[index(r.tlp_class)].left.data += r.data;
    returns_.pop();
  }
}

void LinkDirection::release(TlpClass c, unsigned data_units) {
  const base::Time when = base::now() + setup_.credit_update;
  // Buffers freed at one time are told by one update.
  if (!returns_.empty() && returns_.back().when == when && returns_.back().tlp_class == c) {
    ++returns_.back().headers;
    returns_.back().data += data_units;
  } else {
    returns_.push({when, c, 1, data_units});
  }
  if (!blocked_) return;
  stalled_.reset();
  wake_at(returns_.front().when);
}

/// Starts what may start now, and sees to it that the rest is looked at again.
void LinkDirection::pump() {
  const base::Time now = base::now();
  while (waiting_tlps_ > 0) {
    if (free_at_ > now) {
      wake_at(free_at_);
      return;
    }
    collect();
    const int c = choose();
    if (c < 0) {
      blocked_ = true;
      if (!returns_.empty())
        wake_at(returns_.front().when);
      else if (!stalled_)
        stalled_.emplace(from_->owner().c_str(), "flow-control credits", to_->owner().c_str());
      return;
    }
    blocked_ = false;
    stalled_.reset();
    --waiting_tlps_;
    transmit(queues_[static_cast<unsigned>(c)].pop(), now);
  }
}

/// The next class in turn whose first TLP has credits and passes no older posted one; -1 when there is none. Posted
/// TLPs pass everything, completions and non-posted requests pass each other, nothing passes within its class: of what
/// the specification allows or demands, only relaxed ordering is not used here.
int LinkDirection::choose() {
  const auto& posted = queues_[index(TlpClass::kPosted)];
  for (unsigned i = 1; i <= kTlpClasses; ++i) {
    const unsigned c = (last_class_ + i) % kTlpClasses;
    if (queues_[c].empty()) continue;
    const Tlp& t = *queues_[c].front();
    if (!affordable(t)) continue;
    const bool is_posted = c == index(TlpClass::kPosted);
    if (!is_posted && !posted.empty() && posted.front()->sequence < t.sequence) continue;
    return static_cast<int>(c);
  }
  return -1;
}

void LinkDirection::transmit(TlpPtr tlp, base::Time now) {
  Tlp& t = *tlp;
  last_class_ = index(t.tlp_class());
  Pool& pool = pools_[last_class_];
  if (!pool.infinite_headers) --pool.left.headers;
  if (!pool.infinite_data) pool.left.data -= t.data_units();

  // The link was free and the TLP there, and yet it did not start: credits were missing.
  const base::Time could = std::max(t.queued, free_at_);
  if (now > could) {
    ++statistics_.credit_stalls;
    statistics_.credit_wait += now - could;
    if (t.carries_journey) {
      t.journey.enter(SLUICE_STAGE_credit_wait, setup_.component, could);
      t.journey.enter(setup_.stage, setup_.component, now);
    }
  }

  const base::Time duration = wire_time(t.wire_bytes());
  // A TLP that is cut through starts late enough for its last bit to be there in time.
  const base::Time end = std::max(now + duration, t.tail);
  free_at_ = end;
  account(t, duration);
  if (!taps_.empty() || base::trace().enabled()) [[unlikely]]
    show(t, end - duration + from_->transmit_latency, end + from_->transmit_latency);
  t.release_buffer();

  const base::Time delay = from_->transmit_latency + setup_.flight + to_->receive_latency;
  t.tail = end + delay;
  base::Time arrival = t.tail;
  if (to_->cut_through) arrival = end - duration + wire_time(t.header_bytes()) + delay;
  if (t.observer) std::exchange(t.observer, nullptr)->transmitted(t, end + from_->transmit_latency);
  t.buffer = pool.infinite_headers && pool.infinite_data ? nullptr : this;
  in_flight_.push({arrival, std::move(tlp)});
  if (in_flight_.size() == 1) arm_delivery();
}

void LinkDirection::account(const Tlp& t, base::Time duration) {
  const unsigned bytes = t.wire_bytes();
  const unsigned payload = t.content == Content::kPayload ? t.payload_bytes() : 0;
  statistics_.bytes += bytes;
  statistics_.payload_bytes += payload;
  statistics_.metadata_bytes += bytes - payload;
  ++statistics_.tlps[static_cast<unsigned>(t.type)];
  statistics_.busy += duration;
}

/// The request that a trace shows a TLP for; 0: none.
static base::RequestId shown_for(const Tlp& t) {
  if (t.spans.first() != 0) return t.spans.first();
  for (const base::RequestId id : t.line_tags)
    if (id != 0) return id;
  return 0;
}

void LinkDirection::show(const Tlp& t, base::Time first_bit, base::Time last_bit) {
  if (base::trace().enabled()) base::trace().slice(track_, to_text(t.type), first_bit, last_bit, shown_for(t));
  for (Tap& tap : taps_) tap(t, first_bit, last_bit);
}

void LinkDirection::arm_delivery() {
  base::calendar().at(in_flight_.front().when, key_, [this] { deliver(); });
}

void LinkDirection::deliver() {
  TlpPtr tlp = std::move(in_flight_.pop().tlp);
  if (!in_flight_.empty()) arm_delivery();
  to_->on_receive(std::move(tlp));
}

void LinkDirection::wake_at(base::Time when) {
  if (base::calendar().pending(wake_)) {
    if (wake_time_ <= when) return;
    base::calendar().cancel(wake_);
  }
  wake_time_ = when;
  wake_ = base::calendar().at(when, key_, [this] { pump(); });
}

void Link::Parameters::describe(base::Schema<Parameters>& s) {
  s.summary("PCIe link");
  s.add("generation", &Parameters::generation, "PCIe generation of the signalling rate").range(1, 5).setting();
  s.add("lanes", &Parameters::lanes, "width").choices({1, 2, 4, 8, 12, 16}).setting();
  s.add("flight", &Parameters::flight, "one way, wire only").range(0_ns, 1_us).assumed("1 m of trace and connectors");
  s.add("max_payload", &Parameters::max_payload, "maximum payload size, MPS")
      .range(128_B, base::Bytes(4096))
      .power_of_two()
      .stated("pcie-model, model/pcie.py");
  const char* pools = "as large as covers the round trip at gen3 x16; vendors do not publish theirs";
  s.add("posted_headers", &Parameters::posted_headers, "posted TLPs a receiver holds; 0: infinite")
      .range(0, 2047)
      .assumed(pools);
  s.add("posted_data", &Parameters::posted_data, "their payload, 16 B units; 0: infinite")
      .range(0, 32767)
      .assumed(pools);
  s.add("non_posted_headers", &Parameters::non_posted_headers, "non-posted TLPs a receiver holds; 0: infinite")
      .range(0, 2047)
      .assumed(pools);
  s.add("non_posted_data", &Parameters::non_posted_data, "their payload, 16 B units; 0: infinite")
      .range(0, 32767)
      .assumed(pools);
  s.add("completion_headers", &Parameters::completion_headers, "completions a receiver holds; 0: infinite")
      .range(0, 2047)
      .stated("PCI Express Base Specification: root complexes and endpoints advertise infinite credits");
  s.add("completion_data", &Parameters::completion_data, "their payload, 16 B units; 0: infinite")
      .range(0, 32767)
      .stated("PCI Express Base Specification: root complexes and endpoints advertise infinite credits");
  s.add("credit_update", &Parameters::credit_update,
        "from a freed buffer to the update at the sender, flight apart; 0: the specification's limit for this link")
      .range(0_ns, 10_us)
      .derived("((MPS + 28) x factor / lanes + 115) symbol times");
  const auto holds_one = [](std::uint32_t data, const Parameters& p) {
    const std::uint64_t least = p.max_payload.count() / Tlp::kCreditUnit;
    return data != 0 && data < least ? text_of("max_payload", least) : std::string{};
  };
  s.rule("posted_data", [holds_one](const Parameters& p) { return holds_one(p.posted_data, p); });
  s.rule("completion_data", [holds_one](const Parameters& p) { return holds_one(p.completion_data, p); });
}

namespace {
LinkDirection::Setup setup_of(const Link::Parameters& p, const std::string& path, base::Stage stage,
                              base::Ledger::Component component) {
  const unsigned mps = static_cast<unsigned>(p.max_payload.count());
  base::Time update = p.credit_update;
  if (update == base::Time{}) update = symbol_time(p.generation) * update_limit_symbols(p.lanes, mps);
  return {path,
          stage,
          component,
          usable_femtoseconds_per_byte(p.generation, p.lanes, mps),
          p.flight,
          update + p.flight,
          {{{p.posted_headers, p.posted_data},
            {p.non_posted_headers, p.non_posted_data},
            {p.completion_headers, p.completion_data}}}};
}
}  // namespace

Link::Link(sc_core::sc_module_name name, const Parameters& p)
    : Model(name),
      parameters_(p),
      up_(setup_of(p, path() + ".up", SLUICE_STAGE_upstream_link, component())),
      down_(setup_of(p, path() + ".down", SLUICE_STAGE_downstream_link, component())) {}

void Link::connect(Port& upper, Port& lower) {
  for (Port* port : {&upper, &lower})
    if (port->connected()) throw std::logic_error(path() + ": the port of " + port->owner() + " has a link already");
  upper.out_ = &down_;
  lower.out_ = &up_;
  upper.peer_ = &lower;
  lower.peer_ = &upper;
  upper.link_ = lower.link_ = this;
  down_.connect(upper, lower);
  up_.connect(lower, upper);
  for (Port* port : {&upper, &lower})
    if (port->on_connect) port->on_connect(*this);
}

void Link::register_statistics(base::StatisticsGroup& group) {
  const auto direction = [&group](const char* prefix, LinkDirection& d) {
    const LinkStatistics& s = d.statistics();
    const std::string p = prefix;
    group.counter(p + "_bytes", "bytes", "on the wire: framing, headers, payloads", s.bytes);
    group.counter(p + "_payload_bytes", "bytes", "payload of packets and messages", s.payload_bytes);
    group.counter(p + "_metadata_bytes", "bytes", "everything but packet payload", s.metadata_bytes);
    for (unsigned i = 0; i < kTlpTypes; ++i)
      group.counter(p + "_tlps_" + lower_case(to_text(static_cast<TlpType>(i))), "TLPs", "sent", s.tlps[i]);
    group.counter(p + "_credit_stalls", "TLPs", "that waited for credits", s.credit_stalls);
    group.counter_of(p + "_busy", "fs", "serialising", [&s] { return s.busy.femtoseconds(); });
    group.counter_of(p + "_credit_wait", "fs", "summed over TLPs", [&s] { return s.credit_wait.femtoseconds(); });
  };
  direction("up", up_);
  direction("down", down_);
}

}  // namespace sluice::pcie
