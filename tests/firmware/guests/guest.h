/* SPDX-License-Identifier: Apache-2.0 */
/* Console output of a bare guest: a 16550 data register at 0x10000000. */
#pragma once

static inline void put_char(char c) { *(volatile unsigned char*)0x10000000ul = (unsigned char)c; }

static inline void put_text(const char* s) {
  while (*s) put_char(*s++);
}

static inline void put_hex(unsigned long v) {
  for (int i = 60; i >= 0; i -= 4) put_char("0123456789abcdef"[v >> i & 15]);
  put_char('\n');
}
