// SPDX-License-Identifier: Apache-2.0
/// What a run's result file says of its calls: counts, latencies, phases and stages.

#include <algorithm>

#include <nlohmann/json.hpp>

#include "models/workload/figures.h"
#include "models/workload/stages.h"
#include "models/workload/steps.h"
#include "platform/workload/traffic_workload.h"

namespace sluice::platform {
namespace {

using base::Time;
using net::TrafficSource;
using workload::Json;
using workload::latency_with_histogram;
using workload::share;

Json dropped(const std::map<std::string, std::uint64_t>& reasons) {
  Json list = Json::object();
  for (const auto& [reason, n] : reasons) list[reason] = n;
  return list;
}

Json requests(const net::TrafficSource::Results& r) {
  return {{"sent", r.sent},
          {"completed", r.completed},
          {"dropped", dropped(r.dropped)},
          {"in_flight", r.in_flight()},
          {"lost", r.lost},
          {"errors", r.errors},
          {"retransmissions", r.retransmissions},
          {"late_duplicates", r.late_duplicates},
          {"dropped_in_warmup", r.dropped_in_warmup}};
}

double rate_between(std::uint64_t calls, Time first, Time last) {
  return share(static_cast<double>(calls), last > first ? (last - first).seconds() : 0.0);
}

/// Calls per second as they were due, as the line took them, and as they were answered, of the run or of a phase.
Json load(const TrafficSource::Counts& c) {
  return {{"offered_per_s", rate_between(c.sent - (c.sent > 0), c.first_due, c.last_due)},
          {"accepted_per_s", rate_between(c.sent - (c.sent > 0), c.first_bit, c.last_start)},
          {"achieved_per_s",
           rate_between(c.completed - (c.completed > 0), c.first_answered, std::max(c.last_bit, c.last_due))}};
}

/// What came of the calls to each of several services.
Json services(const TrafficSource& source, const TrafficSource::Counts& c) {
  Json list = Json::array();
  for (std::uint16_t i = 0; i < c.services.size(); ++i) {
    const TrafficSource::Counts& s = c.services[i];
    list.push_back({{"service", i},
                    {"port", source.service_port(i)},
                    {"sent", s.sent},
                    {"completed", s.completed},
                    {"dropped", dropped(s.dropped)},
                    {"in_flight", s.in_flight()},
                    {"lost", s.lost},
                    {"latency_ns", workload::latency(s.latency)}});
  }
  return list;
}

void add_services(Json& result, const TrafficSource& source, const TrafficSource::Counts& c) {
  if (!c.services.empty()) result["services"] = services(source, c);
}

/// The rates of a load sweep, the trials of a zero-loss search, or the sizes of a size sweep.
Json phases(const net::TrafficSource& source) {
  Json list = Json::array();
  for (const net::TrafficSource::Phase& p : source.phases()) {
    if (p.sent == 0) continue;  // the run ended before its first call
    Json phase = p.rate != 0 ? Json{{"rate_per_s", p.rate}} : Json{{"call_bytes", p.bytes}};
    phase.update(Json{{"load", load(p)},
                      {"sent", p.sent},
                      {"completed", p.completed},
                      {"dropped", dropped(p.dropped)},
                      {"lost", p.lost},
                      {"throughput_per_s", rate_between(p.completed, p.first_bit, p.last_bit)},
                      {"latency_ns", latency_with_histogram(p.latency)}});
    add_services(phase, source, p);
    list.push_back(std::move(phase));
  }
  return list;
}

void add_calls(Json& result, const TrafficSource::Results& r) {
  result["requests"] = requests(r);
  result["latency_ns"] = latency_with_histogram(r.latency);
  result["load"] = load(r);
  result["throughput_per_s"] = rate_between(r.completed, r.first_bit, r.last_bit);
}

void add_parts(Json& result, const Clients& c) {
  add_services(result, *c.source, c.source->results());
  if (!c.source->phases().empty()) result["phases"] = phases(*c.source);
  if (c.parameters->kind == TrafficSource::Kind::zero_loss && c.source->finished())
    result["zero_loss_rate_per_s"] = c.source->zero_loss_rate();
}

}  // namespace

void TrafficWorkload::add_result(Json& result) const {
  add_calls(result, results());
  if (clients_.size() == 1) {
    add_parts(result, clients_.front());
  } else {
    for (const Clients& c : clients_) {
      Json& own = result["clients"][c.path] = {{"wire", c.wire}};
      add_calls(own, c.source->results());
      add_parts(own, c);
    }
  }
  workload::add_stages(result);
  workload::add_steps(base::ledger(), result);
}

}  // namespace sluice::platform
