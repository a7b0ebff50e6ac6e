/* SPDX-License-Identifier: Apache-2.0 */
/* tests/firmware/line_exchanges.c: loads the two receive lines of enzian-eci-pio in turn, a million times, with a block
 * time of 0: each load is answered at once with no frame, and the other line is taken back. For sw/bench. */
#include <stdint.h>

#include "firmware/kernel/start.h"
#include "models/nic/pio/pio_regs.h"

#define LINES (0x20000000 + PIO_RX_LINES)
#define TURNS 1000000u

int application_main(void) {
  for (unsigned n = 0; n < TURNS; n++)
    if (*(volatile uint64_t*)(uintptr_t)(LINES + PIO_CONTROL_LINE(n % 2)) != 0) return 1;
  return 0;
}
