// SPDX-License-Identifier: Apache-2.0
#include "models/coherence/link/coherent_link.h"

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/base/fabric/link_counters.h"
#include "models/coherence/link/host_path.h"
#include "models/coherence/link/register_path.h"

template class sluice::base::LinkDirection<sluice::coherence::CoherentProtocol>;

namespace sluice::coherence {
namespace {

using Direction = base::LinkDirection<CoherentProtocol>;

Direction::Setup setup_of(const CoherentLatencies& p, base::Ratio rate, const std::string& path,
                          base::Ledger::Component component) {
  Direction::Setup setup{path,     SLUICE_STAGE_coherence_message, component, rate,
                         p.flight, p.credit_update + p.flight,     {},        {}};
  setup.credits.fill({p.credits, 0});
  return setup;
}

/// "read shared" as a part of a counter's name.
std::string in_name(const char* text) {
  std::string name = text;
  for (char& c : name)
    if (c == ' ') c = '_';
  return name;
}

}  // namespace

void CoherentLatencies::describe(base::Schema<CoherentLatencies>& s) {
  using P = CoherentLatencies;
  const std::vector<std::string> bytes{"down_bytes", "up_bytes"}, accesses{"down_accesses"};
  const char* unused = "the link carried nothing";
  const char* no_access = "no register behind the link was accessed";
  const char* unknown = "no modelled system publishes it";
  s.summary("latencies and credits of a coherent link");
  s.add("flight", &P::flight, "one way, wire only").range(0_ns, 1_us).acts_with(bytes, unused).assumed("1 m of trace");
  const auto latency = [&](const char* key, base::Time P::*member, const char* meaning) -> auto& {
    return s.add(key, member, meaning).range(0_ns, 10_us).assumed(unknown);
  };
  latency("host_transmit", &P::host_transmit, "from a core's miss, or a snoop's answer, to the link")
      .acts_with(bytes, unused);
  latency("host_receive", &P::host_receive, "from a message's last bit to the cache, and the core that waits for it")
      .acts_with(bytes, unused);
  latency("device_transmit", &P::device_transmit, "from the home's decision to the link").acts_with(bytes, unused);
  latency("device_receive", &P::device_receive, "from a message's last bit to the home").acts_with(bytes, unused);
  latency("host_io", &P::host_io, "more, for an access to registers to leave the host, and for its answer to come in")
      .acts_with(accesses, no_access);
  latency("device_io", &P::device_io, "more, for such an access to reach the registers, and for its answer to leave")
      .acts_with(accesses, no_access);
  const std::vector<std::string> stalls{"down_credit_stalls", "up_credit_stalls"};
  const char* no_stall = "no message waited for credits";
  s.add("credits", &P::credits, "messages that a receiver holds in each virtual channel; 0: infinite")
      .range(0, 65535)
      .unit("messages")
      .acts_with(stalls, no_stall)
      .assumed("more than a link has under way");
  latency("credit_update", &P::credit_update, "from a freed buffer to the sender's credit, flight apart")
      .acts_with(stalls, no_stall);
}

CoherentLink::CoherentLink(const sc_core::sc_module_name& name, const Dialect& dialect,
                           base::Ratio femtoseconds_per_byte, const CoherentLatencies& p)
    : Model(name),
      dialect_(dialect),
      latencies_(p),
      host_(path() + ".host"),
      device_(path() + ".device"),
      up_(setup_of(p, femtoseconds_per_byte, path() + ".up", component())),
      down_(setup_of(p, femtoseconds_per_byte, path() + ".down", component())) {
  host_.transmit_latency = p.host_transmit;
  host_.receive_latency = p.host_receive;
  device_.transmit_latency = p.device_transmit;
  device_.receive_latency = p.device_receive;
  down_.connect(host_, device_);
  up_.connect(device_, host_);
  host_.on_receive = [this](CoherentMessagePtr m) {
    m->return_credits(m->channel(), 0);
    if (m->access)
      m->access->path.end(*m->access);
    else if (m->host.path)
      m->host.path->arrive_at_host(*m);
    else
      caches_(*m);
  };
  device_.on_receive = [this](CoherentMessagePtr m) {
    m->return_credits(m->channel(), 0);
    if (m->access)
      m->access->path.arrive(*m->access);
    else if (m->host.path)
      m->host.path->arrive_at_device(*m);
    else
      arrive_at_device(*m);
  };
}

void CoherentLink::connect_home(std::uint64_t base, std::uint64_t size, unsigned line_bytes, Receive home,
                                Receive caches) {
  if (dialect_.line_bytes != 0 && dialect_.line_bytes != line_bytes)
    throw std::logic_error(fmt::format("{} has lines of {} B, and the caches have lines of {} B", dialect_.name,
                                       dialect_.line_bytes, line_bytes));
  line_bytes_ = line_bytes;
  homes_.push_back({base, size, std::move(home)});
  caches_ = std::move(caches);
}

void CoherentLink::arrive_at_device(const CoherentMessage& m) {
  for (Home& h : homes_)
    if (m.line - h.base < h.size) return h.receive(m);
}

void CoherentLink::send(Port& port, CoherentMessagePtr m) {
  m->format = dialect_.format(m->what, line_bytes_);
  m->parity = static_cast<unsigned>(m->line / line_bytes_ % 2);
  port.send(std::move(m));
}

void CoherentLink::send_access(RegisterAccess& access, bool is_answer) {
  CoherentMessagePtr m = make_coherent_message();
  m->access = &access;
  m->format = dialect_.format_of_access(access.transaction.is_write(), is_answer, access.transaction.get_data_length());
  (is_answer ? device_ : host_).send(std::move(m));
}

void CoherentLink::send_about_host(CoherentMessagePtr m, bool from_device) {
  const HostPart& h = m->host;
  m->format = dialect_.format_of_host(h.kind, m->line, h.bytes, line_bytes_);
  m->parity = static_cast<unsigned>(m->line / line_bytes_ % 2);
  (from_device ? device_ : host_).send(std::move(m));
}

std::string CoherentLink::describe(std::uint64_t line) const {
  std::string text;
  for (const auto& [direction, preposition] : {std::pair{&up_, "to"}, std::pair{&down_, "from"}})
    direction->for_each_under_way([&, p = preposition](const CoherentMessage& m) {
      if (m.access || m.host.path || m.line != line) return;
      text += fmt::format("{}{} {} hart {}", text.empty() ? "" : ", ", m.format.name, p, m.cache);
    });
  return text;
}

void CoherentLink::hold_down(bool on) {
  downs_ += on ? 1 : -1u;
  const bool up = downs_ == 0;
  if (up == is_up()) return;
  for (Direction* d : {&up_, &down_}) d->set_up(up);
  if (up) return;
  end_accesses();
  for (auto& f : on_down_) f();
}

void CoherentLink::reset() {
  if (is_up())
    for (Direction* d : {&up_, &down_}) {
      d->set_up(false);
      d->set_up(true);
    }
  end_accesses();
}

/// What was under way is forgotten.
void CoherentLink::end_accesses() {
  ++resets_;
  for (RegisterPath* p : registers_) p->reset();
  for (HostPath* p : host_paths_) p->reset();
}

void CoherentLink::register_statistics(base::StatisticsGroup& group) {
  const auto direction = [this, &group](const char* prefix, const char* title, Direction& d, bool to_host) {
    const CoherentStatistics& s = d.statistics();
    const std::string p = prefix;
    group.counter(p + "_bytes", "bytes", "on the wire: headers and content", s.bytes);
    group.counter(p + "_payload_bytes", "bytes", "of lines", s.line_bytes);
    group.counter_of(p + "_metadata_bytes", "bytes", "everything but lines", [&s] { return s.bytes - s.line_bytes; });
    for (unsigned i = 0; i < protocol::kKinds; ++i) {
      const auto kind = static_cast<protocol::Kind>(i);
      const char* name = dialect_.format({kind}, line_bytes_).name;
      if (protocol::is_of_home(kind) != to_host || *name == 0) continue;
      group.counter(p + "_" + in_name(protocol::to_text(kind)), "messages", std::string(name) + ", sent", s.kinds[i]);
    }
    group.counter(p + "_accesses", "messages", "about registers, sent", s.accesses);
    group.counter(p + "_host_accesses", "messages", "about host memory, and interrupts, sent", s.host_parts);
    base::register_serialiser(group, p, title, "messages", d);
  };
  direction("up", "upstream", up_, true);
  direction("down", "downstream", down_, false);
}

}  // namespace sluice::coherence
