/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/string.c: the four functions that GCC may call from freestanding code. */
#include <stddef.h>
#include <stdint.h>

#define CALLED_BY_COMPILER __attribute__((used))

CALLED_BY_COMPILER void* memcpy(void* restrict to, const void* restrict from, size_t n);
CALLED_BY_COMPILER void* memmove(void* to, const void* from, size_t n);
CALLED_BY_COMPILER void* memset(void* to, int value, size_t n);
CALLED_BY_COMPILER int memcmp(const void* a, const void* b, size_t n);

void* memcpy(void* restrict to, const void* restrict from, size_t n) {
  uint8_t* d = to;
  const uint8_t* s = from;
  if ((((uintptr_t)d ^ (uintptr_t)s) & 7) == 0) {
    for (; n > 0 && ((uintptr_t)d & 7) != 0; n--) *d++ = *s++;
    for (; n >= 8; n -= 8, d += 8, s += 8) *(uint64_t*)d = *(const uint64_t*)s;
  } else if ((((uintptr_t)d | (uintptr_t)s) & 3) == 0) {
    for (; n >= 4; n -= 4, d += 4, s += 4) *(uint32_t*)d = *(const uint32_t*)s;
  }
  for (; n > 0; n--) *d++ = *s++;
  return to;
}

void* memmove(void* to, const void* from, size_t n) {
  uint8_t* d = to;
  const uint8_t* s = from;
  if (d <= s || d >= s + n) return memcpy(to, from, n);
  while (n > 0) n--, d[n] = s[n];
  return to;
}

void* memset(void* to, int value, size_t n) {
  uint8_t* d = to;
  const uint64_t word = 0x0101010101010101ull * (uint8_t)value;
  for (; n > 0 && ((uintptr_t)d & 7) != 0; n--) *d++ = (uint8_t)value;
  for (; n >= 8; n -= 8, d += 8) *(uint64_t*)d = word;
  for (; n > 0; n--) *d++ = (uint8_t)value;
  return to;
}

int memcmp(const void* a, const void* b, size_t n) {
  const uint8_t *x = a, *y = b;
  for (; n > 0; n--, x++, y++)
    if (*x != *y) return *x - *y;
  return 0;
}
