// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include "platform/statistics/means.h"
#include "platform/statistics/quantiles.h"
#include "platform/statistics/simultaneous.h"

using namespace sluice::statistics;

TEST_CASE("quantiles of Student's t agree with the table", "[statistics]") {
  CHECK(student_t(0.95, 1) == Approx(12.7062).margin(0.0001));
  CHECK(student_t(0.95, 4) == Approx(2.7764).margin(0.0001));
  CHECK(student_t(0.95, 30) == Approx(2.0423).margin(0.0001));
  CHECK(student_t(0.95, 1'000'000) == Approx(1.9600).margin(0.0001));
  CHECK(student_t(0.99, 4) == Approx(4.6041).margin(0.0001));
}

TEST_CASE("what two boards share cancels in paired differences", "[statistics]") {
  const Estimate d = mean_difference({100, 200, 300}, {111, 209, 310});
  CHECK(d.value == Approx(10));
  CHECK(d.interval->lower == Approx(10 - 4.3027 / std::sqrt(3.0)).epsilon(1e-4));
  CHECK(d.interval->upper == Approx(10 + 4.3027 / std::sqrt(3.0)).epsilon(1e-4));
  CHECK(*half_width(mean_difference({100, 200, 300}, {111, 209, 310}, 0.99)) ==
        Approx(9.9248 / std::sqrt(3.0)).epsilon(1e-4));
  CHECK(*half_width(mean_difference({5, 7}, {4, 6})) == 0);
}

TEST_CASE("no interval is invented where nothing is random, or there is one replication", "[statistics]") {
  const Estimate constant = mean_difference({5, 5, 5}, {7, 7, 7});
  CHECK(constant.value == 2);
  CHECK_FALSE(constant.interval);
  CHECK(constant.basis == Basis::constant);
  CHECK(mean_of({5, 5}).basis == Basis::constant);
  const Estimate one = mean_difference({5}, {7});
  CHECK(one.value == 2);
  CHECK_FALSE(one.interval);
  CHECK(one.basis == Basis::one_replication);
  CHECK(mean_difference({5, 5}, {7, 8}).interval);
}

TEST_CASE("a difference whose interval holds zero is none", "[statistics]") {
  const auto verdict = [](double value, double lower, double upper) {
    return verdict_of({value, Interval{lower, upper}, Basis::replications});
  };
  CHECK(verdict(1, -1, 3) == Verdict::none);
  CHECK(verdict(1, 0, 2) == Verdict::none);
  CHECK(verdict(-1, -2, 0) == Verdict::none);
  CHECK(verdict(0, 0, 0) == Verdict::none);
  CHECK(verdict(1, 0.5, 2) == Verdict::more);
  CHECK(verdict(-1, -2, -0.5) == Verdict::less);
  CHECK(verdict_of({0, {}, Basis::constant}) == Verdict::none);
  CHECK(verdict_of({3, {}, Basis::constant}) == Verdict::more);
  CHECK(verdict_of({-3, {}, Basis::constant}) == Verdict::less);
  CHECK(verdict_of({3, {}, Basis::one_replication}) == Verdict::unknown);
  CHECK(verdict_of({3, {}, Basis::too_few_samples}) == Verdict::unknown);
}

TEST_CASE("95 % of the intervals of means and their differences hold the truth", "[statistics]") {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (const unsigned replications : {3u, 5u, 20u}) {
    int mean_holds = 0, difference_holds = 0;
    for (int trial = 0; trial < 2000; ++trial) {
      std::vector<double> a, b;
      for (unsigned r = 0; r < replications; ++r) {
        const double shared = normal(random);
        a.push_back(50 + 3 * shared + normal(random));
        b.push_back(52 + 3 * shared + 2 * normal(random));
      }
      const auto holds = [](const Estimate& e, double truth) {
        return e.interval->lower <= truth && truth <= e.interval->upper;
      };
      mean_holds += holds(mean_of(a), 50);
      difference_holds += holds(mean_difference(a, b), 2);
    }
    for (const int n : {mean_holds, difference_holds}) {
      CHECK(n >= 0.93 * 2000);
      CHECK(n <= 0.97 * 2000);
    }
  }
}

TEST_CASE("95 % of the tables hold all of their intervals", "[statistics]") {
  CHECK(simultaneous_level(1) == kLevel);
  CHECK(simultaneous_level(10) == Approx(0.995));
  constexpr unsigned kRows = 8, kReplications = 5;
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  int together = 0, each = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<std::vector<double>> quantities(kRows, std::vector<double>(kReplications));
    for (unsigned r = 0; r < kReplications; ++r) {
      const double shared = normal(random);
      for (auto& q : quantities) q[r] = shared + normal(random);
    }
    const auto all_hold = [&](double level) {
      for (const auto& q : quantities) {
        const Interval i = *mean_of(q, level).interval;
        if (i.lower > 0 || i.upper < 0) return false;
      }
      return true;
    };
    together += all_hold(simultaneous_level(kRows));
    each += all_hold(kLevel);
  }
  CHECK(together >= 0.95 * 2000);
  CHECK(each < 0.9 * 2000);
}
