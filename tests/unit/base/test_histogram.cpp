// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include "models/base/measure/histogram.h"
#include "models/base/parameters/random.h"

using sluice::base::Histogram;
using sluice::base::RandomStream;

namespace {

/// The exact quantile by the nearest rank.
std::uint64_t exact(std::vector<std::uint64_t> sorted, std::uint64_t numerator, std::uint64_t denominator) {
  std::sort(sorted.begin(), sorted.end());
  const std::uint64_t rank = std::max<std::uint64_t>(1, (sorted.size() * numerator + denominator - 1) / denominator);
  return sorted[rank - 1];
}

double relative_error(std::uint64_t got, std::uint64_t want) {
  const double difference = got > want ? static_cast<double>(got - want) : static_cast<double>(want - got);
  return want ? difference / static_cast<double>(want) : difference;
}

std::vector<Histogram::Bucket> buckets_of(const Histogram& h) {
  std::vector<Histogram::Bucket> buckets;
  h.for_each_bucket([&](std::uint64_t first, std::uint64_t, std::uint64_t count) {
    buckets.push_back({first, count});
  });
  return buckets;
}

}  // namespace

TEST_CASE("an empty histogram answers zero", "[histogram]") {
  const Histogram h;
  REQUIRE(h.count() == 0);
  REQUIRE(h.min() == 0);
  REQUIRE(h.max() == 0);
  REQUIRE(h.mean() == 0);
  REQUIRE(h.p50() == 0);
  REQUIRE(h.quantile(1, 1) == 0);
}

TEST_CASE("values below 512 are kept exactly", "[histogram]") {
  Histogram h;
  for (std::uint64_t v = 0; v < 512; ++v) h.add(v);
  for (std::uint64_t v = 0; v < 512; ++v) REQUIRE(h.quantile(v + 1, 512) == v);
}

TEST_CASE("every value falls into a bucket that holds it and is at most 1/256 of it wide", "[histogram]") {
  std::vector<std::uint64_t> values{0, 1, 255, 256, 511, 512, 513, ~0ull, ~0ull - 1};
  for (unsigned bit = 9; bit < 64; ++bit)
    for (const std::int64_t d : {-1, 0, 1}) values.push_back((1ull << bit) + static_cast<std::uint64_t>(d));
  for (const std::uint64_t v : values) {
    Histogram h;
    h.add(v);
    unsigned buckets = 0;
    h.for_each_bucket([&](std::uint64_t first, std::uint64_t last, std::uint64_t count) {
      ++buckets;
      REQUIRE(count == 1);
      REQUIRE(first <= v);
      REQUIRE(v <= last);
      REQUIRE((last - first) <= first / 256);
    });
    REQUIRE(buckets == 1);
  }
}

TEST_CASE("buckets tile the whole range without gap or overlap", "[histogram]") {
  Histogram h;
  std::uint64_t v = 0;
  std::uint64_t expected_first = 0;
  while (true) {
    h.clear();
    h.add(v);
    std::uint64_t end = 0;
    h.for_each_bucket([&](std::uint64_t first, std::uint64_t last, std::uint64_t) {
      REQUIRE(first == expected_first);
      end = last;
    });
    if (end == ~0ull) break;
    v = expected_first = end + 1;
  }
}

TEST_CASE("quantiles are within the stated error, which is within 0.5 %", "[histogram]") {
  REQUIRE(Histogram::kRelativeError <= 0.005);
  RandomStream random({7, 0}, "test.histogram", "values");
  std::vector<std::uint64_t> values;
  Histogram h;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t v = 3'000'000'000 + random.exponential(1'500'000'000);  // 3 us and more, in fs
    values.push_back(v);
    h.add(v);
  }
  for (const auto& [n, d] : {std::pair{1, 1000}, {1, 2}, {9, 10}, {99, 100}, {999, 1000}, {9999, 10000}})
    REQUIRE(relative_error(h.quantile(n, d), exact(values, n, d)) <= Histogram::kRelativeError);
  REQUIRE(h.quantile(1, 1) == exact(values, 1, 1));
  REQUIRE(h.quantile(5, 4) == h.max());
  REQUIRE(h.quantile(0, 1) == h.min());
}

TEST_CASE("mean, sum and extremes are exact even where the sum exceeds 64 bits", "[histogram]") {
  Histogram h;
  for (int i = 0; i < 3; ++i) h.add(~0ull);
  h.add(~0ull - 4);
  REQUIRE(h.sum() == static_cast<Histogram::Sum>(~0ull) * 4 - 4);
  REQUIRE(h.mean() == ~0ull - 1);
  REQUIRE(h.max() == ~0ull);
  REQUIRE(h.min() == ~0ull - 4);
  h.add(0);
  REQUIRE(h.min() == 0);
}

