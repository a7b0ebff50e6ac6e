// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The interface of a hart to the rest of the system. Core implements it for TLM; tests implement it in a few lines.

#include <cstdint>
#include <optional>

#include "models/base/memory/guest_ram.h"
#include "models/base/memory/line_state.h"
#include "models/riscv/iss/hart_state.h"

namespace sluice::riscv {

/// A software error that the hart answers with a trap, without asking the bus.
enum class Refusal : std::uint8_t {
  misaligned_device,  ///< a load or store outside RAM that is not aligned to its size
  crossing,           ///< a load or store that crosses a page, where one of the pages is a device or nothing
  atomic_device,      ///< LR, SC or an AMO outside RAM
  atomic_misaligned,  ///< LR, SC or an AMO that is not aligned to its size
  fetch,              ///< instructions outside RAM
  protection,         ///< PMP forbids the access, or a page table lies outside RAM
  zeroed_device,      ///< cbo.zero outside RAM
  uncached_line,      ///< a page with a type of its own where lines have a home of their own
  illegal,            ///< an illegal instruction; `address` is its encoding
};

class Bus {
 public:
  virtual ~Bus() = default;
  /// The RAM that holds this physical address and may be accessed directly; null: use load() and store().
  virtual base::GuestRam* ram_at(std::uint64_t address) = 0;

  /// Whether the address lies in a cache line that has a home of its own. The caches hold the bytes of such a line.
  /// Loads, stores and atomics work as in RAM. Instructions cannot be fetched from the line.
  virtual bool homed(std::uint64_t /*address*/) { return false; }
  virtual unsigned line_bytes() { return 64; }  ///< of the lines that have a home of their own
  /// The line's bytes from `address` on, if the hart's caches hold the line for this use; else null.
  virtual std::uint8_t* held(std::uint64_t /*address*/, base::LineUse /*use*/) { return nullptr; }
  /// Makes the caches get the line for this use, at state.slots, right after synchronise(). This may take simulated
  /// time, as a device access may. Returns the line's bytes from `address` on, valid until let_go(); null: access
  /// fault.
  virtual std::uint8_t* hold(std::uint64_t /*address*/, base::LineUse /*use*/) { return nullptr; }
  /// The access for which hold() has returned bytes has taken place.
  virtual void let_go() {}

  /// Accesses 1, 2, 4 or 8 naturally aligned bytes of a device, at state.slots, right after synchronise(). If this
  /// takes simulated time, the callee moves state.slots forward, and interrupts and writes to RAM may have happened.
  /// Returns false for an access fault.
  virtual bool load(std::uint64_t address, void* data, unsigned size) = 0;
  virtual bool store(std::uint64_t address, const void* data, unsigned size) = 0;

  /// Lets other harts and devices do everything that they do before state.slots. Called before an access whose order
  /// with theirs must be exact even within the window of several harts (models/base/systemc/scheduler.h). Interrupts
  /// and writes to RAM may have happened then. A single hart needs nothing here. Returns false when the hart has been
  /// reset meanwhile: its instruction must do nothing more.
  virtual bool synchronise() { return true; }

  /// For a log: the instruction at `pc` makes the hart trap. address: the physical address where it is known.
  virtual void refused(Refusal, std::uint64_t /*pc*/, std::uint64_t /*address*/, unsigned /*size*/) {}
  /// For a log: the instruction at state.pc is about to run, but the hart has changed its bytes and executed no fence.i
  /// since.
  virtual void stale_code() {}

  /// The engine must start no instruction at or after this slot. The limit may shrink or grow whenever load(), store()
  /// or a function below has run, so the engine reads it again after each of them.
  virtual std::uint64_t slot_limit() = 0;
  /// The engine has come to the limit, and its state is exact. Lets everything that comes before state.slots happen, if
  /// that can be done here, and returns true if there is a later limit then. Interrupts, writes to RAM and a reset may
  /// have happened. False: the engine's run ends.
  virtual bool move_limit() { return false; }

  virtual std::uint64_t time() = 0;  ///< the `time` CSR (mtime) at state.slots
  /// Called when stimecmp is written. due: when the supervisor timer is due, in units of `time`; all ones: never.
  virtual void set_stimecmp(std::uint64_t due) = 0;

