/* SPDX-License-Identifier: Apache-2.0 */
/* A process that prints what it got, and finds its own memory as the file says. */
#include "firmware/user/system.h"

int main(uint64_t thread, uint64_t argument);

static char text[] = "process: hello ?\n";
static uint64_t zero[600];

int main(uint64_t thread, uint64_t argument) {
  (void)thread;
  for (unsigned i = 0; i < 600; i++)
    if (zero[i] != 0) return 1;
  text[15] = (char)('0' + argument);
  if (say(text) != sizeof text - 1) return 2;
  if (system_call(SYSTEM_CALL_PRINT, 0x80000000, 10) != SYSTEM_CALL_ERROR) return 4; /* the kernel's memory */
  for (unsigned i = 0; i < 600; i++) zero[i] = argument;
  yield();
  for (unsigned i = 0; i < 600; i++)
    if (zero[i] != argument) return 5;
  return 40 + (int)argument;
}
