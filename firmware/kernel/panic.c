/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/panic.c */
#include "firmware/kernel/panic.h"

#include <stdbool.h>

#include "firmware/boot/boot.h"
#include "firmware/drivers/finisher.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/exit_codes.h"
#include "firmware/kernel/hart.h"

/* The first unhandled trap of each hart. */
static struct {
  bool reported;
  unsigned long cause, pc, value;
} first_traps[BOOT_MAX_HARTS];

void panic(const char* why) {
  print("panic: %s\n", why);
  finisher_fail(EXIT_GAVE_UP);
}

void panic_trap(const char* mode, unsigned long cause, unsigned long pc, unsigned long value, unsigned long sp) {
  unsigned hart = hart_id() % BOOT_MAX_HARTS;
  if (first_traps[hart].reported) {
    /* The report itself has trapped, and that trap overwrote the CSRs. Restore those of the first trap for the
     * diagnosis. */
    csr_write(scause, first_traps[hart].cause);
    csr_write(sepc, first_traps[hart].pc);
    csr_write(stval, first_traps[hart].value);
    finisher_fail(EXIT_TRAP);
  }
  first_traps[hart].cause = cause;
  first_traps[hart].pc = pc;
  first_traps[hart].value = value;
  first_traps[hart].reported = true;
  print("panic: unexpected trap to %s mode: cause %lx, pc %lx, tval %lx, sp %lx\n", mode, cause, pc, value, sp);
  finisher_fail(EXIT_TRAP);
}

void panic_stack(unsigned hart, const char* stack, unsigned long cause, unsigned long pc, unsigned long value,
                 unsigned long sp) {
  print("panic: the %s of hart %u has overflowed: sp %lx, cause %lx, pc %lx, tval %lx\n", stack, hart, sp, cause, pc,
        value);
  csr_write(mscratch, sp);
  finisher_fail(EXIT_STACK);
}
