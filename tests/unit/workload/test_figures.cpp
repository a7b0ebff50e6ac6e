// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "models/base/parameters/random.h"
#include "models/workload/figures.h"

using namespace sluice::workload;
using sluice::base::Histogram;
using Json = nlohmann::ordered_json;

namespace {

/// As a file has it.
Json read_back(const Json& json) { return Json::parse(json.dump()); }

Histogram drawn(sluice::base::RandomStream& random) {
  Histogram h;
  const std::uint64_t values = random.below(300);
  for (std::uint64_t i = 0; i < values; ++i) h.add(random.next() >> random.below(64), 1 + random.below(1000));
  return h;
}

}  // namespace

TEST_CASE("histograms that are written and read back merge as those that were recorded", "[figures]") {
  sluice::base::RandomStream random({5, 0}, "test.figures", "values");
  for (int trial = 0; trial < 200; ++trial) {
    Histogram recorded = drawn(random);
    const Histogram more = drawn(random);
    auto read = histogram_in(read_back(latency_with_histogram(recorded)));
    const auto read_more = histogram_in(read_back(latency_with_histogram(more)));
    REQUIRE((read && read_more));
    REQUIRE(*read == recorded);
    recorded.merge(more);
    read->merge(*read_more);
    REQUIRE(*read == recorded);
    REQUIRE(latency_with_histogram(*read) == latency_with_histogram(recorded));
  }
}

TEST_CASE("a histogram in a file has sum, extremes and buckets in femtoseconds", "[figures]") {
  Histogram h;
  h.add(1'000'001);
  h.add(1'000'002, 2);
  h.add(~0ull, 3);
  const Json json = latency_with_histogram(h)["histogram"];
  CHECK(json == Json{{"count", 6},
                     {"sum_fs", "55340232221131654850"},
                     {"min_fs", 1'000'001},
                     {"max_fs", ~0ull},
                     {"first_fs", {999'424, 511ull << 55}},
                     {"counts", {3, 3}}});
  CHECK(latency_with_histogram({})["histogram"]["first_fs"].empty());
}

TEST_CASE("what is no histogram is read as none", "[figures]") {
  Histogram h;
  h.add(1000, 2);
  h.add(2000);
  const Json good = latency_with_histogram(h);
  REQUIRE(histogram_in(good));
  CHECK(!histogram_in(Json()));
  CHECK(!histogram_in(latency(h)));
  CHECK(!histogram_in({{"histogram", 3}}));
  const auto with = [&](const char* key, const Json& value) {
    Json changed = good;
    changed["histogram"][key] = value;
    return histogram_in(read_back(changed)).has_value();
  };
  CHECK(with("count", 3));
  CHECK(!with("count", 4));
  CHECK(!with("sum_fs", 4000));
  for (const char* sum : {"", "-1", "4000 ", "340282366920938463463374607431768211456", "9"})
    CHECK(!with("sum_fs", sum));
  for (const Json& list : {Json(), Json(7), Json{1000}, Json{1000, -2000}, Json{1000, 2000.0}, Json{1000, "2000"},
                           Json{2000, 1000}, Json{{"a", 1000}, {"b", 2000}}})
    CHECK(!with("first_fs", list));
  CHECK(!with("counts", {2, 0}));
  CHECK(!with("min_fs", nullptr));
  CHECK(!with("max_fs", 5000));
}
