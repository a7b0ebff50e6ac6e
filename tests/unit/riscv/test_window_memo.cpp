// SPDX-License-Identifier: Apache-2.0
// The window's memo: whatever is executed, and however often, the times are those of a window that remembers nothing.
#include <algorithm>
#include <array>
#include <bit>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "models/riscv/iss/window/window_memo.h"
#include "tests/unit/riscv/window_bench.h"

using namespace sluice;
using namespace sluice::riscv;

namespace {

constexpr std::uint64_t kCode = 0x1000, kData = 0x8000, kDataBytes = 2560;

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 31) * 0x9e37'79b9'7f4a'7c15;
  x = (x ^ x >> 29) * 0xbf58'476d'1ce4'e5b9;
  return x ^ x >> 32;
}

/// L1 caches, and what is behind them.
struct Caches {
  struct Size {
    unsigned sets, ways, line;
    base::LineState make() const { return {std::uint64_t{sets} * ways * line, ways, line}; }
  };
  Size l1i, l1d;
  unsigned latency;    ///< how lines take their time: see SmallMemory::late()
  unsigned removal;    ///< one fill in so many takes another line away
  unsigned exclusive;  ///< one line in so many is brought exclusive

  explicit Caches(unsigned seed) {
    std::mt19937 random(seed * 7919);
    const auto one_of = [&](std::initializer_list<unsigned> of) { return *(of.begin() + random() % of.size()); };
    l1i = {one_of({1, 2, 4, 8, 16}), one_of({1, 2, 4}), one_of({16, 32, 64, 64, 128})};
    l1d = {one_of({1, 2, 4, 8, 16}), one_of({1, 2, 4, 8}), one_of({8, 16, 32, 64, 64, 128})};
    latency = one_of({0, 0, 1, 2, 3, 4, 4, 5, 6});
    removal = one_of({3, 7, 20, 1'000'000});
    exclusive = one_of({1, 2, 5, 1'000'000});
  }
};

struct SmallMemory final : InstructionWindow::Memory {
  explicit SmallMemory(const Caches& its) : caches(its), l1i(its.l1i.make()), l1d(its.l1d.make()) {}
  std::uint64_t fill(std::uint64_t address, base::LineUse use, std::uint64_t cycle) override {
    const std::uint64_t drawn = mixed(++fills * 77 + cycle);
    digest = mixed(digest ^ address * 4096 ^ cycle * 8 ^ static_cast<std::uint64_t>(use));
    // An outer cache may give up lines that L1 holds, and another owner may ask for one.
    if (drawn % caches.removal == 0)
      l1d.downgrade(kData + (drawn >> 8) % kDataBytes,
                    (drawn >> 40) % 3 == 0 ? base::LineState::kShared : base::LineState::kInvalid);
    if ((drawn >> 20) % caches.removal == 0) l1i.downgrade(kCode + (drawn >> 28) % 512, base::LineState::kInvalid);
    const bool exclusive = (drawn >> 50) % caches.exclusive == 0;
    (use == base::LineUse::fetch ? l1i : l1d)
        .fill(address, base::writes(use) ? base::LineState::kModified
                       : exclusive       ? base::LineState::kExclusive
                                         : base::LineState::kShared);
    return cycle + late(address, cycle, drawn >> 13);
  }
  std::uint64_t late(std::uint64_t address, std::uint64_t cycle, std::uint64_t drawn) const {
    switch (caches.latency) {
      case 0:
        return 10 + (address / 64 + cycle) % 40;
      case 1:
        return 0;
      case 2:  // one that a state cannot hold
        return drawn % 64 == 0 ? 70'000 : 20;
      case 3:  // more than an event's followers
        return drawn % 500;
      case 4:
        return 20 + drawn % 2;
      case 5:
        return drawn % 2 * 6;
      default:
        return 64 - cycle % 64;
    }
  }

  Caches caches;
  base::LineState l1i, l1d;
  std::uint64_t fills = 0, digest = 0;
};

/// A window with what it works on.
struct Machine {
  Machine(const CoreShape& shape, const Caches& caches, unsigned remember_after, bool engine_touches)
      : touches(engine_touches),
        memory(caches),
        window(shape, memory.l1i, memory.l1d, memory, counters, remember_after) {}
  void enter(const TimedRun& run, unsigned first) {
    touches&& first == 0 ? log.enter_touching(run) : log.enter(run, first);
  }
  /// An access of `size` bytes, or a prefetch: 0 bytes.
  void access(std::uint64_t address, unsigned size, bool store) {
    const auto bits = static_cast<unsigned>(std::countr_zero(size));
    if (!touches || size == 0 || address % memory.l1d.line_bytes() + size > memory.l1d.line_bytes())
      log.access(address);
    else if (address % size == 0)
      log.access_touching(address, bits, store);
    else
      log.access_misaligned(address, bits, store);
  }

