/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/boot/machine.c: what machine mode does before it hands over to supervisor mode (delegation, counters,
 * supervisor timer), and its report of traps that nothing handles. */
#include <stdbool.h>
#include <stdint.h>

#include "firmware/boot/boot.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/panic.h"

/* All exceptions except environment calls from S and M, load access faults and store access faults. An access fault may
 * come from a stack that has overflowed, where supervisor mode cannot push a trap frame. Machine mode passes all other
 * access faults on. */
#define DELEGATED_EXCEPTIONS 0xb15ful
#define DELEGATED_INTERRUPTS 0x222ul /* supervisor software, timer, external */
#define MENVCFG_STCE (1ul << 63)
#define MENVCFG_PBMTE (1ul << 62) /* page tables have memory types, where the hart knows them */
#define MENVCFG_BLOCKS 0xf0ul     /* cbo.inval, cbo.clean, cbo.flush and cbo.zero */
#define COUNTERS_CY_TM_IR 0x7ul

void machine_setup(void);
unsigned long machine_trap(unsigned long cause, unsigned long pc, unsigned long value, unsigned long sp);

void machine_setup(void) {
  csr_write(medeleg, DELEGATED_EXCEPTIONS);
  csr_write(mideleg, DELEGATED_INTERRUPTS);
  csr_write(mcounteren, COUNTERS_CY_TM_IR);
  csr_write(scounteren, COUNTERS_CY_TM_IR);
  csr_set(CSR_MENVCFG, MENVCFG_STCE | MENVCFG_PBMTE | MENVCFG_BLOCKS);
  csr_write(sie, 0);
}

extern char _end[];
extern const char supervisor_trap_entry[];
extern const char* const supervisor_trap_framed; /* address after the frame is pushed (kernel/trap.S) */

static unsigned reports[BOOT_MAX_HARTS];

/* Name of this hart's stack whose guard page holds the address; null where neither guard does. */
static const char* overflowed_stack(unsigned hart, unsigned long address) {
  unsigned long offset = address - ((uintptr_t)_end + (uintptr_t)BOOT_HART_BYTES * hart);
  if (offset < BOOT_GUARD_BYTES) return "trap stack";
  return offset - BOOT_TRAP_STACK_TOP < BOOT_GUARD_BYTES ? "stack" : 0;
}

#define MSTATUS_SIE (1ul << 1)
#define MSTATUS_SPIE (1ul << 5)
#define MSTATUS_SPP (1ul << 8)
#define MSTATUS_MPP_SUPERVISOR (1ul << 11)
#define MSTATUS_MPP (3ul << 11)

/* Makes mret continue as if the trap had been delegated to supervisor mode. */
static void pass_to_supervisor(unsigned long cause, unsigned long pc, unsigned long value) {
  unsigned long status = csr_read(mstatus);
  unsigned long from_supervisor = (status & MSTATUS_MPP) == MSTATUS_MPP_SUPERVISOR;
  unsigned long enabled = status & MSTATUS_SIE;
  csr_write(sepc, pc);
  csr_write(scause, cause);
  csr_write(stval, value);
  status &= ~(MSTATUS_MPP | MSTATUS_SIE | MSTATUS_SPIE | MSTATUS_SPP);
  csr_write(mstatus,
            status | MSTATUS_MPP_SUPERVISOR | (enabled ? MSTATUS_SPIE : 0) | (from_supervisor ? MSTATUS_SPP : 0));
  csr_write(mepc, csr_read(stvec) & ~3ul);
}

/* sp points to no memory, so supervisor mode cannot take a trap: if the fault were passed on, it would repeat for ever.
 * The report describes the trap that supervisor mode was about to handle, because that trap says more than the failed
 * store of its frame. If that trap was an interrupt, the report describes the store. `sp` is the address of the frame.
 */
static void fail_without_stack(unsigned hart, unsigned long cause, unsigned long pc, unsigned long value,
                               unsigned long sp) __attribute__((noreturn));
static void fail_without_stack(unsigned hart, unsigned long cause, unsigned long pc, unsigned long value,
                               unsigned long sp) {
  unsigned long first_cause = csr_read(scause);
  if ((first_cause & CAUSE_INTERRUPT) == 0) {
    cause = first_cause;
    pc = csr_read(sepc);
    value = csr_read(stval);
    csr_write(mcause, cause);
    csr_write(mepc, pc);
    csr_write(mtval, value);
  }
  panic_stack(hart, "stack", cause, pc, value, sp + BOOT_TRAP_FRAME_BYTES);
}

/* Runs on the hart's trap stack, whose address gives the hart's number. Returns nonzero if the hart can go on. */
unsigned long machine_trap(unsigned long cause, unsigned long pc, unsigned long value, unsigned long sp) {
  unsigned hart = (unsigned)(((uintptr_t)__builtin_frame_address(0) - (uintptr_t)_end) / BOOT_HART_BYTES);
  bool access = cause == CAUSE_LOAD_ACCESS || cause == CAUSE_STORE_ACCESS;
  const char* stack = access ? overflowed_stack(hart, value) : 0;
  if (access && stack == 0 && (csr_read(mstatus) & MSTATUS_MPP) != MSTATUS_MPP) {
    if (pc - (uintptr_t)supervisor_trap_entry < (uintptr_t)(supervisor_trap_framed - supervisor_trap_entry))
      fail_without_stack(hart, cause, pc, value, sp);
    pass_to_supervisor(cause, pc, value);
    return 1;
  }
  if (reports[hart]++ > 1) return 0; /* the report trapped, and so did the report of that trap */
  if (stack != 0) panic_stack(hart, stack, cause, pc, value, sp);
  panic_trap("machine", cause, pc, value, sp);
}
