// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The part of execution that all engines share and that need not be fast: instructions other than straight execution,
/// and the work between instructions. An engine owns a SlowPath, executes the rest itself, and decides how decoded code
/// is kept.
///
/// Whenever a function here is called, HartState must be exact: pc, slots and instret are those at the start of an
/// instruction.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "models/riscv/iss/decode/decode.h"
#include "models/riscv/iss/hart.h"
#include "models/riscv/iss/translation/contexts.h"
#include "models/riscv/iss/translation/translation_buffers.h"
#include "models/riscv/iss/trap_history.h"
#include "models/riscv/iss/uncached/read_block.h"
#include "models/riscv/iss/uncached/write_combining.h"
#include "models/riscv/iss/window/interval_clock.h"

namespace sluice::riscv {

class SlowPath {
 public:
  enum class Outcome : std::uint8_t {
    next,      ///< executed; state.slots has the stalls. The engine retires the instruction, by retire() or by itself
    redirect,  ///< HartState is exact: the instruction retired, trapped or must start again. Check for interrupts.
    wait_for_interrupt,   ///< as redirect, and run() ends with this reason
    wait_on_reservation,  ///< as wait_for_interrupt
  };
  /// A virtual page that instructions come from.
  struct FetchPage {
    std::uint64_t page = ~std::uint64_t{0};
    std::uint64_t generation = 0;
    std::uint64_t physical = 0;
    base::GuestRam* ram = nullptr;
  };
  struct Fetched {
    FetchPage at;
    FetchPage second;       ///< if `crossing`: page of the second half
    bool crossing = false;  ///< the instruction lies in two pages
    bool cacheable = true;  ///< the translation holds for whole pages while generation() is unchanged
  };

  /// The hart must outlive this object.
  explicit SlowPath(Hart& hart);
  /// Null unless timing is "interval".
  IntervalClock* clock() { return clock_.get(); }

  // Execution of one instruction. Its registers are as with_sink() returns them. cost: its slots.

  /// Executes loads, stores, atomics, hints, prefetches, fences, CSR and system instructions; any other instruction is
  /// illegal. If it returns Outcome::next and bus_called() is false, only registers, memory and what is measured have
  /// changed.
  Outcome execute(const Instruction& i, unsigned cost) {
    bus_called_ = false;
    if (i.op >= Opcode::lb && i.op <= Opcode::fsd) return memory(i);
    if (i.op >= Opcode::lr_w && i.op <= Opcode::amo_d) return atomic(i);
    if (i.op >= Opcode::probe && i.op <= Opcode::account) return hint(i);
    if (i.op == Opcode::prefetch) return prefetch(i);
    if (i.op == Opcode::cbo) return cache_block(i);
    if (i.op == Opcode::fence) return fence(i);
    if (i.op == Opcode::pause) return Outcome::next;
    if (i.op >= Opcode::csrrw && i.op <= Opcode::csrrci) return csr(i, cost);
    return system(i, cost);  // also floating point with a reserved dynamic rounding mode
  }
  /// Whether execute() has called the bus, other than to measure something. Time, the slot limit and pending interrupts
  /// may then have changed.
  bool bus_called() const { return bus_called_; }
  void retire(unsigned length, unsigned cost) {
    from_ = state_.pc;
    state_.pc += length;
    state_.slots += cost;
    ++state_.instret;
  }
  /// raw: Instruction::raw.
  Outcome illegal(std::uint32_t raw);
  /// Whether fences are for execute(), which is so from the hart's first access of type NC on. Until then they do
  /// nothing.
  bool heeds_fences() const { return heeds_fences_; }
  /// Whether stores wait in write-combining buffers.
  bool is_combining() const { return !combining_.empty(); }

  // Between instructions.

  /// Whether something has changed that the engine may have cached: the slot limit, translations or decoded code.
  bool attention() const { return attention_; }
  void call_attention() { attention_ = true; }
  void clear_attention() { attention_ = false; }
  /// Takes an interrupt if one is due. Returns whether it has.
  bool take_interrupt() { return privileged_.interrupt_takeable() && interrupt(); }
  /// To be called before fetch() and execute() wherever privilege or translation may have changed.
  void refresh_context() {
    if (privileged_.epoch() != epoch_ || state_.privilege != privilege_) change_context();
  }
  /// Whether refresh_context() would find nothing to do.
  bool context_is_fresh() const { return privileged_.epoch() == epoch_ && state_.privilege == privilege_; }
  /// Identifies the translation context, and changes with it, or when a page of code leaves the first TLB. A return to
  /// a context whose translations still hold brings its earlier number back.
  std::uint64_t generation() const { return generation_; }
  /// The soft TLB for fast loads and stores in the present context.
  const TlbEntry* shortcuts() const { return tlb_->entries(); }
  /// Finds where the instruction at pc lies. Returns false when fetching it has trapped.
  bool fetch(std::uint64_t pc, Fetched& fetched);
  /// For the log of mistakes. pc: the instruction that led to state.pc.
  void came_from(std::uint64_t pc) { from_ = pc; }
  void came_from_nowhere() { from_ = kNowhere; }

