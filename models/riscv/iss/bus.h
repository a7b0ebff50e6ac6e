#pragma once
/// What a hart asks of the world around it. The TLM core implements it; tests implement it with a few lines.

#include <cstdint>

#include "models/base/memory/guest_ram.h"
#include "models/base/memory/line_state.h"
#include "models/riscv/iss/hart_state.h"

namespace sluice::riscv {

/// What software got wrong where the hart itself answers with a trap.
enum class Refusal : std::uint8_t {
  misaligned_device,  ///< a load or store outside RAM that is not aligned to its size
  crossing,           ///< a load or store that crosses a page into, or out of, what is no RAM
  atomic_device,      ///< LR, SC or an AMO outside RAM
  atomic_misaligned,  ///< LR, SC or an AMO that is not aligned to its size
  fetch,              ///< instructions outside RAM
  protection,         ///< PMP forbids the access, or a page table lies outside RAM
  illegal,            ///< an instruction that is none here; the address is its encoding
};

class Bus {
 public:
  virtual ~Bus() = default;
  /// The RAM that holds this physical address and may be accessed directly; null: use load() and store().
  virtual base::GuestRam* ram_at(std::uint64_t address) = 0;

  /// A device access of 1, 2, 4 or 8 naturally aligned bytes at state.slots, right behind synchronise(). May take
  /// simulated time: the callee then moves state.slots forward, and may have let interrupts and writes to RAM happen.
  /// False: access fault.
  virtual bool load(std::uint64_t address, void* data, unsigned size) = 0;
  virtual bool store(std::uint64_t address, const void* data, unsigned size) = 0;

  /// Before an access whose order with other harts and devices matters beyond the window of several harts
  /// (models/base/systemc/scheduler.h): everything that they do before state.slots takes place. Interrupts and writes
  /// to RAM may have happened then. Nothing to do for a hart that is alone. False: the hart has been reset meanwhile,
  /// and its instruction must do nothing more.
  virtual bool synchronise() { return true; }

  /// For a log: the instruction at `pc` makes the hart trap. address: physical where it is known.
  virtual void refused(Refusal, std::uint64_t /*pc*/, std::uint64_t /*address*/, unsigned /*size*/) {}
  /// For a log: the instruction at state.pc is about to run, and the hart has changed its bytes without a fence.i
  /// since.
  virtual void stale_code() {}

  /// Slots at which the engine must stop before starting another instruction. May shrink or grow whenever load(),
  /// store() or a call below has run: the engine reads it again after each.
  virtual std::uint64_t slot_limit() = 0;

  virtual std::uint64_t time() = 0;  ///< the `time` CSR (mtime) at state.slots
  /// stimecmp was written: when (in units of `time`) the supervisor timer is due. All ones: never.
  virtual void set_stimecmp(std::uint64_t due) = 0;

  /// timing = "cached": the access (physical address) was no hit in the hart's L1; moves state.slots by the stall.
  virtual void cache_miss(std::uint64_t address, base::LineUse use) = 0;

  // Hints (models/base/measure/hints.h), addresses physical.
  virtual void probe(unsigned stage, std::uint64_t address) = 0;
  virtual void drop(unsigned /*reason*/, std::uint64_t /*address*/) {}
  virtual void bind(std::uint64_t to, std::uint64_t from) = 0;
  virtual void account(unsigned account) = 0;

  // AIA: this hart's IMSIC interrupt files. `file`: 0 machine, 1 supervisor. Without an IMSIC: false, which makes the
  // CSR access illegal.
  virtual bool imsic_read(unsigned file, std::uint64_t select, std::uint64_t& value) = 0;
  virtual bool imsic_write(unsigned file, std::uint64_t select, std::uint64_t value) = 0;
  virtual bool imsic_top(unsigned file, std::uint64_t& value) = 0;      ///< mtopei/stopei: identity << 16 | identity
  virtual bool imsic_claim(unsigned file, std::uint64_t identity) = 0;  ///< a write to mtopei/stopei
};

}  // namespace sluice::riscv
