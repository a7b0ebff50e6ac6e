// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "tests/unit/workload/packets_bench.h"

using namespace sluice;
using namespace sluice::workload;
using namespace sluice::base::literals;

TEST_CASE("saturation is the line's rate: 148.8 M frames of 64 B per second at 100 Gb/s", "[packets]") {
  Bench b(packets(1000));
  const auto& r = b.go();
  REQUIRE(r.returned == 1000);
  for (std::size_t i = 1; i < 1000; ++i)
    REQUIRE(b.board.arrivals[i] - b.board.arrivals[i - 1] == base::Time::ps(84 * 80));
  const auto& t = b.source.trials().at(0);
  REQUIRE(t.rate == 100_Gbps);
  REQUIRE(t.offered_per_s() == Approx(1e12 / (84 * 80)).epsilon(1e-12));
  REQUIRE(t.returned_per_s() == Approx(1e12 / (84 * 80)).epsilon(1e-12));
}

TEST_CASE("a constant rate is exact and counts preamble and gap", "[packets]") {
  PacketsParameters p = packets(1000, "1518");
  p.load = PacketLoad::constant;
  p.rate = 7_Gbps;
  Bench b(p);
  b.go();
  for (std::uint64_t i = 0; i < 1000; ++i)
    REQUIRE(b.board.arrivals[i] - b.board.arrivals[0] == base::Time::fs(i * 1538 * 8 * 1'000'000 / 7));
  REQUIRE(b.source.trials().at(0).offered_per_s() == Approx(7e9 / (1538 * 8)).epsilon(1e-9));
}

TEST_CASE("Poisson departures have the right mean and depend on the seed alone", "[packets]") {
  const auto run = [](base::Time delay, std::uint64_t seed) {
    PacketsParameters p = packets(20'000);
    p.load = PacketLoad::poisson;
    p.rate = 1_Gbps;
    Bench b(p, delay, seed);
    REQUIRE(b.go().returned == 20'000);
    return b.board.arrivals;
  };
  const auto fast = run(1_us, 1), slow = run(7_us, 1), other = run(1_us, 2);
  REQUIRE(fast == slow);
  REQUIRE(fast != other);
  // A packet waits while the line is busy with the one before it, which moves no mean.
  REQUIRE((fast.back() - fast.front()).nanoseconds() / 19'999 == Approx(672).epsilon(0.03));
  unsigned close = 0;
  for (std::size_t i = 1; i < fast.size(); ++i) close += fast[i] - fast[i - 1] < 336_ns;
  REQUIRE(close / 19'999.0 == Approx(1 - std::exp(-0.5)).epsilon(0.05));
}

namespace {

PacketsParameters search(std::uint64_t requests) {
  PacketsParameters p = packets(requests);
  p.load = PacketLoad::zero_loss;
  return p;
}

}  // namespace

TEST_CASE("a search ends just below what the board takes", "[packets]") {
  // A packet in 13.44 ns is exactly 50 Gb/s with preamble and gap. Faster ones are dropped.
  Bench b(search(200));
  b.board.shortest_gap = base::Time::ps(13'440);
  b.go();
  REQUIRE(b.source.found().size() == 1);
  REQUIRE(b.source.found()[0].size == 64);
  REQUIRE(b.source.found()[0].rate <= 50_Gbps);
  REQUIRE(b.source.found()[0].rate >= base::BitRate(49'900'000'000));
  const auto& trials = b.source.trials();
  REQUIRE(trials[0].rate == 100_Gbps);
  REQUIRE(trials[0].loss());
  REQUIRE(trials[1].rate == 50_Gbps);
  REQUIRE_FALSE(trials[1].loss());
  REQUIRE(trials[2].rate == 75_Gbps);
  for (const auto& t : trials) REQUIRE(t.sent == 200);
}

TEST_CASE("a search finds the line's rate in one trial, and each size has its own", "[packets]") {
  PacketsParameters p = search(50);
  p.sizes = "64,128";
  p.warmup = 10;
  Bench b(p);
  const auto& r = b.go();
  REQUIRE(r.sent == 100);
  REQUIRE(b.board.arrivals.size() == 110);
  // The warm-up is a tenth as fast.
  REQUIRE(b.board.arrivals[1] - b.board.arrivals[0] == base::Time::ps(84 * 800));
  REQUIRE(b.source.found().size() == 2);
  for (const auto& f : b.source.found()) REQUIRE(f.rate == 100_Gbps);
  REQUIRE(b.source.found()[1].size == 128);
}

TEST_CASE("a trial fills what the board buffers, unless it loses a packet before", "[packets]") {
  PacketsParameters p = search(10);
  p.resolution = 50_Gbps;
  {
    Bench b(p);
    std::uint64_t asked = 0;
    b.source.set_buffered([&](std::uint64_t bytes) { return asked = bytes, 100; });
    b.go();
    REQUIRE(asked == 60);
    REQUIRE(b.source.trials().size() == 1);
    REQUIRE(b.source.trials()[0].sent == 201);  // 100 x 100 / 50, and one more
  }
  Bench b(p);
  b.source.set_buffered([](std::uint64_t) { return 100; });
  b.board.drop = {3};
  b.go();
  REQUIRE(b.source.trials().size() == 2);
  REQUIRE(b.source.trials()[0].sent == 10);
  REQUIRE(b.source.trials()[1].sent == 101);
  REQUIRE(b.source.found()[0].rate == 50_Gbps);
}

TEST_CASE("parameters that cannot be are refused", "[packets]") {
  const auto& schema = base::schema_of<PacketsParameters>();
  const auto broken = [&](const PacketsParameters& p) {
    std::string all;
    for (const auto& rule : schema.rules())
      if (const std::string why = rule.broken(&p); !why.empty()) all += rule.key + " " + why;
    return all;
  };
  PacketsParameters p;
  REQUIRE(broken(p) == "");
  p.rate = 1_Gbps;
  REQUIRE(broken(p) == "rate must not be set for load saturate, which is the line's rate");
  p.load = PacketLoad::poisson;
  REQUIRE(broken(p) == "");
  p.rate = {};
  REQUIRE(broken(p) == "rate must be set for loads constant and poisson");
  p.load = PacketLoad::zero_loss;
  REQUIRE(broken(p) == "");
  p.sizes = "32..64";
  REQUIRE(broken(p) == "sizes must be at least 64 bytes, the shortest Ethernet frame with FCS, not 32");
  p.sizes = "64,1519";
  REQUIRE(broken(p) == "sizes must be at most 1518 bytes, the MTU of 1500 with header and FCS, not 1519");
  p.sizes = "9999";
  REQUIRE(broken(p) == "sizes must be sizes of 1 to 9728 bytes, not 9999");
}
