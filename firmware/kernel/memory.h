/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/memory.h: memory for the life of the system (rings, buffers, tables). It is reserved at boot and
 * never released. */
#pragma once

#include <stddef.h>

/* The memory is not cleared. `alignment` is a power of two. Panics when RAM is exhausted. */
void* memory_reserve(size_t bytes, size_t alignment);
