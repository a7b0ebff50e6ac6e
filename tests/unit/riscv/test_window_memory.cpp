// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <random>

#include <catch2/catch.hpp>

#include "tests/unit/riscv/window_bench.h"

using namespace sluice;
using namespace sluice::riscv;

namespace {

/// prefetch.i, .r or .w of an address.
Executed prefetch(const CoreShape& s, std::uint8_t kind, std::uint64_t address) {
  Instruction i = decode(0x0000'6013 | static_cast<std::uint32_t>(kind) << 20);
  REQUIRE(i.op == Opcode::prefetch);
  Executed e = make(s, i);
  e.address = address;
  return e;
}

std::uint64_t lost(const TimingCounters& c) { return std::accumulate(c.lost.begin(), c.lost.end(), std::uint64_t{0}); }
std::uint64_t lost(const TimingCounters& c, Loss why) { return c.lost[static_cast<std::size_t>(why)]; }

}  // namespace

TEST_CASE("a prefetch starts a fill and waits for nothing", "[window]") {
  CoreShape s = shape_for_tests();
  for (const std::uint8_t kind : {Instruction::kPrefetchR, Instruction::kPrefetchW}) {
    // Additions that depend on each other take as long as the fill.
    std::vector<Executed> program = {prefetch(s, kind, line(0))};
    for (unsigned n = 0; n < 40; ++n) program.push_back(make(s, Opcode::add, 6, 6, 0));
    program.push_back(make(s, Opcode::ld, 5, 6, 0, line(0)));
    const Windowed ahead = run_windowed(s, 40, program);
    // The chain of additions ends in cycle 41, and the load takes 5 more.
    CHECK(ahead.retired == 41 + 5);
    CHECK(ahead.counters.l1d_prefetches == 1);
    program.erase(program.begin());
    CHECK(windowed(s, 40, program) == 41 + 40);
  }
}

TEST_CASE("a load behind its own prefetch waits for the rest of the fill", "[window]") {
  CoreShape s = shape_for_tests();
  // Both are issued in cycle 1: the line arrives in 101 for both.
  CHECK(windowed(s, 100, {prefetch(s, Instruction::kPrefetchR, line(0)), make(s, Opcode::ld, 5, 0, 0, line(0))}) ==
        101);
}

TEST_CASE("two misses in a row of lines bring the next line", "[window]") {
  CoreShape s = shape_for_tests();
  // Each load waits for the one before it, so a miss takes the whole fill.
  std::vector<Executed> up, down, far;
  for (unsigned n = 0; n < 20; ++n) {
    up.push_back(make(s, Opcode::ld, 5, 5, 0, line(n)));
    down.push_back(make(s, Opcode::ld, 5, 5, 0, line(40 - n)));
    far.push_back(make(s, Opcode::ld, 5, 5, 0, line(3 * n)));
  }
  CHECK(windowed(s, 100, up) == 1 + 20 * 100);
  s.l1d_prefetch = true;
  // Lines 0 and 1 miss, and 1 brings 2, which is there when it is loaded. So 3 misses, brings 4, and so on: 11 misses
  // and 9 hits.
  const Windowed ascending = run_windowed(s, 100, up);
  CHECK(ascending.retired == 1 + 11 * 100 + 9 * 5);
  CHECK(ascending.counters.l1d_prefetches == 10);
  CHECK(run_windowed(s, 100, down).counters.l1d_prefetches == 0);
  CHECK(run_windowed(s, 100, far).counters.l1d_prefetches == 0);
}

TEST_CASE("the first load of a line under way brings the next one", "[window]") {
  CoreShape s = shape_for_tests();
  s.l1d_prefetch = true;
  std::vector<Executed> program;
  for (unsigned n = 0; n < 3; ++n) program.push_back(make(s, Opcode::ld, 5, 0, 0, line(n)));
  // All three are issued before any line has arrived. Line 1 brings 2, and the load of 2 brings 3.
  const Windowed w = run_windowed(s, 100, program);
  CHECK(w.counters.l1d_prefetches == 2);
  CHECK(w.counters.l1d_misses == 2);
}

TEST_CASE("the line prefetcher stays in its page", "[window]") {
  CoreShape s = shape_for_tests();
  s.l1d_prefetch = true;
  std::vector<Executed> program;
  for (unsigned n = 62; n < 64; ++n) program.push_back(make(s, Opcode::ld, 5, 5, 0, line(n)));
  static_assert(CycleCore::kWarm % 4096 == 0);
  CHECK(run_windowed(s, 100, program).counters.l1d_prefetches == 0);
}

TEST_CASE("a load gets its value from the store buffer, or waits for the store", "[window]") {
  CoreShape s = shape_for_tests();
  // The store is issued in cycle 1 and its data is there in 2. The load is issued in 1 too, and takes 5 from 2 on.
  const Windowed forwarded =
      run_windowed(s, 100, {make(s, Opcode::sd, 0, 0, 6, line(0)), make(s, Opcode::ld, 5, 0, 0, line(0))});
  CHECK(forwarded.retired == 2 + 5);
  CHECK(forwarded.counters.forwarded == 1);
  // Only a byte is in the store buffer: the load waits until it is written, in 103, and takes 5.
  const Windowed partly =
      run_windowed(s, 100, {make(s, Opcode::sb, 0, 0, 6, line(0)), make(s, Opcode::ld, 5, 0, 0, line(0))});
  CHECK(partly.retired == 103 + 5);
  CHECK(partly.counters.forwarded == 0);
}

TEST_CASE("a line under way is waited for, whatever else is", "[window]") {
  const CoreShape s = shape_for_tests();
  // Lines that are some KiB apart.
  for (const unsigned apart : {64u, 128u, 4096u}) {
    std::vector<Executed> program;
    for (unsigned n = 0; n < 6; ++n) program.push_back(prefetch(s, Instruction::kPrefetchR, line(n * apart)));
    program.push_back(make(s, Opcode::ld, 5, 0, 0, line(0)));
    CAPTURE(apart);
    CHECK(windowed(s, 200, program) == 1 + 200);
    program = {make(s, Opcode::sd, 0, 0, 6, line(0)), make(s, Opcode::sd, 0, 0, 6, line(apart)),
               make(s, Opcode::ld, 5, 0, 0, line(0) + 8)};
    // The first store retires in cycle 2 and asks for its line in 3.
    CHECK(windowed(s, 200, program) == 3 + 200);
  }
}

TEST_CASE("a load waits for the data of the store that it reads, whatever is stored behind it", "[window]") {
  const CoreShape s = shape_for_tests();
  // The data of the first store comes from a miss: it is issued in 201 and its data is there in 202.
  const Executed late = make(s, Opcode::ld, 5, 0, 0, line(0));
  for (const std::uint64_t behind : {4u, 2048u, 4096u, 8192u}) {
    const std::vector<Executed> program = {late, make(s, Opcode::sw, 0, 0, 5, 0), make(s, Opcode::sw, 0, 0, 0, behind),
                                           make(s, Opcode::lw, 6, 0, 0, 0)};
    CAPTURE(behind);
    CHECK(windowed(s, 200, program) == 202 + 5);
  }
  // Across two granules of 8 bytes.
  const std::vector<Executed> across = {late, make(s, Opcode::sd, 0, 0, 5, 4), make(s, Opcode::lw, 6, 0, 0, 8)};
  CHECK(windowed(s, 200, across) == 202 + 5);
}

TEST_CASE("a prefetched line of code is waited for", "[window]") {
  struct Slow final : InstructionWindow::Memory {
    base::LineState l1i{32768, 8, 64}, l1d{32768, 8, 64};
    std::uint64_t fill(std::uint64_t address, base::LineUse use, std::uint64_t cycle) override {
      (use == base::LineUse::fetch ? l1i : l1d).fill(address, base::LineState::kShared);
      return cycle + 200;
    }
  };
  const CoreShape s = shape_for_tests();
  for (const bool prefetched : {false, true}) {
    Slow memory;
    TimingCounters counters;
    InstructionWindow window(s, memory.l1i, memory.l1d, memory, counters);
    const Executed first = prefetched ? prefetch(s, Instruction::kPrefetchI, 0) : make(s, Opcode::add, 6, 0, 0);
    TimingRecord records[] = {first.record, make(s, Opcode::add, 7, 0, 0).record};
    TimedRun before, behind;
    before.records = &records[0];
    behind.records = &records[1];
    before.count = behind.count = behind.lines = 1;
    behind.addresses[0] = line(50);
    ExecutionLog log;
    log.enter(before, 0);
    if (prefetched) log.access(line(50));
    log.enter(behind, 0);
    window.consume(log, 1, 0);
    CAPTURE(prefetched);
    // Fetch asks for the line in cycle 1, or the prefetch does, which is issued then. The addition is dispatched in
    // 201, issued in 202 and done in 203.
    CHECK(window.retired() == 203);
    CHECK(counters.l1i_misses == (prefetched ? 0 : 1));
  }
}

TEST_CASE("each dispatch slot holds an instruction or is lost by a cause", "[window]") {
  std::mt19937 random(11);
  const auto draw = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
  TimingCounters all;
  for (unsigned round = 0; round < 100; ++round) {
    CoreShape s = shape_for_tests();
    s.l1d_prefetch = draw(2) == 0;
    s.dispatch_width = 1 + draw(6);
    s.fetch_width = s.dispatch_width + draw(3);
    s.reorder_buffer = 16 + draw(200);
    s.scheduler = 4 + draw(60);
    s.load_queue = 4 + draw(40);
    s.store_buffer = 4 + draw(40);
    std::vector<Executed> program = branching(s, random, 300);
    for (Executed& e : program) {
      if (draw(4) != 0 || e.record.is_transfer()) continue;
      const std::uint64_t pc = e.pc;
      e = make(s, draw(2) == 0 ? Opcode::ld : Opcode::sd, 5 + draw(9), 5 + draw(9), 0,
               draw(4) == 0 ? line(draw(500)) : 8);
      e.pc = pc;
    }
    const Windowed w = run_windowed(s, 20 + draw(200), program, 1 + draw(20), 1 + draw(100));
    CAPTURE(round);
    CHECK(w.slots == program.size() + lost(w.counters));
    for (std::size_t n = 0; n < kLosses; ++n) all.lost[n] += w.counters.lost[n];
  }
  for (const Loss why : {Loss::fetch, Loss::misprediction, Loss::reorder_buffer, Loss::scheduler, Loss::load_queue,
                         Loss::store_buffer}) {
    CAPTURE(static_cast<int>(why));
    CHECK(lost(all, why) > 0);
  }
}

TEST_CASE("a reset forgets all that is under way", "[window]") {
  const CoreShape s = shape_for_tests();
  Memory memory;
  memory.latency = 1000;
  TimingCounters counters;
  InstructionWindow window(s, memory.l1i, memory.l1d, memory, counters);
  const auto run = [&](std::vector<Executed> program) {
    std::vector<TimingRecord> records;
    for (const Executed& e : program) records.push_back(e.record);
    TimedRun r;
    r.records = records.data();
    r.count = static_cast<std::uint32_t>(records.size());
    r.end_pc = 4 * r.count;
    r.complete(1);
    ExecutionLog log;
    log.enter(r, 0);
    for (const Executed& e : program)
      if (e.record.kind == TimingRecord::kLoad || e.record.kind == TimingRecord::kStore) log.access(e.address);
    window.consume(log, r.count, r.end_pc);
  };
  Executed fence = make(s, decode(0x0330'000f));
  run({make(s, Opcode::sd, 0, 0, 6, line(0)), make(s, Opcode::div, 7, 0, 0), fence});  // written in 1003
  window.reset();
  memory.l1d.clear();
  memory.latency = 50;
  window.wait_until(10);  // the divider would be busy until 11, loads would wait until 1004
  memory.asked.clear();
  run({make(s, Opcode::ld, 5, 0, 0, line(0)), make(s, Opcode::div, 7, 0, 0)});
  CHECK(counters.forwarded == 0);
  REQUIRE(memory.asked.size() == 1);
  CHECK(memory.asked[0].cycle == 11);
  CHECK(window.retired() == 11 + 50);
}
