/* SPDX-License-Identifier: Apache-2.0 */
/* A process that never asks the kernel for anything until it has counted far enough; it has whole and floating-point
 * numbers under its hands when it is interrupted. */
#include "firmware/user/system.h"

int main(uint64_t thread, uint64_t argument);

int main(uint64_t thread, uint64_t argument) {
  (void)thread;
  uint64_t n = 0;
  double sum = 0;
  while (n < 3000000) {
    n++;
    sum += (double)argument;
  }
  return sum == (double)(argument * 3000000) ? (int)argument : -1;
}
