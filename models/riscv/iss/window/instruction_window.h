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
#include "models/riscv/iss/translation/translation_walk.h"
#include "models/riscv/iss/window/branch_predictor.h"
#include "models/riscv/iss/window/core_shape.h"
#include "models/riscv/iss/window/issue_slots.h"
#include "models/riscv/iss/window/store_forwarding.h"
#include "models/riscv/iss/window/timed_run.h"
#include "models/riscv/iss/window/window_memo.h"

// For what runs for each instruction or step: a compiler would find it too large, but a call would keep in memory what
// is in registers.
#define SLUICE_HOT [[gnu::always_inline]] inline

namespace sluice::riscv {

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

  /// After how many executions of a run its effect is remembered, if that pays; 0: wherever it can be. Results are the
  /// same for any number.
  static constexpr unsigned kUses = 12, kMostUses = 255, kNeverRemember = 256;

  /// Everything that is given by reference must outlive the window.
  InstructionWindow(const CoreShape&, base::LineState& l1i, base::LineState& l1d, Memory&, TimingCounters&,
                    unsigned remember_after = kUses);

  /// Takes the time of everything in the log, and empties it. executed: how many instructions of the last run, counted
  /// from its start, are in it. next_pc: of the instruction after these.
  void consume(ExecutionLog&, unsigned executed, std::uint64_t next_pc);
  /// As consume(), for a log with one instruction, a load or store that waits for this walk.
  void consume_behind(const TranslationWalk& walk, ExecutionLog&, unsigned executed);
  /// Cycle of the next dispatch, and how many instructions have been dispatched in that cycle.
  std::uint64_t cycle() const { return at_.cycle; }
  unsigned dispatched() const { return at_.dispatched; }
  /// Cycle in which the last instruction retires.
  std::uint64_t retired() const { return at_.last_retired(); }
  /// Cycle in which the last store is written.
  std::uint64_t written() {
    make_exact();
    return last_written_;
  }
  /// The last store, one to a device, is not written before this cycle.
  void delay_store(std::uint64_t cycle);
  /// Waits until everything has retired: the next dispatch is in a cycle of its own after that.
  void drain();
  /// As drain(), and until all stores are in L1D.
  void drain_stores();
  /// What follows is fetched from the next dispatch on, not ahead of it: a trap, an interrupt or a return has gone
  /// elsewhere.
  void refetch() {
    make_exact();
    refetches_ = true;
  }
  /// Where the window is, or would be behind runs whose time it knows.
  struct Outlook {
    std::uint64_t cycle;  ///< of the next dispatch
    WindowMemo::Id state;
    BranchPredictor::Path path;
    std::uint64_t line;       ///< L1I line of the last instruction
    std::uint64_t runs;       ///< since look_ahead()
    TimingCounters counters;  ///< since look_ahead()
    /// Whether the same would follow on the other one, but for its cycles.
    bool is_like(const Outlook& other) const {
      return state == other.state && path == other.path && line == other.line;
    }
  };
  /// Sets the outlook to where the window is. Returns false if it cannot look ahead from there: stores or lines are
  /// under way, or its state is not known.
  bool look_ahead(Outlook&) const;
  /// Moves the outlook over a run's instructions [first, end), which are no stores, and whose lines L1 holds. Returns
  /// false if the window does not remember their time, or would learn from them. next_pc: of the instruction after
  /// these.
  bool look_behind(Outlook&, const TimedRun&, unsigned first, unsigned end, std::uint64_t next_pc) const;
  /// As dispatched() and retired(), at an outlook.
  unsigned dispatched(const Outlook& o) const { return memo_[o.state].dispatched; }
  std::uint64_t retired(const Outlook& o) const { return retired(o.cycle, o.state); }
  /// Goes to an outlook that may be so many cycles late.
  void go_to(const Outlook&, std::uint64_t late, std::uint64_t runs);
  /// Steps whose time was remembered.
  std::uint64_t recalled() const { return recalled_; }
  /// The next dispatch is not before this cycle.
  void wait_until(std::uint64_t cycle);
  void reset();
  /// All runs that the window has been given end: others may lie at their addresses.
  void forget_runs() { captured_at_ = nullptr; }

