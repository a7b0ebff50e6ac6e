#pragma once
/// The privileged architecture of one RV64 hart: CSRs, traps, interrupts, Sv39 translation and PMP, for M, S and U
/// mode. docs/models/riscv-privileged.md lists the registers and the choices made where the specification leaves one.
///
/// Conventions for the caller: while an instruction executes, state.pc is its address and state.instret counts the
/// instructions retired before it. Privilege is changed only here.

#include <cstdint>

#include "models/riscv/iss/bus.h"
#include "models/riscv/iss/csr.h"
#include "models/riscv/iss/csr_table.h"
#include "models/riscv/iss/hart_state.h"
#include "models/riscv/iss/pmp.h"

namespace sluice::riscv {

class Privileged {
 public:
  /// Both must outlive this object. Leaves the hart as after reset(), without calling the bus.
  Privileged(HartState& state, Bus& bus, const PrivilegedConfig& config);
  /// As the hart's reset: M mode at reset_pc, translation and interrupts off, PMP entries off and unlocked.
  /// x and f registers, instret, slots and lines from outside are left alone; stimecmp is never due.
  void reset();

  // CSRs. False: illegal instruction, nothing changed. Number: 0 to 4095.
  bool csr_read(unsigned number, std::uint64_t& value);
  bool csr_write(unsigned number, std::uint64_t value);
  /// CSRRW, CSRRS and CSRRC. do_write is false for CSRRS and CSRRC with x0 or immediate 0. A write to mtopei or stopei
  /// claims the interrupt that `old` reports.
  bool csr_access(unsigned number, CsrOp op, std::uint64_t operand, bool do_write, std::uint64_t& old);
  /// For debuggers: no privilege checks, no side effects. False: the hart has no such CSR.
  bool csr_peek(unsigned number, std::uint64_t& value);
  /// For debuggers: a write without privilege checks. False: no such CSR, or a read-only one.
  bool csr_poke(unsigned number, std::uint64_t value);
  /// For debuggers: changes the privilege without a trap or a return.
  void set_privilege(Privilege privilege);

  struct Translation {
    std::uint64_t physical = 0;
    /// Bytes of the naturally aligned region around the address (a power of two, at most the page; 1 GiB without
    /// translation) in which the same translation and PMP verdict hold. 0: not even for 4 KiB, do not cache.
    std::uint64_t region_size = 0;
    /// What the page can be used for without a further walk, by the privilege of this access. writable needs D set.
    bool readable = false, writable = false, executable = false;
  };
  /// Sv39, PMP and MPRV for `size` bytes that lie in one 4 KiB page. Sets A, and D for stores, in the page table.
  /// Cause::none when the access is allowed; else the exception to raise.
  Cause translate(std::uint64_t virtual_address, unsigned size, Access access, Translation& result);
  /// Walks that have let other harts and devices go on (Bus::synchronise()): the limit and what is pending may be
  /// others.
  std::uint64_t synchronised_walks() const { return synchronised_walks_; }
  /// As an access to one byte, with no side effects.
  Cause translate_hint(std::uint64_t virtual_address, std::uint64_t& physical, Access access = Access::load);

  /// An exception of the instruction at state.pc: sets state.pc and the privilege. tval is ignored for ecalls.
  void trap(Cause cause, std::uint64_t tval);
  /// Takes the interrupt that has priority, if one is pending and enabled; state.pc is the next instruction.
  bool take_interrupt();
  bool interrupt_takeable() const { return takeable_; }
  /// The wake rule of wfi: any pending interrupt that mie enables, whatever mstatus and the delegation say.
  bool interrupt_pending() const { return (mip() & csr_.mie) != 0; }

  bool mret();               ///< false: illegal instruction
  bool sret();               ///< false: illegal instruction
  bool wfi_allowed() const;  ///< false: illegal instruction
  /// wrs.nto; unlike wfi it is allowed in U mode while mstatus.TW is clear.
  bool wrs_nto_allowed() const { return state_.privilege == Privilege::machine || !(csr_.mstatus & mstatus::kTw); }
  /// False: illegal instruction. Drops all translations, whatever the address and the ASID.
  bool sfence_vma(std::uint64_t va, bool has_va, std::uint64_t asid, bool has_asid);

  /// Lines from outside: MSIP 3, STIP 5 (Sstc), MTIP 7, SEIP 9 (ORed with the software bit), MEIP 11. Other bits are
  /// ignored. May be called at any time, from inside a Bus call too.
  void set_mip(unsigned bit, bool level);

  /// Changes whenever cached translations must be dropped or the effective data privilege may have changed without a
  /// change of privilege. Changes of privilege alone leave it, except while MPRV is set.
  std::uint64_t epoch() const { return epoch_; }
  Privilege effective_data_privilege() const { return csr_.mstatus & mstatus::kMprv ? mpp() : state_.privilege; }

  bool fp_enabled() const { return (csr_.mstatus & mstatus::kFs) != 0; }
  void mark_fp_dirty() { csr_.mstatus |= mstatus::kFs; }

  const PrivilegedConfig& config() const { return config_; }

 private:
  friend struct CsrTable;

  enum class Walk : std::uint8_t { update, probe };
  struct Leaf {
    std::uint64_t physical;    ///< of the address translated
    std::uint64_t page_size;   ///< bytes
    std::uint8_t permissions;  ///< Pmp::Permission bits for this privilege; write only with D set
  };

  Privilege mpp() const { return static_cast<Privilege>((csr_.mstatus & mstatus::kMpp) >> mstatus::kMppShift); }
  std::uint64_t mip() const;
  std::uint64_t soft_writable_mip() const;
  void initialise();
  void update_interrupts();
  unsigned highest_interrupt(bool machine) const;  ///< pending, enabled in mie, of that level; 0: none
  void enter_machine(std::uint64_t cause, std::uint64_t tval, bool interrupt);
  void enter_supervisor(std::uint64_t cause, std::uint64_t tval, bool interrupt);
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
  /// Permission bits of a leaf PTE for this privilege, SUM and MXR applied, D not considered.
  std::uint8_t leaf_permissions(std::uint64_t pte, Privilege privilege) const;

  HartState& state_;
  Bus& bus_;
  PrivilegedConfig config_;
  CsrRegisters csr_;
  Pmp pmp_;
  std::uint64_t synchronised_walks_ = 0;
  std::uint64_t lines_ = 0;         ///< mip bits driven from outside
  std::uint64_t soft_mip_ = 0;      ///< mip bits written by software
  std::uint64_t cycle_base_ = 0;    ///< counts added to the clock, or the frozen value while inhibited
  std::uint64_t instret_base_ = 0;  ///< as cycle_base_
  std::uint64_t epoch_ = 1;
  std::uint64_t executing_ = 1;  ///< 0 while a debugger writes: no instruction is about to retire
  bool takeable_ = false;
};

}  // namespace sluice::riscv
