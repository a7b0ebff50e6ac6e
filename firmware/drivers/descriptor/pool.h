/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/descriptor/pool.h: packet buffers and where they wait, laid out as DPDK's mbufs and mempool are. In
 * front of a buffer lie two cache lines of what is known of its frame; an odd number of lines lies between one buffer
 * and the next, so that frames use all sets of every cache. A stack holds the buffers that were used last, and a ring
 * the rest.
 */
#pragma once

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/drivers/descriptor/mbuf.h"
#include "firmware/drivers/nic.h"

#define NIC_POOL_STACK 250u /* buffers of the stack: what DPDK's examples choose */
#define NIC_POOL_FLUSH 375u /* with that many, those above NIC_POOL_STACK go back to the ring */
#define NIC_POOL_ROOM 2176u /* bytes of a buffer, of which a received frame leaves the first NIC_POOL_HEADROOM free */
#define NIC_POOL_HEADROOM 130u
#define NIC_POOL_STRIDE 2368u /* from one buffer to the next: 37 cache lines */

struct nic_buffer {
  alignas(64) struct nic_frame frame;
  intptr_t to_bus;                     /* added to an address in the buffer, it gives the address that devices use */
  alignas(64) struct nic_buffer* next; /* the buffer with the frame's next piece; 0: there is none */
  alignas(64) uint8_t room[NIC_POOL_ROOM];
};

struct nic_pool {
  uint8_t* memory;
  uint32_t stacked;
  uint32_t ring_first, ring_count, ring_length;
  struct nic_buffer** ring;
  struct nic_buffer* stack[NIC_POOL_FLUSH + NIC_MBUF_BURST];
};

/* Reserves memory for `buffers` buffers, all of them free. `apart`: from one to the next, in NIC_POOL_STRIDE. */
void nic_pool_setup(struct nic_pool* pool, uint32_t buffers, uint32_t apart);

/* Takes `count` buffers, at most NIC_MBUF_BURST. False, and none is taken, if fewer are free. */
bool nic_pool_take(struct nic_pool* pool, struct nic_buffer** to, uint32_t count);

/* Gives back the buffers of `count` frames, at most NIC_MBUF_BURST, each with those of its further pieces. */
void nic_pool_give(struct nic_pool* pool, struct nic_buffer* const* from, uint32_t count);

/* The buffer in which a frame lies. */
static inline struct nic_buffer* nic_pool_buffer(const struct nic_pool* pool, const uint8_t* data) {
  return (struct nic_buffer*)(pool->memory + (size_t)(data - pool->memory) / NIC_POOL_STRIDE * NIC_POOL_STRIDE);
}
