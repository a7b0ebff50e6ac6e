// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "models/base/measure/held_load.h"

using namespace sluice::base;
using namespace sluice::base::literals;

namespace {
Time length(const HeldLoad& load, Time until) {
  const auto [from, to] = load.held_back(until);
  return to - from;
}
}  // namespace

TEST_CASE("a load is held back from when a device says so until it answers", "[held]") {
  HeldLoad load;
  const HeldLoad::Handle handle = load.begin();
  CHECK(length(load, 10_ns) == 0_ns);
  handle.hold(20_ns);
  CHECK(length(load, 20_ns) == 0_ns);
  CHECK(length(load, 25_ns) == 5_ns);
  handle.hold(30_ns);  // it does already
  handle.release(50_ns);
  CHECK(length(load, 90_ns) == 30_ns);
  handle.release(60_ns);
  handle.hold(70_ns);
  CHECK(length(load, 90_ns) == 30_ns);
}

TEST_CASE("a load that is answered at once is not held back", "[held]") {
  HeldLoad load;
  const HeldLoad::Handle handle = load.begin();
  handle.release(50_ns);
  CHECK(length(load, 90_ns) == 0_ns);
}

TEST_CASE("a load that has ended cannot be held back any more", "[held]") {
  HeldLoad load;
  const HeldLoad::Handle given_up = load.begin();
  given_up.hold(10_ns);
  load.end();
  CHECK(length(load, 20_ns) == 0_ns);
  const HeldLoad::Handle next = load.begin();
  given_up.release(30_ns);
  given_up.hold(30_ns);
  CHECK(length(load, 40_ns) == 0_ns);
  next.hold(40_ns);
  given_up.release(50_ns);
  CHECK(length(load, 60_ns) == 20_ns);
  const HeldLoad::Handle nobodys;
  nobodys.hold(0_ns);
  nobodys.release(0_ns);
}
