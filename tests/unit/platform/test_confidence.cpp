// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <catch2/catch.hpp>

#include "platform/report/confidence.h"

using namespace sluice::report;

TEST_CASE("quantiles of Student's t agree with the table", "[paired]") {
  CHECK(student_t_975(1) == Approx(12.706).margin(0.001));
  CHECK(student_t_975(4) == Approx(2.776).margin(0.001));
  CHECK(student_t_975(14) == Approx(2.145).margin(0.001));
  CHECK(student_t_975(15) == Approx(2.131).margin(0.001));
  CHECK(student_t_975(30) == Approx(2.042).margin(0.001));
  CHECK(student_t_975(1'000'000) == Approx(1.960).margin(0.001));
}

TEST_CASE("what two boards share cancels in paired differences", "[paired]") {
  const auto d = paired_difference({100, 200, 300}, {111, 209, 310});
  CHECK(d.mean == Approx(10));
  CHECK(d.half_width == Approx(4.3027 / std::sqrt(3.0)).epsilon(1e-4));
  CHECK(paired_difference({5, 7}, {4, 6}).half_width == 0);
}
