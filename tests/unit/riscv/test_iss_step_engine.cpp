// SPDX-License-Identifier: Apache-2.0
// The interpreter and an engine that has nothing in common with it but the slow path and the meaning of operations.

#include <string>

#include <catch2/catch.hpp>

#include "tests/unit/riscv/random_guest.h"
#include "tests/unit/riscv/step_engine.h"

using namespace sluice;
using namespace sluice::riscv;

namespace {

/// By default, the cases of this program's other source files run on the step engine.
[[maybe_unused]] const MakeEngine kDefault = IssMachine::default_engine = make_step_engine;

}  // namespace

TEST_CASE("machines without a wish have the step engine", "[iss]") {
  IssMachine machine;
  REQUIRE(dynamic_cast<StepEngine*>(&machine.hart.engine()) != nullptr);
}

TEST_CASE("drawn instructions give the same on the step engine and on the interpreter", "[iss]") {
  constexpr std::uint64_t kEnd = 30'000;
  const Timing timing = GENERATE(Timing::functional, Timing::cached, Timing::interval);
  std::uint64_t instructions = 0;
  for (std::uint32_t seed = 1; seed <= 120; ++seed) {
    CAPTURE(seed, static_cast<int>(timing));
    RandomMachine steps(seed, timing, make_step_engine), blocks(seed, timing, make_interpreter);
    for (std::uint64_t limit = 0; limit < kEnd; limit += 1 + seed % 50 * 100) {
      steps.run_to(limit);
      blocks.run_to(limit);
      REQUIRE(steps.picture() == blocks.picture());
    }
    instructions += steps.machine.hart.state().instret;
  }
  REQUIRE(instructions > 100'000);
}

TEST_CASE("guests give the same on the step engine and on the interpreter", "[iss]") {
  const char* const guest = GENERATE("everything", "golden_translation", "golden_traps", "golden_pmp");
  const Timing timing = GENERATE(Timing::functional, Timing::cached, Timing::interval);
  CAPTURE(guest, static_cast<int>(timing));
  const auto run = [&](MakeEngine engine) {
    TimingParts parts;
    HartConfig config;
    config.privileged.issue_width = 4;
    parts.give_to(config, timing);
    IssMachine machine(config, engine);
    machine.load_binary(std::string(SLUICE_GUESTS) + "/" + guest + ".bin");
    machine.limit = 100'000'000;
    while (machine.hart.run() != StopReason::slot_limit) {
    }
    REQUIRE(machine.finished);
    const HartState& s = machine.hart.state();
    const HartCounters& c = machine.hart.counters();
    std::string picture = machine.console;
    for (const std::uint64_t v : s.x) picture += " " + std::to_string(v);
    for (const std::uint64_t v : s.f) picture += " " + std::to_string(v);
    for (const std::uint64_t v : {s.pc, s.slots, s.instret, c.traps, c.returns, c.interrupts, c.l1d_accesses,
                                  c.l1d_misses, c.l1i_accesses, c.l1i_misses})
      picture += " " + std::to_string(v);
    return picture;
  };
  REQUIRE(run(make_step_engine) == run(make_interpreter));
}
