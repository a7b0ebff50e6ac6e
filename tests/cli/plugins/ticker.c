/* SPDX-License-Identifier: Apache-2.0 */
/* tests/cli/plugins/ticker.c: takes five interrupts of the timer of ticker.cpp, and says when they came. */
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/start.h"

#define TICKER ((volatile uint64_t*)0x13000000)
#define SOURCE 40u

static volatile uint32_t woken;
static uint64_t at[8];
static unsigned ticks;

static void on_tick(void* unused) {
  (void)unused;
  at[ticks++] = read_time();
  TICKER[0] = 0;
  woken = 1;
}

int application_main(void) {
  uint64_t address = 0;
  uint32_t data = 0;
  interrupt_setup_hart(0);
  interrupt_connect(0, SOURCE, on_tick, 0, &address, &data);
  TICKER[1] = 1;
  while (ticks < 5) {
    woken = 0;
    interrupt_idle(&woken);
  }
  print("%lu ticks; the last four came %lu time units after the first\n", (unsigned long)TICKER[0],
        (unsigned long)(at[4] - at[0]));
  return 0;
}
