// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <set>

#include <catch2/catch.hpp>

#include "models/base/parameters/spread.h"

using namespace sluice::base;

TEST_CASE("without a seed every clock is nominal and nothing has a phase") {
  const Spread spread;
  CHECK_FALSE(spread.drawn());
  CHECK(spread.period(Ratio(10'000'000, 31), 100, "cluster.host", "clock") == Ratio(10'000'000, 31));
  CHECK(spread.phase(Time::us(7), "caches", "refresh") == Time{});
}

TEST_CASE("a period lies within its tolerance, and tolerances of 0 are exact") {
  Spread spread;
  const Ratio nominal(10'000'000, 31);
  double least = 2, most = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    spread.draw_from(RandomSeed{seed, 0});
    const Ratio drawn = spread.period(nominal, 100, "cluster.host", "clock");
    REQUIRE(spread.period(nominal, 100, "cluster.host", "clock") == drawn);
    REQUIRE(spread.period(nominal, 0, "cluster.host", "clock") == nominal);
    // The deviation is a whole number of steps of 0.1 ppm, exactly.
    const unsigned __int128 a = static_cast<unsigned __int128>(drawn.numerator()) * 31 * 10'000'000;
    const unsigned __int128 b = static_cast<unsigned __int128>(drawn.denominator()) * 10'000'000;
    REQUIRE(a % b == 0);
    const auto steps = static_cast<std::int64_t>(a / b) - 10'000'000;
    REQUIRE(steps >= -1000);
    REQUIRE(steps <= 1000);
    least = std::min(least, static_cast<double>(steps));
    most = std::max(most, static_cast<double>(steps));
  }
  // Of 2000 draws from 2001 values, the extremes are near the ends.
  CHECK(least < -980);
  CHECK(most > 980);
}

TEST_CASE("seed, replication, path and purpose each give another value") {
  Spread spread;
  std::set<std::uint64_t> phases;
  for (const RandomSeed seed : {RandomSeed{1, 0}, RandomSeed{2, 0}, RandomSeed{1, 1}}) {
    spread.draw_from(seed);
    for (const char* path : {"a", "b"})
      for (const char* purpose : {"x", "y"}) phases.insert(spread.phase(Time::us(7), path, purpose).femtoseconds());
  }
  CHECK(phases.size() == 12);
  CHECK(*phases.rbegin() < Time::us(7).femtoseconds());
}

TEST_CASE("a ratio of large numbers is shortened to one that bytes can be multiplied with") {
  Spread spread;
  spread.draw_from(RandomSeed{3, 0});
  const Ratio nominal(123'456'789'012'347, 9'876'543'211);
  const Ratio drawn = spread.period(nominal, 300, "pcie", "reference clock");
  CHECK(drawn.numerator() >> 40 == 0);
  CHECK(drawn.real() / nominal.real() == Approx(1).epsilon(301e-6));
  CHECK(drawn.real() != nominal.real());
}

TEST_CASE("a drawn period is within its tolerance of any clock, however awkward its ratio", "[spread]") {
  Spread spread;
  RandomStream numbers(RandomSeed{7, 0}, "test", "clocks");
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    spread.draw_from(RandomSeed{seed, 0});
    const std::uint64_t hertz = 1'000'000 + numbers.below(10'000'000'000);
    const Ratio nominal(1'000'000'000'000'000, hertz);
    const Ratio drawn = spread.period(nominal, 100, "net.wire0", "clock");
    REQUIRE(drawn.numerator() >> 40 == 0);
    const long double quotient =
        static_cast<long double>(drawn.numerator()) / static_cast<long double>(drawn.denominator()) /
        (static_cast<long double>(nominal.numerator()) / static_cast<long double>(nominal.denominator()));
    const long double steps = (quotient - 1) * 10'000'000;
    INFO(hertz << " Hz: " << static_cast<double>(steps) << " steps");
    REQUIRE(std::abs(steps) <= 1000.01L);
    // A whole number of steps, to a part in 10^11.
    REQUIRE(std::abs(steps - std::round(steps)) < 1e-4L);
  }
}
