// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "platform/statistics/tails.h"

using namespace sluice::statistics;
using sluice::base::Histogram;

namespace {

using Histograms = std::vector<Histogram>;

/// Uniform between 0 and 1, without either.
class Uniform {
 public:
  explicit Uniform(unsigned seed) : random_(seed) {}
  double operator()() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }

 private:
  std::mt19937_64 random_;
};

/// A latency of 5 us, times what a distribution has at this share of samples beyond it.
using Distribution = std::function<double(double beyond)>;
constexpr double kScale = 5e9;
double exponential(double beyond) { return -std::log(beyond); }
double heavy(double beyond) { return std::pow(beyond, -0.4); }
/// One of 50 calls is ten times as slow as the others.
double bimodal(double beyond) { return beyond < 0.02 ? 10 + 5 * (0.02 - beyond) / 0.02 : 1 - beyond / 2; }

struct Pair {
  Histograms a, b;
};
/// b takes 5 % longer than a, and has the same calls in nine of ten cases.
Pair draw(const Distribution& d, unsigned replications, unsigned samples, Uniform& uniform) {
  Pair p{Histograms(replications), Histograms(replications)};
  for (unsigned r = 0; r < replications; ++r) {
    for (unsigned i = 0; i < samples; ++i) {
      const double first = uniform(), other = uniform() < 0.9 ? first : uniform();
      p.a[r].add(static_cast<std::uint64_t>(kScale * d(first)));
      p.b[r].add(static_cast<std::uint64_t>(1.05 * kScale * d(other)));
    }
  }
  return p;
}

/// How often intervals held the truth.
struct Held {
  int times = 0, intervals = 0;
  void count(const Estimate& e, double truth) {
    if (!e.interval) return;
    ++intervals;
    times += e.interval->lower <= truth && truth <= e.interval->upper;
  }
};

void check_coverage(const Distribution& d, Share share, unsigned replications, unsigned samples) {
  constexpr int kTrials = 2000;
  Uniform uniform(7);
  Held tail, difference;
  const double truth = kScale * d(1 - static_cast<double>(share.numerator) / static_cast<double>(share.denominator));
  for (int t = 0; t < kTrials; ++t) {
    const Pair p = draw(d, replications, samples, uniform);
    tail.count(quantile_of(p.a, share), truth);
    difference.count(quantile_difference(p.a, p.b, share), 0.05 * truth);
  }
  for (const Held& h : {tail, difference}) {
    CHECK(h.intervals >= 0.98 * kTrials);
    CHECK(h.times >= 0.93 * h.intervals);
    CHECK(h.times <= 0.97 * h.intervals);
  }
}

}  // namespace

TEST_CASE("95 % of the intervals of an exponential tail hold the truth", "[tails]") {
  check_coverage(exponential, kP99, 20, 500);
  check_coverage(exponential, kP999, 10, 3200);
}
TEST_CASE("95 % of the intervals of a heavy tail hold the truth", "[tails]") { check_coverage(heavy, kP99, 10, 500); }
TEST_CASE("95 % of the intervals of a slow mode hold the truth", "[tails]") { check_coverage(bimodal, kP99, 6, 1000); }
TEST_CASE("95 % of the intervals of a median hold the truth", "[tails]") {
  check_coverage(exponential, {1, 2}, 5, 300);
}

TEST_CASE("what two boards share narrows the interval of their difference", "[tails]") {
  Uniform uniform(3);
  const Pair paired = draw(exponential, 10, 5000, uniform), other = draw(exponential, 10, 5000, uniform);
  const double narrow = *half_width(quantile_difference(paired.a, paired.b, kP99));
  CHECK(2 * narrow < *half_width(quantile_difference(paired.a, other.b, kP99)));
}

TEST_CASE("a tail with fewer than 30 samples has no interval", "[tails]") {
  Uniform uniform(4);
  const Pair few = draw(exponential, 5, 2000, uniform), enough = draw(exponential, 5, 6000, uniform);
  for (const Estimate& e : {quantile_of(few.a, kP999), quantile_difference(few.a, few.b, kP999)}) {
    CHECK_FALSE(e.interval);
    CHECK(e.basis == Basis::too_few_samples);
    CHECK(e.value > 0);
    CHECK(verdict_of(e) == Verdict::unknown);
  }
  CHECK(quantile_of(few.a, kP99).interval);
  CHECK(quantile_of(enough.a, kP999).interval);
}

