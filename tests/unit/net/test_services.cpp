// SPDX-License-Identifier: Apache-2.0
/// Which of several services calls go to, and what a traffic source says of each.
#include <cmath>
#include <cstdio>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "models/net/pcap.h"
#include "models/net/traffic/services.h"
#include "tests/unit/net/traffic_bench.h"

using namespace sluice;
using namespace sluice::net;
using namespace sluice::base::literals;

namespace {

using Services = std::vector<std::uint16_t>;

ServiceParameters several(std::uint32_t services, Popularity popularity) {
  ServiceParameters p;
  p.services = services;
  p.popularity = popularity;
  return p;
}

Services drawn(ServiceChoice& choice, unsigned calls, base::Time since = {}) {
  Services list;
  for (unsigned i = 0; i < calls; ++i) list.push_back(choice.next(since));
  return list;
}
Services drawn(const ServiceParameters& p, unsigned calls) {
  ServiceChoice choice(p, {1, 0}, "workload");
  return drawn(choice, calls);
}

std::vector<unsigned> counts(const Services& calls, std::uint32_t services) {
  std::vector<unsigned> n(services);
  for (const std::uint16_t s : calls) ++n.at(s);
  return n;
}

TrafficSource::Parameters calls_to(std::uint32_t services, Popularity popularity, TrafficSource::Parameters p) {
  static_cast<ServiceParameters&>(p) = several(services, popularity);
  return p;
}

TrafficSource::Parameters moving(std::uint64_t requests) {
  TrafficSource::Parameters p =
      calls_to(32, Popularity::hot_set, open_loop(2'000'000, requests, TrafficSource::Arrivals::poisson));
  p.hot = 4;
  p.hot_period = 20_us;
  p.call.program = "echo";
  return p;
}

std::vector<base::Time> since_first(const std::vector<base::Time>& times) {
  std::vector<base::Time> list;
  for (const base::Time t : times) list.push_back(t - times.front());
  return list;
}

}  // namespace

