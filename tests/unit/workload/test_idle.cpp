// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "models/base/measure/statistics.h"
#include "models/base/time/calendar.h"
#include "models/base/time/key.h"
#include "models/workload/idle/idle_workload.h"

using namespace sluice;
using namespace sluice::base::literals;

namespace {

/// A run whose statistics are a clock that ticks every microsecond, and a counter that never moves.
struct IdleRun final : workload::Run {
  explicit IdleRun(const workload::IdleParameters& p) : workload(p, board) {
    base::calendar().clear();
    base::calendar().set_now({});
    clock.counter("ticks", "ticks", "of the clock", ticks);
    clock.counter("misses", "ticks", "that it has missed", misses);
    clock.counter("busy", "fs", "of the clock", busy);
    workload.start(*this);
    tick();
  }
  void tick() {
    base::calendar().at(base::now() + 1_us, base::path_key("clock"), [this] {
      ++ticks;
      ++busy;
      tick();
    });
  }
  void begin_measuring() override { base::statistics().start_measuring(base::now()); }
  void begin_phase() override {}
  void measure_to_here() override {}
  void finish() override { finished = base::now(); }

  workload::Surroundings board;
  std::uint64_t ticks = 0, misses = 0, busy = 0;
  base::StatisticsGroup clock{"clock", &base::statistics()};
  workload::IdleWorkload workload;
  base::Time finished;
};

workload::Json result_of(const IdleRun& run) {
  workload::Json result;
  run.workload.add_result(result);
  return result;
}

}  // namespace

TEST_CASE("idleness is measured from its settling on for its length", "[idle]") {
  const workload::IdleParameters p{10_us, 50_us};
  IdleRun run(p);
  while (run.finished == base::Time{}) base::calendar().dispatch();
  CHECK(run.finished == 60_us);
  CHECK(run.workload.failure(true).empty());
  CHECK(run.workload.progress() == 1.0);
  const workload::Json result = result_of(run);
  CHECK(result.at("idle").at("measured_ns") == 50'000.0);
  CHECK(result.at("idle").at("counted") == workload::Json{{"clock", {{"ticks", 50}}}});
  CHECK(run.workload.report(result) ==
        "   nothing to do for 50.00 us\n\n  counted in each second\n    clock  ticks 1e+06\n\n");
}

TEST_CASE("a statistic that cannot be read is left out", "[idle]") {
  const workload::IdleParameters p{10_us, 50_us};
  IdleRun run(p);
  run.clock.counter_of("broken", "ticks", "that nobody can read",
                       []() -> std::uint64_t { throw std::runtime_error("x"); });
  while (run.finished == base::Time{}) base::calendar().dispatch();
  CHECK(result_of(run).at("idle").at("counted") == workload::Json{{"clock", {{"ticks", 50}}}});
}

TEST_CASE("a run that ends before it is measured fails", "[idle]") {
  const workload::IdleParameters p{10_us, 50_us};
  IdleRun run(p);
  CHECK(run.workload.failure(true) == "the run ended before workload.settle, 10 us, so nothing was measured");
  CHECK(result_of(run).at("idle").at("measured_ns") == 0.0);
}
