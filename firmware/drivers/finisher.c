/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/finisher.c */
#include "firmware/drivers/finisher.h"

#include <stdint.h>

#include "firmware/kernel/board.h"
#include "firmware/kernel/csr.h"
#include "models/irq/finisher_regs.h"

static void finish(uint32_t value) {
  if (board.finisher != 0) *(volatile uint32_t*)(board.finisher + FINISHER_CONTROL) = value;
}

void finisher_pass(void) {
  finish(FINISHER_PASS);
  for (;;) wait_for_interrupt();
}

void finisher_fail(unsigned code) {
  if (code > FINISHER_MOST) code = FINISHER_MOST;
  finish(FINISHER_FAIL | (code << 16));
  for (;;) wait_for_interrupt();
}
