/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/spinlock.h: guards data that harts share. Hold it only briefly, because other harts spin. */
#pragma once

#include <stdint.h>

struct spinlock {
  uint32_t taken;
};

static inline void spinlock_take(struct spinlock* lock) {
  while (__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE) != 0) {
    while (__atomic_load_n(&lock->taken, __ATOMIC_RELAXED) != 0) {
    }
  }
}

static inline void spinlock_give(struct spinlock* lock) { __atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE); }
