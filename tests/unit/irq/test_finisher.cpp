// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <catch2/catch.hpp>

#include "models/irq/finisher.h"
#include "models/irq/finisher_regs.h"
#include "tests/unit/irq/register_access.h"

using namespace sluice;
using irq::Finisher;
using test::read;
using test::write;

TEST_CASE("the finisher reports pass, failure with its code, and reset", "[finisher]") {
  Finisher finisher("finisher");
  std::vector<Finisher::Verdict> given;
  finisher.on_finish = [&](Finisher::Verdict v) { given.push_back(v); };
  CHECK_FALSE(finisher.verdict());
  write(finisher.registers(), FINISHER_CONTROL, 42u << 16 | FINISHER_FAIL);
  write(finisher.registers(), FINISHER_CONTROL, FINISHER_PASS);
  write(finisher.registers(), FINISHER_CONTROL, 7u << 16 | FINISHER_RESET);
  REQUIRE(given.size() == 3);
  CHECK(given[0].kind == Finisher::Kind::fail);
  CHECK(given[0].code == 42);
  CHECK(given[1].kind == Finisher::Kind::pass);
  CHECK(given[2].kind == Finisher::Kind::reset);
  CHECK(given[2].code == 0);
  REQUIRE(finisher.verdict());
  CHECK(finisher.verdict()->code == 42);  // the first one stands
  CHECK(read(finisher.registers(), FINISHER_CONTROL) == 0);
}

TEST_CASE("a write of 16 bits is a command, with 0 as its code", "[finisher]") {
  Finisher finisher("finisher");
  std::vector<Finisher::Verdict> given;
  finisher.on_finish = [&](Finisher::Verdict v) { given.push_back(v); };
  write(finisher.registers(), FINISHER_CONTROL, FINISHER_PASS, 2);
  write(finisher.registers(), FINISHER_CONTROL, FINISHER_FAIL, 2);
  write(finisher.registers(), FINISHER_CONTROL, FINISHER_RESET, 2);
  REQUIRE(given.size() == 3);
  CHECK(given[0].kind == Finisher::Kind::pass);
  CHECK(given[1].kind == Finisher::Kind::fail);
  CHECK(given[1].code == 0);
  CHECK(given[2].kind == Finisher::Kind::reset);
  CHECK(read(finisher.registers(), FINISHER_CONTROL, 2) == 0);
  CHECK(read(finisher.registers(), FINISHER_CONTROL, 1) == 0);
}

TEST_CASE("a value that names no action ends nothing", "[finisher]") {
  Finisher finisher("finisher");
  write(finisher.registers(), FINISHER_CONTROL, 0);
  write(finisher.registers(), FINISHER_CONTROL, 0x5554);
  write(finisher.registers(), FINISHER_CONTROL, 0x55, 1);  // eight bits of a command are no command
  write(finisher.registers(), 1, 0x55, 1);
  write(finisher.registers(), 2, FINISHER_PASS, 2);
  std::uint64_t value = FINISHER_PASS;
  CHECK(finisher.registers().write(FINISHER_CONTROL, &value, 8) == base::Answer::wrong_width);
  CHECK(finisher.registers().write(4, &value, 4) == base::Answer::unmapped);
  CHECK_FALSE(finisher.verdict());
}
