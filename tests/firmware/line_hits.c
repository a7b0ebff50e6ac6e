/* SPDX-License-Identifier: Apache-2.0 */
/* tests/firmware/line_hits.c: loads and stores of a line of enzian-eci-pio that the hart holds: 64 million of them, for
 * sw/bench. */
#include <stdint.h>

#include "firmware/kernel/start.h"
#include "models/nic/pio/pio_regs.h"

#define LINE ((volatile uint64_t*)(0x20000000 + PIO_TX_LINES))
#define TURNS 4000000u

int application_main(void) {
  for (unsigned n = 0; n < TURNS; n++) {
    for (unsigned i = 0; i < 8; i++) LINE[i] = n;
    for (unsigned i = 0; i < 8; i++)
      if (LINE[i] != n) return 1;
  }
  return 0;
}