TEST_CASE("recording a value n times equals n recordings", "[histogram]") {
  Histogram once, often;
  for (int i = 0; i < 5; ++i) once.add(1234567);
  often.add(1234567, 5);
  often.add(99, 0);
  REQUIRE(often.count() == 5);
  REQUIRE(often.min() == 1234567);
  REQUIRE(often.sum() == once.sum());
  REQUIRE(often.p50() == once.p50());
}

TEST_CASE("merging does not depend on the order and equals recording everything in one", "[histogram]") {
  RandomStream random({1, 2}, "test.histogram", "merge");
  Histogram parts[3], all;
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t v = random.next() >> random.below(64);
    parts[i % 3].add(v);
    all.add(v);
  }
  Histogram forward, backward;
  for (int i = 0; i < 3; ++i) forward.merge(parts[i]);
  for (int i = 2; i >= 0; --i) backward.merge(parts[i]);
  for (const Histogram* h : {&forward, &backward}) {
    REQUIRE(h->count() == all.count());
    REQUIRE(h->sum() == all.sum());
    REQUIRE(h->min() == all.min());
    REQUIRE(h->max() == all.max());
    for (int q = 0; q <= 100; ++q) REQUIRE(h->quantile(q, 100) == all.quantile(q, 100));
  }
}

TEST_CASE("a histogram of another's buckets, sum and extremes equals it", "[histogram]") {
  RandomStream random({3, 0}, "test.histogram", "read back");
  for (int trial = 0; trial < 500; ++trial) {
    Histogram written;
    const std::uint64_t values = random.below(200);
    for (std::uint64_t i = 0; i < values; ++i) written.add(random.next() >> random.below(64), 1 + random.below(3));
    const std::vector<Histogram::Bucket> buckets = buckets_of(written);
    const auto read = Histogram::of(buckets, written.sum(), written.min(), written.max());
    REQUIRE(read);
    REQUIRE(*read == written);
    REQUIRE(read->count() == written.count());
    REQUIRE(read->mean() == written.mean());
    REQUIRE(read->min() == written.min());
    for (int q = 0; q <= 1000; ++q) REQUIRE(read->quantile(q, 1000) == written.quantile(q, 1000));
    Histogram twice = written;
    twice.merge(*read);
    REQUIRE(twice.count() == 2 * written.count());
    REQUIRE((twice == written) == (written.count() == 0));
  }
}

TEST_CASE("what no histogram has makes none", "[histogram]") {
  const std::vector<Histogram::Bucket> good{{1000, 2}, {2000, 1}};
  REQUIRE(Histogram::of(good, 4005, 1001, 2003));
  REQUIRE(Histogram::of({}, 0, 0, 0));
  REQUIRE(!Histogram::of({}, 1, 0, 0));
  REQUIRE(!Histogram::of({{2000, 1}, {1000, 2}}, 4005, 1001, 2003));             // not in order
  REQUIRE(!Histogram::of({{1000, 1}, {1000, 1}, {2000, 1}}, 4005, 1001, 2003));  // twice
  REQUIRE(!Histogram::of({{1001, 2}, {2000, 1}}, 4005, 1001, 2003));             // no bucket begins there
  REQUIRE(!Histogram::of({{1000, 0}, {2000, 1}}, 4005, 1001, 2003));             // nothing in it
  REQUIRE(!Histogram::of({{1000, ~0ull}, {2000, 2}}, 4005, 1001, 2003));         // too many
  REQUIRE(!Histogram::of(good, 4005, 1002, 2003));                               // extremes of other buckets
  REQUIRE(!Histogram::of(good, 4005, 1001, 2008));
  REQUIRE(!Histogram::of(good, 4001, 1001, 2003));  // less and more than the samples can sum to
  REQUIRE(!Histogram::of(good, 4006, 1001, 2003));
}

TEST_CASE("a copy is independent and a cleared histogram is as new", "[histogram]") {
  Histogram a;
  a.add(1000);
  Histogram b = a;
  b.add(5000);
  REQUIRE(a.count() == 1);
  REQUIRE(a.max() == 1000);
  a = b;
  REQUIRE(a.count() == 2);
  a.clear();
  REQUIRE(a.count() == 0);
  REQUIRE(a.max() == 0);
  a.add(7);
  REQUIRE(a.min() == 7);
  REQUIRE(a.p99() == 7);
}
