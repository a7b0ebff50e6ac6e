// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The privileged architecture of one RV64 hart: CSRs, traps, interrupts, Sv39 translation and PMP, for M, S and U
/// mode. docs/models/riscv-privileged.md lists the registers and how the options that the specification leaves open are
/// chosen.
///
/// Conventions for the caller: while an instruction executes, state.pc is its address and state.instret counts the
/// instructions retired before it. Only this class changes the privilege.

#include <array>
#include <cstdint>
#include <optional>

#include "models/riscv/iss/bus.h"
#include "models/riscv/iss/hart_state.h"
#include "models/riscv/iss/privileged/csr.h"
#include "models/riscv/iss/privileged/csr_table.h"
#include "models/riscv/iss/privileged/pmp.h"
#include "models/riscv/iss/translation/translation_key.h"
#include "models/riscv/iss/translation/translation_walk.h"

namespace sluice::riscv {

class Privileged {
 public:
  /// state and bus must outlive this object. The hart is then as after reset(). The bus is not called.
  Privileged(HartState& state, Bus& bus, const PrivilegedConfig& config);
  /// Resets the hart: M mode at reset_pc, translation and interrupts off, PMP entries off and unlocked, stimecmp never
  /// due. Does not change x and f registers, instret, slots or the interrupt lines from outside.
  void reset();

  // CSR accesses. number: 0 to 4095. They return false for an illegal instruction, and then nothing has changed.
  bool csr_read(unsigned number, std::uint64_t& value);
  bool csr_write(unsigned number, std::uint64_t value);
  /// CSRRW, CSRRS and CSRRC. do_write is false for CSRRS and CSRRC with x0 or immediate 0. A write to mtopei or stopei
  /// claims the interrupt that `old` reports.
  bool csr_access(unsigned number, CsrOp op, std::uint64_t operand, bool do_write, std::uint64_t& old);
  /// For debuggers: no privilege checks, no side effects. False: the hart has no such CSR.
  bool csr_peek(unsigned number, std::uint64_t& value);
  /// For debuggers: a write without privilege checks. False: no such CSR, a read-only one, mtopei or stopei.
  bool csr_poke(unsigned number, std::uint64_t value);
  /// For debuggers: changes the privilege without a trap or a return.
  void set_privilege(Privilege privilege);

  struct Translation {
    std::uint64_t physical = 0;
    /// Bytes of the naturally aligned region around the address in which one translation and one PMP verdict hold: a
    /// power of two, at most the page, or 1 GiB without translation. 0: they do not even hold for 4 KiB, so do not
    /// cache.
    std::uint64_t region_size = 0;
    /// Accesses to the page that need no further walk at the privilege of this access. writable is set only if D is
    /// set.
    bool readable = false, writable = false, executable = false;
    MemoryType type = MemoryType::normal;
    // Of a page that Sv39 has translated:
    std::uint8_t page_shift = 0;  ///< its size as a power of two; 0: it is not translated
    bool is_global = false;
    TranslationWalk walk;  ///< the page-table entries that were read
  };
  /// Applies Sv39, PMP and MPRV to `size` bytes that lie in one 4 KiB page. Sets A, and D for stores, in the page
  /// table. Returns Cause::none when the access is allowed, else the exception to raise.
  Cause translate(std::uint64_t virtual_address, unsigned size, Access access, Translation& result);
  /// Walks that have called Bus::synchronise(), which lets other harts and devices run. After such a walk, the slot
  /// limit and the pending interrupts may have changed.
  std::uint64_t synchronised_walks() const { return synchronised_walks_; }
  /// Translates the address of a one-byte access, without side effects. Only physical and type of the result are set.
  Cause translate_hint(std::uint64_t virtual_address, Translation& result, Access access = Access::load);

  /// Raises an exception for the instruction at state.pc: sets state.pc and the privilege. tval is ignored for ecalls.
  void trap(Cause cause, std::uint64_t tval);
  /// Takes the pending and enabled interrupt of highest priority, if there is one. state.pc must be the next
  /// instruction.
  bool take_interrupt();
  bool interrupt_takeable() const { return takeable_; }
  /// Whether wfi wakes: an interrupt is pending that mie enables, whatever mstatus and the delegation registers say.
  bool interrupt_pending() const { return (mip() & csr_.mie) != 0; }

  bool mret();               ///< false: illegal instruction
  bool sret();               ///< false: illegal instruction
  bool wfi_allowed() const;  ///< false: illegal instruction
  /// Whether wrs.nto is legal. Unlike wfi, it is legal in U mode while mstatus.TW is clear.
  bool wrs_nto_allowed() const { return state_.privilege == Privilege::machine || !(csr_.mstatus & mstatus::kTw); }
  /// Whether cbo.inval (`invalidates`), cbo.clean and cbo.flush are legal.
  bool may_manage_blocks(bool invalidates) const { return may_use_blocks(invalidates ? kEnvcfgCbie : kEnvcfgCbcfe); }
  bool may_zero_blocks() const { return may_use_blocks(kEnvcfgCbze); }
  /// Drops translations, whatever the address: all of them, or with has_asid those whose TranslationKey has the ASID,
  /// which the caller does. Returns false for an illegal instruction.
  bool sfence_vma(std::uint64_t va, bool has_va, std::uint64_t asid, bool has_asid);