  bool touches;  ///< the machine that executes touches lines ahead of the window
  SmallMemory memory;
  TimingCounters counters;
  std::vector<TimedRun> runs;  ///< a window writes notes into them
  InstructionWindow window;
  ExecutionLog log{&memory.l1i, &memory.l1d};
};

class Walk {
 public:
  Walk(unsigned seed, const CoreShape& shape, const Caches& caches)
      : random_(seed), code_line_(caches.l1i.line), data_line_(caches.l1d.line) {
    for (unsigned n = 0; n < kBlocks; ++n) add_block(shape);
    for (unsigned n = 0; n < kBlocks; ++n) {
      runs_[n].records = records_[n].data();
      runs_[n].complete(n + 1);
    }
  }
  void give_to(Machine& machine) const { machine.runs = runs_; }
  unsigned draw(unsigned below) { return static_cast<unsigned>(random_() % below); }

  /// Notes some blocks in both logs. Returns how much of the last one is executed, and what follows.
  void batch(Machine& a, Machine& b) {
    unsigned end = 0;
    std::uint64_t next_pc = 0;
    for (unsigned left = 1 + draw(8); left > 0; --left) {
      const TimedRun& run = runs_[at_];
      const unsigned first = first_;
      end = left == 1 && draw(4) == 0 ? first + 1 + draw(run.count - first) : run.count;
      for (Machine* m : {&a, &b}) m->enter(m->runs[at_], first);
      note_accesses(run, first, end, a, b);
      first_ = end == run.count ? 0 : end;
      if (end == run.count) at_ = next_block(run);
      next_pc = end == run.count ? runs_[at_].pc : run.pc + 4 * end;
    }
    a.window.consume(a.log, end, next_pc);
    b.window.consume(b.log, end, next_pc);
  }
  void interrupt(Machine& a, Machine& b) {
    const unsigned what = draw(100);
    const std::uint64_t later = a.window.cycle() + draw(300);
    for (Machine* m : {&a, &b}) {
      if (what == 0) m->window.drain();
      if (what == 1) m->window.drain_stores();
      if (what == 2) m->window.wait_until(later);
      if (what == 3) m->window.drain(), m->window.refetch();
      if (what == 4) m->window.delay_store(later);
      if (what == 5) m->memory.l1d.downgrade(kData + later % kDataBytes, base::LineState::kInvalid);
      if (what == 7) m->memory.l1d.downgrade(kData + later % kDataBytes, base::LineState::kShared);
      if (what == 8) m->memory.l1i.downgrade(kCode + later % 512, base::LineState::kInvalid);
      if (what == 6 && later % 64 == 0) m->window.reset();
    }
  }

 private:
  static constexpr unsigned kBlocks = 10;

  void add_block(const CoreShape& shape) {
    static constexpr std::array kOps = {Opcode::add, Opcode::add,    Opcode::mul,   Opcode::div,      Opcode::ld,
                                        Opcode::lw,  Opcode::lb,     Opcode::ld,    Opcode::sd,       Opcode::sw,
                                        Opcode::sb,  Opcode::fmul_d, Opcode::fence, Opcode::prefetch, Opcode::pause};
    std::vector<TimingRecord> records;
    for (unsigned n = draw(longest_); n > 0; --n) {
      unsigned op = draw(kOps.size());
      if (op == kOps.size() - 1 && draw(8) != 0) op = 0;
      records.push_back(make(shape, kOps[op], 5 + draw(6), 5 + draw(6), 5 + draw(6)).record);
      static constexpr std::array kUses = {base::LineUse::fetch, base::LineUse::prefetch, base::LineUse::store};
      if (records.back().kind == TimingRecord::kPrefetch)
        records.back().detail = static_cast<std::uint8_t>(kUses[draw(kUses.size())]);
    }
    const bool jumps = draw(4) == 0;
    records.push_back(make(shape, jumps ? Opcode::jal : Opcode::bne, jumps ? 1 : 0, 5 + draw(6), 0).record);
    TimedRun run;
    run.count = static_cast<std::uint32_t>(records.size());
    run.pc = pc_;
    run.end_pc = pc_ += 4 * records.size();
    run.last_pc = run.end_pc - 4;
    for (std::uint64_t at = run.pc; at < run.end_pc && run.lines < TimedRun::kMostLines;
         at = (at | (code_line_ - 1)) + 1) {
      run.starts[run.lines] = static_cast<std::uint8_t>((at - run.pc) / 4);
      run.addresses[run.lines++] = at / code_line_ * code_line_;
    }
    records_.push_back(records);
    runs_.push_back(run);
  }
  void note_accesses(const TimedRun& run, unsigned first, unsigned end, Machine& a, Machine& b) {
    for (unsigned n = first; n < end; ++n) {
      if ((run.accesses >> n & 1) == 0) continue;
      // Few bytes, so that stores are forwarded; now and then another line, bytes across lines, or a device.
      const unsigned size = run.records[n].kind == TimingRecord::kPrefetch ? 1 : run.records[n].detail;
      std::uint64_t address = kData + draw(4) * size;
      const unsigned lines = kDataBytes / data_line_, places = std::max(1u, data_line_ / size);
      if (draw(rare_) == 0) address = kData + data_line_ * draw(lines) + draw(places) * size;
      // A stream, whose lines the prefetcher brings ahead.
      if (streams_ && draw(4) == 0) address = kData + data_line_ * (stream_++ / 2 % lines) + draw(places) * size;
      if (draw(misaligned_) == 0) address += 1 + draw(62);
      const bool device = run.records[n].kind == TimingRecord::kStore && draw(6 * rare_) == 0;
      const bool store = run.records[n].kind == TimingRecord::kStore;
      const bool prefetch = run.records[n].kind == TimingRecord::kPrefetch;
      for (Machine* m : {&a, &b}) device ? m->log.access_no_cache() : m->access(address, prefetch ? 0 : size, store);
    }
  }
  unsigned next_block(const TimedRun& run) {
    const unsigned n = static_cast<unsigned>(&run - runs_.data());
    // Mostly a loop of a few blocks.
    const unsigned next = draw(10) == 0 ? draw(kBlocks) : (n + 1) % (2 + loop_);
    if (draw(200) == 0) loop_ = draw(kBlocks - 2);
    return next;
  }