 private:
  struct Pending {
    std::uint64_t line = ~std::uint64_t{0};
    std::uint64_t ready = 0;
    bool ahead = false;  ///< by the L1D prefetcher, and not yet loaded from
  };
  // Sets and ways of the table of lines under way. A new entry takes the place of the one that has been
  // done longest.
  static constexpr std::size_t kSets = ExecutionLog::kSets, kWays = 8;
  static constexpr std::size_t kRing = CoreShape::kMostInFlight, kRecent = 16;
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  static constexpr std::uint32_t kRetry = 256;  ///< one capture in so many is made where it has not paid before

  /// How far the window has come.
  struct Progress {
    std::uint64_t cycle = 0;  ///< of the next dispatch
    unsigned dispatched = 0;  ///< in this cycle
    unsigned fetched = 0;     ///< in fetch_cycle
    std::uint64_t fetch_cycle = 0;
    std::uint64_t completed = 0;     ///< when the last instruction has its result
    std::uint64_t retire_slot = 0;   ///< kRetireSlots times the cycle in which it retires, plus its place in this cycle
    std::size_t next = 0;            ///< number of the next instruction
    Loss fetch_waits = Loss::fetch;  ///< why fetch_cycle is what it is

    static constexpr std::uint64_t kRetireSlots = 16;  ///< at least the widest retirement
    std::uint64_t last_retired() const { return retire_slot / kRetireSlots; }
  };

  /// A part of a run that the log has, and what its branch or jump has done.
  struct Step {
    const TimedRun& run;
    unsigned first, end;
    std::uint64_t next_pc = 0;  ///< of the instruction after these
    bool is_foreseen = false;
    bool transfers = false;             ///< a branch or jump is the last instruction of the part
    bool taken = false, right = false;  ///< right: predicted so
  };
  /// What the time of a step depends on, beside the window's state and its branch.
  struct Touched {
    WindowMemo::Key key;
    std::uint64_t line = 0;              ///< L1I line of the last instruction
    std::uint64_t lines = 0;             ///< of L1I that it enters
    unsigned accesses = 0;               ///< loads and stores
    unsigned loads = 0;                  ///< that a store in the store buffer may concern
    std::uint64_t oldest = 0;            ///< number of the first store that may not be written before the step
    std::uint64_t left = 0;              ///< accesses to come: bits of TimedRun::accesses
    unsigned at = 0;                     ///< instruction of the access that touch() has ended at
    const std::uint64_t* end = nullptr;  ///< the first access whose line touch() has not made sure of
  };
  /// What touch() has found.
  enum class Found : std::uint8_t {
    hit,    ///< everything is there
    event,  ///< what follows depends on the time of a line
    other,  ///< it depends on more
  };
  /// What is to be learnt of a step that is executed.
  enum class Learns : std::uint8_t { nothing, event, effect };
  /// A step that is executed to be remembered.
  struct Lesson {
    WindowMemo::Id state = WindowMemo::kNone;  ///< before it
    WindowMemo::Key key;
    std::uint64_t cycle = 0;
    TimingCounters counters;
  };
  /// Of a step that is executed although recall() has gone a part of the way: the accesses before `end` have touched
  /// their lines, and those of `met` know when they get them.
  struct Again {
    struct Met {
      const std::uint64_t* access;
      std::uint32_t late;
    };
    const std::uint64_t* end = nullptr;   ///< null: nothing has been touched
    const std::uint64_t* next = nullptr;  ///< the next of these accesses
    std::array<Met, TimedRun::kMost> met{};
    unsigned count = 0, passed = 0;  ///< of `met`
    bool touched = false;            ///< the engine has touched the lines of all others, too
    std::uint64_t last_pending = 0;
    std::uint64_t asked = 0;  ///< the cycle in which the access at `end` asks for its line
  };
  struct Recall;
  class Writer;
  class Reader;

