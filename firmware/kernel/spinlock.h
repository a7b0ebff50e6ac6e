/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/spinlock.h: guards data that harts share. Hold it only briefly, because other harts spin. */
#pragma once

#include <stdint.h>

/* Harts get it in the order in which they have asked, so that none waits for ever. */
struct spinlock {
  uint32_t next, serving; /* tickets */
};

static inline void spinlock_take(struct spinlock* lock) {
  const uint32_t ticket = __atomic_fetch_add(&lock->next, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(&lock->serving, __ATOMIC_ACQUIRE) != ticket) {
  }
}

/* Only the hart that has it writes `serving`. */
static inline void spinlock_give(struct spinlock* lock) {
  __atomic_store_n(&lock->serving, lock->serving + 1, __ATOMIC_RELEASE);
}
