/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/lauberhorn/lines.h: the lines of an end-point, as the kernel and processes use them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/kernel/account.h"
#include "models/nic/lauberhorn/lauberhorn_regs.h"

/* One side of an end-point, as one core uses it. */
struct lauberhorn_lines {
  uint64_t base; /* of its control lines */
  uint32_t line_bytes;
  uint32_t which; /* offset of the control line that is next, or that is held */
};

static inline volatile void* lauberhorn_at(const struct lauberhorn_lines* l, uint32_t offset) {
  return (volatile void*)(l->base + l->which + offset);
}
/* Waits for a message: returns its word; 0: TRYAGAIN. */
static inline uint32_t lauberhorn_wait(const struct lauberhorn_lines* l) {
  return *(volatile uint32_t*)lauberhorn_at(l, LAUB_HEAD_WORD);
}
/* The other control line is next; its load says that this one is done with. */
static inline void lauberhorn_next(struct lauberhorn_lines* l) { l->which ^= l->line_bytes; }

static inline uint32_t lauberhorn_word(uint32_t type, uint32_t bytes) {
  return LAUB_WORD_VALID | type << LAUB_WORD_TYPE_SHIFT | bytes << LAUB_WORD_LENGTH_SHIFT;
}
static inline uint32_t lauberhorn_type(uint32_t word) { return word >> LAUB_WORD_TYPE_SHIFT & LAUB_WORD_TYPE_MASK; }
/* LAUB_CALL or LAUB_CONTINUE. */
static inline bool lauberhorn_is_request(uint32_t word) {
  const uint32_t both = LAUB_WORD_VALID | (LAUB_CALL & LAUB_CONTINUE) << LAUB_WORD_TYPE_SHIFT;
  return (word & both) == both; /* no other type has these bits */
}
static inline uint32_t lauberhorn_length(uint32_t word) {
  return word >> LAUB_WORD_LENGTH_SHIFT & LAUB_WORD_LENGTH_MASK;
}
/* Bytes of a message that a control line has room for. */
static inline uint32_t lauberhorn_inline(const struct lauberhorn_lines* l) { return l->line_bytes - LAUB_HEAD_BYTES; }

/* Copies a message's bytes out of the lines, or into them, 8 at a time: memory behind it is copied too. */
void lauberhorn_read(const struct lauberhorn_lines* l, uint64_t* to, uint32_t bytes);
void lauberhorn_write(const struct lauberhorn_lines* l, const uint64_t* from, uint32_t bytes);
/* For the ledger: the lines of a message of so many bytes belong to the request whose bytes lie at an address. */
void lauberhorn_bind(const struct lauberhorn_lines* l, const void* request, uint32_t bytes);
/* The same of the overflow lines alone. */
void lauberhorn_bind_overflow(const struct lauberhorn_lines* l, const void* request, uint32_t bytes);
/* Commits the message whose bytes and head are in the transmit lines. request: in memory, for the ledger. Returns the
 * word that the next line has. */
static inline uint32_t lauberhorn_commit(struct lauberhorn_lines* l, uint32_t type, uint32_t bytes,
                                         const void* request) {
  *(volatile uint32_t*)lauberhorn_at(l, LAUB_HEAD_WORD) = lauberhorn_word(type, bytes);
  lauberhorn_bind(l, request, bytes);
  stage(doorbell, request);
  lauberhorn_next(l);
  return lauberhorn_wait(l); /* the load that commits */
}
