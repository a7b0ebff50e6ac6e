#pragma once
/// What executes a hart's instructions. Engines share HartState, Privileged and Bus, and give identical results.

#include <cstdint>
#include <memory>

namespace sluice::riscv {

class Hart;

enum class StopReason : std::uint8_t {
  slot_limit,           ///< state.slots has reached bus.slot_limit()
  wait_for_interrupt,   ///< wfi without a pending interrupt; pc is after it. Run again when one is pending.
  wait_on_reservation,  ///< wrs with a valid reservation and no pending interrupt; pc is after it. Run again when an
                        ///< interrupt is pending, the reservation is lost, or at Hart::wait_deadline().
  breakpoint,           ///< the instruction at pc carries a breakpoint and has not run; run() again passes it
  stepped,              ///< step() is done
};

class Engine {
 public:
  virtual ~Engine() = default;

  /// Executes until state.slots >= bus.slot_limit() or another reason. An instruction starts only while state.slots is
  /// below the limit, so the instructions executed depend on the limit alone, never on how a run is cut.
  virtual StopReason run() = 0;
  /// One instruction, or the trap or interrupt in its place, whatever the limit and the breakpoints say.
  virtual StopReason step() = 0;
  /// As run(), but ends with `stepped` after one instruction, or the trap or interrupt in its place. A hart that is run
  /// like this all the time does exactly the same as one that is not.
  virtual StopReason run_one() = 0;
  /// From inside a Bus call or a write to RAM: run() asks for the slot limit again before the next instruction.
  virtual void ask_limit_again() = 0;

  /// Physical bytes [address, address + length) have changed: forget what was decoded from them.
  virtual void invalidate_code(std::uint64_t address, std::uint64_t length) = 0;
  /// Something decoded comes from this physical page.
  virtual bool has_code(std::uint64_t page) const = 0;
  /// Something decoded comes from these physical bytes.
  virtual bool has_decoded(std::uint64_t address, std::uint64_t length) const = 0;
  /// The hart itself has changed these physical bytes: running them before a fence.i is a mistake.
  virtual void note_own_store(std::uint64_t address, std::uint64_t length) = 0;
  /// The hart is reset: cached translations and what is known of the software so far are void.
  virtual void reset() = 0;
  /// Stores to this physical page must take the slow path from now on.
  virtual void drop_write_shortcuts(std::uint64_t page) = 0;
  /// Loads from this physical page must take the slow path from now on: GuestRam::kReadWatch is set.
  virtual void drop_read_shortcuts(std::uint64_t page) = 0;
  /// Virtual address of an instruction at which run() stops. Any number of them.
  virtual void set_breakpoint(std::uint64_t address) = 0;
  virtual void clear_breakpoint(std::uint64_t address) = 0;
};

/// Makes the engine of a hart, which outlives it.
using MakeEngine = std::unique_ptr<Engine> (*)(Hart&);
/// The threaded interpreter.
std::unique_ptr<Engine> make_interpreter(Hart& hart);

}  // namespace sluice::riscv
