/* firmware/boot/machine.c: what machine mode does before it hands over: delegation, counters, supervisor timer. */
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/panic.h"

#define DELEGATED_EXCEPTIONS 0xb1fful /* all but environment calls from S and M */
#define DELEGATED_INTERRUPTS 0x222ul  /* supervisor software, timer, external */
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

void machine_trap(unsigned long cause, unsigned long pc, unsigned long value, unsigned long sp) {
  panic_trap("machine", cause, pc, value, sp);
}
