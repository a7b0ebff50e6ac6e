/* SPDX-License-Identifier: Apache-2.0 */
/* tests/cli/plugins/line_box.c: loads the first line of line_box.cpp, whose answers are delayed, and stores to the
 * second one. */
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/start.h"

#define LINES ((volatile uint8_t*)0x20000000)
#define LINE 64

int application_main(void) {
  uint64_t waited = 0;
  unsigned wrong = 0;
  (void)LINES[0];
  for (unsigned n = 2; n <= 11; n++) {
    LINES[LINE] = (uint8_t)(100 + n);
    uint64_t start = csr_read(cycle);
    uint16_t answer = *(volatile uint16_t*)LINES; /* one load: the line is recalled after it */
    waited += csr_read(cycle) - start;
    if (answer != (n | (100 + n) << 8)) wrong++;
  }
  print("%u wrong, %lu cycles for ten loads\n", wrong, (unsigned long)waited);
  return 0;
}
