/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/memory.h: memory for the life of the system (rings, buffers, tables). It is reserved at boot and
 * never released. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The memory is not cleared. `alignment` is a power of two. Panics when RAM is exhausted. */
void* memory_reserve(size_t bytes, size_t alignment);

/* As memory_reserve(), for what PCIe devices read and write. It is above 4 GiB as long as the board has room there, as
 * most of a server's memory is: requests to it have headers of four DWs. */
void* memory_reserve_dma(size_t bytes, size_t alignment);

/* Where devices find what lies here, in memory of memory_reserve_dma(). */
uint64_t memory_device_address(const void* memory);
