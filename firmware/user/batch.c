/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/user/batch.c: a process that only computes. Its threads end never, and ask the kernel for nothing. */
#include "firmware/user/batch.h"

#include <stdint.h>

#define STEPS 1000u /* of a unit */

int main(uint64_t thread);

/* A step of a pseudo-random sequence (xorshift64): three shifts and three exclusive ors, each of which needs the one
 * before. */
static uint64_t step(uint64_t x) {
  x ^= x << 13;
  x ^= x >> 7;
  return x ^ x << 17;
}

int main(uint64_t thread) {
  volatile uint64_t* units = (volatile uint64_t*)BATCH_UNITS + thread;
  uint64_t x = thread + 1;
  for (;;) {
    for (uint32_t i = 0; i < STEPS; i++) x = step(x);
    *units += 1 + (x == 0); /* x is never 0, so that the work cannot be left out */
  }
}
