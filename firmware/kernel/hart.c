/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/hart.c */
#include "firmware/kernel/hart.h"

#include "firmware/boot/boot.h"
#include "firmware/kernel/account.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/csr.h"
#include "models/irq/clint_regs.h"

unsigned hart_id(void) { return (unsigned)csr_read(sscratch); }

void hart_set_id(unsigned hart) { csr_write(sscratch, hart); }

void hart_start(unsigned hart, hart_work* work) {
  boot_released[hart] = work;
  fence_all();
  *(volatile uint32_t*)(board.clint + CLINT_MSIP(board.first_hart + hart)) = 1;
}

/* Rounded down. Below 2^64 for every frequency under 4 THz. */
static uint64_t ticks(uint32_t nanoseconds, uint64_t frequency) {
  return ((uint64_t)nanoseconds * (frequency / 1000) + (uint64_t)nanoseconds * (frequency % 1000) / 1000) / 1000000;
}

void hart_spin(uint32_t nanoseconds) {
  if (board.core_frequency != 0) {
    uint64_t start = csr_read(cycle), wanted = ticks(nanoseconds, board.core_frequency);
    while (csr_read(cycle) - start < wanted) {
    }
  } else {
    uint64_t start = read_time(), wanted = ticks(nanoseconds, board.timebase_frequency);
    while (read_time() - start <= wanted) {
    }
  }
}

void hart_park(void) {
  account(idle);
  csr_write(sie, 0);
  for (;;) wait_for_interrupt();
}
