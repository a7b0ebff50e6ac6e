// SPDX-License-Identifier: Apache-2.0
#include <random>

#include <catch2/catch.hpp>

#include "tests/unit/riscv/window_bench.h"

using namespace sluice;
using namespace sluice::riscv;

namespace {

void same(const CoreShape& shape, std::uint64_t fill, const std::vector<Executed>& program) {
  const std::uint64_t expected = CycleCore(shape, fill).run(program);
  CHECK(windowed(shape, fill, program) == expected);
  CHECK(windowed(shape, fill, program, 64, 1) == expected);
  CHECK(windowed(shape, fill, program, 5, 300) == expected);
}

}  // namespace

TEST_CASE("independent instructions take a cycle for each dispatch width", "[window]") {
  const CoreShape s = shape_for_tests();
  std::vector<Executed> program(400, make(s, Opcode::add, 5, 0, 0));
  same(s, 0, program);
  CHECK(windowed(s, 0, program) == 100 + 1);
}

TEST_CASE("dependent instructions take their latencies", "[window]") {
  const CoreShape s = shape_for_tests();
  const auto [op, latency] =
      GENERATE(std::pair(Opcode::add, 1), std::pair(Opcode::mul, 3), std::pair(Opcode::fmadd_d, 4));
  std::vector<Executed> program(100, make(s, op, 5, 5, 5));
  same(s, 0, program);
  CHECK(windowed(s, 0, program) == 1 + 100u * static_cast<unsigned>(latency));
}

TEST_CASE("a port issues one instruction in a cycle", "[window]") {
  const CoreShape s = shape_for_tests();
  std::vector<Executed> program(100, make(s, Opcode::mul, 5, 0, 0));
  same(s, 0, program);
  CHECK(windowed(s, 0, program) == 1 + 99 + 3);
}

TEST_CASE("a unit that is not pipelined takes an instruction in each interval", "[window]") {
  const CoreShape s = shape_for_tests();
  std::vector<Executed> program(50, make(s, Opcode::div, 5, 0, 0));
  same(s, 0, program);
  CHECK(windowed(s, 0, program) == 1 + 49 * 10 + 20);
}

TEST_CASE("a pointer chase takes the latency of each level", "[window]") {
  const CoreShape s = shape_for_tests();
  for (const std::uint64_t fill : {14, 70, 300}) {
    std::vector<Executed> program;
    for (unsigned n = 0; n < 100; ++n) program.push_back(make(s, Opcode::ld, 5, 5, 0, line(n)));
    same(s, fill, program);
    CHECK(windowed(s, fill, program) == 1 + 100 * fill);
  }
}

TEST_CASE("independent misses overlap until the window is full", "[window]") {
  CoreShape s = shape_for_tests();
  for (const unsigned reorder : {16u, 64u, 224u}) {
    s.reorder_buffer = reorder;
    std::vector<Executed> program;
    for (unsigned n = 0; n < 1000; ++n)
      program.push_back(n % 8 == 0 ? make(s, Opcode::ld, 5, 0, 0, line(n)) : make(s, Opcode::add, 6, 0, 0));
    same(s, 300, program);
  }
}

TEST_CASE("each queue can be full", "[window]") {
  CoreShape s = shape_for_tests();
  std::vector<Executed> loads, stores, waiting;
  for (unsigned n = 0; n < 200; ++n) {
    loads.push_back(make(s, Opcode::ld, 5, 0, 0, n % 10 == 0 ? line(n) : 0));
    stores.push_back(make(s, Opcode::sd, 0, 0, 6, n % 10 == 0 ? line(n) : 0));
    waiting.push_back(n % 50 == 0 ? make(s, Opcode::ld, 5, 0, 0, line(n)) : make(s, Opcode::add, 6, 5, 0));
  }
  s.load_queue = 8;
  same(s, 100, loads);
  s.store_buffer = 6;
  same(s, 100, stores);
  s.scheduler = 10;
  same(s, 100, waiting);
}

TEST_CASE("a fence of stores before loads waits for the stores, and loads wait for it", "[window]") {
  const CoreShape s = shape_for_tests();
  Executed full = make(s, decode(0x0330'000f)), weak = make(s, decode(0x0220'000f));  // rw,rw and r,r
  REQUIRE(full.record.kind == TimingRecord::kFence);
  REQUIRE(weak.record.kind == TimingRecord::kPlain);
  for (const Executed& fence : {full, weak}) {
    std::vector<Executed> program = {make(s, Opcode::sd, 0, 0, 6, line(0)), fence, make(s, Opcode::ld, 5, 0, 0, 0)};
    for (unsigned n = 0; n < 20; ++n) program.push_back(make(s, Opcode::add, 7, 7, 0));
    same(s, 100, program);
  }
  // The store is issued in cycle 1, done and retired in 2, asks for its line in 3 and is written in 103. The fence is
  // done in 104 and the load 5 cycles later.
  CHECK(windowed(s, 100, {make(s, Opcode::sd, 0, 0, 6, line(0)), full, make(s, Opcode::ld, 5, 0, 0, 0)}) == 109);
}

TEST_CASE("a pause stops dispatch", "[window]") {
  const CoreShape s = shape_for_tests();
  std::vector<Executed> program;
  for (unsigned n = 0; n < 5; ++n) {
    program.push_back(make(s, decode(0x0100'000f)));
    for (unsigned k = 0; k < 7; ++k) program.push_back(make(s, Opcode::add, 7, 0, 0));
  }
  REQUIRE(program.front().record.kind == TimingRecord::kPause);
  same(s, 0, program);
}

TEST_CASE("drawn programs take as long as on the core described by cycles", "[window]") {
  std::mt19937 random(7);
  const auto draw = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
  for (unsigned round = 0; round < 200; ++round) {
    CoreShape s = shape_for_tests();
    s.dispatch_width = 1 + draw(6);
    s.fetch_width = s.dispatch_width + draw(3);
    s.retire_width = 1 + draw(8);
    s.reorder_buffer = 16 + draw(200);
    s.scheduler = 4 + draw(60);
    s.load_queue = 4 + draw(40);
    s.store_buffer = 4 + draw(40);
    std::vector<Executed> program;
    for (unsigned n = 0; n < 400; ++n) {
      const Opcode ops[] = {Opcode::add, Opcode::add, Opcode::add, Opcode::mul, Opcode::ld, Opcode::ld, Opcode::sd};
      if (draw(40) == 0) program.push_back(make(s, decode(0x0330'000f)));
      const Opcode op = ops[draw(7)];
      program.push_back(make(s, op, 5 + draw(12), draw(3) == 0 ? 0 : 5 + draw(12), 5 + draw(12),
                             draw(8) == 0 ? line(n) : 8 * draw(40)));
    }
    CAPTURE(round, s.dispatch_width, s.fetch_width, s.retire_width, s.reorder_buffer, s.scheduler, s.load_queue,
            s.store_buffer);
    same(s, 20 + draw(200), program);
  }
}

TEST_CASE("a mispredicted branch costs the refill after it is done", "[window]") {
  CoreShape s = shape_for_tests();
  std::mt19937 random(3);
  for (unsigned round = 0; round < 50; ++round) {
    s.dispatch_width = 1 + round % 6;
    s.fetch_width = s.dispatch_width + round % 2;
    s.refill = 5 + round % 15;
    CAPTURE(round);
    const auto program = branching(s, random, 500);
    const std::uint64_t expected = CycleCore(s, 0).run(program);
    const std::uint64_t got = windowed(s, 0, program);
    CHECK(got == expected);
    CHECK(windowed(s, 0, program, 64, 100) == got);
  }
}