  // window_recall.cpp
  template <bool kAwaits>
  const std::uint64_t* recall_touched(const std::uint64_t*& next, const std::uint64_t* end,
                                      const std::uint64_t* access);
  const std::uint64_t* end_recall(const Recall&, const std::uint64_t*& next, const std::uint64_t* at);
  const std::uint64_t* execute_new(const TimedRun&, const WindowMemo::Key&, const std::uint64_t* access);
  bool is_any_awaited(const std::uint64_t* first, const std::uint64_t* end, std::uint64_t cycle) const;
  bool look_for_stores(const std::uint64_t* first, const std::uint64_t* end, unsigned unwritten, std::uint64_t& step,
                       WindowMemo::Key::Loads&);
  void take_back_stores(const std::uint64_t* first, const std::uint64_t* end);
  std::uint64_t enter_lines(const TimedRun&, std::uint64_t& line);
  bool may_capture(const TimedRun&);
  bool recall(Step&, const std::uint64_t*& access);
  const std::uint64_t* perform(Step, const std::uint64_t* access);
  bool capture_before(Step, const std::uint64_t* access);
  Found touch(const Step&, const std::uint64_t*& access, unsigned unwritten, Touched&);
  Found touch_rest(const Step&, const std::uint64_t*& access, Touched&);
  bool touch_lines(const Step&, Touched&);
  Found touch_data(const TimingRecord&, std::uint64_t address, bool awaits, Touched&);
  Found meet_events(const Step&, const std::uint64_t*& access, Touched&, WindowMemo::Id& state, std::uint32_t& number);
  const std::uint64_t* execute_again(Step&, const std::uint64_t* access);
  std::uint32_t reached(std::uint64_t cycle);
  std::uint32_t walk(std::uint64_t start);
  bool keeps_lines(const Step&, unsigned from) const;
  std::uint32_t meet(const TimingRecord&, std::uint64_t address, std::uint64_t start);
  bool add_load(std::uint64_t number, unsigned bytes, unsigned access, unsigned count, std::uint64_t& step,
                WindowMemo::Key::Loads&) const;
  bool is_awaited(std::uint64_t address);
  void learn();
  // window_outlook.cpp
  std::uint64_t retired(std::uint64_t cycle, WindowMemo::Id state) const {
    return cycle + static_cast<std::uint64_t>(std::int64_t{memo_[state].retired});
  }
  /// at_ is behind state_, but for its cycle.
  void follow_state() {
    at_.dispatched = memo_[state_].dispatched;
    at_.retire_slot = retired(at_.cycle, state_) * Progress::kRetireSlots;
  }
  bool foresees(Outlook&, const TimedRun&, std::uint64_t next_pc) const;
  // window_state.cpp
  unsigned unwritten_stores() const;
  bool capture();
  void put_progress(Writer&) const;
  void restore();
  void get_progress(Reader&);
  void make_exact() {
    if (is_behind_) restore();
    state_ = WindowMemo::kNone;
  }

