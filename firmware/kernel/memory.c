/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/memory.c */
#include "firmware/kernel/memory.h"

#include <stdint.h>

#include "firmware/boot/boot.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/panic.h"
#include "firmware/kernel/spinlock.h"

extern char _end[];

static uintptr_t next, next_high;
static struct spinlock lock; /* of next */

/* Takes bytes that end at `end` or before; 0 if there are not so many. */
static void* take(uintptr_t* from, uintptr_t end, size_t bytes, size_t alignment) {
  uintptr_t start = (*from + alignment - 1) & ~(uintptr_t)(alignment - 1);
  if (start > end || end - start < bytes) return 0;
  *from = start + bytes;
  return (void*)start;
}

/* The device tree may be overwritten: board_setup() has copied what matters. */
void* memory_reserve(size_t bytes, size_t alignment) {
  spinlock_take(&lock);
  if (next == 0) next = (uintptr_t)_end + (uintptr_t)BOOT_HART_BYTES * BOOT_MAX_HARTS;
  void* start = take(&next, board.memory_base + board.memory_size, bytes, alignment);
  spinlock_give(&lock);
  if (start == 0) panic("not enough memory for rings, buffers and tables");
  return start;
}

void* memory_reserve_dma(size_t bytes, size_t alignment) {
  if (next_high == 0) next_high = board.high_memory_base;
  void* start = 0;
  if (board.high_memory_size != 0)
    start = take(&next_high, board.high_memory_base + board.high_memory_size, bytes, alignment);
  return start != 0 ? start : memory_reserve(bytes, alignment);
}

uint64_t memory_device_address(const void* memory) { return (uintptr_t)memory; }
