/* firmware/kernel/panic.c */
#include "firmware/kernel/panic.h"

#include "firmware/drivers/finisher.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/exit_codes.h"

void panic(const char* why) {
  print("panic: %s\n", why);
  finisher_fail(EXIT_GAVE_UP);
}

void panic_trap(const char* mode, unsigned long cause, unsigned long pc, unsigned long value, unsigned long sp) {
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
