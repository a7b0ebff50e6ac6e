// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/link.h"

#include <stdexcept>

#include "models/base/fabric/link_counters.h"
#include "models/base/parameters/spread.h"

template class sluice::base::LinkDirection<sluice::pcie::TlpProtocol>;

namespace sluice::pcie {
namespace {

constexpr unsigned kSkipBytes = 4;        // a SKP ordered set ...
constexpr unsigned kSkipInterval = 1538;  // ... in each 1538 bytes
// One by one: the specification allows 1180 to 1538 symbol times between sets of four symbols up to generation 2, and
// 370 to 375 blocks of 130 bits between sets of one block from generation 3 on.
constexpr unsigned kSkipSymbols = 4, kSymbolsBetweenSkips = (1180 + 1538) / 2;
constexpr unsigned kBlocksBetweenSkips = (370 + 375) / 2;
constexpr unsigned kDllpBytes = 8;  // one ACK and one UpdateFC in each update limit

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string text_of(const char* what, std::uint64_t least) {
  return std::string("must be 0 or at least ") + std::to_string(least) + ": one TLP of " + what;
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

base::OrderedSets skip_ordered_sets(unsigned generation) {
  const base::Time symbol = symbol_time(generation);
  if (generation <= 2) return {symbol * kSymbolsBetweenSkips, symbol * kSkipSymbols};
  const base::Time block = base::Time::fs(raw_femtoseconds_per_byte(generation, 1).of_rounded_up(16));
  return {block * kBlocksBetweenSkips, block};
}

base::Ratio usable_femtoseconds_per_byte(unsigned generation, unsigned lanes, unsigned max_payload, bool skips) {
  const base::Ratio raw = raw_femtoseconds_per_byte(generation, lanes);
  const std::uint64_t limit = update_limit_symbols(lanes, max_payload);
  const std::uint64_t all = kSkipInterval * limit;
  const std::uint64_t left = all - (skips ? kSkipBytes * limit : 0) - 2 * kDllpBytes * kSkipInterval;
  return {raw.numerator() * all, raw.denominator() * left};
}

void Port::hot_reset() {
  if (link_) link_->reset();
}

base::RequestId TlpProtocol::shown_for(const Tlp& t) {
  if (t.spans.first() != 0) return t.spans.first();
  for (const base::RequestId id : t.line_tags)
    if (id != 0) return id;
  return 0;
}

void Link::Parameters::describe(base::Schema<Parameters>& s) {
  const std::vector<std::string> bytes{"up_bytes", "down_bytes"};
  const char* no_bytes = "no TLP was sent";
  s.summary("PCIe link");
  s.add("generation", &Parameters::generation, "PCIe generation of the signalling rate")
      .range(1, 5)
      .acts_with(bytes, no_bytes)
      .setting();
  s.add("lanes", &Parameters::lanes, "width")
      .choices({1, 2, 4, 8, 12, 16})
      .unit("lanes")
      .acts_with(bytes, no_bytes)
      .setting();
  s.add("flight", &Parameters::flight, "one way, wire only")
      .range(0_ns, 1_us)
      .acts_with(bytes, no_bytes)
      .assumed("1 m of trace and connectors");
  s.add("clock_tolerance", &Parameters::clock_tolerance,
        "how far the reference clock may deviate, where run.spread is drawn")
      .range(0, 1000)
      .unit("ppm")
      .acts_with(bytes, no_bytes)
      .assumed("an ideal clock; the PCI Express Base Specification allows 300 ppm");
  s.add("max_payload", &Parameters::max_payload, "maximum payload size, MPS")
      .range(128_B, base::Bytes(4096))
      .power_of_two()
      .acts_with(bytes, no_bytes)
      .assumed("pcie-model's default (model/pcie.py); on a real board set-up software chooses");
  const char* pools =
      "covers the credits' round trip at x16; Intel's FPGAs hold 127 posted TLPs and 750 credits, 115 non-posted and "
      "230, at gen3 x16 (L-/H-Tile, guide 683111), 784 and 1456, 784 and 392, at gen5 x16 (R-Tile, guide 790711)";
  const std::vector<std::string> stalls{"up_credit_stalls", "down_credit_stalls"};
  const char* no_stall = "no TLP waited for credits";
  s.add("posted_headers", &Parameters::posted_headers,
        "posted TLPs a receiver holds; 0: 128 up to generation 3, 256 of 4, 512 of 5")
      .range(0, 2047)
      .unit("TLPs")
      .acts_with(stalls, no_stall)
      .assumed(pools);
  s.add("posted_data", &Parameters::posted_data,
        "their payload, 16 B units; 0: 1024 up to generation 3, 2048 of 4, 4096 of 5")
      .range(0, 32767)
      .unit("credits")
      .acts_with(stalls, no_stall)
      .assumed(pools);
  s.add("non_posted_headers", &Parameters::non_posted_headers,
        "non-posted TLPs a receiver holds; 0: 128 up to generation 3, 256 of 4, 512 of 5")
      .range(0, 2047)
      .unit("TLPs")
      .acts_with(stalls, no_stall)
      .assumed(pools);
  s.add("non_posted_data", &Parameters::non_posted_data,
        "their payload, 16 B units; 0: 128 up to generation 3, 256 of 4, 512 of 5")
      .range(0, 32767)
      .unit("credits")
      .acts_with(stalls, no_stall)
      .assumed(pools);
  s.add("completion_headers", &Parameters::completion_headers, "completions a receiver holds; 0: infinite")
      .range(0, 2047)
      .unit("TLPs")
      .acts_with(stalls, no_stall)
      .stated("PCI Express Base Specification: root complexes and endpoints advertise infinite credits");
  s.add("completion_data", &Parameters::completion_data, "their payload, 16 B units; 0: infinite")
      .range(0, 32767)
      .unit("credits")
      .acts_with(stalls, no_stall)
      .stated("PCI Express Base Specification: root complexes and endpoints advertise infinite credits");
  s.add("credit_update", &Parameters::credit_update,
        "from a freed buffer to the update at the sender, flight apart; 0: the specification's limit for this link")
      .range(0_ns, 10_us)
      .acts_with(stalls, no_stall)
      .derived("((MPS + 28) x factor / lanes + 115) symbol times");
  const auto holds_one = [](std::uint32_t data, const Parameters& p) {
    const std::uint64_t least = p.max_payload.count() / Tlp::kCreditUnit;
    return data != 0 && data < least ? text_of("max_payload", least) : std::string{};
  };
  s.rule("posted_data", [holds_one](const Parameters& p) { return holds_one(p.posted_data, p); });
  s.rule("completion_data", [holds_one](const Parameters& p) { return holds_one(p.completion_data, p); });
}

std::array<base::Credits, kTlpClasses> Link::Parameters::credits() const {
  const unsigned times_gen3 = generation > 3 ? 1u << (generation - 3) : 1;
  const auto pool = [=](std::uint32_t set, std::uint32_t at_gen3) { return set != 0 ? set : at_gen3 * times_gen3; };
  return {{{pool(posted_headers, 128), pool(posted_data, 1024)},
           {pool(non_posted_headers, 128), pool(non_posted_data, 128)},
           {completion_headers, completion_data}}};
}

namespace {
LinkDirection::Setup setup_of(const Link::Parameters& p, const std::string& path, base::Stage stage,
                              base::Ledger::Component component) {
  const unsigned mps = static_cast<unsigned>(p.max_payload.count());
  base::Time update = p.credit_update;
  if (update == base::Time{}) update = symbol_time(p.generation) * update_limit_symbols(p.lanes, mps);
  const bool drawn = base::spread().drawn();
  base::OrderedSets skips;
  if (drawn) {
    skips = skip_ordered_sets(p.generation);
    skips.first = base::spread().phase(skips.every, path, "skip");
  }
  const base::Ratio rate = usable_femtoseconds_per_byte(p.generation, p.lanes, mps, !drawn);
  return {path,        stage,
          component,   base::spread().period(rate, p.clock_tolerance, "pcie", "reference clock"),
          p.flight,    update + p.flight,
          p.credits(), skips};
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
  upper.link_ = lower.link_ = this;
  down_.connect(upper, lower);
  up_.connect(lower, upper);
  upper_ = &upper;
  lower_ = &lower;
  for (Port* port : {&upper, &lower})
    if (port->on_connect) port->on_connect(*this);
}

void Link::describe_to(ConfigSpace& config) const {
  config.set_link(parameters_.generation, parameters_.lanes, static_cast<unsigned>(parameters_.max_payload.count()));
}

void Link::set_up(bool up) {
  if (up == is_up()) return;
  up_.set_up(up);
  down_.set_up(up);
  if (up) return;
  if (upper_ && upper_->on_link_down) upper_->on_link_down();
  if (lower_ && lower_->on_hot_reset) lower_->on_hot_reset();
}

void Link::reset() {
  if (!is_up()) return;
  set_up(false);
  set_up(true);
}

void Link::register_statistics(base::StatisticsGroup& group) {
  const auto direction = [&group](const char* prefix, const char* title, LinkDirection& d) {
    const LinkStatistics& s = d.statistics();
    const std::string p = prefix;
    group.counter(p + "_bytes", "bytes", "on the wire: framing, headers, payloads", s.bytes);
    group.counter(p + "_payload_bytes", "bytes", "payload of packets and messages", s.payload_bytes);
    group.counter(p + "_metadata_bytes", "bytes", "everything but packet payload", s.metadata_bytes);
    for (unsigned i = 0; i < kTlpTypes; ++i)
      group.counter(p + "_tlps_" + lower_case(to_text(static_cast<TlpType>(i))), "TLPs", "sent", s.tlps[i]);
    base::register_serialiser(group, p, title, "TLPs", d);
  };
  direction("up", "upstream", up_);
  direction("down", "downstream", down_);
}

}  // namespace sluice::pcie
