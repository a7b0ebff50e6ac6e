/* firmware/kernel/memory.h: memory for the life of the system: rings, buffers, tables. Taken at boot, never given back.
 */
#pragma once

#include <stddef.h>

/* Contents are whatever RAM held. `alignment` is a power of two. Panics when RAM is exhausted. */
void* memory_reserve(size_t bytes, size_t alignment);
