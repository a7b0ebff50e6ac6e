// SPDX-License-Identifier: Apache-2.0
#include <random>

#include <catch2/catch.hpp>

#include "tests/unit/riscv/cycle_core.h"

using namespace sluice;
using namespace sluice::riscv;

namespace {

CoreShape shape_for_tests() {
  CoreShape s;
  s.l1d_prefetch = false;
  for (ExecutionClass& c : s.classes) c = {1, 1, 0b0110'0011};
  s.of(CostClass::load) = {5, 1, 0b0000'1100};
  s.of(CostClass::store) = {1, 1, 0b0001'0000};
  s.of(CostClass::mul) = {3, 1, 0b0000'0010};
  s.of(CostClass::branch) = {1, 1, 0b0100'0001};
  s.of(CostClass::div64) = {20, 10, 0b0000'0001};
  s.of(CostClass::pause) = {30, 1, 0b0110'0011};
  s.of(CostClass::fp_mul) = {4, 1, 0b0000'0011};
  return s;
}

/// Address of a line that L1D does not hold at first.
std::uint64_t line(unsigned n) { return CycleCore::kWarm + n * 64; }

/// L1D holds what was accessed before, L1I everything.
struct Memory final : InstructionWindow::Memory {
  std::uint64_t latency = 0;
  base::LineState l1i{32768, 8, 64}, l1d{1 << 20, 16, 64};
  std::uint64_t fill(std::uint64_t address, base::LineUse use, std::uint64_t cycle) override {
    if (use == base::LineUse::fetch) return l1i.fill(address, base::LineState::kShared), cycle;
    l1d.fill(address, base::LineState::kModified);
    return cycle + latency;
  }
};

Executed make(const CoreShape& shape, const Instruction& i) { return {timing_record(with_sink(i), shape)}; }

Executed make(const CoreShape& shape, Opcode op, unsigned rd, unsigned rs1, unsigned rs2, std::uint64_t address = 0) {
  Instruction i;
  i.op = op;
  i.rd = static_cast<std::uint8_t>(rd);
  i.rs1 = static_cast<std::uint8_t>(rs1);
  i.rs2 = static_cast<std::uint8_t>(rs2);
  Executed e = make(shape, i);
  e.address = address;
  return e;
}

/// Gives a program to the window in runs of at most `most` instructions, and in batches of about `batch`. Where the
/// program has no addresses, its instructions follow one another.
std::uint64_t windowed(const CoreShape& shape, std::uint64_t fill, std::vector<Executed> program, std::size_t most = 1,
                       std::size_t batch = 40) {
  Memory memory;
  memory.latency = fill;
  TimingCounters counters;
  InstructionWindow window(shape, memory.l1i, memory.l1d, memory, counters);
  for (std::uint64_t line = 0; line < CycleCore::kWarm; line += 64) memory.l1d.fill(line, base::LineState::kModified);
  std::vector<TimingRecord> records;
  for (std::size_t n = 0; n < program.size(); ++n) {
    records.push_back(program[n].record);
    if (program[n].pc == 0) program[n].pc = 0x1000 + 4 * n;
  }
  std::vector<TimedRun> runs(program.size());
  ExecutionLog log;
  std::size_t logged = 0;
  for (std::size_t n = 0, end; n < program.size(); n = end) {
    for (end = n + 1; end < program.size() && end - n < most && !program[end - 1].record.is_transfer();)
      ++end;
    TimedRun& r = runs[n];
    r.records = &records[n];
    r.count = static_cast<std::uint32_t>(end - n);
    r.pc = program[n].pc;
    r.last_pc = program[end - 1].pc;
    r.end_pc = r.last_pc + 4;
    log.enter(r, 0);
    for (std::size_t k = n; k < end; ++k)
      if (records[k].kind == TimingRecord::kLoad || records[k].kind == TimingRecord::kStore)
        log.access(program[k].address);
    logged += end - n;
    if (logged < batch && end != program.size()) continue;
    window.consume(log, r.count, end == program.size() ? r.end_pc : program[end].pc);
    logged = 0;
  }
  return window.retired();
}

void same(const CoreShape& shape, std::uint64_t fill, const std::vector<Executed>& program) {
  const std::uint64_t expected = CycleCore(shape, fill).run(program);
  CHECK(windowed(shape, fill, program) == expected);
  CHECK(windowed(shape, fill, program, 64, 1) == expected);
  CHECK(windowed(shape, fill, program, 5, 300) == expected);
}

/// A walk through blocks that end with conditional branches. Says which branches the predictor does not foresee.
std::vector<Executed> branching(const CoreShape& s, std::mt19937& random, unsigned length) {
  constexpr unsigned kBlocks = 12;
  const auto draw = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
  struct Block {
    std::vector<Executed> body;
    unsigned target, often;
  };
  std::vector<Block> blocks(kBlocks);
  std::uint64_t pc = 0x1000;
  for (Block& b : blocks) {
    for (unsigned n = draw(9); n > 0; --n)
      b.body.push_back(make(s, draw(3) == 0 ? Opcode::mul : Opcode::add, 5 + draw(8), 5 + draw(8), 0));
    b.body.push_back(make(s, Opcode::bne, 0, 5 + draw(8), 0));
    b.target = draw(kBlocks);
    b.often = draw(11);
    for (Executed& e : b.body) e.pc = pc, pc += 4;
  }
  BranchPredictor predictor(s.history, s.return_stack);
  std::vector<Executed> program;
  for (unsigned at = 0; program.size() < length;) {
    const Block& b = blocks[at];
    program.insert(program.end(), b.body.begin(), b.body.end());
    Executed& branch = program.back();
    const unsigned next = draw(10) < b.often ? b.target : at + 1;
    branch.taken = next != at + 1;
    at = next % kBlocks;
    if (next == kBlocks) branch.taken = true;  // back to the first block
    branch.mispredicted = !predictor.conditional(branch.pc, branch.taken);
  }
  return program;
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
