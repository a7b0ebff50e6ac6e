#pragma once
/// What every engine does alike and none needs to do fast: whatever leaves straight execution, and what comes between
/// instructions. An engine owns one, executes the rest itself, and decides how code is kept.
///
/// HartState is exact whenever a function here is called: pc, slots and instret at the start of an instruction.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/riscv/iss/decode.h"
#include "models/riscv/iss/hart.h"
#include "models/riscv/iss/soft_tlb.h"
#include "models/riscv/iss/trap_history.h"

namespace sluice::riscv {

class SlowPath {
 public:
  enum class Outcome : std::uint8_t {
    next,      ///< done, stalls are in state.slots; the engine retires it, by retire() or in its own way
    redirect,  ///< HartState is exact: it has retired or trapped, or must be begun again. Look for interrupts.
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
    FetchPage second;       ///< where `crossing`: page of the second half
    bool crossing = false;  ///< the instruction lies in two pages
    bool cacheable = true;  ///< the translation holds for whole pages as long as generation() is the same
  };

  /// The hart must outlive this object.
  explicit SlowPath(Hart& hart);

  // One instruction. Registers as with_sink() has them; cost: its slots.

  /// Loads, stores, atomics, hints, CSRs, system instructions; what else comes here is illegal. With Outcome::next and
  /// without bus_called() nothing has moved but registers and memory.
  Outcome execute(const Instruction& i, unsigned cost) {
    bus_called_ = false;
    if (i.op >= Opcode::lb && i.op <= Opcode::fsd) return memory(i);
    if (i.op >= Opcode::lr_w && i.op <= Opcode::amo_d) return atomic(i);
    if (i.op >= Opcode::probe && i.op <= Opcode::account) return hint(i);
    if (i.op >= Opcode::csrrw && i.op <= Opcode::csrrci) return csr(i, cost);
    return system(i, cost);  // also floating point with a reserved dynamic rounding mode
  }
  /// execute() has called the bus: time, the slot limit and pending interrupts may have changed.
  bool bus_called() const { return bus_called_; }
  void retire(unsigned length, unsigned cost) {
    from_ = state_.pc;
    state_.pc += length;
    state_.slots += cost;
    ++state_.instret;
  }
  /// raw: Instruction::raw.
  Outcome illegal(std::uint32_t raw);

  // Between instructions.

  /// Something that the engine may have taken for granted has changed: the limit, translations, decoded code.
  bool attention() const { return attention_; }
  void call_attention() { attention_ = true; }
  void clear_attention() { attention_ = false; }
  /// True: an interrupt has been taken.
  bool take_interrupt() { return privileged_.interrupt_takeable() && interrupt(); }
  /// To be called before fetch() and execute() wherever privilege or translation may have changed.
  void refresh_context() {
    if (privileged_.epoch() != epoch_ || state_.privilege != privilege_) change_context();
  }
  /// Changes with every change of translation; the same again for a privilege whose translations still hold.
  std::uint64_t generation() const { return generation_; }
  /// For shortcuts of loads and stores in the present context.
  const TlbEntry* shortcuts() const { return tlb_->entries(); }
  /// Where the instruction at pc lies. False: fetching it has trapped.
  bool fetch(std::uint64_t pc, Fetched& fetched);
  /// For the log of mistakes: the instruction that goes to state.pc.
  void came_from(std::uint64_t pc) { from_ = pc; }
  void came_from_nowhere() { from_ = kNowhere; }

  // Timing of instruction fetches: lines of HartConfig::l1i, physical.

  /// That of the last instruction.
  std::uint64_t fetch_line() const { return fetch_line_; }
  /// Instructions come from another line. False: L1I does not hold it, and miss_l1i() is due with exact state.
  bool fetch_from(std::uint64_t line) {
    fetch_line_ = line;
    ++hart_.counters().l1i_accesses;
    return l1i_->hit(line, false);
  }
  /// Calls the bus for that line.
  void miss_l1i() {
    ++hart_.counters().l1i_misses;
    bus_.cache_miss(fetch_line_, base::LineUse::fetch);
  }