  // instruction_window.cpp. What runs for each instruction is inline there, on a local copy of at_: stores into the
  // arrays might change members for all that a compiler knows.
  const std::uint64_t* execute_step(Step&, const std::uint64_t* access);
  const std::uint64_t* execute_steps(const std::uint64_t*& next, const std::uint64_t* end, const std::uint64_t* touched,
                                     unsigned executed, const std::uint64_t* access);
  const std::uint64_t* execute_lines(Progress&, const Step&, const std::uint64_t* access);
  /// The step that a log's entry stands for. end, executed: see execute_steps().
  static Step step_at(const std::uint64_t* at, const std::uint64_t* end, unsigned executed) {
    const TimedRun& run = ExecutionLog::run_at(*at);
    return {run, ExecutionLog::first_at(*at), at + 1 == end ? executed : run.count, ExecutionLog::run_at(at[1]).pc};
  }
  /// Predicts the branch or jump at the end of a step, and learns.
  void foresee(Step& step) {
    const TimedRun& run = step.run;
    step.is_foreseen = true;
    if (step.end != run.count || run.end == TimingRecord::kPlain) return;
    step.transfers = true;
    step.taken = step.next_pc != run.end_pc;
    step.right = run.end == TimingRecord::kBranch ? predictor_.conditional(run.last_pc, step.taken)
                                                  : foresee_jump(run, step.next_pc);
    ++counters_.branches;
    counters_.mispredictions += step.right ? 0 : 1;
  }
  bool foresee_jump(const TimedRun&, std::uint64_t next_pc);
  /// A run has been executed and is not remembered.
  void note_use(const TimedRun& run) {
    if (run.uses < kMostUses) ++run.uses;
    if (rest_ != 0 && --rest_ == 0) remember_after_ = uses_;
  }
  bool passes_over(const TimedRun&);
  const std::uint64_t* execute(Progress&, const TimingRecord* first, const TimingRecord* end,
                               const std::uint64_t* access);
  template <bool kHasRoom>
  const std::uint64_t* dispatch(Progress&, const TimingRecord* first, const TimingRecord* end,
                                const std::uint64_t* access);
  const std::uint64_t* dispatch_special(Progress&, const TimingRecord&, const std::uint64_t* access);
  /// An access is about to ask for its line in this cycle. Returns for how many cycles the line is known to be late.
  std::uint32_t reach(const std::uint64_t* access, std::uint64_t cycle) {
    return access != again_.next ? 0 : reached(cycle);
  }
  void not_before(Progress&, std::uint64_t cycle, Loss why);
  void keep_up(Progress&) const;
  void fetch(Progress&, unsigned instructions);
  void fetch_line(Progress&, std::uint64_t address);
  static void end_fetch_group(Progress&);
  void retire(Progress&, std::uint64_t completed);
  void redirect(Progress&, const Step&);
  std::uint64_t operands(const Progress&, const TimingRecord&) const;
  std::uint64_t may_issue(const TimingRecord&, std::uint64_t ready) const;
  std::uint64_t note_issued(const TimingRecord&, std::uint64_t start);
  std::uint64_t load(std::uint64_t address, unsigned size, std::uint64_t start, unsigned latency);
  void store(std::uint64_t address, unsigned size, std::uint64_t ready, std::uint64_t retired);
  /// Whether an access lies in an aligned 8 bytes.
  static bool is_simple(std::uint64_t address, unsigned size) { return address % 8 + size <= 8; }
  bool crosses_line(std::uint64_t address, unsigned size) const {
    return (address & (l1d_.line_bytes() - 1)) + size > l1d_.line_bytes();
  }
  /// Touches the line of an access in L1D, unless the engine has. False: L1D does not answer it.
  bool touch_l1d(std::uint64_t address, bool write) { return touched_ || l1d_.hit(address, write); }
  void note_written(std::uint64_t cycle) {
    last_written_ = cycle;
    stores_[next_store_++ % kRing] = cycle + 1;
  }
  /// When the place of the load, or store, is free that is dispatched next.
  std::uint64_t load_place() const { return loads_[(next_load_ - shape_.load_queue) % kRing]; }
  std::uint64_t store_place() const { return stores_[(next_store_ - shape_.store_buffer) % kRing]; }
  /// Bit n: byte n from the aligned 8 bytes on in which an access begins.
  static unsigned bytes_of(std::uint64_t address, unsigned size) { return ((1u << size) - 1) << address % 8; }
  std::size_t set_of(std::uint64_t address) const { return ExecutionLog::set_of(address, l1d_); }
  Pending* pending_of(std::uint64_t line);
  /// Whether an access to a line that L1D has need not wait for it in this cycle, and starts no prefetch.
  bool is_there(std::uint64_t address, std::uint64_t cycle) const {
    return cycle >= last_pending_ || cycle >= awaited_[set_of(address)];
  }
  /// The sets, as bits, with lines that are there ahead of their first load: that load brings another one.
  std::uint64_t bringing_sets() const { return last_pending_ <= at_.cycle + 1 ? 0 : ahead_; }

