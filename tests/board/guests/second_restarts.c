/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/second_restarts.c: firmware of a second system that resets itself twice, and says how often it has
 * begun. Its count lies in memory that belongs to no image, which a reset leaves as it is. */
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/start.h"
#include "models/irq/finisher_regs.h"

int application_main(void) {
  volatile uint64_t* begun = (volatile uint64_t*)(uintptr_t)(board.memory_base + board.memory_size / 2);
  uint64_t start = read_time();
  print("second system: begins for the %lu. time\n", (unsigned long)++*begun);
  while (read_time() - start < board.timebase_frequency / 100000) cpu_pause();
  if (*begun < 3) *(volatile uint32_t*)(uintptr_t)(board.finisher + FINISHER_CONTROL) = FINISHER_RESET;
  for (;;) cpu_pause();
}