  /// timing = "cached": the access, at a physical address, missed the hart's L1. Moves state.slots forward by the
  /// stall.
  virtual void cache_miss(std::uint64_t address, base::LineUse use) = 0;

  /// timing = "interval": as cache_miss(), for an access in another slot than state.slots, which does not change.
  /// Returns the slot in which the line arrives.
  virtual std::uint64_t fill(std::uint64_t /*address*/, base::LineUse /*use*/, std::uint64_t slot) { return slot; }

  /// Whether a store to this place outside RAM may be handed over before its time, by post() with timing = "interval"
  /// or by post_combined(). Such a place also takes naturally aligned loads of 16, 32 and 64 bytes.
  virtual bool posts(std::uint64_t /*address*/) { return false; }
  /// A store that leaves the hart's store buffer in `slot`, or later. Called after synchronise(). Returns the slot in
  /// which the store buffer is rid of it; nothing: nothing is there, or it refuses.
  virtual std::optional<std::uint64_t> post(std::uint64_t /*address*/, const void* /*data*/, unsigned /*size*/,
                                            std::uint64_t /*slot*/) {
    return {};
  }
  /// As post(), for 1 to WriteCombining::kMostBytes bytes from a write-combining buffer, with any timing. Returns the
  /// slot in which the buffer is free. A write that nothing takes is reported, and traps nowhere.
  virtual std::uint64_t post_combined(std::uint64_t /*address*/, const void* /*data*/, unsigned /*size*/,
                                      std::uint64_t slot) {
    return slot;
  }
  /// Memory is read or written past the caches from this slot on. Returns the slot in which the bytes are there, or the
  /// write is taken. state.slots does not change.
  virtual std::uint64_t uncached(std::uint64_t /*address*/, bool /*write*/, std::uint64_t slot) { return slot; }

  /// The block of RAM at this address is written to memory by all caches that have changed it, and leaves them unless
  /// `keep` is set. Moves state.slots forward by the stall.
  virtual void clean_line(std::uint64_t /*address*/, bool /*keep*/) {}
  /// The hart's caches give a line to its home. Called after synchronise().
  virtual void give_back(std::uint64_t /*line*/) {}
  /// Starts to read a line of a device, in `slot` and after synchronise(): Hart::write_through() gets its bytes later.
  /// Returns false if the read cannot be started.
  virtual bool start_read(std::uint64_t /*line*/, unsigned /*size*/, std::uint64_t /*slot*/) { return false; }
  /// Waits until a read that start_read() has started ends. Called after synchronise(); moves state.slots forward.
  /// Returns false when the hart has been reset meanwhile.
  virtual bool await_line() { return true; }

  // Hints (models/base/measure/hints.h). Addresses are physical.
  virtual void probe(unsigned stage, std::uint64_t address) = 0;
  virtual void drop(unsigned /*reason*/, std::uint64_t /*address*/) {}
  virtual void complete(std::uint64_t /*address*/) {}
  virtual void bind(std::uint64_t to, std::uint64_t from) = 0;
  virtual void open(std::uint64_t /*what*/, std::uint64_t /*address*/) {}
  virtual void begins(unsigned /*step*/, std::uint64_t /*address*/) {}
  virtual void does(unsigned /*step*/, std::uint64_t /*stage*/) {}
  virtual void tells(unsigned /*step*/) {}
  virtual void account(unsigned account) = 0;
  /// Whether such a hint would change nothing.
  virtual bool in_account(std::uint64_t /*account*/) { return false; }
  /// The hart takes an interrupt at state.slots. handler: the slot in which its handler begins.
  virtual void interrupt_taken(std::uint64_t /*handler*/) {}

  // AIA: accesses to this hart's IMSIC interrupt files. file: 0 machine, 1 supervisor. Without an IMSIC they return
  // false, which makes the CSR access illegal.
  virtual bool imsic_read(unsigned file, std::uint64_t select, std::uint64_t& value) = 0;
  virtual bool imsic_write(unsigned file, std::uint64_t select, std::uint64_t value) = 0;
  virtual bool imsic_top(unsigned file, std::uint64_t& value) = 0;      ///< mtopei/stopei: identity << 16 | identity
  virtual bool imsic_claim(unsigned file, std::uint64_t identity) = 0;  ///< a write to mtopei/stopei
};

}  // namespace sluice::riscv
