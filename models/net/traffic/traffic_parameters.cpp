// SPDX-License-Identifier: Apache-2.0
/// The parameters of a traffic source.

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/base/parameters/size_list.h"
#include "models/net/traffic/traffic_source.h"

namespace sluice::net {
namespace {

using Kind = TrafficSource::Kind;
using P = TrafficSource::Parameters;

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::closed_loop:
      return "closed-loop";
    case Kind::open_loop:
      return "open-loop";
    case Kind::replay:
      return "replay";
    case Kind::load_sweep:
      return "load-sweep";
    case Kind::zero_loss:
      return "zero-loss";
    case Kind::size_sweep:
      break;
  }
  return "size-sweep";
}

/// Of a parameter that only some kinds of load read.
std::function<std::string(const P&)> only_for(std::initializer_list<Kind> kinds) {
  return [list = std::vector<Kind>(kinds)](const P& p) -> std::string {
    if (std::find(list.begin(), list.end(), p.kind) != list.end()) return {};
    return fmt::format("kind is {}", name_of(p.kind));
  };
}

const auto kMadeCalls = {Kind::closed_loop, Kind::open_loop, Kind::load_sweep, Kind::zero_loss, Kind::size_sweep};
const auto kClosed = {Kind::closed_loop, Kind::size_sweep};
constexpr std::uint32_t kMostBytes = 65536;  // of a size that can be written; the MTU allows less

CallParameters with_bytes(CallParameters p, std::uint32_t bytes) {
  p.bytes = bytes;
  return p;
}

/// Bytes of the largest IPv4 packet.
std::uint32_t largest_packet(const Calls& calls) { return calls.largest_message() + kIpv4Header + kUdpHeader; }

/// Of a parameter that says which of several services are called, and how often.
std::function<std::string(const P&)> only_for(Popularity popularity) {
  return [popularity](const P& p) -> std::string {
    if (std::string why = only_for(kMadeCalls)(p); !why.empty()) return why;
    if (p.services == 1) return "services is 1";
    if (p.popularity == popularity) return {};
    return popularity == Popularity::zipf ? "popularity is not zipf" : "popularity is not hot-set";
  };
}

/// Which services are called.
void describe_services(base::Schema<P>& s) {
  s.add<std::uint32_t>("services", &P::services, "instances of the program that are called, at server_port and above")
      .range(1, 64)
      .unit("services")
      .without_effect(only_for(kMadeCalls))
      .setting();
  s.add<Popularity>("popularity", &P::popularity,
                    "how often each service is called: uniform; zipf: by its number; hot-set: some more than others")
      .choices({{"uniform", Popularity::uniform}, {"zipf", Popularity::zipf}, {"hot-set", Popularity::hot_set}})
      .without_effect([](const P& p) { return only_for(p.popularity)(p); })
      .setting();
  s.add<double>("zipf_exponent", &P::zipf_exponent, "zipf: service i is called in proportion to 1 / (i + 1)^exponent")
      .range(0, 4)
      .without_effect(only_for(Popularity::zipf))
      .setting();
  s.add<std::uint32_t>("hot", &P::hot, "hot-set: services in the hot set")
      .range(1, 63)
      .unit("services")
      .without_effect(only_for(Popularity::hot_set))
      .setting();
  s.add<base::Ratio>("hot_share", &P::hot_share, "hot-set: calls that go to the hot set")
      .range(base::Ratio(0), base::Ratio(1))
      .without_effect(only_for(Popularity::hot_set))
      .setting();
  s.add<base::Time>("hot_period", &P::hot_period, "hot-set: time after which other services are hot; 0: never")
      .range(0_ns, 100_s)
      .without_effect(only_for(Popularity::hot_set))
      .acts_with({"hot_set_moves"}, "no call was made after the first period")
      .setting();
  s.rule("hot", [](const P& p) -> std::string {
    if (!only_for(Popularity::hot_set)(p).empty() || p.hot < p.services) return {};
    return fmt::format("must be less than services, {}", p.services);
  });
  s.rule("services", [](const P& p) -> std::string {
    if (!only_for(kMadeCalls)(p).empty()) return {};
    const std::uint32_t last = p.first_service_port() + p.services - 1;
    return last <= 65535 ? "" : fmt::format("needs UDP ports up to {}, and the highest is 65535", last);
  });
}

