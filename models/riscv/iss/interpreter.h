#pragma once
/// The threaded interpreter: runs decoded blocks, each operation jumping to the next one's handler.
///
/// A block is entered only when every instruction of it would start below the slot limit; otherwise it is cut: the
/// first operation that may not start gets a handler that stops. Whatever leaves the straight path (misses, devices,
/// faults, CSRs) first makes HartState exact and goes through slow().

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "models/riscv/iss/block_cache.h"
#include "models/riscv/iss/hart.h"
#include "models/riscv/iss/soft_tlb.h"
#include "models/riscv/iss/trap_history.h"

namespace sluice::riscv {

class Interpreter final : public Engine {
 public:
  /// The hart must outlive the engine; config.l1d chooses the timing mode.
  explicit Interpreter(Hart& hart);
  ~Interpreter() override;

  StopReason run() override;
  StopReason step() override;
  StopReason run_one() override;
  void ask_limit_again() override { attention_ = true; }
  void invalidate_code(std::uint64_t address, std::uint64_t length) override;
  bool has_code(std::uint64_t page) const override { return cache_.has_code(page); }
  bool has_decoded(std::uint64_t address, std::uint64_t length) const override {
    return cache_.has_decoded(address, length);
  }
  void note_own_store(std::uint64_t address, std::uint64_t length) override;
  void flush_translations() override;
  void reset() override;
  void drop_write_shortcuts(std::uint64_t page) override;
  void drop_read_shortcuts(std::uint64_t page) override;
  void set_breakpoint(std::uint64_t address) override;
  void clear_breakpoint(std::uint64_t address) override;

 private:
  /// Operations that are no instructions; their numbers follow those of Opcode.
  enum Pseudo : std::uint16_t {
    kFall = static_cast<std::uint16_t>(Opcode::count),  ///< end of a block that runs on
    kFetchLine,                                         ///< instructions from here on are in another L1I line
    kFetchSecondPage,                                   ///< as kFetchLine, for an instruction that crosses pages
    kFloatUse,                                          ///< before a block's first floating-point instruction
    kFloatWrite,                                        ///< before its first one that changes f or fflags
    kBreakpoint,
    kStop,  ///< the slot limit is reached
    kPseudoEnd
  };
  /// What the loop does after slow().
  enum class Outcome : std::uint8_t {
    next,      ///< the following operation of the block; frame_ has slots and limit
    dispatch,  ///< HartState is exact: find out what to do from there
    stop,      ///< as dispatch, and run() returns stop_
  };
  struct Frame {
    Block* block = nullptr;
    std::uint64_t slots = 0;  ///< at the start of the block
    std::uint64_t limit = 0;
    std::uint64_t generation = 0;
    TlbEntry* tlb = nullptr;
  };
  struct Place {
    std::uint64_t physical = 0;
    base::GuestRam* ram = nullptr;  ///< null: not RAM
  };
  struct FetchPage {
    std::uint64_t page = ~std::uint64_t{0};
    std::uint64_t generation = 0;
    std::uint64_t physical = 0;
    base::GuestRam* ram = nullptr;
  };
  struct Context {
    std::uint64_t epoch = ~std::uint64_t{0};
    std::uint64_t generation = 0;
  };
  static constexpr std::size_t kJumps = 4096;
  static constexpr std::size_t kFetchPages = 64;
  static constexpr std::uint64_t kNowhere = 1;  ///< no instruction has an odd address

  // interpreter_loop.cpp
  template <bool Cached>
  StopReason loop(const void* const** export_handlers);

  // interpreter.cpp: what happens between blocks
  bool enter();
  void refresh_context();
  Block* lookup(std::uint64_t pc);
  Block* resolve(std::uint64_t pc, Block** link, std::uint64_t from);
  bool fetch_place(std::uint64_t pc, std::uint64_t tval, FetchPage& at, bool& cacheable);
  Block* decode_block(std::uint64_t pc, const FetchPage& at, const FetchPage* second, bool single);
  void check_stale(const Block&);
  void fuse(Block* block);
  const Op* cut(Block* block, std::uint64_t slots, std::uint64_t limit);
  void uncut();
  std::uint64_t slot_limit() { return stepping_ ? step_limit() : bus_.slot_limit(); }
  std::uint64_t step_limit() { return beyond_limit_ ? step_limit_ : std::min(step_limit_, bus_.slot_limit()); }
  std::uint64_t events() const;
  StopReason run_single();

