// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "models/irq/plic.h"
#include "models/irq/plic_regs.h"
#include "tests/unit/irq/register_access.h"

using namespace sluice;
using test::read;
using test::write;

namespace {

struct Bench {
  irq::Plic plic{"plic", {.sources = 40, .priorities = 7}, 2};
  base::RegisterBank& registers() { return plic.registers(); }
  /// Gives a source a priority and enables it in a context.
  void enable(unsigned context, unsigned source, unsigned priority) {
    write(registers(), PLIC_PRIORITY(source), priority);
    const std::uint64_t enabled = read(registers(), PLIC_ENABLE(context, source / 32));
    write(registers(), PLIC_ENABLE(context, source / 32), enabled | 1u << source % 32);
  }
  std::uint64_t claim(unsigned context) { return read(registers(), PLIC_CLAIM(context)); }
  void complete(unsigned context, unsigned source) { write(registers(), PLIC_CLAIM(context), source); }
};

constexpr unsigned kMachine0 = 0, kSupervisor0 = 1, kSupervisor1 = 3;

}  // namespace

TEST_CASE("a source reaches the contexts that enable it and no other", "[plic]") {
  Bench b;
  b.enable(kSupervisor1, 33, 1);
  b.plic.set_source(33, true);
  CHECK(b.plic.supervisor(1).level());
  CHECK_FALSE(b.plic.machine(1).level());
  CHECK_FALSE(b.plic.supervisor(0).level());
  CHECK(read(b.registers(), PLIC_PENDING(1)) == 2);
  CHECK(b.claim(kSupervisor0) == 0);
  CHECK(b.claim(kSupervisor1) == 33);
  CHECK_FALSE(b.plic.supervisor(1).level());
  CHECK(read(b.registers(), PLIC_PENDING(1)) == 0);
}

TEST_CASE("a claimed source is not forwarded again before it is completed", "[plic]") {
  Bench b;
  b.enable(kMachine0, 5, 1);
  b.plic.set_source(5, true);
  CHECK(b.claim(kMachine0) == 5);
  b.plic.set_source(5, false);
  b.plic.set_source(5, true);
  CHECK_FALSE(b.plic.machine(0).level());
  CHECK(b.claim(kMachine0) == 0);
  b.complete(kMachine0, 5);  // still high
  CHECK(b.plic.machine(0).level());
  CHECK(b.claim(kMachine0) == 5);
  b.plic.set_source(5, false);
  b.complete(kMachine0, 5);
  CHECK_FALSE(b.plic.machine(0).level());
}

TEST_CASE("a request stays pending when the level falls before the claim", "[plic]") {
  Bench b;
  b.enable(kMachine0, 5, 1);
  b.plic.set_source(5, true);
  b.plic.set_source(5, false);
  CHECK(b.plic.machine(0).level());
  CHECK(b.claim(kMachine0) == 5);
  b.complete(kMachine0, 5);
  CHECK_FALSE(b.plic.machine(0).level());
}

TEST_CASE("the highest priority wins, among equals the lowest number", "[plic]") {
  Bench b;
  b.enable(kMachine0, 7, 2);
  b.enable(kMachine0, 9, 3);
  b.enable(kMachine0, 38, 3);
  for (const unsigned source : {7u, 38u, 9u}) b.plic.set_source(source, true);
  CHECK(b.claim(kMachine0) == 9);
  CHECK(b.claim(kMachine0) == 38);
  CHECK(b.claim(kMachine0) == 7);
  CHECK(b.claim(kMachine0) == 0);
}

TEST_CASE("the threshold masks the line but not a claim", "[plic]") {
  Bench b;
  b.enable(kMachine0, 1, 3);
  write(b.registers(), PLIC_THRESHOLD(kMachine0), 3);
  b.plic.set_source(1, true);
  CHECK_FALSE(b.plic.machine(0).level());
  write(b.registers(), PLIC_THRESHOLD(kMachine0), 2);
  CHECK(b.plic.machine(0).level());
  write(b.registers(), PLIC_THRESHOLD(kMachine0), 7);
  CHECK(b.claim(kMachine0) == 1);
}