  // Timing of instruction fetches. Lines are physical lines of HartConfig::l1i.

  /// The line of the last instruction.
  std::uint64_t fetch_line() const { return fetch_line_; }
  /// The hart has been here, by arithmetic.
  void set_fetch_line(std::uint64_t line) { fetch_line_ = line; }
  /// Instructions come from another line now. Returns false when L1I does not hold it: the engine must then make the
  /// state exact and call miss_l1i().
  bool fetch_from(std::uint64_t line) {
    fetch_line_ = line;
    ++hart_.counters().l1i_accesses;
    return l1i_->hit(line, false);
  }
  /// Calls the bus for the line given to fetch_from().
  void miss_l1i() {
    ++hart_.counters().l1i_misses;
    bus_.cache_miss(fetch_line_, base::LineUse::fetch);
  }

  // Code that the hart itself has changed. Running it before a fence.i is a mistake, which is reported to the bus once.

  void note_changed_code(std::uint64_t address, std::uint64_t length);
  /// Called when code from these physical bytes is about to run for the first time since it was decoded.
  void check_stale(std::uint64_t first, std::uint64_t last) {
    if (!stale_.empty()) tell_stale(first, last);
  }

  // The parts of the Engine functions with the same names that do not depend on how decoded code is kept.

  void reset();
  void drop_write_shortcuts(std::uint64_t page);
  void drop_read_shortcuts(std::uint64_t page);

 private:
  struct Place {
    std::uint64_t physical = 0;
    base::GuestRam* ram = nullptr;  ///< null: not RAM
    bool homed = false;             ///< a line with a home of its own. False and no RAM: a device or nothing
    MemoryType type = MemoryType::normal;
  };
  /// Physical bytes with code in them that the hart has stored to since its last fence.i.
  struct Stale {
    std::uint64_t first, last;
  };
  static constexpr std::size_t kFetchPages = 64;
  static constexpr std::size_t kMostStale = 64;
  static constexpr std::uint64_t kNowhere = 1;  ///< no instruction has an odd address

  // slow_path.cpp
  bool interrupt();
  void change_context();
  void forget_translations(const Instruction&);
  bool fetch_place(std::uint64_t pc, FetchPage& at, bool& cacheable);
  void look_up_code(std::uint64_t pc, const Privileged::Translation&);
  void tell_stale(std::uint64_t first, std::uint64_t last);
  Outcome trap(Cause cause, std::uint64_t tval);
  Outcome refuse(Refusal why, Cause cause, std::uint64_t tval, std::uint64_t address, unsigned size);
  Outcome csr(const Instruction&, unsigned cost);
  Outcome system(const Instruction&, unsigned cost);
  Outcome trap_return(const Instruction&);
  Outcome hint(const Instruction&);
  Outcome prefetch(const Instruction&);
  bool hint_place(std::uint64_t address, Privileged::Translation& place);
  bool synchronise();

