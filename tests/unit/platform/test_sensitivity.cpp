// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <catch2/catch.hpp>

#include "platform/report/sensitivity/sensitivity_text.h"
#include "platform/statistics/means.h"

using namespace sluice;
using namespace sluice::report;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using sluice::statistics::half_width;
using sluice::statistics::mean_of;

namespace {

constexpr double kT2 = 4.3027;  // Student's t with 2 degrees of freedom

Sensitivity varied(const char* path, End less, End more,
                   base::Provenance::Kind kind = base::Provenance::Kind::kAssumed) {
  return {{path, "10 ns", {kind, "s", {}, {}}, {"9 ns", {}}, {"11 ns", {}}}, std::move(less), std::move(more)};
}

End ran(std::vector<double> results) { return {std::move(results), {}}; }
End left_out(const char* why) { return {{}, why}; }

SensitivityReport report_of(std::vector<Sensitivity> all, const std::vector<double>& reference) {
  SensitivityReport r{"board", "echo", kAskedResults[0], reference, std::move(all), {}, 1000, 1, true, 7};
  rank(r.ranked, reference);
  return r;
}

}  // namespace

TEST_CASE("effects are paired with the reference's replications", "[sensitivity]") {
  const std::vector<double> reference{100, 200, 300};
  CHECK(mean_of(reference).value == Approx(200));
  CHECK(*half_width(mean_of(reference)) == Approx(kT2 * 100 / std::sqrt(3)).epsilon(1e-4));
  const Estimate shifted = effect_of(reference, ran({111, 209, 310}));
  CHECK(shifted.value == Approx(10));
  CHECK(*half_width(shifted) == Approx(kT2 / std::sqrt(3)).epsilon(1e-4));
  const Estimate single = effect_of(reference, ran({93}));
  CHECK(single.value == -7);
  CHECK_FALSE(single.interval);
}

TEST_CASE("half the range is taken between the outermost of three results", "[sensitivity]") {
  const std::vector<double> reference{100, 200, 300};
  const Estimate linear = half_range_of(reference, ran({90, 190, 290}), ran({112, 210, 308}));
  CHECK(linear.value == Approx(10));  // (22 + 20 + 18) / 3 / 2
  CHECK(*half_width(linear) == Approx(kT2 * 2 / std::sqrt(3) / 2).epsilon(1e-4));
  CHECK(half_range_of(reference, ran({112}), ran({90})).value == 11);
  CHECK(half_range_of(reference, ran({108}), ran({120})).value == 10);  // the reference is the least
  CHECK(half_range_of(reference, ran({100}), ran({100})).value == 0);
}

TEST_CASE("an end that could not be run is taken to be opposite to the other", "[sensitivity]") {
  const std::vector<double> reference{100, 200, 300};
  CHECK(half_range_of(reference, left_out("refused"), ran({108})).value == 8);
  CHECK(half_range_of(reference, ran({94}), left_out("refused")).value == 6);
  CHECK(half_range_of(reference, left_out("refused"), left_out("refused")).value == 0);
}

TEST_CASE("parameters are ranked by their shares of the spread", "[sensitivity]") {
  std::vector<Sensitivity> all{varied("none", ran({100}), ran({100})), varied("small", ran({99}), ran({101})),
                               varied("large", ran({107}), ran({93})), varied("middle", ran({95}), ran({105}))};
  rank(all, {100});
  CHECK(all[0].parameter.path == "large");
  CHECK(all[1].parameter.path == "middle");
  CHECK(all[2].parameter.path == "small");
  CHECK(all[3].parameter.path == "none");
  CHECK(all[0].share == Approx(49.0 / 75));
  CHECK(all[1].cumulated == Approx(74.0 / 75));
  CHECK(all[2].cumulated == Approx(1));
  CHECK(all[3].share == 0);
  CHECK((all[0].carrying && all[1].carrying && !all[2].carrying && !all[3].carrying));
  CHECK(carriers(all, 0.5) == 1);
  CHECK(carriers(all, 0.995) == 3);
  CHECK(combined_uncertainty(all) == Approx(std::sqrt(75.0 / 3)));
}

TEST_CASE("where nothing has an effect, nothing carries the spread", "[sensitivity]") {
  std::vector<Sensitivity> all{varied("none", ran({100}), ran({100}))};
  rank(all, {100});
  CHECK(carriers(all, 0.9) == 0);
  CHECK_FALSE(all[0].carrying);
  CHECK(combined_uncertainty(all) == 0);
  CHECK_THAT(sensitivity_text(report_of(all, {100}), false), Contains("No parameter has an effect."));
}

TEST_CASE("assumed parameters are marked where they carry 90 % of the spread", "[sensitivity]") {
  const auto r = report_of({varied("nic.rx", ran({93}), ran({107})),
                            varied("nic.tx", ran({95}), ran({105}), base::Provenance::Kind::kFitted),
                            varied("nic.parse", ran({99}), ran({101})), varied("nic.idle", ran({100}), ran({100}))},
                           {100});
  const std::string text = sensitivity_text(r, false);
  CHECK_THAT(text, Contains("\n  *  nic.rx     10 ns  assumed  25 %  -7.0 ns (-7.00 %)  +7.0 ns (+7.00 %)"));
  CHECK_THAT(text, Contains("\n     nic.tx     10 ns  fitted   10 %  "));
  CHECK_THAT(text, Contains("\n     nic.parse  10 ns  assumed  25 %  "));
  CHECK_THAT(text, Contains("Of the spread, 90 % comes from 2 parameters; 1 of them is assumed (*): nic.rx.\n"));
  CHECK_THAT(text, Contains("Combined standard uncertainty: 5.0 ns (5.00 %)"));
  CHECK_THAT(text, Contains("1 parameter is without any effect (--all lists them).\n"));
  CHECK_THAT(text, !Contains("nic.idle"));
  CHECK_THAT(sensitivity_text(r, true), Contains("1 parameter is without any effect:\n    nic.idle\n"));
}

TEST_CASE("the report says what was not varied, and why", "[sensitivity]") {
  auto r = report_of({varied("nic.rx", ran({93}), left_out("must be 1 to 64"))}, {100});
  r.fixed = {{"nic.queues", "4", report::Fixed::kSetting}, {"nic.name", "a", report::Fixed::kNoNumber}};
  const std::string text = sensitivity_text(r, false);
  CHECK_THAT(text, Contains("-7.0 ns (-7.00 %)          -"));
  CHECK_THAT(text, Contains("Run with less only, whose effect stands for both:\n    nic.rx: must be 1 to 64\n"));
  CHECK_THAT(text, Contains("     1 choices of the board\n"));
  CHECK_THAT(text, !Contains("nic.queues"));
  CHECK_THAT(sensitivity_text(r, true), Contains("choices of the board\n         nic.queues\n"));
  const auto json = to_json(r);
  CHECK(json["not_varied"][0]["why"] == "setting");
  CHECK(json["parameters"][0]["more"]["why_none"] == "must be 1 to 64");
  CHECK(json["parameters"][0]["less"]["effect"]["mean"] == -7);
  CHECK(json["parameters"][0]["less"]["effect"]["half_width_95"].is_null());
  CHECK(json["parameters"][0]["carries_90_percent"] == true);
}
