/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/user/runtime.c */
#include "firmware/user/runtime.h"

#include "firmware/kernel/csr.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/statistics.h"
#include "firmware/rpc/instances.h"
#include "firmware/user/service.h"
#include "firmware/user/system.h"

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

static uint64_t next_for_devices = SERVICE_DEVICE_MEMORY, end_for_devices, to_device;
static uint32_t instance;

void runtime_start(const struct service_start* start) {
  instance = start->instance;
  to_device = start->device_memory - SERVICE_DEVICE_MEMORY;
  end_for_devices = SERVICE_DEVICE_MEMORY + start->device_memory_bytes;
}

void* memory_reserve_dma(size_t bytes, size_t alignment) {
  const uint64_t at = (next_for_devices + alignment - 1) & ~(uint64_t)(alignment - 1);
  if (at + bytes > end_for_devices) __builtin_trap();
  next_for_devices = at + bytes;
  return (void*)at;
}

uint64_t memory_device_address(const void* memory) { return (uintptr_t)memory + to_device; }

void statistics_add(const char* names, const uint64_t* counters) {
  system_call(SYSTEM_CALL_COUNT, (uintptr_t)names, (uintptr_t)counters);
}

/* A process is one instance of its program. */
uint32_t rpc_instances(const char* program) {
  (void)program;
  return 1;
}
uint32_t rpc_first_instance(void) { return instance; }