TEST_CASE("the services of a seed's calls are these", "[services]") {
  ServiceParameters hot = several(8, Popularity::hot_set);
  hot.hot = 2;
  REQUIRE(drawn(several(1, Popularity::uniform), 3) == Services{0, 0, 0});
  REQUIRE(drawn(several(8, Popularity::uniform), 16) == Services{6, 3, 6, 3, 3, 2, 0, 0, 2, 1, 6, 6, 5, 2, 6, 5});
  REQUIRE(drawn(several(8, Popularity::zipf), 16) == Services{5, 1, 4, 1, 1, 0, 0, 0, 0, 0, 4, 3, 3, 0, 4, 3});
  REQUIRE(drawn(hot, 16) == Services{1, 1, 1, 1, 1, 3, 1, 3, 1, 1, 1, 2, 7, 1, 1, 1});
  REQUIRE(counts(drawn(several(8, Popularity::uniform), 10'000), 8) ==
          std::vector<unsigned>{1283, 1261, 1283, 1264, 1211, 1216, 1226, 1256});
  REQUIRE(counts(drawn(several(8, Popularity::zipf), 10'000), 8) ==
          std::vector<unsigned>{3765, 1835, 1194, 890, 716, 607, 544, 449});
  REQUIRE(counts(drawn(hot, 10'000), 8) == std::vector<unsigned>{170, 4546, 148, 4472, 169, 155, 186, 154});
}

TEST_CASE("a uniform choice and each exponent of Zipf's law have their shares", "[services]") {
  constexpr unsigned kCalls = 400'000;
  for (const double exponent : {-1.0, 0.0, 0.5, 0.99, 1.0, 2.5, 4.0}) {
    CAPTURE(exponent);
    ServiceParameters p = several(64, exponent < 0 ? Popularity::uniform : Popularity::zipf);
    p.zipf_exponent = exponent;
    const std::vector<unsigned> n = counts(drawn(p, kCalls), 64);
    double sum = 0;
    const auto weight = [&](unsigned rank) { return exponent < 0 ? 1.0 : std::pow(rank, -exponent); };
    for (unsigned rank = 1; rank <= 64; ++rank) sum += weight(rank);
    for (unsigned rank = 1; rank <= 64; ++rank) {
      CAPTURE(rank);
      const double expected = kCalls * weight(rank) / sum;
      REQUIRE(std::abs(n[rank - 1] - expected) < 4.5 * std::sqrt(expected) + 1);
    }
  }
}

TEST_CASE("the hot set gets its share and moves to services that were not hot", "[services]") {
  ServiceParameters p = several(32, Popularity::hot_set);
  p.hot = 4;
  p.hot_share = base::Ratio(9, 10);
  p.hot_period = 2_ms;
  ServiceChoice choice(p, {1, 0}, "workload");
  std::set<std::uint16_t> before, first;
  std::vector<unsigned> times_hot(32);
  for (unsigned period = 0; period < 9; ++period) {
    CAPTURE(period);
    // The last femtosecond of a period still has its set.
    Services calls = drawn(choice, 5000, 2_ms * period);
    const Services last = drawn(choice, 5000, 2_ms * (period + 1) - 1_fs);
    calls.insert(calls.end(), last.begin(), last.end());
    const std::vector<unsigned> n = counts(calls, 32);
    std::set<std::uint16_t> hot;
    for (std::uint16_t s = 0; s < 32; ++s) {
      if (n[s] > 1000) hot.insert(s);
      REQUIRE(std::abs(n[s] - (n[s] > 1000 ? 2250.0 : 1000.0 / 28)) < (n[s] > 1000 ? 200 : 30));
    }
    REQUIRE(hot.size() == 4);
    for (const std::uint16_t s : hot) {
      REQUIRE_FALSE(before.contains(s));
      if (period < 8) ++times_hot[s];
    }
    if (period == 0) first = hot;
    if (period == 8) REQUIRE(hot == first);
    before = hot;
  }
  REQUIRE(times_hot == std::vector<unsigned>(32, 1));
  REQUIRE(choice.moves() == 8);
}

TEST_CASE("a share of all or nothing is kept", "[services]") {
  ServiceParameters p = several(8, Popularity::hot_set);
  p.hot = 3;
  p.hot_share = base::Ratio(1);
  const Services hot = drawn(p, 1000);
  const std::set<std::uint16_t> all(hot.begin(), hot.end());
  REQUIRE(all.size() == 3);
  p.hot_share = base::Ratio(0);
  for (const std::uint16_t s : drawn(p, 1000)) REQUIRE_FALSE(all.contains(s));
}

TEST_CASE("which services are hot hangs on the time, and not on the calls before", "[services]") {
  ServiceParameters p = several(16, Popularity::hot_set);
  p.hot = 5;
  p.hot_period = 1_us;
  ServiceChoice still(p, {1, 0}, "workload"), moved(p, {1, 0}, "workload");
  for (unsigned i = 0; i < 100; ++i) {
    still.next({});
    moved.next(1_us * (i * i));
  }
  REQUIRE(drawn(still, 100, 7_us) == drawn(moved, 100, 7_us));
  // All 64 bits of time.
  REQUIRE(drawn(still, 100, base::Time::max()) == drawn(moved, 100, base::Time::max()));
}

TEST_CASE("other seeds and replications have other hot sets and other draws", "[services]") {
  for (const Popularity popularity : {Popularity::uniform, Popularity::zipf, Popularity::hot_set}) {
    ServiceChoice a(several(32, popularity), {1, 0}, "workload"), b(several(32, popularity), {2, 0}, "workload"),
        c(several(32, popularity), {1, 1}, "workload");
    const Services of_a = drawn(a, 50);
    REQUIRE(of_a != drawn(b, 50));
    REQUIRE(of_a != drawn(c, 50));
  }
}

TEST_CASE("boards of any speed get the same calls to the same services at the same times", "[services]") {
  const auto run = [](const TrafficSource::Parameters& p, base::Time delay, base::Time up_at) {
    Bench b(p, delay);
    b.wire.set_up(false);
    b.source.start();
    b.run(up_at);
    b.wire.set_up(true);
    b.run();
    REQUIRE(b.source.results().completed == p.requests);
    REQUIRE(b.source.results().errors == 0);
    return std::tuple(since_first(b.server.arrivals), b.server.called, b.server.messages);
  };
  REQUIRE(run(moving(2000), 1_us, 5_us) == run(moving(2000), 70_us, 333_us));

  // When calls are made and what they ask for do not hang on where they go.
  const auto [times, called, messages] = run(moving(2000), 1_us, 5_us);
  for (const Popularity popularity : {Popularity::uniform, Popularity::zipf}) {
    TrafficSource::Parameters p = moving(2000);
    p.popularity = popularity;
    const auto [other_times, other_called, other_messages] = run(p, 1_us, 5_us);
    REQUIRE(other_times == times);
    REQUIRE(other_messages == messages);
    REQUIRE(other_called != called);
  }
  TrafficSource::Parameters one = moving(2000);
  one.services = 1;
  const auto [one_times, one_called, one_messages] = run(one, 1_us, 5_us);
  REQUIRE(one_times == times);
  REQUIRE(one_messages == messages);
  REQUIRE(one_called == std::vector<std::uint16_t>(2000, 20049));
}

TEST_CASE("the results of all services sum to those of the run", "[services]") {
  TrafficSource::Parameters p = calls_to(5, Popularity::zipf, closed_loop(4, 400));
  p.warmup = 30;
  p.timeout = 100_us;
  Bench b(p);
  b.server.ignore = {50, 60};
  b.server.drop = {70, 90};
  const auto& r = b.go();
  REQUIRE(r.services.size() == 5);
  TrafficSource::Counts all;
  std::vector<unsigned> sent(5);
  for (std::size_t i = 30; i < b.server.called.size(); ++i) ++sent.at(b.server.called[i] - 20049u);
  for (std::uint16_t s = 0; s < 5; ++s) {
    CAPTURE(s);
    const TrafficSource::Counts& c = r.services[s];
    REQUIRE(c.sent == sent[s]);
    REQUIRE(c.latency.count() == c.completed);
    REQUIRE(c.in_flight() == 0);
    REQUIRE(b.source.service_port(s) == 20049 + s);
    all.merge(c);
  }
  REQUIRE(all.sent == 400);
  REQUIRE(all.completed == r.completed);
  REQUIRE(all.lost == 2);
  REQUIRE(all.dropped == std::map<std::string, std::uint64_t>{{"no descriptor", 2}});
  REQUIRE(all.latency == r.latency);
  REQUIRE(r.services[b.server.called[50] - 20049u].lost > 0);
  REQUIRE(r.services[b.server.called[60] - 20049u].lost > 0);
  REQUIRE(r.services[b.server.called[70] - 20049u].dropped_sum() > 0);
  REQUIRE(r.services[b.server.called[90] - 20049u].dropped_sum() > 0);
}

TEST_CASE("one service has no results of its own", "[services]") {
  Bench b(closed_loop(1, 10));
  REQUIRE(b.go().services.empty());
}

TEST_CASE("a call is sent again to the same service", "[services]") {
  TrafficSource::Parameters p = calls_to(16, Popularity::uniform, closed_loop(1, 40));
  p.timeout = 20_us;
  p.retries = 2;
  Bench b(p);
  b.server.ignore = {3, 4, 10, 20, 21};
  const auto& r = b.go();
  REQUIRE(r.completed == 40);
  REQUIRE(r.retransmissions == 5);
  REQUIRE(b.server.called[4] == b.server.called[3]);
  REQUIRE(b.server.called[5] == b.server.called[3]);
  REQUIRE(b.server.called[11] == b.server.called[10]);
  REQUIRE(b.server.called[22] == b.server.called[20]);
  std::uint64_t sent = 0;
  for (const auto& c : r.services) sent += c.sent;
  REQUIRE(sent == 40);
}

TEST_CASE("each service has a store of its own", "[services]") {
  TrafficSource::Parameters p = calls_to(3, Popularity::uniform, closed_loop(2, 300));
  p.call = {"kv", 40, 4, 100};
  Bench b(p);
  const auto& r = b.go();
  REQUIRE(r.first_error == "");
  REQUIRE(r.completed == 300);
}

TEST_CASE("a reply from another service is no answer", "[services]") {
  TrafficSource::Parameters p = calls_to(2, Popularity::uniform, closed_loop(1, 2));
  Bench b(p, 10_us);
  b.source.start();
  b.run(3_us);
  REQUIRE(b.source.under_way() == 1);
  const auto inject = [&](std::uint16_t port) {
    const std::string reply = test::RpcServer().answer(b.server.messages.at(0));
    PacketPtr out = make_packet();
    std::memcpy(out->bytes + kUdpPayload, reply.data(), reply.size());
    finish_udp(*out, {parse_mac("02:00:00:00:00:02"), parse_ipv4("10.0.0.2"), port},
               {parse_mac("02:00:00:00:00:01"), parse_ipv4("10.0.0.1"), b.server.ports.at(0)},
               static_cast<std::uint32_t>(reply.size()));
    pad(*out);
    b.source.frame_arrived(std::move(out));
  };
  const std::uint16_t called = b.server.called.at(0);
  inject(called == 20049 ? 20050 : 20049);
  inject(20048);
  inject(20051);
  REQUIRE(b.source.host_statistics().unexpected == 3);
  REQUIRE(b.source.settled() == 0);
  inject(called);
  REQUIRE(b.source.settled() == 1);
  b.run();
  REQUIRE(b.source.results().completed == 2);
  REQUIRE(b.source.results().late_duplicates == 1);
}

TEST_CASE("each phase of a load sweep has its services, and begins with the first hot set", "[services]") {
  TrafficSource::Parameters p = moving(600);
  p.kind = TrafficSource::Kind::load_sweep;
  p.rates = {1'000'000, 4'000'000};
  p.hot_share = base::Ratio(1);
  p.hot_period = 100_us;
  p.warmup = 50;
  const auto run = [&](base::Time delay) {
    Bench b(p, delay);
    b.go();
    REQUIRE(b.source.phases().size() == 2);
    for (const TrafficSource::Phase& phase : b.source.phases()) {
      TrafficSource::Counts all;
      for (const auto& c : phase.services) all.merge(c);
      REQUIRE(phase.services.size() == 32);
      REQUIRE(all.sent == 600);
      REQUIRE(all.latency == phase.latency);
    }
    const auto& of = b.server.called;
    const std::set<std::uint16_t> warmup(of.begin(), of.begin() + 50), first(of.begin() + 50, of.begin() + 90),
        second(of.begin() + 650, of.begin() + 690);
    REQUIRE(first.size() == 4);
    REQUIRE(first == second);
    REQUIRE(std::includes(warmup.begin(), warmup.end(), first.begin(), first.end()));
    return of;
  };
  REQUIRE(run(1_us) == run(30_us));
}

TEST_CASE("a zero-loss search and a size sweep call several services", "[services]") {
  TrafficSource::Parameters p = calls_to(4, Popularity::uniform, closed_loop(1, 100));
  p.kind = TrafficSource::Kind::zero_loss;
  p.rate = 4'000'000;
  p.resolution = 100'000;
  {
    Bench b(p);
    b.server.shortest_gap = 400_ns;
    const auto& r = b.go();
    REQUIRE(b.source.zero_loss_rate() == Approx(2'500'000).margin(100'000));
    for (const TrafficSource::Phase& phase : b.source.phases()) {
      std::uint64_t dropped = 0;
      for (const auto& c : phase.services) dropped += c.dropped_sum();
      REQUIRE(dropped == phase.dropped_sum());
    }
    REQUIRE(r.services.size() == 4);
  }
  p.kind = TrafficSource::Kind::size_sweep;
  p.sizes = "8,64";
  p.call.program = "echo";
  Bench b(p);
  REQUIRE(b.go().errors == 0);
  REQUIRE(b.source.phases().size() == 2);
  for (const TrafficSource::Phase& phase : b.source.phases()) {
    REQUIRE(phase.services.size() == 4);
    for (const auto& c : phase.services) REQUIRE(c.sent > 10);
  }
}

TEST_CASE("a replay sends to the services of its capture, and knows none", "[services]") {
  const std::string path = "/tmp/sluice_test_services." + std::to_string(getpid()) + ".pcap";
  std::vector<std::uint16_t> called;
  {
    Bench b(moving(100));
    PcapWriter writer(path);
    capture(b.wire, Wire::kA, writer);
    b.go();
    writer.close();
    called = b.server.called;
  }
  TrafficSource::Parameters p = calls_to(8, Popularity::uniform, {});
  p.kind = TrafficSource::Kind::replay;
  p.pcap = path;
  Bench b(p);
  const auto& r = b.go();
  REQUIRE(r.completed == 100);
  REQUIRE(r.services.empty());
  REQUIRE(b.server.called == called);
  std::remove(path.c_str());
}

TEST_CASE("what parameters of services cannot be is said", "[services]") {
  const auto broken = [](const TrafficSource::Parameters& p) {
    std::string all;
    for (const auto& rule : base::schema_of<TrafficSource::Parameters>().rules()) all += rule.broken(&p);
    return all;
  };
  TrafficSource::Parameters p = calls_to(8, Popularity::hot_set, {});
  REQUIRE(broken(p).empty());
  p.hot = 8;
  REQUIRE(broken(p) == "must be less than services, 8");
  p.popularity = Popularity::zipf;
  REQUIRE(broken(p).empty());
  p.server_port = 65'529;
  REQUIRE(broken(p) == "needs UDP ports up to 65536, and the highest is 65535");
  p.server_port = 65'528;
  REQUIRE(broken(p).empty());
}

TEST_CASE("what has no effect on one service is said", "[services]") {
  const auto why = [](const char* key, const TrafficSource::Parameters& p) {
    return base::schema_of<TrafficSource::Parameters>().find(key)->why_without_effect(&p);
  };
  TrafficSource::Parameters p;
  for (const char* key : {"popularity", "zipf_exponent", "hot", "hot_share", "hot_period"})
    REQUIRE(why(key, p) == "services is 1");
  p.services = 2;
  REQUIRE(why("popularity", p).empty());
  REQUIRE(why("zipf_exponent", p) == "popularity is not zipf");
  REQUIRE(why("hot_share", p) == "popularity is not hot-set");
  p.popularity = Popularity::hot_set;
  for (const char* key : {"hot", "hot_share", "hot_period"}) REQUIRE(why(key, p).empty());
  p.kind = TrafficSource::Kind::replay;
  for (const char* key : {"services", "popularity", "hot", "hot_period"}) REQUIRE(why(key, p) == "kind is replay");
}