/// What is wrong with the sizes of a size sweep, as the end of a sentence.
std::string wrong_sizes(const P& p) {
  if (p.kind != Kind::size_sweep) return {};
  if (p.sizes.empty()) return "must have a size for a size sweep";
  std::vector<std::uint32_t> list;
  try {
    list = p.size_list();
  } catch (const base::ValueError& e) {
    return e.what();
  }
  for (const std::uint32_t bytes : list) {
    const std::unique_ptr<Calls> calls = with_bytes(p.call, bytes).calls();
    if (const std::string mistake = calls->mistake(); !mistake.empty())
      return fmt::format("has {}, and a call's bytes {}", bytes, mistake);
    const std::uint32_t packet = largest_packet(*calls);
    if (packet > p.mtu)
      return fmt::format("has {}, which makes IPv4 packets of {} bytes; the MTU is {}", bytes, packet, p.mtu);
  }
  return {};
}

}  // namespace

std::vector<std::uint32_t> TrafficSource::Parameters::size_list() const { return base::parse_sizes(sizes, kMostBytes); }

std::unique_ptr<Calls> TrafficSource::Parameters::calls() const {
  return kind == Kind::size_sweep && !sizes.empty() ? with_bytes(call, size_list().back()).calls() : call.calls();
}

std::unique_ptr<Calls> TrafficSource::Parameters::smallest_calls() const {
  return kind == Kind::size_sweep && !sizes.empty() ? with_bytes(call, size_list().front()).calls() : call.calls();
}

std::uint32_t TrafficSource::Parameters::first_service_port() const {
  return server_port != 0 ? server_port : call.calls()->server_port();
}