  // interpreter_slow.cpp: instructions that are not straight execution
  Outcome slow(Block* block, const Op* op, std::uint64_t slots, std::uint64_t instret, std::uint64_t address);
  Outcome stop_at(const Block* block, const Op* op, std::uint64_t slots, std::uint64_t instret);
  Outcome retire();
  Outcome retire_and_dispatch();
  Outcome trap(Cause cause, std::uint64_t tval);
  Outcome refuse(Refusal why, Cause cause, std::uint64_t tval, std::uint64_t address, unsigned size);
  Outcome illegal();
  Outcome memory(Opcode opcode, const Op& op, std::uint64_t address);
  Outcome memory_crossing(Opcode opcode, const Op& op, std::uint64_t address, unsigned size);
  Outcome atomic(Opcode opcode, const Op& op);
  Outcome csr(Opcode opcode, const Op& op);
  Outcome system(Opcode opcode, const Op& op);
  Outcome hint(Opcode opcode, const Op& op);
  Outcome pseudo(unsigned opcode, const Op& op);
  Cause locate(std::uint64_t address, unsigned size, Access access, Place& place);
  bool hint_place(std::uint64_t address, std::uint64_t& physical);
  void touch_l1d(std::uint64_t physical, unsigned size, base::LineUse use);
  bool synchronise();
  bool synchronise_store(const Place& place, unsigned size);
  Outcome give_way();
  void read_ram(const Place& place, void* data, unsigned size);
  void write_ram(const Place& place, const void* data, unsigned size);
  void load_result(Opcode opcode, const Op& op, std::uint64_t value);

  Hart& hart_;
  HartState& state_;
  Privileged& privileged_;
  Bus& bus_;
  base::LineState* const l1d_;
  base::LineState* const l1i_;
  CostTable costs_;
  const void* const* handlers_ = nullptr;
  BlockCache cache_;
  std::array<Block*, kJumps> jumps_;
  std::array<FetchPage, kFetchPages> fetch_pages_;
  std::array<std::unique_ptr<SoftTlb>, 4> tlbs_;  ///< by effective data privilege
  std::array<std::uint64_t, 4> tlb_epochs_;
  std::array<Context, 4> contexts_;  ///< by privilege
  SoftTlb* tlb_ = nullptr;
  std::uint64_t last_generation_ = 0;
  std::uint64_t releases_ = 0;
  Frame frame_;
  Block* block_ = nullptr;                        ///< of the operation that slow() works on
  const Site* site_ = nullptr;                    ///< of the operation that slow() works on
  std::uint64_t fetch_line_ = ~std::uint64_t{0};  ///< physical, of the last instruction
  Op* cut_op_ = nullptr;
  const void* cut_handler_ = nullptr;
  const void* cut_before_handler_ = nullptr;  ///< of the operation before cut_op_, null: there is none
  bool bus_called_ = false;
  bool attention_ = false;  ///< code, translations or the limit may have changed: leave the block
  bool stepping_ = false;
  bool beyond_limit_ = false;  ///< while stepping_: the bus's limit does not count
  std::uint64_t step_limit_ = 0;
  StopReason stop_ = StopReason::slot_limit;
  /// Physical bytes that held code when the hart stored there, until its next fence.i.
  struct Stale {
    std::uint64_t first, last;
  };
  static constexpr std::size_t kMostStale = 64;
  std::vector<Stale> stale_;
  std::uint64_t from_ = kNowhere;  ///< the instruction that went to state_.pc, where it is known: for enter()
  std::set<std::uint64_t> breakpoints_;
  std::uint64_t passed_breakpoint_ = kNowhere;  ///< where run() stopped last
  TrapHistory traps_;
};

}  // namespace sluice::riscv
