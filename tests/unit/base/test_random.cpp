// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include "models/base/parameters/random.h"
#include "models/base/time/key.h"

using namespace sluice::base;

namespace {

std::vector<std::uint64_t> draw(RandomStream stream, int n) {
  std::vector<std::uint64_t> values;
  for (int i = 0; i < n; ++i) values.push_back(stream.next());
  return values;
}

}  // namespace

TEST_CASE("path keys are 64-bit FNV-1a", "[key]") {
  static_assert(path_key("") == 0xcbf29ce484222325u);
  REQUIRE(path_key("a") == 0xaf63dc4c8601ec8cu);
  REQUIRE(path_key("foobar") == 0x85944171f73967e8u);
  REQUIRE(path_key("\xff") == path_key(std::string_view("\xff", 1)));
  REQUIRE(path_key("nic.eth0") != path_key("nic.eth1"));
}

TEST_CASE("a stream's numbers never change", "[random]") {
  // From an independent implementation of Philox4x64-10 and, for the logarithm, 50-digit decimals.
  RandomStream stream({1, 0}, "traffic", "arrival");
  REQUIRE(stream.next() == 0x5b660ddb6207b30cu);
  REQUIRE(stream.next() == 0x10f88bed69d649b2u);
  for (int i = 0; i < 6; ++i) stream.next();
  REQUIRE(stream.next() == 0x6edc0e03bf35d87au);
  REQUIRE(stream.exponential(1'000'000'000) == 1'999'786'109u);
  REQUIRE(stream.below(1000) == 428u);
  REQUIRE(stream.uniform() == 0x1.cae25cf379740p-6);
}

TEST_CASE("seed, replication, path and purpose each make another stream", "[random]") {
  std::set<std::vector<std::uint64_t>> seen;
  for (const auto& [seed, path, purpose] : {std::tuple{RandomSeed{1, 0}, "a", "x"},
                                            {RandomSeed{2, 0}, "a", "x"},
                                            {RandomSeed{1, 1}, "a", "x"},
                                            {RandomSeed{1, 0}, "b", "x"},
                                            {RandomSeed{1, 0}, "a", "y"}})
    seen.insert(draw(RandomStream(seed, path, purpose), 9));
  REQUIRE(seen.size() == 5);
}

TEST_CASE("a stream does not depend on which others exist or how much they drew", "[random]") {
  const auto alone = draw(RandomStream({3, 0}, "a", "x"), 20);
  RandomStream other({3, 0}, "b", "x");
  RandomStream stream({3, 0}, "a", "x");
  std::vector<std::uint64_t> among;
  for (int i = 0; i < 20; ++i) {
    other.next();
    among.push_back(stream.next());
    other.exponential(5);
  }
  REQUIRE(among == alone);
}

TEST_CASE("a copy goes on from the same position", "[random]") {
  RandomStream stream({3, 0}, "a", "x");
  stream.next();
  RandomStream copy = stream;
  REQUIRE(draw(copy, 10) == draw(stream, 10));
}

TEST_CASE("bounded numbers stay in bounds and are even", "[random]") {
  RandomStream stream({5, 0}, "test", "below");
  std::array<int, 6> faces{};
  for (int i = 0; i < 60'000; ++i) ++faces.at(stream.below(6));
  for (const int n : faces) REQUIRE(std::abs(n - 10'000) < 500);
  for (int i = 0; i < 100; ++i) REQUIRE(stream.below(1) == 0);
  // With this bound, 3 * 2^62, a biased remainder would give the numbers below 2^62 twice as often as the others.
  const std::uint64_t bound = (1ull << 63) + (1ull << 62);
  int low = 0;
  for (int i = 0; i < 30'000; ++i) {
    const std::uint64_t v = stream.below(bound);
    REQUIRE(v < bound);
    low += v < (1ull << 62);
  }
  REQUIRE(std::abs(low - 10'000) < 500);
  REQUIRE(stream.below(0) != stream.below(0));
}

TEST_CASE("uniform numbers lie in [0, 1) with the right mean", "[random]") {
  RandomStream stream({5, 0}, "test", "uniform");
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double u = stream.uniform();
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    sum += u;
  }
  REQUIRE(sum / 100'000 == Approx(0.5).margin(0.004));
  int hits = 0;
  for (int i = 0; i < 10'000; ++i) hits += stream.chance(1, 4);
  REQUIRE(std::abs(hits - 2500) < 200);
}

TEST_CASE("the integer logarithm agrees with libm to 2^-52 over its whole range", "[random]") {
  RandomStream stream({9, 0}, "test", "log");
  std::vector<std::uint64_t> values{
      0, 1, 2, 3, ~0ull, ~0ull - 1, ~0ull - 2, 1ull << 63, (1ull << 63) - 1, (1ull << 63) - 2};
  for (int i = 0; i < 64; ++i) values.push_back((1ull << i) - 1);
  for (std::uint64_t i = 0; i < 128; ++i)
    for (const std::uint64_t d : {0ull, 1ull, ~0ull}) values.push_back((1ull << 63) + (i << 56) + d);
  for (int i = 0; i < 20'000; ++i) values.push_back(stream.next() >> stream.below(64));
  for (const std::uint64_t u : values) {
    const long double want = 64 * std::log(2.0L) - std::log(static_cast<long double>(u) + 1);
    const long double got = std::ldexp(static_cast<long double>(negative_log(u)), -58);
    INFO("u = " << u);
    REQUIRE(std::fabs(got - want) < 0x1p-52L);
  }
}

TEST_CASE("exponential numbers have the right mean, tail and range", "[random]") {
  RandomStream stream({11, 0}, "test", "exponential");
  const std::uint64_t mean = 250'000'000;
  double sum = 0;
  int beyond = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t v = stream.exponential(mean);
    REQUIRE(v < 45 * mean);
    sum += static_cast<double>(v);
    beyond += v > 2 * mean;
  }
  REQUIRE(sum / 200'000 == Approx(mean).epsilon(0.01));
  REQUIRE(beyond / 200'000.0 == Approx(std::exp(-2)).margin(0.004));
  REQUIRE(stream.exponential(std::uint64_t{0}) == 0);
  bool held = false;
  for (int i = 0; i < 100; ++i) held |= stream.exponential(~0ull) == ~0ull;
  REQUIRE(held);
}
