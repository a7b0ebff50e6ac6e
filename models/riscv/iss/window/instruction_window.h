// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The time that instructions take on an out-of-order core (timing = "interval"). An engine executes instructions first
/// and notes what it has executed in a log; the window consumes the log in batches and says in which cycle the next
/// instruction is dispatched. It follows the instruction-window-centric model of Carlson, Heirman, Eyerman, Hur and
/// Eeckhout (ACM TACO 11(3), 2014): each instruction is treated once, in program order, and gets the cycles of its
/// dispatch, issue, completion and retirement.

#include <array>
#include <cstdint>
#include <vector>

#include "models/base/memory/line_state.h"
#include "models/riscv/iss/timing_counters.h"
#include "models/riscv/iss/window/branch_predictor.h"
#include "models/riscv/iss/window/core_shape.h"
#include "models/riscv/iss/window/issue_slots.h"
#include "models/riscv/iss/window/timing_record.h"

namespace sluice::riscv {

/// A straight run of decoded instructions, which an engine keeps beside its code. Only the last one may be a branch or
/// jump.
struct TimedRun {
  static constexpr unsigned kMostLines = 8;
  TimingRecord* records = nullptr;
  std::uint32_t count = 0;
  std::uint8_t lines = 0;                             ///< entries of `starts` and `addresses`
  std::array<std::uint8_t, kMostLines> starts{};      ///< instructions that are the first of the run in an L1I line
  std::array<std::uint64_t, kMostLines> addresses{};  ///< physical addresses of these lines
  std::uint64_t pc = 0;
  std::uint64_t last_pc = 0;  ///< of the last instruction
  std::uint64_t end_pc = 0;   ///< after it
};

/// What an engine has executed and the window has not yet consumed.
class ExecutionLog {
 public:
  ExecutionLog() { entries_.resize(kCapacity); }
  bool empty() const { return end_ == 0; }
  /// Takes out what was entered last, of which nothing has been executed.
  void abandon() { end_ = last_; }
  /// The instructions of a run from `first` on follow. What is executed of a run is known when the next run is entered:
  /// all of it; or when the log is consumed.
  void enter(const TimedRun& run, unsigned first) {
    last_ = end_;
    entries_[end_++] = reinterpret_cast<std::uintptr_t>(&run);
    entries_[end_++] = first;
  }
  /// The next load, store or prefetch of the run accesses this physical address.
  void access(std::uint64_t address) { entries_[end_++] = address; }
  /// The next store of the run is to a device, or its next prefetch brings nothing.
  void access_no_cache() { access(kNoCache); }

 private:
  friend class InstructionWindow;
  static constexpr std::uint64_t kNoCache = ~std::uint64_t{0};
  static constexpr std::size_t kCapacity = 8192;
  std::vector<std::uint64_t> entries_;
  std::size_t end_ = 0;
  std::size_t last_ = 0;  ///< entry of the last run
};

class InstructionWindow {
 public:
  /// Brings lines to the L1 caches.
  class Memory {
   public:
    virtual ~Memory() = default;
    /// The line of an access in this cycle that L1 does not hold, or not for this use. Returns the cycle in which it
    /// arrives, and leaves it in L1.
    virtual std::uint64_t fill(std::uint64_t address, base::LineUse use, std::uint64_t cycle) = 0;
  };

  /// Everything that is given by reference must outlive the window.
  InstructionWindow(const CoreShape&, base::LineState& l1i, base::LineState& l1d, Memory&, TimingCounters&);

  /// Takes the time of everything in the log, and empties it. executed: how many instructions of the last run, counted
  /// from its start, are in it. next_pc: of the instruction after these.
  void consume(ExecutionLog&, unsigned executed, std::uint64_t next_pc);
  /// Cycle of the next dispatch, and how many instructions have been dispatched in that cycle.
  std::uint64_t cycle() const { return at_.cycle; }
  unsigned dispatched() const { return at_.dispatched; }
  /// Cycle in which the last instruction retires.
  std::uint64_t retired() const { return at_.last_retired; }
  /// Cycle in which the last store is written.
  std::uint64_t written() const { return last_written_; }
  /// The last store, one to a device, is not written before this cycle.
  void delay_store(std::uint64_t cycle);
  /// Waits until everything has retired: the next dispatch is in a cycle of its own after that.
  void drain();
  /// As drain(), and until all stores are in L1D.
  void drain_stores();
  /// What follows is fetched from the next dispatch on, not ahead of it: a trap, an interrupt or a return has gone
  /// elsewhere.
  void refetch() { refetches_ = true; }
  /// The next dispatch is not before this cycle.
  void wait_until(std::uint64_t cycle);
  void reset();

 private:
  struct Forward {
    std::uint64_t granule = ~std::uint64_t{0};  ///< address / 8
    std::uint64_t ready = 0;                    ///< cycle in which the data can be forwarded
    std::uint64_t written = 0;                  ///< cycle in which the store is in L1D
    std::uint8_t bytes = 0;                     ///< bit n: byte n of the granule
  };
  struct Pending {
    std::uint64_t line = ~std::uint64_t{0};
    std::uint64_t ready = 0;
    bool ahead = false;  ///< by the L1D prefetcher, and not yet loaded from
  };
  // Sets and ways of the tables of stores and of lines under way. A new entry takes the place of the one that has been
  // done longest.
  static constexpr std::size_t kSets = 64, kWays = 8;
  static constexpr std::size_t kRing = CoreShape::kMostInFlight, kRecent = 16;

