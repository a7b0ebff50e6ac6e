// SPDX-License-Identifier: Apache-2.0
/// Captures that are replayed, load sweeps and the search for the highest rate without loss.
#include <cstdio>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "models/net/pcap.h"
#include "models/net/traffic/rate_search.h"
#include "tests/unit/net/traffic_bench.h"

using namespace sluice;
using namespace sluice::net;
using namespace sluice::base::literals;

TEST_CASE("a capture is replayed with its times, and its calls are answered", "[traffic]") {
  const std::string path = "/tmp/sluice_test_traffic." + std::to_string(getpid()) + ".pcap";
  std::vector<base::Time> times;
  {
    Bench b(open_loop(500'000, 100, TrafficSource::Arrivals::poisson));
    PcapWriter writer(path);
    capture(b.wire, Wire::kA, writer);
    b.go();
    writer.close();
    times = b.server.arrivals;
  }
  TrafficSource::Parameters p;
  p.kind = TrafficSource::Kind::replay;
  p.pcap = path;
  Bench b(p, 1_us, "02:00:00:00:00:77");  // not the captured MAC address
  REQUIRE(b.source.total() == 100);
  const auto& r = b.go();
  REQUIRE(r.completed == 100);
  REQUIRE(r.errors == 0);
  REQUIRE(b.server.arrivals.size() == 100);
  for (std::size_t i = 0; i < 100; ++i) {
    const auto a = (b.server.arrivals[i] - b.server.arrivals[0]).femtoseconds(),
               e = (times[i] - times[0]).femtoseconds();
    REQUIRE((a > e ? a - e : e - a) <= 1'000'000);
  }
  std::remove(path.c_str());
}

TEST_CASE("a search ends at the highest rate without loss", "[traffic]") {
  for (const std::uint64_t limit : {1ull, 777ull, 3'000'000ull, 9'999'999ull, 10'000'000ull, 20'000'000ull}) {
    CAPTURE(limit);
    RateSearch search(10'000'000, 1000);
    unsigned trials = 0;
    for (; !search.done(); ++trials) search.record(search.rate() > limit);
    const std::uint64_t best = std::min<std::uint64_t>(limit, 10'000'000);
    REQUIRE(search.found() <= best);
    REQUIRE(best - search.found() <= 1000);
    REQUIRE(trials <= 15);
  }
  RateSearch exact(5, 1);
  while (!exact.done()) exact.record(exact.rate() > 3);
  REQUIRE(exact.found() == 3);
}

TEST_CASE("a load sweep runs one rate after the other, each by itself", "[traffic]") {
  TrafficSource::Parameters p;
  p.kind = TrafficSource::Kind::load_sweep;
  p.rates = {100'000, 2'000'000, 500'000};
  p.requests = 300;
  p.warmup = 50;
  p.arrivals = TrafficSource::Arrivals::constant;
  Bench b(p, 20_us);
  const auto& r = b.go();
  REQUIRE(b.finishes == 1);
  REQUIRE(r.sent == 900);
  REQUIRE(r.completed == 900);
  REQUIRE(b.measuring_after == 50);
  REQUIRE(b.server.arrivals[1] - b.server.arrivals[0] == 100_us);  // the warm-up, at a tenth of the first rate
  const auto& phases = b.source.phases();
  REQUIRE(phases.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    REQUIRE(phases[i].rate == p.rates[i]);
    REQUIRE(phases[i].sent == 300);
    REQUIRE_FALSE(phases[i].loss());
    REQUIRE(phases[i].latency.count() == 300);
    const base::Time sending = b.server.arrivals[50 + 300 * i + 299] - b.server.arrivals[50 + 300 * i];
    REQUIRE(sending == base::Time::fs(1'000'000'000'000'000 / p.rates[i] * 299));
    if (i > 0) REQUIRE(phases[i].first_bit == phases[i - 1].last_bit);
  }
}

TEST_CASE("a zero-loss search finds what the server can take", "[traffic]") {
  TrafficSource::Parameters p;
  p.kind = TrafficSource::Kind::zero_loss;
  p.rate = 8'000'000;
  p.resolution = 50'000;
  p.requests = 400;
  p.warmup = 20;
  p.timeout = 200_us;
  Bench b(p);
  b.server.shortest_gap = 400_ns;  // 2.5 million calls a second
  const auto& r = b.go();
  REQUIRE(b.source.phases().front().rate == 8'000'000);
  REQUIRE(b.source.phases().front().loss());
  REQUIRE(b.source.zero_loss_rate() <= 2'500'000);
  REQUIRE(b.source.zero_loss_rate() >= 2'450'000);
  REQUIRE(b.finishes == 1);
  REQUIRE(r.dropped.at("too fast") > 0);
  REQUIRE(r.sent == r.completed + r.dropped_sum());
}

TEST_CASE("a search's trials are longer than what buffers can hide", "[traffic]") {
  TrafficSource::Parameters p;
  p.kind = TrafficSource::Kind::zero_loss;
  p.rate = 8'000'000;
  p.resolution = 500'000;
  p.requests = 10;
  p.timeout = 200_us;
  Bench b(p);
  b.server.shortest_gap = 400_ns;  // 2.5 million calls a second
  b.source.set_buffered(100);
  b.go();
  unsigned sound = 0;
  for (const auto& phase : b.source.phases()) {
    INFO(phase.rate);
    if (phase.loss()) {
      // The second call is lost already, so the trial is not made longer than p.requests.
      CHECK(phase.rate > 2'500'000);
      CHECK(phase.sent == 10);
    } else {
      ++sound;
      CHECK(phase.sent == 100 * phase.rate / 500'000 + 1);
    }
  }
  CHECK(sound > 0);
  CHECK(b.source.zero_loss_rate() <= 2'500'000);
  CHECK(b.source.zero_loss_rate() >= 2'000'000);
  CHECK(b.source.finished());
}

TEST_CASE("a replay needs a capture", "[traffic]") {
  TrafficSource::Parameters p;
  p.kind = TrafficSource::Kind::replay;
  p.pcap = "/no/such.pcap";
  REQUIRE_THROWS_WITH(Bench(p), "/no/such.pcap: cannot be read: No such file or directory");
}
