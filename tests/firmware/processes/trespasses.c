/* SPDX-License-Identifier: Apache-2.0 */
/* A process that does what none may do; its argument says what. */
#include "firmware/user/system.h"

int main(uint64_t thread, uint64_t argument);

static const uint64_t constant = 1;

int main(uint64_t thread, uint64_t argument) {
  (void)thread;
  switch (argument) {
    case 0:
      return (int)*(volatile uint64_t*)0x80000000; /* the kernel's */
    case 1:
      *(volatile uint64_t*)&constant = 2;
      return 0;
    case 2:
      __asm__ volatile("csrr a0, sstatus" ::: "a0");
      return 0;
    case 3:
      __asm__ volatile("sret");
      return 0;
    case 4:
      ((void (*)(void))0x80000000)();
      return 0;
    case 5:
      ((void (*)(void))(uintptr_t)&argument)();
      return 0; /* the stack is no code */
    case 6:
      *(volatile uint8_t*)0x100000 = 0;
      return 0; /* a device */
    default:
      __builtin_trap();
  }
}