  /// Sets an interrupt line from outside: MSIP 3, STIP 5 (Sstc), MTIP 7, SEIP 9 (ORed with the software bit), MEIP 11.
  /// Other bits are ignored. May be called at any time, even from inside a Bus call.
  void set_mip(unsigned bit, bool level);

  /// Changes whenever translations of an ASID or of all must be dropped, and when the keys may have changed without a
  /// change of privilege. A change of privilege alone changes the epoch only while MPRV is set.
  std::uint64_t epoch() const { return epoch_; }
  /// Changes whenever cached translations must be dropped, whatever their key.
  std::uint64_t translation_version() const { return translation_version_; }
  TranslationKey fetch_key() const;
  TranslationKey data_key() const;
  Privilege effective_data_privilege() const { return csr_.mstatus & mstatus::kMprv ? mpp() : state_.privilege; }

  /// Of the instruction that executes, or of the one that has led the hart to where it is: satp if its address is one
  /// of user mode that Sv39 translates, else 0.
  std::uint64_t user_space(std::uint64_t pc) const;
  /// The same of the latest of the last few traps and interrupts at an address. Nothing: there is none.
  std::optional<std::uint64_t> user_space_of_trap(std::uint64_t pc) const;

  bool fp_enabled() const { return (csr_.mstatus & mstatus::kFs) != 0; }
  void mark_fp_dirty() { csr_.mstatus |= mstatus::kFs; }

  const PrivilegedConfig& config() const { return config_; }

 private:
  friend struct CsrTable;

  enum class Walk : std::uint8_t { update, probe };
  struct Leaf {
    std::uint64_t physical;    ///< physical address of the translated byte
    std::uint64_t page_size;   ///< bytes
    std::uint8_t permissions;  ///< Pmp::Permission bits for this privilege; write only with D set
    MemoryType type;
    std::uint8_t page_shift = 0;
    bool is_global = false;
    TranslationWalk walk = {};
  };

  bool may_use_blocks(std::uint64_t field) const;
  void drop_translations() { ++epoch_, ++translation_version_; }
  TranslationKey key_of(Privilege) const;
  Privilege mpp() const { return static_cast<Privilege>((csr_.mstatus & mstatus::kMpp) >> mstatus::kMppShift); }
  std::uint64_t mip() const;
  std::uint64_t soft_writable_mip() const;
  void initialise();
  void update_interrupts();
  unsigned highest_interrupt(bool machine) const;  ///< among those pending and enabled in mie; 0: none
  void enter_machine(std::uint64_t cause, std::uint64_t tval, bool interrupt);
  void enter_supervisor(std::uint64_t cause, std::uint64_t tval, bool interrupt);
  void note_trap();
  void note_return();
  void enter(Privilege privilege);
  void write_mstatus(std::uint64_t value, std::uint64_t mask);

  std::uint64_t cycle_now() const { return state_.slots / config_.issue_width; }
  std::uint64_t mcycle() const { return csr_.mcountinhibit & 1 ? cycle_base_ : cycle_base_ + cycle_now(); }
  std::uint64_t minstret() const { return csr_.mcountinhibit & 4 ? instret_base_ : instret_base_ + state_.instret; }
  void write_mcycle(std::uint64_t value);
  void write_minstret(std::uint64_t value);
  void write_mcountinhibit(std::uint64_t value);

  bool csr_permitted(unsigned number, const CsrTable::Row& row) const;
  bool indirect_register(unsigned file, std::uint64_t& value, bool write);

  Cause find(std::uint64_t virtual_address, unsigned size, Access access, Walk walk, Leaf& leaf);
  Cause walk_sv39(std::uint64_t virtual_address, Access access, Privilege privilege, Walk walk, Leaf& leaf);
  /// Bits of a leaf PTE that must be zero.
  std::uint64_t reserved_bits(std::uint64_t pte) const;
  /// Permission bits of a leaf PTE for this privilege. SUM and MXR are applied; D is not considered.
  std::uint8_t leaf_permissions(std::uint64_t pte, Privilege privilege) const;

  HartState& state_;
  Bus& bus_;
  PrivilegedConfig config_;
  CsrRegisters csr_;
  Pmp pmp_;
  std::uint64_t synchronised_walks_ = 0;
  std::uint64_t lines_ = 0;         ///< mip bits driven from outside
  std::uint64_t soft_mip_ = 0;      ///< mip bits written by software
  std::uint64_t cycle_base_ = 0;    ///< mcycle less the clock, or the frozen mcycle while inhibited
  std::uint64_t instret_base_ = 0;  ///< likewise for minstret
  std::uint64_t epoch_ = 1;
  std::uint64_t translation_version_ = 1;
  struct Origin {
    std::uint64_t pc = 1;  ///< of no instruction
    std::uint64_t user_space = 0;
  };
  std::array<Origin, 8> traps_;
  unsigned last_trap_ = 0;  ///< in traps_
  struct Return {
    std::uint64_t pc = 1;       ///< of no instruction
    std::uint64_t instret = 0;  ///< state.instret right behind it
  };
  Return return_;                ///< the last mret or sret
  std::uint64_t executing_ = 1;  ///< instructions about to retire: 0 while a debugger writes
  bool takeable_ = false;
};

}  // namespace sluice::riscv
