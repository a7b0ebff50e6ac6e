// SPDX-License-Identifier: Apache-2.0
/// Cores whose kernel has other work for them: when Lauberhorn gives them back.
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/nic/lauberhorn_bench.h"

using namespace sluice;
using namespace sluice::lauberhorn_test;

namespace {

constexpr int kTryagain = -1;

struct Given {
  int type;
  base::Time at;
  bool operator==(const Given&) const = default;
};

}  // namespace

TEST_CASE("a core with other work is given back when its kernel line has brought nothing for a time", "[lauberhorn]") {
  std::vector<Given> got;
  Bench b({[&](Bench& at, LineHart& h) {
    Side kernel = at.kernel(h);
    const auto load = [&] {
      got.push_back({kernel.wait(), h.runner.time()});
      kernel.next();
    };
    at.set(LAUB_GIVE_BACK, 750);  // cycles of 4 ns
    load();
    at.set(LAUB_KERNEL_LINE(0), LAUB_KERNEL_HAS_WORK);
    CHECK(at.get(LAUB_KERNEL_LINE(0)) == LAUB_KERNEL_HAS_WORK);
    load();
    CHECK(at.get(LAUB_RUNS(0)) == LAUB_RUNS_OTHER);
    load();
    at.set(LAUB_GIVE_BACK, 0);
    load();
    at.set(LAUB_KERNEL_LINE(0), 0);
    load();
  }});
  CHECK(got == std::vector<Given>{{kTryagain, 20_us},
                                  {LAUB_RETIRE_THREAD, 23_us},
                                  {LAUB_RETIRE_THREAD, 26_us},
                                  {LAUB_RETIRE_THREAD, 26_us},
                                  {kTryagain, 46_us}});
  CHECK(b.counter("given_back") == 3);
  CHECK(b.counter("retires") == 3);
  CHECK(b.counter("tryagain") >= 2);
}

TEST_CASE("a core that waits in a process goes to its kernel first, and from there at once to its other work",
          "[lauberhorn]") {
  std::vector<Given> got;
  Bench b({[&](Bench& at, LineHart& h) {
    Side line = at.user(h, 1), kernel = at.kernel(h);
    const auto load = [&](Side& side) {
      got.push_back({side.wait(), h.runner.time()});
      side.next();
    };
    at.set(LAUB_GIVE_BACK, 750);
    at.set(LAUB_KERNEL_LINE(0), LAUB_KERNEL_HAS_WORK);
    load(line);
    load(kernel);
    load(kernel);  // it has not gone: it waits again
    load(line);
    at.send(call(1, 0));
    load(kernel);
    at.send(call(2, 0));
    load(kernel);  // the call has not been answered
  }});
  REQUIRE(got.size() == 6);
  CHECK(std::vector<Given>(got.begin(), got.begin() + 4) ==
        std::vector<Given>{
            {LAUB_YIELDNOW, 3_us}, {LAUB_RETIRE_THREAD, 3_us}, {LAUB_RETIRE_THREAD, 6_us}, {LAUB_YIELDNOW, 9_us}});
  CHECK(got[4] == Given{LAUB_RETIRE_THREAD, 9_us});
  CHECK(got[5].type == LAUB_CALL);
}

TEST_CASE("a core that goes back through its kernel takes a call that has come meanwhile", "[lauberhorn]") {
  std::vector<int> got;
  std::vector<base::Time> times;
  Bench b({[&](Bench& at, LineHart& h) {
    Side line = at.user(h, 1), kernel = at.kernel(h);
    at.set(LAUB_GIVE_BACK, 750);
    at.set(LAUB_KERNEL_LINE(0), LAUB_KERNEL_HAS_WORK);
    REQUIRE(line.wait() == LAUB_YIELDNOW);
    line.next();
    at.send(call(1, 0));
    h.at(h.runner.time() + kLong);
    got.push_back(kernel.wait());
    kernel.reply(LAUB_REPLY, 0);
    kernel.next();
    times.push_back(h.runner.time());
    got.push_back(kernel.wait());  // nobody has said that it goes back
    times.push_back(h.runner.time());
  }});
  CHECK(got == std::vector<int>{LAUB_CALL, LAUB_RETIRE_THREAD});
  CHECK(times[1] == times[0] + 3_us);
}

TEST_CASE("the longer of the two times that a load may be held back does not count", "[lauberhorn]") {
  std::vector<Given> got;
  Bench b({[&](Bench& at, LineHart& h) {
    Side kernel = at.kernel(h);
    at.set(LAUB_KERNEL_LINE(0), LAUB_KERNEL_HAS_WORK);
    at.set(LAUB_GIVE_BACK, 7500);  // 30 us, and a load is held back for 20 us
    got.push_back({kernel.wait(), h.runner.time()});
  }});
  CHECK(got == std::vector<Given>{{kTryagain, 20_us}});
  CHECK(b.counter("given_back") == 0);
}
