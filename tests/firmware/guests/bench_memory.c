/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of 1 MiB and a pointer chase over it. */
#include "guest.h"

#ifndef ROUNDS
#define ROUNDS 300
#endif

static unsigned long from[131072], to[131072];

int main(void) {
  for (unsigned long i = 0; i < 131072; ++i) from[i] = (i * 40503 + 1) & 131071;
  unsigned long sum = 0;
  for (int r = 0; r < ROUNDS; ++r) {
    for (unsigned long i = 0; i < 131072; i += 4) {
      const unsigned long a = from[i], b = from[i + 1], c = from[i + 2], d = from[i + 3];
      to[i] = a, to[i + 1] = b, to[i + 2] = c, to[i + 3] = d;
    }
    unsigned long at = (unsigned long)r;
    for (int i = 0; i < 20000; ++i) at = to[at];
    sum += at;
  }
  put_hex(sum);
  return 0;
}
