// SPDX-License-Identifier: Apache-2.0
/// Who does which step of receiving, as the ledger has it.
#include <catch2/catch.hpp>

#include "models/base/measure/ledger.h"

using namespace sluice::base;
using namespace sluice::base::literals;

namespace {

constexpr Mark kDecoder{{SLUICE_STEP_protocol, SLUICE_STEP_unmarshal}, Owner::nic};
constexpr Mark kProgram{{}, Owner::application};

struct Bench {
  Ledger l;
  Ledger::Component wire = l.component("net.wire0"), nic = l.component("nic.eth0"), hart = l.component("hart0");

  /// A call that arrives at 10 ns and is in its handler at 40 ns; the reply has arrived at 60 ns.
  RequestId call() {
    const RequestId id = l.open(SLUICE_STAGE_wire, wire, 10_ns);
    l.enter(id, SLUICE_STAGE_decode, nic, 13_ns, {}, kDecoder);
    l.enter(id, SLUICE_STAGE_unmarshal, hart, 20_ns, {}, kProgram);
    l.executed(id, hart, 30);
    l.enter(id, SLUICE_STAGE_handler, hart, 40_ns, {}, kProgram);
    l.executed(id, hart, 7);
    l.enter(id, SLUICE_STAGE_wire, wire, 50_ns);
    return id;
  }
};

std::uint64_t ns(const Ledger::Received& r) {
  return static_cast<std::uint64_t>(r.time.femtoseconds / (1_ns).femtoseconds());
}

}  // namespace

TEST_CASE("what receiving takes ends with the handler, and the rest is behind it", "[steps]") {
  Bench b;
  b.l.complete(b.call(), 60_ns);
  REQUIRE(b.l.received(b.wire, SLUICE_STAGE_wire).size() == 1);
  CHECK(ns(b.l.received(b.wire, SLUICE_STAGE_wire)[0]) == 3);
  CHECK(ns(b.l.received(b.nic, SLUICE_STAGE_decode)[0]) == 7);
  CHECK(b.l.received(b.nic, SLUICE_STAGE_decode)[0].mark == kDecoder);
  CHECK(ns(b.l.received(b.hart, SLUICE_STAGE_unmarshal)[0]) == 20);
  CHECK(b.l.received(b.hart, SLUICE_STAGE_handler).empty());
  CHECK(b.l.after().femtoseconds == (20_ns).femtoseconds());
  CHECK(b.l.after().visits == 1);
}

TEST_CASE("a stage whose steps nobody names has those of its meaning", "[steps]") {
  Bench b;
  b.l.complete(b.call(), 60_ns);
  CHECK(b.l.received(b.hart, SLUICE_STAGE_unmarshal)[0].mark == Mark{{SLUICE_STEP_unmarshal}, Owner::application});
  CHECK(b.l.received(b.wire, SLUICE_STAGE_wire)[0].mark.steps.empty());
}

TEST_CASE("instructions belong to the last stage of the core that has executed them", "[steps]") {
  Bench b;
  const RequestId id = b.call();
  b.l.executed(id, b.hart, 5);  // the frame is already on the wire
  b.l.executed(id, b.nic, 1);   // no core, but the ledger need not know
  b.l.executed(id + 1, b.hart, 100);
  b.l.executed(0, b.hart, 100);
  CHECK(b.l.find(id)->tiles[3].instructions == 12);
  b.l.complete(id, 60_ns);
  b.l.executed(id, b.hart, 100);
  CHECK(b.l.received(b.hart, SLUICE_STAGE_unmarshal)[0].instructions == 30);
}

TEST_CASE("steps divide a stage, which is visited once all the same", "[steps]") {
  Bench b;
  const RequestId id = b.l.open(SLUICE_STAGE_wire, b.wire, 0_ns);
  const auto enter = [&](StepSet steps, Time t) {
    b.l.enter(id, SLUICE_STAGE_unmarshal, b.hart, t, {}, {steps, Owner::application});
  };
  enter({SLUICE_STEP_unmarshal}, 1_ns);
  enter({SLUICE_STEP_find_function}, 3_ns);
  enter({}, 4_ns);  // the stage goes on, and so does the step
  enter({SLUICE_STEP_unmarshal}, 6_ns);
  enter({SLUICE_STEP_unmarshal}, 7_ns);
  b.l.enter(id, SLUICE_STAGE_handler, b.hart, 10_ns);
  b.l.complete(id, 11_ns);
  CHECK(b.l.total(b.hart, SLUICE_STAGE_unmarshal).visits == 1);
  CHECK(b.l.total(b.hart, SLUICE_STAGE_unmarshal).femtoseconds == (9_ns).femtoseconds());
  const auto& parts = b.l.received(b.hart, SLUICE_STAGE_unmarshal);
  REQUIRE(parts.size() == 2);
  CHECK(ns(parts[0]) == 6);
  CHECK(ns(parts[1]) == 3);
  CHECK(parts[1].mark.steps == StepSet{SLUICE_STEP_find_function});
}

TEST_CASE("a call that no handler gets is received until its answer", "[steps]") {
  Bench b;
  const RequestId id = b.l.open(SLUICE_STAGE_wire, b.wire, 0_ns);
  b.l.enter(id, SLUICE_STAGE_unmarshal, b.hart, 2_ns);
  b.l.enter(id, SLUICE_STAGE_marshal, b.hart, 5_ns);
  b.l.complete(id, 9_ns);
  CHECK(ns(b.l.received(b.hart, SLUICE_STAGE_unmarshal)[0]) == 3);
  CHECK(b.l.after().femtoseconds == (4_ns).femtoseconds());
}

TEST_CASE("what one core tells says nothing of software on another", "[steps]") {
  Bench b;
  b.l.tells(b.hart, {SLUICE_STEP_schedule, SLUICE_STEP_interrupt});
  b.l.complete(b.call(), 60_ns);
  CHECK(b.l.told() == StepSet{SLUICE_STEP_schedule, SLUICE_STEP_interrupt});

  const auto other = b.l.component("hart1");
  const RequestId id = b.l.open(SLUICE_STAGE_wire, b.wire, 100_ns);
  b.l.tells(other, {SLUICE_STEP_interrupt});
  b.l.enter(id, SLUICE_STAGE_poll, other, 101_ns, {}, kProgram);
  b.l.enter(id, SLUICE_STAGE_handler, other, 102_ns, {}, kProgram);
  b.l.complete(id, 110_ns);
  CHECK(b.l.told() == StepSet{SLUICE_STEP_interrupt});
}

TEST_CASE("where no software has received anything, nobody has told of anything", "[steps]") {
  Bench b;
  b.l.tells(b.hart, {SLUICE_STEP_schedule});
  const RequestId id = b.l.open(SLUICE_STAGE_wire, b.wire, 0_ns);
  b.l.complete(id, 9_ns);
  CHECK(b.l.told().empty());
}
