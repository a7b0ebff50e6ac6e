/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/user/system.h: system calls, for processes. */
#pragma once

#include <stdint.h>

#include "firmware/process/system_call.h"

static inline uint64_t system_call(uint64_t number, uint64_t first, uint64_t second) {
  register uint64_t a0 __asm__("a0") = first;
  register uint64_t a1 __asm__("a1") = second;
  register uint64_t a7 __asm__("a7") = number;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a7) : "memory");
  return a0;
}

static inline void yield(void) { system_call(SYSTEM_CALL_YIELD, 0, 0); }

/* Prints a text that lies in one page. */
static inline uint64_t say(const char* text) {
  uint64_t bytes = 0;
  while (text[bytes] != 0) bytes++;
  return system_call(SYSTEM_CALL_PRINT, (uintptr_t)text, bytes);
}