  // Code that the hart itself has changed: running it before a fence.i is a mistake, told to the bus once.

  void note_changed_code(std::uint64_t address, std::uint64_t length);
  /// Code from these physical bytes is about to run for the first time since it was decoded.
  void check_stale(std::uint64_t first, std::uint64_t last) {
    if (!stale_.empty()) tell_stale(first, last);
  }

  // The part of Engine's functions of the same name that does not depend on how code is kept.

  void reset();
  void drop_write_shortcuts(std::uint64_t page);
  void drop_read_shortcuts(std::uint64_t page);

 private:
  struct Place {
    std::uint64_t physical = 0;
    base::GuestRam* ram = nullptr;  ///< null: not RAM
  };
  struct Context {
    std::uint64_t epoch = ~std::uint64_t{0};
    std::uint64_t generation = 0;
  };
  /// Physical bytes that held code when the hart stored there, until its next fence.i.
  struct Stale {
    std::uint64_t first, last;
  };
  static constexpr std::size_t kFetchPages = 64;
  static constexpr std::size_t kMostStale = 64;
  static constexpr std::uint64_t kNowhere = 1;  ///< no instruction has an odd address

  // slow_path.cpp
  bool interrupt();
  void change_context();
  bool fetch_place(std::uint64_t pc, FetchPage& at, bool& cacheable);
  void tell_stale(std::uint64_t first, std::uint64_t last);
  Outcome trap(Cause cause, std::uint64_t tval);
  Outcome refuse(Refusal why, Cause cause, std::uint64_t tval, std::uint64_t address, unsigned size);
  Outcome csr(const Instruction&, unsigned cost);
  Outcome system(const Instruction&, unsigned cost);
  Outcome trap_return(const Instruction&, unsigned cost);
  Outcome hint(const Instruction&);
  bool hint_place(std::uint64_t address, std::uint64_t& physical);
  bool synchronise();

  // slow_path_memory.cpp
  Outcome memory(const Instruction&);
  Outcome memory_crossing(const Instruction&, std::uint64_t address, unsigned size);
  Outcome atomic(const Instruction&);
  Cause locate(std::uint64_t address, unsigned size, Access access, Place& place);
  void touch_l1d(std::uint64_t physical, unsigned size, base::LineUse use);
  bool synchronise_store(const Place& place, unsigned size);
  void read_ram(const Place& place, void* data, unsigned size);
  void write_ram(const Place& place, const void* data, unsigned size);
  void load_result(const Instruction&, std::uint64_t value);

  Hart& hart_;
  HartState& state_;
  Privileged& privileged_;
  Bus& bus_;
  base::LineState* const l1d_;
  base::LineState* const l1i_;
  const unsigned trap_cost_;
  bool bus_called_ = false;
  bool attention_ = false;
  // The context of fetch() and execute(), and what it was found by.
  std::uint64_t epoch_ = ~std::uint64_t{0};
  Privilege privilege_ = Privilege::machine;
  SoftTlb* tlb_ = nullptr;
  std::uint64_t generation_ = 0;
  std::uint64_t last_generation_ = 0;
  std::uint64_t fetch_line_ = ~std::uint64_t{0};
  std::uint64_t from_ = kNowhere;    ///< the instruction that went to state_.pc, where it is known: for fetch()
  std::array<Context, 4> contexts_;  ///< by privilege
  std::array<FetchPage, kFetchPages> fetch_pages_;
  std::array<std::unique_ptr<SoftTlb>, 4> tlbs_;  ///< by effective data privilege
  std::array<std::uint64_t, 4> tlb_epochs_;
  std::vector<Stale> stale_;
  TrapHistory traps_;
};

}  // namespace sluice::riscv
