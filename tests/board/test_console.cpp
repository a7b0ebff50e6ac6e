// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "models/uart/back_ends.h"
#include "platform/board/models.h"
#include "platform/run/simulation.h"

using namespace sluice;
using namespace sluice::base::literals;

namespace {

/// A board whose firmware talks to a script instead of a terminal.
struct Talk {
  explicit Talk(std::vector<std::string> overrides, const char* firmware = "hello") {
    overrides.push_back(std::string("cluster.host.firmware=") + firmware);
    platform::register_models(registry);
    config.emplace(config::load_board("e810-poll", overrides, registry, config::BoardDirectories{}));
    board.emplace(*config);
    simulation.emplace(*board, platform::SimulationOptions{});
  }
  platform::Outcome run(std::vector<uart::ExpectScript::Step> steps) {
    uart::ExpectScript script(board->host().uart(), std::move(steps));
    const platform::Outcome outcome = simulation->run();
    state = script.state();
    diagnosis = script.diagnosis();
    return outcome;
  }

  config::Registry registry;
  std::optional<config::BoardConfig> config;
  std::optional<platform::Board> board;
  std::optional<platform::Simulation> simulation;
  uart::ExpectScript::State state{};
  std::string diagnosis;
};

using State = uart::ExpectScript::State;

}  // namespace

TEST_CASE("firmware boots on a whole board and says so", "[console]") {
  Talk talk({"cluster.host.harts=4", "cluster.host.interrupts=aia"});
  const auto outcome =
      talk.run({{"hello from supervisor mode\r\n", "", 1_ms},
                {"memory 256 MiB at 80000000, 4 harts, time base 10000000 Hz, interrupts AIA", "", 1_ms},
                {"timer interrupt 3 times\r\n", "", 1_ms},
                {"all 4 harts in supervisor mode\r\n", "", 1_ms}});
  CHECK(talk.diagnosis == "");
  CHECK(talk.state == State::passed);
  CHECK(outcome == platform::Outcome::finished);
  // Three ticks of 100 us each.
  CHECK(talk.simulation->ended_at() > 300_us);
  CHECK(talk.simulation->ended_at() < 500_us);
}

TEST_CASE("the same image runs with a PLIC", "[console]") {
  Talk talk({"cluster.host.interrupts=plic"});
  talk.run({{"1 harts", "", 1_ms}, {"interrupts PLIC", "", 1_ms}, {"all 1 harts", "", 1_ms}});
  CHECK(talk.diagnosis == "");
  CHECK(talk.state == State::passed);
}

TEST_CASE("a script notices what firmware does not say", "[console]") {
  Talk talk({});
  talk.run({{"hello from supervisor mode", "", 1_ms}, {"hello from machine mode", "", 100_us}});
  CHECK(talk.state == State::failed);
  CHECK_THAT(talk.diagnosis, Catch::Contains("hello from machine mode"));
}

TEST_CASE("what a script sends reaches a UART that nobody reads", "[console]") {
  Talk talk({});
  const auto outcome = talk.run({{"hello", "too fast for a FIFO of sixteen bytes\n", 1_ms}, {"all 1 harts", "", 1_ms}});
  CHECK(talk.state == State::passed);
  CHECK(outcome == platform::Outcome::finished);
}
