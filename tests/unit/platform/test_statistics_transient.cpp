// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include "platform/statistics/transient.h"

using sluice::statistics::Transient;

namespace {

/// A series of which f(i) is the level of observation i, with noise of standard deviation 1.
template <class Level>
Transient series(int observations, unsigned seed, Level&& level) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Transient t;
  for (int i = 0; i < observations; ++i) t.add(level(i) + normal(random));
  return t;
}

}  // namespace

TEST_CASE("a step is cut within a batch of where it is", "[transient]") {
  for (const int step : {5, 103, 1000, 1998, 20'017}) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      const Transient t = series(step < 2000 ? 4900 : 60'000, seed, [&](int i) { return i < step ? 30 : 10; });
      const Transient::End end = t.end();
      INFO("step " << step << " seed " << seed << " batch " << t.batch());
      REQUIRE(!end.too_short);
      const auto cut = static_cast<double>(end.observations);
      CHECK(cut >= step - static_cast<double>(t.batch()));
      CHECK(cut <= step + 2 * static_cast<double>(t.batch()));
    }
  }
}

TEST_CASE("without a transient almost nothing is cut", "[transient]") {
  std::vector<double> shares;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Transient::End end = series(4900, seed, [](int) { return 10; }).end();
    if (!end.too_short) shares.push_back(static_cast<double>(end.observations) / 4900);
  }
  CHECK(shares.size() >= 198);
  std::sort(shares.begin(), shares.end());
  CHECK(shares[shares.size() / 2] <= 0.01);
  CHECK(shares[shares.size() * 9 / 10] <= 0.1);
  Transient constant;
  for (int i = 0; i < 1000; ++i) constant.add(7);
  CHECK(!constant.end().too_short);
  CHECK(constant.end().observations == 0);
}

TEST_CASE("a decay is cut where it has fallen below the noise", "[transient]") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Transient::End end = series(4900, seed, [](int i) { return 10 + 50 * std::exp(-i / 100.0); }).end();
    REQUIRE(!end.too_short);
    // After 220 observations it is 5.5 above its level, after 700 less than 0.05.
    CHECK(end.observations >= 220);
    CHECK(end.observations <= 700);
  }
}

TEST_CASE("a queue that fills from empty is cut before its mean is", "[transient]") {
  // It fills by a tenth of a place a call, up to 40 places.
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Transient::End end = series(4900, seed, [](int i) { return std::min(i / 10.0, 40.0); }).end();
    REQUIRE(!end.too_short);
    CHECK(end.observations >= 350);
    CHECK(end.observations <= 410);
  }
}

TEST_CASE("a series that does not settle is too short", "[transient]") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    CHECK(series(4900, seed, [](int i) { return i * 0.02; }).end().too_short);
    CHECK(series(100'000, seed, [](int i) { return i * 0.001; }).end().too_short);
    CHECK(series(2000, seed, [](int i) { return i < 1200 ? 30 : 10; }).end().too_short);
    CHECK(series(4900, seed, [](int i) { return 10 + 50 * std::exp(-i / 4000.0); }).end().too_short);
  }
  CHECK(Transient().end().too_short);
  CHECK(series(99, 1, [](int) { return 10; }).end().too_short);
  Transient settled;
  for (int i = 0; i < 100; ++i) settled.add(i % 10);
  CHECK(!settled.end().too_short);
}

TEST_CASE("the number of batches is bounded, and no observation is lost on the way", "[transient]") {
  Transient t;
  for (int i = 0; i < 4999; ++i) t.add(i < 1234 ? 1 : 0);
  CHECK(t.batch() == 5);
  t.add(0);
  CHECK(t.batch() == 10);
  CHECK(t.end().observations == 1240);
  for (int i = 5000; i < 10'000'000; ++i) t.add(i < 1'234'567 ? 1 : 0);
  CHECK(t.batch() == 5 << 11);
  const auto cut = static_cast<double>(t.end().observations);
  CHECK(std::abs(cut - 1'234'567) <= static_cast<double>(t.batch()));
}