  /// How far the window has come.
  struct Progress {
    std::uint64_t cycle = 0;  ///< of the next dispatch
    unsigned dispatched = 0;  ///< in this cycle
    unsigned fetched = 0;     ///< in fetch_cycle
    std::uint64_t fetch_cycle = 0;
    std::uint64_t completed = 0;     ///< when the last instruction has its result
    std::uint64_t last_retired = 0;  ///< when it retires
    std::size_t next = 0;            ///< number of the next instruction
    unsigned retired = 0;            ///< in the cycle last_retired
    Loss fetch_waits = Loss::fetch;  ///< why fetch_cycle is what it is
  };

  // instruction_window.cpp. What runs for each instruction is inline there, on a local copy of at_: stores into the
  // arrays might change members for all that a compiler knows.
  const std::uint64_t* execute_run(Progress&, const TimedRun&, unsigned first, unsigned end,
                                   const std::uint64_t* access);
  const std::uint64_t* execute(Progress&, const TimingRecord* first, const TimingRecord* end,
                               const std::uint64_t* access);
  const std::uint64_t* execute_special(Progress&, const TimingRecord&, const std::uint64_t* access);
  void not_before(Progress&, std::uint64_t cycle, Loss why);
  void keep_up(Progress&) const;
  void fetch(Progress&, unsigned instructions);
  void fetch_line(Progress&, std::uint64_t address);
  static void end_fetch_group(Progress&);
  void retire(Progress&, std::uint64_t completed);
  void predict(Progress&, const TimedRun&, std::uint64_t next_pc);
  bool predict_jump(TimingRecord::Kind, const TimedRun&, std::uint64_t next_pc);
  std::uint64_t operands(const Progress&, const TimingRecord&) const;
  std::uint64_t may_issue(const TimingRecord&, std::uint64_t ready) const;
  std::uint64_t note_issued(const TimingRecord&, std::uint64_t start);
  std::uint64_t load(std::uint64_t address, unsigned size, std::uint64_t start, unsigned latency);
  void store(std::uint64_t address, unsigned size, std::uint64_t ready, std::uint64_t retired);
  void note_written(std::uint64_t cycle) {
    last_written_ = cycle;
    stores_[store_head_] = cycle + 1;
    store_head_ = store_head_ + 1 == stores_.size() ? 0 : store_head_ + 1;
  }
  static std::size_t set_of(std::uint64_t number) { return (number ^ number >> 6 ^ number >> 12) % kSets; }
  void note_forward(std::uint64_t granule, unsigned bytes, std::uint64_t ready, std::uint64_t written);
  const Forward* forward_of(std::uint64_t granule, std::uint64_t start) const {
    for (const Forward& f : forwards_[set_of(granule)])
      if (f.granule == granule && f.written > start) return &f;
    return nullptr;
  }
  Pending* pending_of(std::uint64_t line);

  // window_memory.cpp
  std::uint64_t load_any(std::uint64_t address, unsigned size, std::uint64_t start, unsigned latency);
  void store_any(std::uint64_t address, unsigned size, std::uint64_t ready, std::uint64_t retired);
  std::uint64_t read_line(std::uint64_t address, std::uint64_t start, unsigned latency);
  std::uint64_t own_line(std::uint64_t address, std::uint64_t cycle);
  void drain_to(std::uint64_t cycle);
  void note_pending(std::uint64_t line, std::uint64_t ready, bool ahead);
  bool misses_ascend(std::uint64_t line);
  void note_recent(std::uint64_t line);
  void prefetch(std::uint64_t address, base::LineUse, std::uint64_t cycle);
  void prefetch_behind(std::uint64_t line, std::uint64_t cycle);
  void lose(Loss why, std::uint64_t slots) { counters_.lost[static_cast<std::size_t>(why)] += slots; }

  CoreShape shape_;
  base::LineState& l1i_;
  base::LineState& l1d_;
  Memory& memory_;
  BranchPredictor predictor_;
  IssueSlots slots_;
  TimingCounters& counters_;

  Progress at_;
  bool refetches_ = false;
  std::array<std::uint64_t, TimingRecord::kRegisters> ready_{};  ///< cycle from which a dependent may issue
  const std::uint64_t lead_;                                     ///< cycles by which fetch may be ahead of dispatch
  std::uint64_t line_ = ~std::uint64_t{0};                       ///< L1I line of the last instruction

  std::array<std::uint64_t, CoreShape::kMostInFlight> room_{};  ///< ring: from when on an instruction's place is free
  std::vector<std::uint64_t> loads_;  ///< ring: from when on the places of the last loads are free
  std::size_t load_head_ = 0;
  std::vector<std::uint64_t> stores_;  ///< ring: as loads_
  std::size_t store_head_ = 0;
  std::uint64_t last_written_ = 0;
  std::uint64_t loads_from_ = 0;  ///< no later load is issued before: the end of the last fence
  std::array<std::uint64_t, static_cast<std::size_t>(CoreShape::kPorts)> units_{};  ///< unpipelined: free from
  std::array<std::array<Forward, kWays>, kSets> forwards_;
  std::array<std::array<Pending, kWays>, kSets> pending_;
  std::array<Pending, 16> instructions_;  ///< ring: lines that prefetch.i has asked for
  std::size_t next_instructions_ = 0;
  std::uint64_t last_pending_ = 0;             ///< no line arrives later
  std::array<std::uint64_t, kRecent> recent_;  ///< ring: lines that loads have missed or the prefetcher has asked for
  std::size_t next_recent_ = 0;
};

}  // namespace sluice::riscv
