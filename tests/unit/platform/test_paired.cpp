// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "models/workload/figures.h"
#include "platform/report/paired.h"

using namespace sluice;
using namespace sluice::report;
using Json = nlohmann::ordered_json;
using statistics::Basis;
using statistics::Interval;

namespace {

/// A result file with these calls, in ns.
Json result(const std::string& board, const std::vector<std::uint64_t>& calls, double throughput) {
  base::Histogram h;
  for (const std::uint64_t ns : calls) h.add(ns * 1'000'000);
  return {{"board", {{"name", board}}},
          {"requests", Json::object()},
          {"latency_ns", workload::latency_with_histogram(h)},
          {"throughput_per_s", throughput}};
}

PairedRow row(double reference, double difference, std::optional<Interval> interval, Basis basis) {
  return {"b", "latency mean", "ns", reference, {difference, interval, basis}};
}

}  // namespace

TEST_CASE("the paired table has means and merged tails, and intervals that hold together", "[paired]") {
  std::vector<Json> a, b;
  for (std::uint64_t r = 0; r < 3; ++r) {
    std::vector<std::uint64_t> fast, slow;
    for (std::uint64_t i = 0; i < 2000; ++i) {
      fast.push_back(1000 + i + 10 * r);
      slow.push_back(2000 + i + 11 * r);
    }
    a.push_back(result("a", fast, 1e6 + static_cast<double>(r)));
    b.push_back(result("b", slow, 1e6 + static_cast<double>(2 * r)));
  }
  const PairedTable table = paired({a, b});
  REQUIRE(table.rows.size() == 4);
  CHECK(table.level == Approx(1 - 0.05 / 4));
  CHECK(table.rows[0].quantity == "latency mean");
  CHECK(table.rows[0].reference == Approx(2009.5));
  CHECK(table.rows[0].difference.value == Approx(1001));
  CHECK(table.rows[1].quantity == "latency p99");
  CHECK(table.rows[1].difference.value == Approx(1001).margin(10));
  CHECK(table.rows[2].quantity == "latency p99.9");
  CHECK(table.rows[2].difference.basis == Basis::too_few_samples);
  CHECK(table.rows[3].quantity == "throughput");
  CHECK(table.rows[3].difference.value == Approx(1));

  const Json json = to_json(table);
  CHECK(json[0]["verdict"] == "more");
  CHECK(json[0]["level"].get<double>() == table.level);
  CHECK(json[2]["interval"].is_null());
  CHECK(json[2]["level"].is_null());
  CHECK(json[2]["verdict"] == "unknown");
  CHECK(paired({a, b, b}).level == Approx(1 - 0.05 / 8));
}

TEST_CASE("without histograms, or without calls, there is no row of tails", "[paired]") {
  std::vector<Json> plain{result("a", {1000, 2000}, 1), result("a", {1100, 2000}, 2)};
  for (Json& r : plain) r["latency_ns"].erase("histogram");
  CHECK(paired({plain, plain}).rows.size() == 2);
  const std::vector<Json> times{{{"board", {{"name", "a"}}}, {"simulated_ns", 5}},
                                {{"board", {{"name", "a"}}}, {"simulated_ns", 6}}};
  const PairedTable table = paired({times, times});
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].quantity == "simulated time");
  CHECK(table.level == Approx(0.95));
}

TEST_CASE("each difference is written as what it is", "[paired]") {
  const auto text = [](const PairedRow& r) {
    const std::string line = paired_text({{r}, 0.95});
    return line.substr(line.find("mean") + 4);
  };
  CHECK(text(row(200, 10, Interval{8, 12}, Basis::replications)) == "   +10.0 ns +- 2.0 ns  (+5.00 % +- 1.00 %)\n");
  CHECK(text(row(200, -1, Interval{-3, 1}, Basis::replications)) ==
        "   -1.0 ns +- 2.0 ns  (-0.50 % +- 1.00 %): no difference\n");
  CHECK(text(row(200, 10, Interval{8, 112}, Basis::replications)) == "   +10.0 ns (+8.0 ns to +112.0 ns)  (+5.00 %)\n");
  CHECK(text(row(200, 10, {}, Basis::too_few_samples)) == "   +10.0 ns; too few calls for an interval\n");
  CHECK(text(row(200, 10, {}, Basis::constant)) == "   +10.0 ns in every replication\n");
  CHECK(text(row(200, 0, {}, Basis::constant)) == "   no difference in any replication\n");
}
