// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <catch2/catch.hpp>

#include "models/irq/clint.h"
#include "models/irq/clint_regs.h"
#include "tests/unit/irq/register_access.h"

using namespace sluice;
using namespace sluice::base::literals;
using test::read;
using test::write;

namespace {

struct Bench {
  explicit Bench(base::Frequency timebase = 10_MHz, unsigned harts = 2) : clint("clint", {timebase}, harts) {}
  ~Bench() { base::calendar().clear(); }
  /// Dispatches every entry up to t, and sets the time to t.
  void run_to(base::Time t) {
    while (base::calendar().next() <= t) base::calendar().dispatch();
    base::calendar().set_now(t);
  }
  base::RegisterBank& registers() { return clint.registers(); }

  // Constructed before the model, so that the calendar starts at zero.
  struct Start {
    Start() {
      base::calendar().clear();
      base::calendar().set_now(0_ns);
    }
  } start;
  irq::Clint clint;
};

}  // namespace

TEST_CASE("mtime counts edges of the timebase", "[clint]") {
  Bench b;
  CHECK(read(b.registers(), CLINT_MTIME, 8) == 0);
  b.run_to(99'999'999_fs);
  CHECK(read(b.registers(), CLINT_MTIME, 8) == 0);
  b.run_to(100_ns);
  CHECK(read(b.registers(), CLINT_MTIME, 8) == 1);
  b.run_to(1_s);
  CHECK(read(b.registers(), CLINT_MTIME, 8) == 10'000'000);
  CHECK(read(b.registers(), CLINT_MTIME) == 10'000'000);
  CHECK(read(b.registers(), CLINT_MTIME + 4) == 0);
}

TEST_CASE("the timer rises at the edge at which mtime reaches mtimecmp, to the femtosecond", "[clint]") {
  Bench b(base::Frequency(3'000'000));  // 333,333,333.3 fs
  std::vector<base::Time> rises;
  b.clint.timer(1).on_change = [&](bool level) {
    REQUIRE(level);
    rises.push_back(base::now());
  };
  write(b.registers(), CLINT_MTIMECMP(1), 2, 8);
  b.run_to(10_us);
  REQUIRE(rises.size() == 1);
  CHECK(rises[0] == 666'666'667_fs);
  CHECK(b.clint.mtime_at(rises[0]) == 2);
  CHECK(b.clint.mtime_at(rises[0] - 1_fs) == 1);
  CHECK_FALSE(b.clint.timer(0).level());
}

TEST_CASE("writing mtimecmp moves, raises and clears the timer", "[clint]") {
  Bench b;
  base::Line& timer = b.clint.timer(0);
  write(b.registers(), CLINT_MTIMECMP(0), 10, 8);
  write(b.registers(), CLINT_MTIMECMP(0), 20, 8);  // the first deadline is forgotten
  b.run_to(1500_ns);
  CHECK_FALSE(timer.level());
  b.run_to(2_us);
  CHECK(timer.level());
  write(b.registers(), CLINT_MTIMECMP(0), 21, 8);
  CHECK_FALSE(timer.level());
  write(b.registers(), CLINT_MTIMECMP(0), 20, 8);  // now or in the past: at once
  CHECK(timer.level());
  write(b.registers(), CLINT_MTIMECMP(0), ~0ull, 8);
  CHECK_FALSE(timer.level());
  CHECK(base::calendar().next() == base::Time::max());
}

TEST_CASE("a deadline beyond simulated time never comes", "[clint]") {
  Bench b(1_GHz);
  for (const std::uint64_t due : {~0ull, ~0ull - 1, 1ull << 63, 18'446'744'073'710ull}) {
    write(b.registers(), CLINT_MTIMECMP(0), due, 8);
    CHECK(base::calendar().next() == base::Time::max());
  }
  write(b.registers(), CLINT_MTIMECMP(0), 18'446'744'073'709ull, 8);  // the last edge
  CHECK(base::calendar().next() == base::Time::ns(18'446'744'073'709ull));
}

TEST_CASE("mtimecmp can be written in halves", "[clint]") {
  Bench b;
  write(b.registers(), CLINT_MTIMECMP(0) + 4, ~0u);
  write(b.registers(), CLINT_MTIMECMP(0), 5);
  write(b.registers(), CLINT_MTIMECMP(0) + 4, 0);
  CHECK(read(b.registers(), CLINT_MTIMECMP(0), 8) == 5);
  b.run_to(500_ns);
  CHECK(b.clint.timer(0).level());
}

TEST_CASE("writing mtime shifts time and the deadlines", "[clint]") {
  Bench b;
  b.run_to(1_us);  // mtime = 10
  write(b.registers(), CLINT_MTIMECMP(0), 1000, 8);
  write(b.registers(), CLINT_MTIME, 990, 8);
  CHECK(read(b.registers(), CLINT_MTIME, 8) == 990);
  b.run_to(2_us - 1_fs);
  CHECK_FALSE(b.clint.timer(0).level());
  b.run_to(2_us);
  CHECK(b.clint.timer(0).level());
  write(b.registers(), CLINT_MTIME, 5);  // low half: the time goes back
  CHECK(read(b.registers(), CLINT_MTIME, 8) == 5);
  CHECK_FALSE(b.clint.timer(0).level());
  write(b.registers(), CLINT_MTIME + 4, 1);  // high half
  CHECK(read(b.registers(), CLINT_MTIME, 8) == (1ull << 32) + 5);
  CHECK(b.clint.timer(0).level());
}

TEST_CASE("msip drives its hart's software interrupt", "[clint]") {
  Bench b;
  write(b.registers(), CLINT_MSIP(1), 0xffff'ffff);
  CHECK(read(b.registers(), CLINT_MSIP(1)) == 1);
  CHECK(b.clint.software(1).level());
  CHECK_FALSE(b.clint.software(0).level());
  write(b.registers(), CLINT_MSIP(1), 0);
  CHECK_FALSE(b.clint.software(1).level());
}

TEST_CASE("harts that do not exist have no registers", "[clint]") {
  Bench b;
  std::uint64_t value = 0;
  CHECK(b.registers().write(CLINT_MSIP(2), &value, 4) == base::Answer::unmapped);
  CHECK(b.registers().read(CLINT_MTIMECMP(2), &value, 8) == base::Answer::unmapped);
  CHECK(b.registers().read(CLINT_MTIME, &value, 2) == base::Answer::wrong_width);
  CHECK(b.registers().read(CLINT_SIZE, &value, 4) == base::Answer::unmapped);
  CHECK(b.registers().refused() == 4);
}

TEST_CASE("the timebase is 1 Hz to 1 GHz", "[clint]") {
  const base::Parameter* timebase = base::schema_of<irq::Clint::Parameters>().find("timebase");
  REQUIRE(timebase != nullptr);
  irq::Clint::Parameters p;
  timebase->assign_text(&p, "1 MHz");
  CHECK(p.timebase == 1_MHz);
  CHECK_THROWS_AS(timebase->assign_text(&p, "0 Hz"), base::ValueError);
  CHECK_THROWS_AS(timebase->assign_text(&p, "2 GHz"), base::ValueError);
  CHECK(p.timebase == 1_MHz);
}
