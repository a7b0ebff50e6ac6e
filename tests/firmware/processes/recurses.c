/* SPDX-License-Identifier: Apache-2.0 */
/* A process that writes over the end of its stack. */
#include "firmware/user/system.h"

int main(uint64_t thread, uint64_t argument);

static volatile unsigned depth = 1u << 30;

__attribute__((noinline)) static unsigned deeper(unsigned n) {
  volatile unsigned pad[100];
  pad[n % 100] = n;
  return n == depth ? 0 : deeper(n + 1) + pad[n % 100];
}

int main(uint64_t thread, uint64_t argument) {
  (void)thread;
  return (int)deeper((unsigned)argument);
}
