/* firmware/drivers/finisher.c */
#include "firmware/drivers/finisher.h"

#include <stdint.h>

#include "firmware/kernel/board.h"
#include "firmware/kernel/csr.h"

#define FINISHER_PASS 0x5555u
#define FINISHER_FAIL 0x3333u

static void finish(uint32_t value) {
  if (board.finisher != 0) *(volatile uint32_t*)board.finisher = value;
}

void finisher_pass(void) {
  finish(FINISHER_PASS);
  for (;;) wait_for_interrupt();
}

void finisher_fail(unsigned code) {
  finish(FINISHER_FAIL | (code << 16));
  for (;;) wait_for_interrupt();
}