TEST_CASE("a tail that comes in few bursts has no interval", "[tails]") {
  // Of 20 replications, one has all the slow calls.
  Histograms bursts(20);
  for (std::size_t r = 0; r < bursts.size(); ++r) {
    bursts[r].add(5'000'000, 2000);
    for (unsigned i = 0; i < 2000; ++i) bursts[r].add(1'000'000 + 1000 * i);
    if (r == 7) bursts[r].add(50'000'000, 2000);
  }
  CHECK(quantile_of(bursts, kP99).basis == Basis::too_few_samples);
  CHECK(quantile_of(bursts, {1, 4}).interval);
}

TEST_CASE("intervals hold the truth where replications differ, as machines do", "[tails]") {
  // Both boards of a replication are up to 5 % faster or slower.
  Uniform uniform(8);
  Held tail, difference;
  // 1 % of the calls take longer than 1.46806 where the machine's factor is uniform between 0.95 and 1.05.
  const double truth = 1.46806 * kScale;
  for (int t = 0; t < 500; ++t) {
    Pair p{Histograms(10), Histograms(10)};
    for (std::size_t r = 0; r < 10; ++r) {
      const double factor = 0.95 + 0.1 * uniform();
      for (int i = 0; i < 1000; ++i) {
        p.a[r].add(static_cast<std::uint64_t>(kScale * factor * (1 + 0.1 * exponential(uniform()))));
        p.b[r].add(static_cast<std::uint64_t>(1.05 * kScale * factor * (1 + 0.1 * exponential(uniform()))));
      }
    }
    tail.count(quantile_of(p.a, kP99), truth);
    difference.count(quantile_difference(p.a, p.b, kP99), 0.05 * truth);
  }
  for (const Held& h : {tail, difference}) {
    CHECK(h.intervals >= 0.95 * 500);
    CHECK(h.times >= 0.92 * h.intervals);
    CHECK(h.times <= 0.98 * h.intervals);
  }
}

TEST_CASE("the difference of two quantiles at a gap has an interval that holds it", "[tails]") {
  // One call in 100 is ten times as slow as the others: p99 is the slowest of those.
  const auto gap = [](double beyond) { return beyond < 0.01 ? 10 - beyond : 1 - beyond / 2; };
  Uniform uniform(5);
  Held held;
  for (int t = 0; t < 300; ++t) {
    const Pair p = draw(gap, 10, 2000, uniform);
    held.count(quantile_difference(p.a, p.b, kP99), 0.05 * 0.995 * kScale);
  }
  CHECK(held.intervals >= 295);
  CHECK(held.times >= 0.95 * held.intervals);
}

TEST_CASE("no interval is invented where nothing is random, or there is one replication", "[tails]") {
  Histogram one, other;
  one.add(100, 1000);
  other.add(300, 1000);
  const Estimate constant = quantile_difference(Histograms(3, one), Histograms(3, other), kP99);
  CHECK(constant.value == 200);
  CHECK_FALSE(constant.interval);
  CHECK(constant.basis == Basis::constant);
  CHECK(quantile_of(Histograms(3, one), kP99).basis == Basis::constant);
  CHECK(quantile_of({one}, kP99).basis == Basis::one_replication);
  CHECK(quantile_difference({one}, {other}, kP99).basis == Basis::one_replication);
  CHECK(quantile_of(Histograms(2), kP99).basis == Basis::constant);
}

TEST_CASE("boards that did the same have no difference", "[tails]") {
  Uniform uniform(6);
  const Pair p = draw(exponential, 3, 5000, uniform);
  const Estimate same = quantile_difference(p.a, p.a, kP99);
  CHECK(same.value == 0);
  CHECK(*half_width(same) == 0);
  CHECK(verdict_of(same) == Verdict::none);
}

TEST_CASE("an interval within one bucket is that bucket", "[tails]") {
  // All calls take either 1,000,500 or 500.
  Histograms fixed(5);
  for (std::size_t r = 0; r < fixed.size(); ++r) {
    fixed[r].add(1'000'500, 9000);
    fixed[r].add(500, 1000 + r);
  }
  const Estimate e = quantile_of(fixed, kP99);
  std::uint64_t first = 0, last = 0;
  fixed[0].for_each_bucket([&](std::uint64_t from, std::uint64_t to, std::uint64_t) { first = from, last = to; });
  CHECK(e.interval->lower == static_cast<double>(first));
  CHECK(e.interval->upper == static_cast<double>(last) + 1);
  CHECK(e.value == Approx((static_cast<double>(first + last) + 1) / 2));
}