  // slow_path_memory.cpp
  Outcome not_located(Cause, std::uint64_t tval, std::uint64_t address, unsigned size);
  Outcome memory(const Instruction&);
  Outcome memory_crossing(const Instruction&, std::uint64_t address, unsigned size);
  Outcome atomic(const Instruction&);
  Cause locate(std::uint64_t address, unsigned size, Access access, Place& place);
  Cause locate_further(std::uint64_t address, unsigned size, Access access, Place& place);
  Place place_at(std::uint64_t physical, MemoryType type);
  /// Calls part(physical, bytes, size, address) for what an access has of each line that it touches: one, or two.
  template <class F>
  static Outcome by_line(unsigned line, std::uint64_t physical, std::uint64_t& value, unsigned size,
                         std::uint64_t address, const F& part) {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(&value);
    const unsigned first = std::min(size, line - static_cast<unsigned>(physical & (line - 1)));
    const Outcome outcome = part(physical, bytes, first, address);
    if (outcome != Outcome::next || first == size) return outcome;
    return part(physical + first, bytes + first, size - first, address + first);
  }
  Outcome access_line(std::uint64_t physical, void* data, unsigned size, bool store, std::uint64_t address);
  Outcome access_part(const Place&, std::uint8_t* bytes, unsigned size, bool store, std::uint64_t address);
  Outcome homed_line(const Instruction&, const Place&, std::uint64_t address, unsigned size, std::uint64_t value);
  Outcome device(const Instruction&, const Place&, std::uint64_t address, unsigned size, std::uint64_t value);
  bool post(std::uint64_t physical, std::uint64_t value, unsigned size);
  Outcome refused_line(Cause fault, std::uint64_t address);
  void look_up_data(std::uint64_t address, const PageTranslation&);
  /// Brings the page of an address to the TLBs, if the first of them lacks it, and puts what that costs into walk_.
  /// displaced: what has left the first one. False: it has the page, or translations of this kind cost nothing.
  template <class Translated>
  bool bring_page(TranslationBuffers::First first, std::uint64_t address, const TranslationKey& key,
                  const Translated& t, Tlb::Entry& displaced) {
    const std::uint16_t asid = key.asid();
    if (!buffers_ || !key.translates() || !buffers_->times(first) || buffers_->has(first, address, asid)) return false;
    walk_now();
    const Tlb::Entry page{address >> t.page_shift << t.page_shift, asid, t.page_shift, t.is_global};
    walk_ = buffers_->bring(first, address, page, t.walk, displaced);
    return true;
  }
  void walk_now();
  void access_behind_walk(std::uint64_t physical);
  void touch(std::uint64_t physical, unsigned size, base::LineUse use);
  void touch_l1d(std::uint64_t physical, unsigned size, base::LineUse use);
  bool synchronise_store(const Place& place, unsigned size);
  void read_ram(const Place& place, void* data, unsigned size);
  void write_ram(const Place& place, const void* data, unsigned size);
  void load_result(const Instruction&, std::uint64_t value);

  // slow_path_uncached.cpp
  Outcome uncached(const Instruction&, const Place&, std::uint64_t address, unsigned size, std::uint64_t value);
  Outcome uncached_load(const Instruction&, const Place&, std::uint64_t address, unsigned size);
  Outcome combine(const Place&, const void* data, unsigned size);
  Outcome fence(const Instruction&);
  std::uint64_t room_to_combine(std::uint64_t slot);
  void wait_for_buffer(std::uint64_t slot);
  void wait_until(std::uint64_t slot);
  void write_combined(std::uint64_t slot);
  std::uint64_t write_buffer(const WriteCombining::Buffer&, std::uint64_t slot);
  bool order_stores();
  bool come_behind_stores();

  // slow_path_blocks.cpp
  Outcome write_through(const Instruction&, const Place&, std::uint64_t address, unsigned size, std::uint64_t value);
  Outcome load_line(std::uint64_t physical, std::uint8_t* data, unsigned size, std::uint64_t address);
  Outcome prefetch_line(std::uint64_t physical);
  Outcome cache_block(const Instruction&);
  Outcome zero_block(const Instruction&, std::uint64_t address);

  Hart& hart_;
  HartState& state_;
  Privileged& privileged_;
  Bus& bus_;
  base::LineState* const l1d_;
  base::LineState* const l1i_;
  const std::unique_ptr<IntervalClock> clock_;
  const unsigned exception_cost_, interrupt_cost_, return_cost_;
  bool bus_called_ = false;
  bool attention_ = false;
  // The context of fetch() and execute(), and the epoch and privilege that it belongs to.
  std::uint64_t epoch_ = ~std::uint64_t{0};
  Privilege privilege_ = Privilege::machine;
  SoftTlb* tlb_ = nullptr;
  std::uint64_t generation_ = 0;
  TranslationKey fetch_key_, data_key_;
  std::uint64_t translation_version_ = 0;
  std::uint64_t fetch_line_ = ~std::uint64_t{0};
  std::uint64_t from_ = kNowhere;  ///< for fetch(): the instruction that jumped to state_.pc, if known
  TranslationContexts contexts_;
  const std::unique_ptr<TranslationBuffers> buffers_;  ///< null: translations cost nothing
  std::optional<TranslationWalk> walk_;                ///< of the present access, if it has not taken its time
  std::array<FetchPage, kFetchPages> fetch_pages_;
  std::vector<Stale> stale_;
  WriteCombining combining_;
  std::uint64_t combined_at_ = 0;  ///< slot in which the last store came into a write-combining buffer
  ReadBlock block_;
  bool heeds_fences_ = false;
  TrapHistory traps_;
};

}  // namespace sluice::riscv
