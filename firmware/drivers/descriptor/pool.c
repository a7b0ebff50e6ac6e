/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/descriptor/pool.c */
#include "firmware/drivers/descriptor/pool.h"

#include "firmware/kernel/likely.h"
#include "firmware/kernel/memory.h"

_Static_assert(NIC_POOL_STRIDE >= sizeof(struct nic_buffer) && NIC_POOL_STRIDE / 64 % 2 == 1, "distance of buffers");

static void to_ring(struct nic_pool* pool, struct nic_buffer* const* from, uint32_t count) {
  uint32_t last = pool->ring_first + pool->ring_count;
  for (uint32_t i = 0; i < count; i++) {
    if (last >= pool->ring_length) last -= pool->ring_length;
    pool->ring[last++] = from[i];
  }
  pool->ring_count += count;
}

static void from_ring(struct nic_pool* pool, struct nic_buffer** to, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    to[i] = pool->ring[pool->ring_first++];
    if (pool->ring_first == pool->ring_length) pool->ring_first = 0;
  }
  pool->ring_count -= count;
}

void nic_pool_setup(struct nic_pool* pool, uint32_t buffers, uint32_t apart) {
  pool->memory = memory_reserve_dma((size_t)buffers * apart * NIC_POOL_STRIDE, 64);
  pool->ring = memory_reserve(buffers * sizeof *pool->ring, 64);
  pool->ring_length = buffers;
  pool->stacked = pool->ring_first = pool->ring_count = 0;
  for (uint32_t i = 0; i < buffers; i++) {
    struct nic_buffer* buffer = (struct nic_buffer*)(pool->memory + (size_t)i * apart * NIC_POOL_STRIDE);
    buffer->frame = (struct nic_frame){.data = buffer->room + NIC_POOL_HEADROOM};
    buffer->to_bus = 0;
    buffer->next = 0;
    to_ring(pool, &buffer, 1);
  }
}

/* Fills the stack up to NIC_POOL_STACK behind what is about to be taken, as far as the ring has buffers. */
COLD static bool refill(struct nic_pool* pool, uint32_t count) {
  uint32_t wanted = count + NIC_POOL_STACK - pool->stacked;
  if (wanted > pool->ring_count) wanted = pool->ring_count;
  if (pool->stacked + wanted < count) return false;
  from_ring(pool, pool->stack + pool->stacked, wanted);
  pool->stacked += wanted;
  return true;
}

bool nic_pool_take(struct nic_pool* pool, struct nic_buffer** to, uint32_t count) {
  if (unlikely(pool->stacked < count) && !refill(pool, count)) return false;
  struct nic_buffer** from = pool->stack + pool->stacked;
  pool->stacked -= count;
  for (uint32_t i = 0; i < count; i++) to[i] = *--from;
  return true;
}

COLD static void flush(struct nic_pool* pool) {
  to_ring(pool, pool->stack + NIC_POOL_STACK, pool->stacked - NIC_POOL_STACK);
  pool->stacked = NIC_POOL_STACK;
}

COLD static void give_pieces(struct nic_pool* pool, struct nic_buffer* buffer) {
  while (buffer != 0) {
    struct nic_buffer* next = buffer->next;
    buffer->next = 0;
    pool->stack[pool->stacked++] = buffer;
    if (pool->stacked >= NIC_POOL_FLUSH) flush(pool);
    buffer = next;
  }
}

void nic_pool_give(struct nic_pool* pool, struct nic_buffer* const* from, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    struct nic_buffer* buffer = from[i];
    if (unlikely(buffer->next != 0)) {
      give_pieces(pool, buffer);
    } else {
      pool->stack[pool->stacked++] = buffer;
    }
  }
  if (unlikely(pool->stacked >= NIC_POOL_FLUSH)) flush(pool);
}
