// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One RV64GC hart: state, privileged architecture and execution engine on a bus. Plain C++, no SystemC.
///
/// Timing: state.slots is the hart's clock in issue slots. An instruction that starts at slot s ends at s plus its cost
/// (cost.h) plus the stalls that the bus adds. See docs/models/riscv-iss.md.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "models/base/memory/guest_ram.h"
#include "models/base/memory/line_state.h"
#include "models/riscv/iss/bus.h"
#include "models/riscv/iss/cost.h"
#include "models/riscv/iss/engine.h"
#include "models/riscv/iss/hart_state.h"
#include "models/riscv/iss/privileged/privileged.h"
#include "models/riscv/iss/timing_counters.h"
#include "models/riscv/iss/translation/translation_buffers.h"
#include "models/riscv/iss/uncached/write_combining.h"
#include "models/riscv/iss/uncached/write_through.h"
#include "models/riscv/iss/window/core_shape.h"

namespace sluice::riscv {

struct HartConfig {
  MakeEngine engine = make_interpreter;
  PrivilegedConfig privileged;
  CostTable costs;
  /// Longest wait of wrs.sto, in slots.
  std::uint64_t wrs_short_slots = 4000;
  /// The L1 caches. Both are set for timing = "cached"; they must outlive the hart. Bus::cache_miss() is called for
  /// lines that they do not hold.
  base::LineState* l1d = nullptr;
  base::LineState* l1i = nullptr;
  /// With the L1 caches, for timing = "interval". It must outlive the hart.
  const CoreShape* shape = nullptr;
  bool prefetch_hints = true;  ///< prefetch instructions start fills
  WriteCombining::Shape combining;
  /// The TLBs for data accesses, with the L1 caches.
  TranslationBuffers::Shape translation;
  WriteThroughLines::Shape write_through;  ///< no lines: PBMT 3 is reserved
  unsigned read_block = 8;                 ///< bytes that a load of non-cacheable memory reads: a power of two, 8 to 64
};

struct HartCounters : TimingCounters, TranslationBuffers::Counters {
  std::uint64_t traps = 0;       ///< exceptions, ecall and ebreak included
  std::uint64_t interrupts = 0;  ///< interrupts taken
  std::uint64_t returns = 0;     ///< mret and sret
  std::uint64_t csr_accesses = 0;
  std::uint64_t atomics = 0;
  std::uint64_t fences = 0;  ///< fence.i and sfence.vma
  std::uint64_t waits = 0;   ///< wfi and wrs
  // Of memory of type NC.
  std::uint64_t uncached_reads = 0;      ///< loads for which memory or a device was read
  std::uint64_t block_loads = 0;         ///< loads of bytes that the load before had read with its own
  std::uint64_t combined_stores = 0;     ///< stores that came into write-combining buffers
  std::uint64_t combined_full = 0;       ///< buffers that were written with all their bytes
  std::uint64_t combined_parts = 0;      ///< buffers that were written before
  std::uint64_t combined_waits = 0;      ///< stores that waited for a free buffer
  std::uint64_t combined_displaced = 0;  ///< buffers that were written to make room for another block
  std::uint64_t uncached_slots = 0;      ///< slots that the hart waited for memory past the caches, or for a buffer
  std::uint64_t block_operations = 0;    ///< Zicbom's and Zicboz's
  // Of write-through memory.
  std::uint64_t line_reads = 0;       ///< loads for which a line was read
  std::uint64_t line_loads = 0;       ///< loads from a line that was there, or under way
  std::uint64_t line_prefetches = 0;  ///< lines that prefetch instructions have asked for
  // timing = "interval": those for which the window drains, of devices and of lines with homes.
  std::uint64_t drained_loads = 0;
  std::uint64_t drained_stores = 0;
  /// Instructions by class, counted when the engine decodes them, which it may do again, or where it does not come.
  std::array<std::uint64_t, static_cast<std::size_t>(CostClass::count)> decoded{};
  /// repeated: how many of the last traps were repetitions (TrapHistory::repeats()). served: how many returns from
  /// these led to the instruction after the one that had trapped.
  std::uint64_t repeated = 0;
  std::uint64_t served = 0;
  std::uint64_t returns_before = 0;  ///< `returns` before the first of these traps
};

/// A hart registers itself as a watcher of every GuestRam that bus.ram_at() returns. The RAM must not be written after
/// the hart has been destroyed.
class Hart final : public base::RamWatcher {
 public:
  /// The bus must outlive the hart. The constructor resets the hart.
  Hart(Bus& bus, const HartConfig& config);
  ~Hart() override;
  Hart(const Hart&) = delete;
  Hart& operator=(const Hart&) = delete;