void TrafficSource::Parameters::describe(base::Schema<Parameters>& s) {
  s.summary("clients that make calls and check the replies");
  s.include("host", &Parameters::host);
  s.add(
       "kind", &Parameters::kind,
       "closed-loop: a number of calls at a time; open-loop: at a rate; replay: a capture; load-sweep: open loops "
       "at several rates; zero-loss: the highest rate without loss (RFC 2544); size-sweep: a closed loop with calls of "
       "one size after the other")
      .choices({{"closed-loop", Kind::closed_loop},
                {"open-loop", Kind::open_loop},
                {"replay", Kind::replay},
                {"load-sweep", Kind::load_sweep},
                {"zero-loss", Kind::zero_loss},
                {"size-sweep", Kind::size_sweep}})
      .setting();
  s.add("outstanding", &Parameters::outstanding, "closed loop, size sweep: calls under way at a time")
      .range(1, 65536)
      .unit("calls")
      .without_effect(only_for(kClosed))
      .setting();
  s.add("think", &Parameters::think, "closed loop, size sweep: from a reply to the next call, mean")
      .range(0_ns, 10_s)
      .without_effect(only_for(kClosed))
      .setting();
  s.add("think_times", &Parameters::think_times, "closed loop, size sweep: how think times are distributed")
      .choices({{"constant", ThinkTimes::constant}, {"exponential", ThinkTimes::exponential}})
      .without_effect([](const P& p) -> std::string {
        if (std::string why = only_for(kClosed)(p); !why.empty()) return why;
        return p.think == 0_ns ? "think is 0 ns" : "";
      })
      .setting();
  s.add("rate", &Parameters::rate, "open loop: calls per second; zero-loss: the highest tried")
      .range(1, 1'000'000'000)
      .unit("1/s")
      .without_effect(only_for({Kind::open_loop, Kind::zero_loss}))
      .setting();
  s.add("rates", &Parameters::rates, "load sweep: calls per second, one phase each")
      .range(1, 1'000'000'000)
      .length(0, 1000)
      .unit("1/s")
      .without_effect(only_for({Kind::load_sweep}))
      .setting();
  s.add("sizes", &Parameters::sizes, "size sweep: bytes of data in a call, such as 64..4096 or 8,64,1000")
      .without_effect(only_for({Kind::size_sweep}))
      .setting();
  s.add("resolution", &Parameters::resolution, "zero-loss: where the search ends")
      .range(1, 1'000'000'000)
      .unit("1/s")
      .without_effect(only_for({Kind::zero_loss}))
      .setting();
  s.add("arrivals", &Parameters::arrivals, "open loop and load sweep: when calls are made")
      .choices({{"constant", Arrivals::constant}, {"poisson", Arrivals::poisson}})
      .without_effect(only_for({Kind::open_loop, Kind::load_sweep}))
      .setting();
  s.add("pcap", &Parameters::pcap, "replay: path of the capture")
      .names_file()
      .without_effect(only_for({Kind::replay}))
      .setting();
  s.include("call", &Parameters::call);
  s.add("requests", &Parameters::requests,
        "calls that count, of each phase; a zero-loss search makes more until buffers can hide no loss; "
        "0: no calls, nor a warm-up")
      .range(0, 1'000'000'000'000)
      .unit("calls")
      .setting();
  s.add("warmup", &Parameters::warmup, "calls before them")
      .range(0, 1'000'000'000'000)
      .unit("calls")
      .without_effect([](const P& p) -> std::string { return p.find_warmup ? "find_warmup is true" : ""; })
      .setting();
  s.add("find_warmup", &Parameters::find_warmup,
        "closed and open loop: a first run finds how many calls its start-up disturbs, and these are the warm-up")
      .setting();
  s.add("timeout", &Parameters::timeout, "until a call is sent again or given up")
      .range(1_us, 100_s)
      .acts_with({"timeouts"}, "no call waited so long")
      .setting();
  s.add("retries", &Parameters::retries, "times that a call is sent again")
      .range(0, 100)
      .unit("repeats")
      .acts_with({"timeouts"}, "no call timed out")
      .setting();
  s.add("flows", &Parameters::flows, "UDP source ports, used in turn")
      .range(1, 16384)
      .unit("ports")
      .without_effect(only_for(kMadeCalls))
      .setting();
  s.add("first_port", &Parameters::first_port, "first UDP source port")
      .range(1024, 49151)
      .without_effect(only_for(kMadeCalls))
      .setting();
  s.add("server_port", &Parameters::server_port,
        "UDP port that calls go to, of the first service; 0: where the firmware serves call.program")
      .range(0, 65535)
      .setting();
  describe_services(s);
  s.add("mtu", &Parameters::mtu, "bytes of the largest IPv4 packet")
      .range(576, 9600)
      .unit("bytes")
      .without_effect([](const Parameters& p) {
        const std::uint32_t largest = largest_packet(*p.calls());
        if (p.kind == Kind::replay || largest > kMtu) return std::string();
        return fmt::format("call makes no packet above {} bytes, and only such would be refused", largest);
      })
      .setting();
  s.rule("pcap", [](const Parameters& p) -> std::string {
    return p.kind == Kind::replay && p.pcap.empty() ? "must name a capture for a replay" : "";
  });
  s.rule("find_warmup", [](const Parameters& p) -> std::string {
    const bool is_loop = p.kind == Kind::closed_loop || p.kind == Kind::open_loop;
    return p.find_warmup && !is_loop ? "belongs to a closed or an open loop" : "";
  });
  s.rule("rates", [](const Parameters& p) -> std::string {
    return p.kind == Kind::load_sweep && p.rates.empty() ? "must have a rate for a load sweep" : "";
  });
  s.rule("sizes", wrong_sizes);
  s.rule("call.service", [](const Parameters& p) -> std::string {
    if (p.call.program != "spin" || p.kind == Kind::replay) return {};
    const bool bimodal = p.call.service_times == ServiceTimes::bimodal;
    const base::Time longest = bimodal ? std::max(p.call.service, p.call.service_long) : p.call.service;
    return longest < p.timeout ? ""
                               : fmt::format("asks for {}, and timeout, {}, is no longer", base::to_text(longest),
                                             base::to_text(p.timeout));
  });
  s.rule("call.bytes", [](const Parameters& p) -> std::string {
    if (p.kind == Kind::replay || p.kind == Kind::size_sweep) return {};
    const std::uint32_t largest = largest_packet(*p.calls());
    return largest <= p.mtu ? "" : fmt::format("makes IPv4 packets of {} bytes; the MTU is {}", largest, p.mtu);
  });
}

}  // namespace sluice::net
