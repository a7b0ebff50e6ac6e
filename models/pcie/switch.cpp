// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/switch.h"

#include <stdexcept>

#include "models/pcie/bad_request.h"
#include "models/pcie/completions.h"
#include "models/pcie/pcie_regs.h"

namespace sluice::pcie {
namespace {
// Vendor and device ids that no vendor has: these parts exist in no silicon.
constexpr Identity kUpstream{0x534c, 0x0701, PCIE_CLASS_PCI_BRIDGE, 0, 0, 0};
constexpr Identity kDownstream{0x534c, 0x0702, PCIE_CLASS_PCI_BRIDGE, 0, 0, 0};
}  // namespace

void Switch::Parameters::describe(base::Schema<Parameters>& s) {
  s.summary("plain PCIe switch");
  s.add("downstream_ports", &Parameters::downstream_ports, "ports away from the root").range(1, 31).setting();
  s.add("latency", &Parameters::latency, "from a TLP's arrival to its way out, waiting for the link apart")
      .range(0_ns, 10_us)
      .stated("vendor's page of a commodity gen5 switch (HighPoint)");
  s.add("cut_through", &Parameters::cut_through, "forwards a TLP when its header has arrived").setting();
}

Switch::SwitchPort::SwitchPort(const std::string& owner, const Identity& identity, unsigned express_type)
    : port(owner), bridge(identity, express_type) {}

Switch::Switch(sc_core::sc_module_name name, const Parameters& p) : Model(name), parameters_(p) {
  if (p.downstream_ports < 1 || p.downstream_ports > 31)
    throw std::invalid_argument(path() + ": downstream_ports must be 1 to 31");
  for (unsigned i = 0; i <= p.downstream_ports; ++i) {
    ports_.push_back(std::make_unique<SwitchPort>(path(), i == 0 ? kUpstream : kDownstream,
                                                  i == 0 ? PCIE_EXPRESS_TYPE_UPSTREAM : PCIE_EXPRESS_TYPE_DOWNSTREAM));
    Port& port = ports_[i]->port;
    port.receive_latency = p.latency;
    port.cut_through = p.cut_through;
    port.on_receive = [this, i](TlpPtr t) { receive(i, std::move(t)); };
    port.on_connect = [this, i](const Link& link) { link.describe_to(ports_[i]->bridge.config()); };
    if (i > 0) port.on_link_down = [this, i] { link_down(i); };
  }
  upstream_port().on_hot_reset = [this] { reset(); };
}

void Switch::receive(unsigned ingress, TlpPtr tlp) {
  if (tlp->carries_journey)
    tlp->journey.enter(SLUICE_STAGE_switch_fabric, component(), base::now() - parameters_.latency);
  // The link made this calendar entry, so an exception of a derived switch would be blamed on the link.
  base::name_what_is_thrown(path(), [&] { before_routing(ingress, tlp); });
  if (tlp) route(ingress, std::move(tlp));
}

void Switch::check(unsigned port, const TlpPtr& tlp) const {
  if (port >= ports_.size())
    throw base::ComponentError(path(), "it has no port " + std::to_string(port) + " to send a TLP through");
  if (!tlp) throw base::ComponentError(path(), "it sends a TLP that it no longer has");
}

void Switch::route(unsigned ingress, TlpPtr tlp) {
  check(ingress, tlp);
  switch (tlp->type) {
    case TlpType::kMRd:
    case TlpType::kMWr:
      return route_memory(ingress, std::move(tlp));
    case TlpType::kCpl:
    case TlpType::kCplD:
      return route_completion(ingress, std::move(tlp));
    case TlpType::kMsg:
      return receive_message(ingress, std::move(tlp));
    default:
      return route_config(ingress, std::move(tlp));
  }
}

/// The TLP keeps its ingress buffer until it has left on the next link, so a full egress port holds up the sender.
void Switch::forward(unsigned egress, TlpPtr tlp) {
  check(egress, tlp);
  ++counters_.forwarded;
  ports_[egress]->port.send(std::move(tlp));
}

void Switch::refuse(unsigned ingress, TlpPtr tlp, const char* cause) {
  check(ingress, tlp);
  ++counters_.unsupported_requests;
  if (cause) report_bad_request(*tlp, path(), cause);
  tlp->release_buffer();
  if (tlp->tlp_class() == TlpClass::kNonPosted)
    ports_[ingress]->port.send(make_completion(*tlp, id_, CompletionStatus::kUnsupportedRequest));
}

void Switch::route_memory(unsigned ingress, TlpPtr tlp) {
  const Bridge& upstream = ports_[0]->bridge;
  constexpr const char* kOff = "bus mastering is off in the command register of a switch port above it";
  if (ingress != 0 && !ports_[ingress]->bridge.forwards_upstream()) return refuse(ingress, std::move(tlp), kOff);
  const bool below = upstream.leads_to(tlp->address);
  if (below) {
    for (unsigned i = 1; i < ports_.size(); ++i)
      if (i != ingress && ports_[i]->bridge.leads_to(tlp->address)) return forward(i, std::move(tlp));
  }
  if (below || ingress == 0)
    return refuse(ingress, std::move(tlp), "the window of no port that it could go to holds the address");
  if (!upstream.forwards_upstream()) return refuse(ingress, std::move(tlp), kOff);
  forward(0, std::move(tlp));
}

void Switch::route_completion(unsigned ingress, TlpPtr tlp) {
  const unsigned bus = bus_of(tlp->requester);
  for (unsigned i = 1; i < ports_.size(); ++i)
    if (i != ingress && ports_[i]->bridge.leads_to_bus(bus)) return forward(i, std::move(tlp));
  if (ingress != 0 && !ports_[0]->bridge.leads_to_bus(bus)) return forward(0, std::move(tlp));
  ++counters_.unexpected_completions;
  tlp->release_buffer();
}

void Switch::route_config(unsigned ingress, TlpPtr tlp) {
  if (ingress != 0) return refuse(ingress, std::move(tlp));
  const unsigned bus = bus_of(tlp->target);
  if (tlp->type == TlpType::kCfgRd0 || tlp->type == TlpType::kCfgWr0) {
    if (device_of(tlp->target) != 0 || function_of(tlp->target) != 0) return refuse(0, std::move(tlp));
    id_ = tlp->target;
    return configure(0, std::move(tlp));
  }
  if (bus == ports_[0]->bridge.secondary_bus()) {
    // The switch's internal bus: downstream port n is device n.
    const unsigned device = device_of(tlp->target);
    if (device + 1 >= ports_.size() || function_of(tlp->target) != 0) return refuse(0, std::move(tlp));
    return configure(device + 1, std::move(tlp));
  }
  for (unsigned i = 1; i < ports_.size(); ++i) {
    const Bridge& bridge = ports_[i]->bridge;
    if (!bridge.leads_to_bus(bus)) continue;
    if (bus == bridge.secondary_bus()) {
      if (device_of(tlp->target) != 0 || !ports_[i]->port.connected()) break;
      tlp->type = tlp->type == TlpType::kCfgRd1 ? TlpType::kCfgRd0 : TlpType::kCfgWr0;
    }
    return forward(i, std::move(tlp));
  }
  refuse(0, std::move(tlp));
}

void Switch::configure(unsigned n, TlpPtr tlp) {
  tlp->release_buffer();
  SwitchPort& p = *ports_[n];
  if (!tlp->has_data()) {
    make_completions(*tlp, tlp->target, 0, 4, 64, 64, [&](TlpPtr c, std::uint32_t, std::uint32_t) {
      const std::uint32_t value = p.bridge.config().read(tlp->reg);
      std::memcpy(c->payload(), &value, 4);
      ports_[0]->port.send(std::move(c));
    });
    return;
  }
  std::uint32_t value;
  std::memcpy(&value, tlp->payload(), 4);
  if (p.bridge.write(tlp->reg, value, tlp->first_be)) {
    if (n == 0)
      for (unsigned i = 1; i < ports_.size(); ++i) ports_[i]->bridge.reset();
    for (unsigned i = n == 0 ? 1 : n; i < (n == 0 ? ports_.size() : n + 1); ++i) ports_[i]->port.hot_reset();
  }
  ports_[0]->port.send(make_completion(*tlp, tlp->target, CompletionStatus::kSuccess));
}

/// Sends no Deassert_INTx upstream: the port there has deasserted its INTx wires when the link went down.
void Switch::reset() {
  id_ = 0;
  intx_sent_ = 0;
  for (auto& p : ports_) p->asserted = 0;
  for (auto& p : ports_) {
    p->bridge.reset();
    if (p != ports_[0]) p->port.hot_reset();
  }
  base::name_what_is_thrown(path(), [this] { fabric_reset(); });
}

/// Whatever was asserted below counts as deasserted.
void Switch::link_down(unsigned port) {
  ports_[port]->asserted = 0;
  update_intx(nullptr);
}

void Switch::receive_message(unsigned ingress, TlpPtr tlp) {
  tlp->release_buffer();
  if (ingress == 0) return;
  const unsigned code = tlp->message_code;
  std::uint8_t& asserted = ports_[ingress]->asserted;
  if (code >= kAssertIntA && code < kAssertIntA + 4)
    asserted |= static_cast<std::uint8_t>(1u << (code - kAssertIntA));
  else if (code >= kDeassertIntA && code < kDeassertIntA + 4)
    asserted &= static_cast<std::uint8_t>(~(1u << (code - kDeassertIntA)));
  update_intx(tlp.get());
}

/// Pin x of downstream port n goes upstream as pin (x + n) mod 4, which is asserted while any port asserts it. The
/// requests that wait for a message from below travel on with the message that it causes.
void Switch::update_intx(const Tlp* cause) {
  std::uint8_t level = 0;
  for (unsigned i = 1; i < ports_.size(); ++i)
    for (unsigned pin = 0; pin < 4; ++pin)
      if (ports_[i]->asserted >> pin & 1) level |= static_cast<std::uint8_t>(1u << (pin + i - 1) % 4);
  for (unsigned pin = 0; pin < 4; ++pin) {
    if (!((level ^ intx_sent_) >> pin & 1)) continue;
    TlpPtr m = make_tlp(TlpType::kMsg);
    m->requester = id_;
    m->message_code = static_cast<std::uint8_t>((level >> pin & 1 ? kAssertIntA : kDeassertIntA) + pin);
    if (cause) {
      m->spans = cause->spans;
      m->ending = cause->ending;
      m->arrival_stage = cause->arrival_stage;
      m->carries_journey = cause->carries_journey;
      m->journey = cause->journey;
    }
    ports_[0]->port.send(std::move(m));
  }
  intx_sent_ = level;
}

void Switch::fill_statistics(base::StatisticsGroup& group) {
  group.counter("forwarded", "TLPs", "passed on", counters_.forwarded);
  group.counter("unsupported_requests", "TLPs", "that no port claimed", counters_.unsupported_requests);
  group.counter("unexpected_completions", "TLPs", "whose requester is nowhere", counters_.unexpected_completions);
  register_statistics(group);
}

}  // namespace sluice::pcie
