/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/memory.c */
#include "firmware/kernel/memory.h"

#include <stdint.h>

#include "firmware/boot/boot.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/panic.h"

extern char _end[];

static uintptr_t next;

/* The device tree may be overwritten: board_setup() has copied what matters. */
void* memory_reserve(size_t bytes, size_t alignment) {
  if (next == 0) next = (uintptr_t)_end + (uintptr_t)BOOT_HART_BYTES * BOOT_MAX_HARTS;
  uintptr_t start = (next + alignment - 1) & ~(uintptr_t)(alignment - 1);
  uintptr_t end = board.memory_base + board.memory_size;
  if (start > end || end - start < bytes) panic("not enough memory for rings, buffers and tables");
  next = start + bytes;
  return (void*)start;
}
