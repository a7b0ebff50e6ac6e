/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/lauberhorn/lines.c */
#include "firmware/drivers/lauberhorn/lines.h"

#include "models/base/measure/hints.h"

static void copy(volatile uint64_t* to, const volatile uint64_t* from, uint32_t bytes) {
  for (uint32_t at = 0; at < bytes; at += 8) *to++ = *from++;
}

static volatile uint64_t* overflow(const struct lauberhorn_lines* l) {
  return (volatile uint64_t*)(l->base + LAUB_OVERFLOW);
}

void lauberhorn_read(const struct lauberhorn_lines* l, uint64_t* to, uint32_t bytes) {
  uint32_t first = bytes < lauberhorn_inline(l) ? bytes : lauberhorn_inline(l);
  copy(to, lauberhorn_at(l, LAUB_HEAD_BYTES), first);
  copy(to + first / 8, overflow(l), bytes - first);
}

void lauberhorn_write(const struct lauberhorn_lines* l, const uint64_t* from, uint32_t bytes) {
  uint32_t first = bytes < lauberhorn_inline(l) ? bytes : lauberhorn_inline(l);
  copy(lauberhorn_at(l, LAUB_HEAD_BYTES), from, first);
  copy(overflow(l), from + first / 8, bytes - first);
}

void lauberhorn_bind_overflow(const struct lauberhorn_lines* l, const void* request, uint32_t bytes) {
  for (uint32_t at = lauberhorn_inline(l); at < bytes; at += l->line_bytes)
    sluice_bind((const void*)(l->base + LAUB_OVERFLOW + at - lauberhorn_inline(l)), request);
}

void lauberhorn_bind(const struct lauberhorn_lines* l, const void* request, uint32_t bytes) {
  sluice_bind((const void*)lauberhorn_at(l, 0), request);
  lauberhorn_bind_overflow(l, request, bytes);
}
