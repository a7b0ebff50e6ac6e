// SPDX-License-Identifier: Apache-2.0
#pragma once
/// An engine executes a hart's instructions. All engines use HartState, Privileged and Bus, and give identical results.

#include <cstdint>
#include <memory>

namespace sluice::riscv {

class Hart;
class SpinLoop;

enum class StopReason : std::uint8_t {
  slot_limit,           ///< state.slots has reached bus.slot_limit()
  wait_for_interrupt,   ///< wfi without a pending interrupt; pc is after it. Run again when one is pending.
  wait_on_reservation,  ///< wrs with a valid reservation and no pending interrupt; pc is after it. Run again when an
                        ///< interrupt is pending, the reservation is lost, or at Hart::wait_deadline().
  breakpoint,           ///< the instruction at pc carries a breakpoint and has not run; run() again passes it
  stepped,              ///< step() is done
};

/// What a search for a loop that can be left to arithmetic has found.
enum class Spin : std::uint8_t {
  none,   ///< the hart is in no such loop
  later,  ///< it may be in one, but the core is not in a steady state yet. The search has cost next to nothing
  found
};

class Engine {
 public:
  virtual ~Engine() = default;

  /// Executes until state.slots >= bus.slot_limit() or until another reason to stop. An instruction starts only while
  /// state.slots is below the limit. So a split of one run into several does not change which instructions execute.
  virtual StopReason run() = 0;
  /// Executes one instruction, or the trap or interrupt in its place, and ignores the limit and the breakpoints.
  virtual StopReason step() = 0;
  /// As run(), but ends with `stepped` after one instruction, or the trap or interrupt in its place. A hart that only
  /// uses run_one() does exactly the same as one that uses run().
  virtual StopReason run_one() = 0;
  /// timing = "interval": whether run() has ended, at a breakpoint or after a step, where a run without it would have
  /// gone on whatever the slot limit is. Time must not go on for others then.
  virtual bool between_timing_points() const { return false; }
  /// After run() has ended at the slot limit: finds the loop in which the hart waits.
  virtual Spin find_spin(SpinLoop&) { return Spin::none; }
  /// Whether the loop that find_spin() has found is still what run() would execute.
  virtual bool spins(SpinLoop&) { return false; }
  /// The hart goes on by itself after spinning.
  virtual void leave_spin(SpinLoop&) {}
  /// Called from inside a Bus call or a write to RAM: makes run() read the slot limit again before the next
  /// instruction.
  virtual void ask_limit_again() = 0;

  /// Physical bytes [address, address + length) have changed. The engine must forget what it decoded from them.
  virtual void invalidate_code(std::uint64_t address, std::uint64_t length) = 0;
  /// Whether any code was decoded from this physical page.
  virtual bool has_code(std::uint64_t page) const = 0;
  /// Whether any code was decoded from these physical bytes.
  virtual bool has_decoded(std::uint64_t address, std::uint64_t length) const = 0;
  /// The hart itself has changed these physical bytes. Executing them before a fence.i is a mistake.
  virtual void note_own_store(std::uint64_t address, std::uint64_t length) = 0;
  /// The hart is being reset. The engine drops cached translations and all it has noted about the software.
  virtual void reset() = 0;
  /// Stores to this physical page must take the slow path from now on.
  virtual void drop_write_shortcuts(std::uint64_t page) = 0;
  /// Loads from this physical page must take the slow path from now on: GuestRam::kReadWatch is set.
  virtual void drop_read_shortcuts(std::uint64_t page) = 0;
  /// Sets a breakpoint: run() stops at the instruction at this virtual address. There may be any number.
  virtual void set_breakpoint(std::uint64_t address) = 0;
  virtual void clear_breakpoint(std::uint64_t address) = 0;
};

/// Makes the engine of a hart. The hart must outlive the engine.
using MakeEngine = std::unique_ptr<Engine> (*)(Hart&);
/// The threaded interpreter.
std::unique_ptr<Engine> make_interpreter(Hart& hart);

}  // namespace sluice::riscv
