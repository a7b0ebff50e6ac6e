/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/deep_recursion.c: recurses until its stack is full, on hart 1 where the board has one and else on
 * hart 0.
 */
#include "firmware/kernel/board.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/start.h"

static volatile unsigned long end = ~0ul;

static __attribute__((noinline)) unsigned long recurse(unsigned long depth) {
  volatile unsigned long kept = depth;
  if (depth == end) return 0;
  return recurse(depth + 1) + kept;
}

static void secondary_main(unsigned long hart, void* unused) {
  (void)unused;
  hart_set_id((unsigned)hart);
  recurse(0);
}

int application_main(void) {
  if (board.harts == 1) return (int)recurse(0);
  hart_start(1, secondary_main);
  for (;;) cpu_pause();
}
