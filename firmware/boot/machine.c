/* firmware/boot/machine.c: what machine mode does before it hands over: delegation, counters, supervisor timer; and the
 * report of what nothing handles. */
#include <stdint.h>

#include "firmware/boot/boot.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/panic.h"

/* All but environment calls from S and M, and access faults of loads and stores: a stack that has overflowed is no
 * place for a trap's frame. */
#define DELEGATED_EXCEPTIONS 0xb15ful
#define DELEGATED_INTERRUPTS 0x222ul /* supervisor software, timer, external */
#define MENVCFG_STCE (1ul << 63)
#define COUNTERS_CY_TM_IR 0x7ul

void machine_setup(void);
void machine_trap(unsigned long cause, unsigned long pc, unsigned long value, unsigned long sp);

void machine_setup(void) {
  csr_write(medeleg, DELEGATED_EXCEPTIONS);
  csr_write(mideleg, DELEGATED_INTERRUPTS);
  csr_write(mcounteren, COUNTERS_CY_TM_IR);
  csr_write(scounteren, COUNTERS_CY_TM_IR);
  csr_set(CSR_MENVCFG, MENVCFG_STCE);
  csr_write(sie, 0);
}

extern char _end[];

static unsigned reports[BOOT_MAX_HARTS];

/* Of this hart's two stacks the one whose guard the address lies in; null where it lies in none. */
static const char* overflowed_stack(unsigned hart, unsigned long address) {
  unsigned long offset = address - ((uintptr_t)_end + (uintptr_t)BOOT_HART_BYTES * hart);
  if (offset < BOOT_GUARD_BYTES) return "trap stack";
  return offset - BOOT_TRAP_STACK_TOP < BOOT_GUARD_BYTES ? "stack" : 0;
}

/* On this hart's trap stack, which tells whose it is. */
void machine_trap(unsigned long cause, unsigned long pc, unsigned long value, unsigned long sp) {
  unsigned hart = (unsigned)(((uintptr_t)__builtin_frame_address(0) - (uintptr_t)_end) / BOOT_HART_BYTES);
  if (reports[hart]++ > 1) return; /* neither the report nor that of its own trap succeeds */
  const char* stack = overflowed_stack(hart, value);
  if (stack != 0 && (cause == CAUSE_LOAD_ACCESS || cause == CAUSE_STORE_ACCESS))
    panic_stack(hart, stack, cause, pc, value, sp);
  panic_trap("machine", cause, pc, value, sp);
}