TEST_CASE("priority zero never interrupts", "[plic]") {
  Bench b;
  b.enable(kMachine0, 1, 0);
  b.plic.set_source(1, true);
  CHECK_FALSE(b.plic.machine(0).level());
  CHECK(b.claim(kMachine0) == 0);
  write(b.registers(), PLIC_PRIORITY(1), 0xffff'ffff);
  CHECK(read(b.registers(), PLIC_PRIORITY(1)) == 7);  // WARL
  CHECK(b.plic.machine(0).level());
}

TEST_CASE("one of two contexts that enable a source gets it", "[plic]") {
  Bench b;
  b.enable(kSupervisor0, 2, 1);
  b.enable(kSupervisor1, 2, 1);
  b.plic.set_source(2, true);
  CHECK(b.plic.supervisor(0).level());
  CHECK(b.plic.supervisor(1).level());
  CHECK(b.claim(kSupervisor1) == 2);
  CHECK_FALSE(b.plic.supervisor(0).level());
  CHECK(b.claim(kSupervisor0) == 0);
}

TEST_CASE("a completion by a context that has not enabled the source is ignored", "[plic]") {
  Bench b;
  b.enable(kSupervisor0, 2, 1);
  b.plic.set_source(2, true);
  CHECK(b.claim(kSupervisor0) == 2);
  b.complete(kSupervisor1, 2);
  CHECK_FALSE(b.plic.supervisor(0).level());
  b.complete(kSupervisor0, 0);
  write(b.registers(), PLIC_CLAIM(kSupervisor0), 0xffff'ffff);
  b.complete(kSupervisor0, 41);
  CHECK_FALSE(b.plic.supervisor(0).level());
  b.complete(kSupervisor0, 2);
  CHECK(b.plic.supervisor(0).level());
}

TEST_CASE("sources and contexts beyond the last are refused", "[plic]") {
  Bench b;
  b.plic.set_source(0, true);
  b.plic.set_source(41, true);
  b.plic.set_source(4'000'000, true);
  CHECK(read(b.registers(), PLIC_PENDING(0)) == 0);
  CHECK(read(b.registers(), PLIC_PENDING(1)) == 0);
  std::uint64_t value = 1;
  CHECK(b.registers().write(PLIC_PRIORITY(0), &value, 4) == base::Answer::unmapped);
  CHECK(b.registers().write(PLIC_PRIORITY(41), &value, 4) == base::Answer::unmapped);
  CHECK(b.registers().read(PLIC_CLAIM(4), &value, 4) == base::Answer::unmapped);
  CHECK(b.registers().write(PLIC_PENDING(0), &value, 4) == base::Answer::read_only);
  CHECK(b.registers().read(PLIC_CLAIM(0), &value, 8) == base::Answer::wrong_width);
}

TEST_CASE("parameters of a PLIC", "[plic]") {
  const auto& schema = base::schema_of<irq::Plic::Parameters>();
  irq::Plic::Parameters p;
  schema.find("sources")->assign_text(&p, "1023");
  CHECK_THROWS_AS(schema.find("sources")->assign_text(&p, "1024"), base::ValueError);
  CHECK_THROWS_AS(schema.find("sources")->assign_text(&p, "0"), base::ValueError);
  CHECK_THROWS_AS(schema.find("priorities")->assign_text(&p, "8"), base::ValueError);
  CHECK(p.sources == 1023);
}

TEST_CASE("a debugger sees what a claim would return, and claims nothing", "[plic]") {
  Bench b;
  b.enable(kSupervisor1, 33, 1);
  b.enable(kSupervisor1, 7, 5);
  b.plic.set_source(33, true);
  b.plic.set_source(7, true);
  for (int twice = 0; twice < 2; ++twice) {
    auto seen = test::look("plic");
    CHECK(seen["claim_context3"] == 7);
    CHECK(seen["claim_context0"] == 0);
    CHECK(seen["priority[33]"] == 1);
    CHECK(seen["priority[7]"] == 5);
    CHECK(seen.count("priority[0]") == 0);
    CHECK(seen["pending[1]"] == 2);
  }
  CHECK(b.claim(kSupervisor1) == 7);
  CHECK(test::look("plic")["claim_context3"] == 33);
}