  // window_memory.cpp
  std::uint64_t load_any(std::uint64_t address, unsigned size, std::uint64_t start, unsigned latency);
  void store_any(std::uint64_t address, unsigned size, std::uint64_t ready, std::uint64_t retired);
  std::uint64_t read_line(std::uint64_t address, std::uint64_t start, unsigned latency);
  std::uint64_t own_line(std::uint64_t address, std::uint64_t cycle);
  void drain_to(std::uint64_t cycle);
  void note_pending(std::uint64_t line, std::uint64_t ready, bool ahead);
  void note_awaited(std::size_t set);
  bool misses_ascend(std::uint64_t line);
  void note_recent(std::uint64_t line);
  bool brings(std::uint64_t address, base::LineUse) const;
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
  bool touched_ = false;  ///< the engine has touched all lines of the step, or recall() those of this access. Touching
                          ///< some of them again would be out of order

  std::array<std::uint64_t, CoreShape::kMostInFlight> room_{};  ///< ring: from when on an instruction's place is free
  std::array<std::uint64_t, kRing> loads_{};   ///< ring: from when on the places of the last loads are free
  std::size_t next_load_ = 0;                  ///< number
  std::array<std::uint64_t, kRing> stores_{};  ///< ring: as loads_
  std::size_t next_store_ = 0;
  std::uint64_t last_written_ = 0;
  std::uint64_t loads_from_ = 0;  ///< no later load is issued before: the end of the last fence
  std::array<std::uint64_t, static_cast<std::size_t>(CoreShape::kPorts)> units_{};  ///< unpipelined: free from
  StoreForwarding forwarding_;
  std::array<std::array<Pending, kWays>, kSets> pending_;
  std::array<std::uint64_t, kSets> awaited_{};  ///< from when on no line of the set has to be waited for; kNever: one
                                                ///< is there ahead of its first load
  std::uint64_t ahead_ = 0;                     ///< bit n: one is in set n
  std::array<Pending, 16> instructions_;        ///< ring: lines that prefetch.i has asked for
  std::size_t next_instructions_ = 0;
  std::uint64_t last_instructions_ = 0;        ///< none of them arrives later
  std::uint64_t last_pending_ = 0;             ///< no line arrives later
  std::array<std::uint64_t, kRecent> recent_;  ///< ring: lines that loads have missed or the prefetcher has asked for
  std::size_t next_recent_ = 0;

  const unsigned uses_;      ///< remember_after
  unsigned remember_after_;  ///< the same, or kNeverRemember while the memo rests
  unsigned unwritten_ = 0;   ///< stores that may not be written in state_
  WindowMemo memo_;
  WindowMemo::Id state_ = WindowMemo::kNone;  ///< the window's, if it is known
  bool is_behind_ = false;                    ///< of the members above, only at_.cycle has followed state_
  Learns learns_ = Learns::nothing;           ///< what, of the step that is executed next, goes into lesson_
  Lesson lesson_;
  Again again_;
  const TranslationWalk* walk_ = nullptr;  ///< of the access that is executed
  const TimedRun* captured_at_ = nullptr;  ///< run before which the state was captured last
  std::uint64_t recalled_ = 0;             ///< steps
  std::uint64_t recalled_before_ = 0;      ///< captured_at_
  std::uint64_t recalled_before_trial_ = 0;
  std::uint32_t skipped_ = 0;  ///< captures that have seldom paid
  static constexpr std::uint32_t kFirstRest = 1u << 16;
  std::uint32_t learnt_ = 0;              ///< steps of this trial: see learn()
  std::uint32_t rest_ = 0;                ///< steps for which the memo still rests
  std::uint32_t next_rest_ = kFirstRest;  ///< for how many it rests next
  std::vector<std::uint16_t> numbers_;    ///< for capture()
};

}  // namespace sluice::riscv
