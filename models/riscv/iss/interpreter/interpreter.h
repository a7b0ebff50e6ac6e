// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The threaded interpreter: runs decoded blocks, each operation jumping to the next one's handler.
///
/// If every instruction of a block would start below the slot limit, the block is entered as it is. Otherwise it is
/// cut: the first operation that may not start gets a handler that stops. Anything else than straight execution
/// (misses, devices, faults, CSRs) first makes HartState exact and then calls SlowPath through slow().

#include <array>
#include <cstdint>

#include "models/riscv/iss/hart.h"
#include "models/riscv/iss/interpreter/block_cache.h"
#include "models/riscv/iss/run_control.h"
#include "models/riscv/iss/slow_path.h"

namespace sluice::riscv {

class Interpreter final : public Engine {
 public:
  /// The hart must outlive the engine; config.l1d chooses the timing mode.
  explicit Interpreter(Hart& hart);
  ~Interpreter() override;

  StopReason run() override;
  StopReason step() override { return control_.step(*this); }
  StopReason run_one() override { return control_.run_one(*this); }
  Spin find_spin(SpinLoop&) override;
  bool spins(SpinLoop&) override;
  void leave_spin(SpinLoop&) override;
  bool between_timing_points() const override { return clock_ && !clock_->at_timing_point(); }
  void ask_limit_again() override { slow_.call_attention(); }
  void invalidate_code(std::uint64_t address, std::uint64_t length) override;
  bool has_code(std::uint64_t page) const override { return cache_.has_code(page); }
  bool has_decoded(std::uint64_t address, std::uint64_t length) const override {
    return cache_.has_decoded(address, length);
  }
  void note_own_store(std::uint64_t address, std::uint64_t length) override;
  void reset() override { slow_.reset(); }
  void drop_write_shortcuts(std::uint64_t page) override {
    slow_.drop_write_shortcuts(page);
    shortcuts_stand_ = false;
  }
  void drop_read_shortcuts(std::uint64_t page) override {
    slow_.drop_read_shortcuts(page);
    shortcuts_stand_ = false;
  }
  void set_breakpoint(std::uint64_t address) override;
  void clear_breakpoint(std::uint64_t address) override;

 private:
  /// Operations that are no instructions; their numbers follow those of Opcode.
  enum Pseudo : std::uint16_t {
    kFall = static_cast<std::uint16_t>(Opcode::count),  ///< end of a block that falls through to the next one
    kFetchLine,                                         ///< instructions from here on are in another L1I line
    kFetchSecondPage,                                   ///< as kFetchLine, for an instruction that crosses pages
    kFloatUse,                                          ///< before a block's first floating-point instruction
    kFloatWrite,                                        ///< before a block's first instruction that changes f or fflags
    kBreakpoint,
    kStop,  ///< the slot limit is reached
    kPseudoEnd
  };
  /// What the loop does after slow().
  enum class Outcome : std::uint8_t {
    next,      ///< the following operation of the block; frame_ has slots and limit
    dispatch,  ///< HartState is exact; the loop decides from it what to do
    stop,      ///< as dispatch, and run() returns stop_
  };
  /// With timing = "interval", slots and limit count instructions since the last timing point.
  struct Frame {
    Block* block = nullptr;
    std::uint64_t slots = 0;  ///< at the start of the block, plus the block's stalls so far
    std::uint64_t limit = 0;
  };
  static constexpr std::size_t kJumps = 4096;

  // interpreter_loop.cpp
  enum class Timing : std::uint8_t { functional, cached, interval };
  template <Timing kTiming>
  StopReason loop(const void* const** export_handlers);
  StopReason loop(const void* const** export_handlers);

  // interpreter.cpp
  bool moves_limit() { return !control_.stepping() && bus_.move_limit(); }
  bool enter();
  bool enter_timed();
  /// Whether enter_timed(), at a timing point, would find nothing but the next block: no bus call, no attention and no
  /// step has been there since it asked for the limit.
  bool goes_on() const {
    return state_.slots < bus_limit_ && !slow_.attention() && !clock_->has_filled() && !control_.stepping();
  }
  Block* lookup(std::uint64_t pc);
  Block* resolve(std::uint64_t pc, Block** link, std::uint64_t from);
  Block* decode_block(std::uint64_t pc, const SlowPath::Fetched& fetched, bool single);
  void fuse(Block* block);
  void forget_code();
  void heed_fences();
  const void* handler_of(unsigned opcode) const;
  const Op* cut(Block* block, std::uint64_t slots, std::uint64_t limit);
  void uncut();
  Outcome slow(Block* block, const Op* op, std::uint64_t slots, std::uint64_t instret);
  Outcome slow_timed(Block* block, const Op* op, std::uint64_t since, std::uint64_t instret);
  TimedRun* time_run(const Block& block, const std::vector<Instruction>& instructions);
  Outcome pseudo(const Site& site);
  Outcome leave(SlowPath::Outcome outcome);
  Outcome leave_behind(const Site& site);
  void stop_at(const Block* block, const Op* op, std::uint64_t slots, std::uint64_t instret);

  // spin_finder.cpp
  class SpinTrial;
  const Block* decoded(std::uint64_t pc, const Block* known) const;
  const Block* decoded_behind(const Block&, Opcode last, const SpinTrial&) const;
  bool find_untimed_spin(SpinLoop&);
  Spin find_timed_spin(SpinLoop&);
  bool try_timed_spin(SpinLoop&, const IntervalClock::Outlook& first);
  bool try_block(const Block&, SpinTrial&, SpinLoop&, InstructionWindow::Outlook&, Opcode& last);

  Hart& hart_;
  HartState& state_;
  Privileged& privileged_;
  Bus& bus_;
  base::LineState* const l1d_;
  base::LineState* const l1i_;
  SlowPath slow_;
  IntervalClock* const clock_;
  std::uint64_t bus_limit_ = 0;   ///< timing = "interval": RunControl::bus_limit() when it was asked for last
  std::uint32_t timed_runs_ = 0;  ///< runs that clock_ has been given
  RunControl control_;
  const void* const* handlers_ = nullptr;
  BlockCache cache_;
  std::array<Block*, kJumps> jumps_;
  std::uint64_t releases_ = 0;
  bool heeds_fences_ = false;  ///< as slow_.heeds_fences(), for the code that is decoded
  Frame frame_;
  bool shortcuts_stand_ = false;       ///< none has been dropped since the last search for a loop
  const Block* stopped_in_ = nullptr;  ///< where the last run ended at the limit; null: between blocks
  unsigned stopped_at_ = 0;            ///< operation
  Op* cut_op_ = nullptr;
  const void* cut_handler_ = nullptr;
  const void* cut_before_handler_ = nullptr;  ///< handler of the operation before cut_op_; null: not changed
  StopReason stop_ = StopReason::slot_limit;
  /// timing = "interval": what the window was in, by pc, when a loop there was found.
  struct Steady {
    std::uint64_t pc = ~std::uint64_t{0};
    IntervalClock::Outlook window;
    unsigned others = 0;  ///< searches in other states
  };
  std::array<Steady, 16> steady_;
};

}  // namespace sluice::riscv