  std::mt19937 random_;
  const unsigned code_line_, data_line_;
  const unsigned longest_ = draw(3) == 0 ? 28 : 7;  ///< instructions of a block
  std::vector<std::vector<TimingRecord>> records_;
  std::vector<TimedRun> runs_;
  std::uint64_t pc_ = kCode;
  unsigned at_ = 0, first_ = 0, loop_ = 1;
  bool streams_ = draw(2) == 0;
  unsigned stream_ = 0;
  unsigned rare_ = 6 << draw(6);  ///< one access in so many is to another line
  unsigned misaligned_ = draw(3) == 0 ? 6 : 4 * rare_;
};

CoreShape drawn_shape(unsigned seed) {
  std::mt19937 random(seed);
  CoreShape s = shape_for_tests();
  s.l1d_prefetch = random() % 2 == 0;
  s.dispatch_width = 1 + random() % 6;
  s.retire_width = 1 + random() % 6;
  s.fetch_width = 1 + random() % 8;
  s.fetch_queue = 8 + random() % 60;
  s.reorder_buffer = 8 + random() % 220;
  s.scheduler = 4 + random() % 90;
  s.load_queue = 2 + random() % 30;
  s.store_buffer = 2 + random() % 30;
  return s;
}

}  // namespace

TEST_CASE("a window that remembers takes the time of one that does not", "[window]") {
  const unsigned remember_after = GENERATE(0u, 3u, InstructionWindow::kNeverRemember);
  const bool touches = GENERATE(false, true);
  std::uint64_t recalled = 0;
  for (unsigned seed = 1; seed <= 120; ++seed) {
    const CoreShape shape = drawn_shape(seed);
    const Caches caches(seed);
    Walk walk(seed, shape, caches);
    Machine plain(shape, caches, InstructionWindow::kNeverRemember, false);
    Machine remembers(shape, caches, remember_after, touches);
    walk.give_to(plain);
    walk.give_to(remembers);
    for (unsigned n = 0; n < 1500; ++n) {
      walk.batch(plain, remembers);
      walk.interrupt(plain, remembers);
      INFO("seed " << seed << ", batch " << n << ", remembers after " << remember_after << ", touches " << touches);
      const InstructionWindow &a = plain.window, &b = remembers.window;
      REQUIRE(a.cycle() == b.cycle());
      REQUIRE(a.dispatched() == b.dispatched());
      REQUIRE(plain.memory.digest == remembers.memory.digest);
      // Where nothing is under way, it is not told since when.
      REQUIRE(std::max(a.retired() + 1, a.cycle()) == std::max(b.retired() + 1, b.cycle()));
    }
    const TimingCounters &a = plain.counters, &b = remembers.counters;
    REQUIRE(a.lost == b.lost);
    REQUIRE(std::array{a.l1d_accesses, a.l1d_misses, a.l1i_accesses, a.l1i_misses} ==
            std::array{b.l1d_accesses, b.l1d_misses, b.l1i_accesses, b.l1i_misses});
    REQUIRE(std::array{a.branches, a.mispredictions, a.forwarded, a.l1d_prefetches} ==
            std::array{b.branches, b.mispredictions, b.forwarded, b.l1d_prefetches});
    for (std::uint64_t at = kData; at < kData + kDataBytes; at += 8)
      REQUIRE(plain.memory.l1d.state(at) == remembers.memory.l1d.state(at));
    REQUIRE(plain.window.recalled() == 0);
    recalled += remembers.window.recalled();
  }
  if (remember_after == InstructionWindow::kNeverRemember)
    REQUIRE(recalled == 0);
  else
    REQUIRE(recalled > (remember_after == 0 ? 60'000u : 8'000u));
}
