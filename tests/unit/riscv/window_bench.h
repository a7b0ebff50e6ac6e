// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Programs for the instruction window alone.

#include <algorithm>
#include <random>
#include <vector>

#include "models/riscv/iss/window/instruction_window.h"
#include "tests/unit/riscv/cycle_core.h"

namespace sluice::riscv {

inline CoreShape shape_for_tests() {
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
inline std::uint64_t line(unsigned n) { return CycleCore::kWarm + n * 64; }

/// A line that L1D has been asked for.
struct Asked {
  std::uint64_t line;
  base::LineUse use;
  std::uint64_t cycle;
  bool operator==(const Asked&) const = default;
};

/// L1D holds what was accessed before, L1I everything.
struct Memory final : InstructionWindow::Memory {
  std::uint64_t latency = 0;
  base::LineState l1i{32768, 8, 64}, l1d{1 << 20, 16, 64};
  std::vector<Asked> asked;
  std::uint64_t fill(std::uint64_t address, base::LineUse use, std::uint64_t cycle) override {
    if (use == base::LineUse::fetch) return l1i.fill(address, base::LineState::kShared), cycle;
    asked.push_back({l1d.line_of(address), use, cycle});
    l1d.fill(address, base::LineState::kModified);
    return cycle + latency;
  }
};

inline Executed make(const CoreShape& shape, const Instruction& i) { return {timing_record(with_sink(i), shape)}; }

inline Executed make(const CoreShape& shape, Opcode op, unsigned rd, unsigned rs1, unsigned rs2,
                     std::uint64_t address = 0) {
  Instruction i;
  i.op = op;
  i.rd = static_cast<std::uint8_t>(rd);
  i.rs1 = static_cast<std::uint8_t>(rs1);
  i.rs2 = static_cast<std::uint8_t>(rs2);
  Executed e = make(shape, i);
  e.address = address;
  return e;
}

/// What the window says of a program.
struct Windowed {
  std::uint64_t retired;  ///< cycle in which the last instruction retires
  std::uint64_t slots;    ///< slot of the next dispatch
  TimingCounters counters;
  std::vector<Asked> asked;
};

/// Gives a program to the window in runs of at most `most` instructions, and in batches of about `batch`. Where the
/// program has no addresses, its instructions follow one another.
inline Windowed run_windowed(const CoreShape& shape, std::uint64_t fill, std::vector<Executed> program,
                             std::size_t most = 1, std::size_t batch = 40) {
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
    for (end = n + 1; end < program.size() && end - n < std::min<std::size_t>(most, TimedRun::kMost) &&
                      !program[end - 1].record.is_transfer();)
      ++end;
    TimedRun& r = runs[n];
    r.records = &records[n];
    r.count = static_cast<std::uint32_t>(end - n);
    r.pc = program[n].pc;
    r.last_pc = program[end - 1].pc;
    r.end_pc = r.last_pc + 4;
    r.complete(static_cast<std::uint32_t>(n + 1));
    log.enter(r, 0);
    for (std::size_t k = n; k < end; ++k)
      if (records[k].kind == TimingRecord::kLoad || records[k].kind == TimingRecord::kStore ||
          records[k].kind == TimingRecord::kPrefetch)
        log.access(program[k].address);
    logged += end - n;
    if (logged < batch && end != program.size()) continue;
    window.consume(log, r.count, end == program.size() ? r.end_pc : program[end].pc);
    logged = 0;
  }
  return {window.retired(), window.cycle() * shape.dispatch_width + window.dispatched(), counters,
          std::move(memory.asked)};
}

inline std::uint64_t windowed(const CoreShape& shape, std::uint64_t fill, const std::vector<Executed>& program,
                              std::size_t most = 1, std::size_t batch = 40) {
  return run_windowed(shape, fill, program, most, batch).retired;
}

/// A walk through blocks that end with conditional branches. Says which branches the predictor does not foresee.
inline std::vector<Executed> branching(const CoreShape& s, std::mt19937& random, unsigned length) {
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

}  // namespace sluice::riscv
