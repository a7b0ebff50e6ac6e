/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/user/runtime.c */
#include "firmware/user/runtime.h"

#include "firmware/kernel/csr.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/memory.h"
#include "firmware/process/system_call.h"
#include "firmware/rpc/instances.h"
#include "firmware/rpc/port.h"

static uintptr_t next = PROCESS_HEAP;
static uint64_t frequency;

void runtime_setup(uint64_t core_frequency) { frequency = core_frequency; }

void* memory_reserve(size_t bytes, size_t alignment) {
  /* Threads may reserve at the same time: each takes more than it needs. */
  const uintptr_t start = __atomic_fetch_add(&next, bytes + alignment, __ATOMIC_RELAXED);
  if (start + bytes + alignment > PROCESS_HEAP_END) __builtin_trap();
  return (void*)((start + alignment - 1) & ~(uintptr_t)(alignment - 1));
}

void hart_spin(uint32_t nanoseconds) {
  const uint64_t wanted = (uint64_t)nanoseconds * (frequency / 1000) / 1000000, start = csr_read(cycle);
  while (csr_read(cycle) - start < wanted) {
  }
}

/* A process is one instance of its program. */
uint32_t rpc_instances(const char* program) {
  (void)program;
  return 1;
}
uint32_t rpc_instance_of(const struct rpc_call* call) {
  (void)call;
  return 0;
}

int32_t rpc_null(struct rpc_call* call) {
  (void)call;
  return 0;
}