  /// Sets registers to zero and enters M mode at reset_pc. Keeps the time (state.slots) and the interrupt lines from
  /// outside.
  void reset();

  StopReason run() { return waiting_ = false, engine_->run(); }
  StopReason step() { return waiting_ = false, engine_->step(); }
  StopReason run_one() { return waiting_ = false, engine_->run_one(); }

  HartState& state() { return state_; }
  const HartState& state() const { return state_; }
  Privileged& privileged() { return privileged_; }
  const Privileged& privileged() const { return privileged_; }
  Engine& engine() { return *engine_; }
  Bus& bus() { return bus_; }
  WriteThroughLines& write_through() { return write_through_; }
  const HartConfig& config() const { return config_; }
  HartCounters& counters() { return counters_; }
  const HartCounters& counters() const { return counters_; }

  /// After StopReason::wait_on_reservation: slots at which the wait ends by itself; all ones for wrs.nto.
  std::uint64_t wait_deadline() const { return wait_deadline_; }
  /// Sets what is called when another writer takes the reservation of a hart that waits in wrs. The callback runs
  /// inside the write: it may note the event, as by a calendar entry, but must not run the hart.
  void on_reservation_lost(std::function<void()> callback) { reservation_lost_ = std::move(callback); }

  /// For debuggers: sets what is called with the physical address and length of each load from a page with
  /// GuestRam::kReadWatch. The callback runs in the middle of the load: it may only note the event.
  void on_watched_read(std::function<void(std::uint64_t, unsigned)> callback) { watched_read_ = std::move(callback); }
  /// Translates the address of a data access of the hart, without side effects. Returns false when the access would
  /// trap.
  bool debug_translate(std::uint64_t address, std::uint64_t& physical) {
    Privileged::Translation t;
    if (privileged_.translate_hint(address, t) != Cause::none) return false;
    physical = t.physical;
    return true;
  }
  /// For debuggers: accesses RAM at virtual addresses of the current data privilege, without side effects on
  /// translation. Returns false when an address does not translate to RAM.
  bool debug_read(std::uint64_t address, void* data, std::size_t length);

  // base::RamWatcher
  void ram_written(std::uint64_t address, std::uint64_t length) override;
  void page_watched(std::uint64_t page) override;
  void page_read_watched(std::uint64_t page) override;
  bool awaits(std::uint64_t address, std::uint64_t length) const override;
  /// Bytes of a line with a home of its own have changed, or the line has gone.
  void line_changed(std::uint64_t address, std::uint64_t length);
  bool has_decoded(std::uint64_t address, std::uint64_t length) const override {
    return engine_->has_decoded(address, length);
  }
  bool needs_watch(std::uint64_t page, std::uint8_t why) const override;

  // For engines.
  /// As bus.ram_at(). The hart registers itself as a watcher of each RAM that it gets here.
  base::GuestRam* ram_at(std::uint64_t address);
  /// Sets the reservation to the 64 B line of a physical address in RAM.
  void reserve(base::GuestRam& ram, std::uint64_t address);
  /// Sets the reservation to a line with a home of its own.
  void reserve(std::uint64_t address);
  /// Writes RAM for this hart's own store, which does not end the hart's own reservation.
  void own_write(base::GuestRam& ram, std::uint64_t address, const void* data, std::size_t length);
  /// Calls what on_watched_read() has set if the bytes that the hart has read lie in a page with GuestRam::kReadWatch.
  void own_read(const base::GuestRam& ram, std::uint64_t physical, unsigned length) {
    if (ram.watch(physical) & base::GuestRam::kReadWatch) watched_read_(physical, length);
  }
  bool tells_reads() const { return static_cast<bool>(watched_read_); }
  /// For wrs: the hart waits from now on, until the deadline. The next run() ends the wait.
  void start_wait(std::uint64_t deadline);

 private:
  template <class Access>
  bool debug_access(std::uint64_t address, std::size_t length, Access);
  HartState state_;
  Bus& bus_;
  HartConfig config_;
  HartCounters counters_;
  Privileged privileged_;
  WriteThroughLines write_through_;
  std::unique_ptr<Engine> engine_;
  std::vector<base::GuestRam*> rams_;
  std::function<void()> reservation_lost_;
  std::function<void(std::uint64_t, unsigned)> watched_read_;
  std::uint64_t wait_deadline_ = ~std::uint64_t{0};
  bool waiting_ = false;
  bool own_write_ = false;
  std::uint64_t own_writes_ = 0;
};

}  // namespace sluice::riscv
