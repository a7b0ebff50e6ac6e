/* SPDX-License-Identifier: Apache-2.0 */
/* tests/firmware/host_kernel.c: what the protocol code needs of the kernel when it runs on the host. */
#include <stdlib.h>

#include "firmware/kernel/hart.h"
#include "firmware/kernel/memory.h"
#include "firmware/rpc/instances.h"

void* memory_reserve(size_t bytes, size_t alignment) {
  return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* memory_reserve_dma(size_t bytes, size_t alignment) { return memory_reserve(bytes, alignment); }

/* The host's time is nobody's matter. */
void hart_spin(uint32_t nanoseconds) { (void)nanoseconds; }

uint32_t rpc_instances(const char* program) {
  (void)program;
  return 1;
}
uint32_t rpc_first_instance(void) { return 0; }
