/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/nic_one_buffer.h: a queue whose driver copies frames into one buffer, where the answer is also made.
 * So no buffer has to be given back, and transmit() has told the NIC everything. */
#pragma once

#include "firmware/drivers/nic.h"
#include "firmware/kernel/account.h"
#include "firmware/kernel/memory.h"

#define NIC_ONE_BUFFER_FRAME 9618u /* bytes of the longest frame */
#define NIC_ONE_BUFFER_BYTES 16384u

struct nic_one_buffer {
  struct nic_queue base;
  struct nic_frame frame;
  uint8_t* data; /* where received frames are put */
};

static inline void nic_one_buffer_setup(struct nic_one_buffer* q, const struct nic_driver* driver) {
  uint8_t* buffer = memory_reserve(NIC_ONE_BUFFER_BYTES, NIC_BUFFER_BYTES);
  *q = (struct nic_one_buffer){.base = {driver}, .data = buffer + NIC_BUFFER_HEADROOM};
}

/* A frame comes whose first bytes lie at `source`: it is to be copied to q->data. */
static inline void nic_one_buffer_begin(struct nic_one_buffer* q, const void* source, uint32_t bytes) {
  sluice_bind(q->data, source);
  stage(copy, q->data);
  q->frame = (struct nic_frame){.data = q->data, .length = bytes};
}

static inline uint8_t* nic_one_buffer_take(struct nic_queue* base) { return ((struct nic_one_buffer*)base)->data; }
static inline void nic_one_buffer_release(struct nic_queue* base, uint8_t* data) { (void)base, (void)data; }
static inline void nic_one_buffer_flush(struct nic_queue* base) { (void)base; }
/* receive() waits, or its caller has. */
static inline void nic_one_buffer_wait(struct nic_queue* base) { (void)base; }
