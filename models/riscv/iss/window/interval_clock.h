// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A hart's clock with timing = "interval": what an engine and the slow path need of the instruction window.

#include <algorithm>

#include "models/riscv/iss/bus.h"
#include "models/riscv/iss/hart_state.h"
#include "models/riscv/iss/window/instruction_window.h"

namespace sluice::riscv {

/// HartState::slots is the slot of the next dispatch. It is right after settle() and the functions that drain.
class IntervalClock final : private InstructionWindow::Memory {
 public:
  /// Everything must outlive the clock.
  IntervalClock(const CoreShape& shape, base::LineState& l1i, base::LineState& l1d, Bus& bus, HartState& state,
                TimingCounters& counters)
      : width_(shape.dispatch_width),
        bus_(bus),
        state_(state),
        log_(&l1i, &l1d),
        window_(shape, l1i, l1d, *this, counters) {}

  ExecutionLog& log() { return log_; }

  // An engine looks for the slot limit and interrupts at timing points only. The instructions alone determine them, so
  // results do not depend on how code is kept or runs are cut: the first branch or jump after kBatch instructions, the
  // kMostBatch-th instruction, each pause, because it stops dispatch for long, and each instruction that synchronises
  // with the bus or is not for the window.

  static constexpr std::uint64_t kBatch = 48, kMostBatch = 128;
  static_assert(kMostBatch + 2 * TimedRun::kMost < ExecutionLog::kCapacity);
  bool at_timing_point() const { return since_ == 0; }
  /// Instructions since the last timing point.
  std::uint64_t since() const { return since_; }
  void timing_point() { since_ = 0; }
  /// So many instructions have been executed since the last timing point. transfer: the last one is a branch or jump.
  void executed(std::uint64_t since, bool transfer) {
    since_ = since >= kMostBatch || (transfer && since >= kBatch) ? 0 : since;
  }

  /// The slow path is about to execute the run's instruction `index`.
  void enter_slowly(const TimedRun& run, unsigned index) {
    charged_ = false;
    entered_ = index;
    log_.enter(run, index);
  }
  /// The instruction that enter_slowly() was told of has not been executed, or is not for the window. A store that
  /// post_store() has consumed stays.
  void abandon() {
    if (!log_.empty()) log_.abandon();
  }
  /// Takes the time of everything in the log, as InstructionWindow::consume().
  void settle(unsigned executed, std::uint64_t next_pc) {
    window_.consume(log_, executed, next_pc);
    show();
  }

  // What would come: see InstructionWindow.

  using Outlook = InstructionWindow::Outlook;
  /// False, too, where a wait has not been caught up with.
  bool look_ahead(Outlook& ahead) const { return log_.empty() && state_.slots == slot() && window_.look_ahead(ahead); }
  bool look_behind(Outlook& ahead, const TimedRun& run, unsigned first, unsigned end, std::uint64_t next_pc) const {
    return window_.look_behind(ahead, run, first, end, next_pc);
  }
  /// HartState::slots and HartState::retired at an outlook.
  std::uint64_t slots(const Outlook& o) const { return o.cycle * width_ + window_.dispatched(o); }
  std::uint64_t retired(const Outlook& o) const { return (window_.retired(o) + 1) * width_; }
  /// Goes to an outlook that may be so many cycles late, without changing HartState.
  void go_to(const Outlook& o, std::uint64_t late, std::uint64_t runs) { window_.go_to(o, late, runs); }

  /// Called when HartState::slots may have been moved forward, by a wait or by an instruction that is not for the
  /// window.
  void catch_up() {
    if (state_.slots <= slot()) return;
    window_.wait_until((state_.slots + width_ - 1) / width_);
    show();
  }

  // For instructions that are not for the window. They start when everything before them has retired.

  void drain() {
    window_.drain();
    charge();
  }
  /// As drain(), and what follows is elsewhere.
  void redirect() {
    drain();
    window_.refetch();
  }
  /// The instruction also waits until all earlier stores are in L1D.
  void drain_stores() {
    window_.drain_stores();
    charge();
  }
  /// The instruction that enter_slowly() was told of is a store to a device, which does not wait in the window. Returns
  /// the slot in which it leaves the store buffer.
  std::uint64_t post_store() {
    pass_caches();
    return window_.written() * width_;
  }
  /// The instruction that enter_slowly() was told of is a prefetch that the caches do not see. Returns the slot in
  /// which it retires, behind all earlier stores.
  std::uint64_t prefetch_past_caches() {
    pass_caches();
    return std::max(state_.retired, window_.written() * width_);
  }
  /// The instruction that enter_slowly() was told of accesses RAM at an address whose translation needs this walk.
  void access_behind(const TranslationWalk& walk, std::uint64_t address) {
    log_.access(address);
    window_.consume_behind(walk, log_, entered_ + 1);
    show();
  }
  /// The device takes that store in this slot, which may be later than post_store() has said.
  void store_taken(std::uint64_t slot) { window_.delay_store((slot + width_ - 1) / width_); }
  /// Whether one of these was called since enter_slowly(). The instruction then costs what the cost table says.
  bool charged() const { return charged_; }
  /// Whether the bus was asked for a line since forget_fills().
  bool has_filled() const { return has_filled_; }
  void forget_fills() { has_filled_ = false; }
  void reset() { window_.reset(); }
  /// All runs end, as in InstructionWindow.
  void forget_runs() { window_.forget_runs(); }

 private:
  void pass_caches() {
    log_.access_no_cache();
    window_.consume(log_, entered_ + 1, 0);
    show();
  }
  std::uint64_t fill(std::uint64_t address, base::LineUse use, std::uint64_t cycle) override {
    has_filled_ = true;
    return (bus_.fill(address, use, cycle * width_) + width_ - 1) / width_;
  }
  std::uint64_t slot() const { return window_.cycle() * width_ + window_.dispatched(); }
  void show() {
    state_.slots = slot();
    state_.retired = (window_.retired() + 1) * width_;
  }
  void charge() {
    show();
    charged_ = true;
  }

  const unsigned width_;
  Bus& bus_;
  HartState& state_;
  ExecutionLog log_;
  InstructionWindow window_;
  bool charged_ = false, has_filled_ = false;
  unsigned entered_ = 0;  ///< index of the instruction that the slow path executes
  std::uint64_t since_ = 0;
};

}  // namespace sluice::riscv
