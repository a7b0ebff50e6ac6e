/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/descriptor/queue.c */
#include "firmware/drivers/descriptor/queue.h"

#include "firmware/drivers/descriptor/poll.h"
#include "firmware/kernel/account.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/likely.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/statistics.h"

static uint8_t* buffer_of(uint8_t* data) { return (uint8_t*)((uintptr_t)data & ~(uintptr_t)(NIC_BUFFER_BYTES - 1)); }

/* Buffers lie one after the other, and so do their lines: frames in buffers of 2 KiB would meet in few sets of L1D. */
static struct nic_frame* frame_of(const struct queue* q, const uint8_t* buffer) {
  return &q->lines[(size_t)(buffer - q->memory) / NIC_BUFFER_BYTES].frame;
}

__attribute__((noinline)) static void reclaim(struct queue* q);

/* Gives the NIC the next CHUNK receive descriptors, if there are buffers for them. */
__attribute__((noinline)) static void rearm(struct queue* q) {
  if (unlikely(q->free_count < CHUNK)) reclaim(q);
  while (q->rx_empty >= CHUNK && q->free_count >= CHUNK) {
    union rx_descriptor* descriptor = q->rx_ring + q->rx_rearm;
    uint8_t** slot = q->rx_buffers + q->rx_rearm;
    uint8_t** from = q->free + q->free_count;
    for (uint32_t i = 0; i < CHUNK; i++) {
      uint8_t* buffer = *--from;
      slot[i] = buffer;
      frame_of(q, buffer)->data = buffer + NIC_BUFFER_HEADROOM;
      descriptor[i].read.packet_address = memory_device_address(buffer + NIC_BUFFER_HEADROOM);
      descriptor[i].read.header_address = 0;
    }
    q->free_count -= CHUNK;
    q->rx_empty -= CHUNK;
    q->rx_rearm += CHUNK;
    if (q->rx_rearm == q->rx_length) q->rx_rearm = 0;
    fence_before_doorbell();
    *q->rx_tail = q->rx_rearm;
  }
}

/* Collects the buffers of transmit descriptors that are done, CHUNK at a time. */
__attribute__((noinline)) static void reclaim(struct queue* q) {
  while (q->tx_length - q->tx_free >= CHUNK) {
    uint32_t last = q->tx_clean + CHUNK - 1;
    uint64_t command = __atomic_load_n(&q->tx_ring[last].command, __ATOMIC_RELAXED);
    if ((command & DESC_TX_TYPE) != DESC_TX_TYPE_DONE) return;
    uint8_t** slot = q->tx_buffers + q->tx_clean;
    uint8_t** to = q->free + q->free_count;
    for (uint32_t i = 0; i < CHUNK; i++) to[i] = slot[i];
    q->free_count += CHUNK;
    q->tx_free += CHUNK;
    q->tx_clean = last + 1;
    if (q->tx_clean == q->tx_length) q->tx_clean = 0;
  }
}

/* While a frame is looked at, the next one's first line is on its way; the frame's data is for whoever gets it. */
uint32_t nic_descriptor_receive(struct nic_queue* base, struct nic_frame* frames[NIC_BURST]) {
  struct queue* q = own(base);
  union rx_descriptor* const ring = q->rx_ring;
  union rx_descriptor* const ring_end = ring + q->rx_length;
  union rx_descriptor* descriptor = ring + q->rx_next;
  uint8_t** buffer = q->rx_buffers + q->rx_next;
  /* Descriptors beyond those that the NIC was given still say "done" from the last round of the ring. */
  const uint32_t given = q->rx_length - CHUNK - q->rx_empty;
  struct nic_frame** const most = frames + (given < NIC_BURST ? given : NIC_BURST);
  struct nic_frame** next = frames;
  for (; next != most; next++) {
    uint32_t status = descriptor->done.status;
    if ((status & DESC_RX_DD) == 0) break;
    fence_reads();
    struct nic_frame* frame = frame_of(q, *buffer);
    prefetch_read(frame_of(q, buffer[1]));
    prefetch_read(frame->data);
    stage(poll, frame->data);
    *next = frame;
    frame->length = descriptor->done.packet_length;
    frame->flags = status / DESC_RX_CHECKED & (NIC_FRAME_CHECKED | NIC_FRAME_IP_ERROR | NIC_FRAME_L4_ERROR);
    descriptor++;
    buffer++;
    if (unlikely(descriptor == ring_end)) {
      descriptor = ring;
      buffer = q->rx_buffers;
    }
  }
  const uint32_t count = (uint32_t)(next - frames);
  q->rx_next = (uint32_t)(descriptor - ring);
  uint32_t empty = q->rx_empty + count;
  q->rx_empty = empty;
  if (unlikely(empty >= CHUNK)) rearm(q);
  return count;
}

void nic_descriptor_release(struct nic_queue* base, uint8_t* data) {
  struct queue* q = own(base);
  q->free[q->free_count++] = buffer_of(data);
}

void nic_descriptor_flush(struct nic_queue* base) {
  struct queue* q = own(base);
  if (q->tx_rung == q->tx_next) return;
  q->tx_rung = q->tx_next;
  fence_before_doorbell();
  *q->tx_tail = q->tx_rung;
  reclaim(q);
}

/* One descriptor stays unused, because a full ring would look empty. */
COLD static void transmit_when_full(struct nic_queue* base, uint8_t* data, uint32_t length, uint32_t kind) {
  nic_descriptor_flush(base);
  reclaim(own(base)); /* flush() does so only if it rings the doorbell */
  if (own(base)->tx_free > 1) {
    nic_descriptor_transmit(base, data, length, kind);
  } else {
    own(base)->tx_full++;
    sluice_drop(SLUICE_DROP_transmit_ring_full, data);
    nic_descriptor_release(base, data);
  }
}

void nic_descriptor_transmit(struct nic_queue* base, uint8_t* data, uint32_t length, uint32_t kind) {
  struct queue* q = own(base);
  uint32_t free = q->tx_free;
  if (unlikely(free <= 1)) return transmit_when_full(base, data, length, kind);
  size_t slot = q->tx_next;
  uint64_t command = send_command[kind] | (uint64_t)length << DESC_TX_SIZE_SHIFT;
  /* Rings start at slot 0 and a chunk divides their length, so each chunk's last slot reports. */
  if (slot % CHUNK == CHUNK - 1) command |= DESC_TX_RS;
  struct desc_tx* descriptor = q->tx_ring + slot;
  descriptor->address = memory_device_address(data);
  descriptor->command = command;
  q->tx_buffers[slot] = buffer_of(data);
  q->tx_free = free - 1;
  if (++slot == q->tx_length) slot = 0;
  q->tx_next = (uint32_t)slot;
  stage(doorbell, data);
}

COLD static void transmit_singly(struct nic_queue* base, struct nic_frame* const* frames, uint32_t count,
                                 uint32_t kind) {
  for (uint32_t i = 0; i < count; i++) nic_descriptor_transmit(base, frames[i]->data, frames[i]->length, kind);
}

/* A piece of the burst ends where a chunk does: only there a descriptor reports, and the ring may wrap. */
void nic_descriptor_transmit_burst(struct nic_queue* base, struct nic_frame* const* frames, uint32_t count,
                                   uint32_t kind) {
  struct queue* q = own(base);
  if (unlikely(q->tx_free <= count)) return transmit_singly(base, frames, count, kind);
  const uint64_t send = send_command[kind];
  q->tx_free -= count;
  size_t slot = q->tx_next;
  while (count != 0) {
    const uint32_t room = CHUNK - slot % CHUNK;
    const uint32_t piece = count < room ? count : room;
    struct desc_tx* descriptor = q->tx_ring + slot;
    uint8_t** buffer = q->tx_buffers + slot;
    for (struct nic_frame* const* end = frames + piece; frames != end; frames++) {
      uint8_t* const data = (*frames)->data;
      const uint32_t length = (*frames)->length;
      descriptor->address = memory_device_address(data);
      descriptor->command = send | (uint64_t)length << DESC_TX_SIZE_SHIFT;
      *buffer = buffer_of(data);
      stage(doorbell, data);
      descriptor++;
      buffer++;
    }
    if (piece == room) descriptor[-1].command |= DESC_TX_RS;
    count -= piece;
    slot += piece;
    if (slot == q->tx_length) slot = 0;
  }
  q->tx_next = (uint32_t)slot;
}

uint8_t* nic_descriptor_take_buffer(struct nic_queue* base) {
  struct queue* q = own(base);
  if (q->free_count == 0) reclaim(q);
  return q->free_count == 0 ? 0 : q->free[--q->free_count] + NIC_BUFFER_HEADROOM;
}

const struct nic_driver nic_descriptor_polling = {nic_descriptor_receive,
                                                  nic_descriptor_transmit,
                                                  nic_descriptor_release,
                                                  nic_descriptor_flush,
                                                  wait_polling,
                                                  0,
                                                  nic_descriptor_transmit_burst,
                                                  nic_descriptor_take_buffer};

static uint32_t buffers_of(const struct nic_settings* s, uint32_t rx_length, uint32_t tx_length) {
  return s->buffers != 0 ? s->buffers : rx_length + tx_length + NIC_BURST;
}

#define RING_ALIGNMENT 4096u

uint64_t nic_descriptor_device_memory(const struct nic_settings* s) {
  const uint32_t rx = nic_descriptor_ring_length(s->rx_ring), tx = nic_descriptor_ring_length(s->tx_ring);
  const uint64_t rings = rx * sizeof(union rx_descriptor) + tx * sizeof(struct desc_tx) + 3ul * RING_ALIGNMENT;
  return rings + (uint64_t)buffers_of(s, rx, tx) * s->buffer_bytes;
}

struct queue* nic_descriptor_create_queue(const struct nic_settings* s) {
  struct queue* q = memory_reserve(sizeof *q, CACHE_LINE);
  *q = (struct queue){.rx_length = nic_descriptor_ring_length(s->rx_ring),
                      .tx_length = nic_descriptor_ring_length(s->tx_ring)};
  uint32_t buffers = buffers_of(s, q->rx_length, q->tx_length);
  /* Buffers that are further apart are found by the same arithmetic, and most lines are not used. */
  uint32_t apart = s->buffer_bytes / NIC_BUFFER_BYTES;
  q->rx_ring = memory_reserve_dma(q->rx_length * sizeof *q->rx_ring, RING_ALIGNMENT);
  q->tx_ring = memory_reserve_dma(q->tx_length * sizeof *q->tx_ring, RING_ALIGNMENT);
  q->rx_buffers = memory_reserve((q->rx_length + 1) * sizeof *q->rx_buffers, CACHE_LINE); /* one more: receive() */
  q->tx_buffers = memory_reserve(q->tx_length * sizeof *q->tx_buffers, CACHE_LINE);
  q->free = memory_reserve(buffers * sizeof *q->free, CACHE_LINE);
  q->lines = memory_reserve((size_t)buffers * apart * sizeof *q->lines, CACHE_LINE);
  q->memory = memory_reserve_dma((size_t)buffers * s->buffer_bytes, NIC_BUFFER_BYTES);
  for (uint32_t i = 0; i < buffers; i++) q->free[i] = q->memory + (size_t)(buffers - 1 - i) * s->buffer_bytes;
  if (s->shuffled) nic_descriptor_shuffle(q->free, buffers);
  q->free_count = buffers;
  for (uint32_t i = 0; i < q->rx_length; i++) q->rx_ring[i].read = (struct desc_rx_read){0};
  q->tx_free = q->tx_length;
  q->rx_empty = q->rx_length - CHUNK;
  statistics_add("tx_full", &q->tx_full);
  return q;
}

void nic_descriptor_start_queue(struct queue* q, uint64_t page, uint32_t room) {
  const struct nic_descriptor_rings rings = {q->rx_ring, q->rx_length, q->tx_ring, q->tx_length, room};
  nic_descriptor_start(page, &rings);
  q->rx_tail = (volatile uint32_t*)(page + DESC_RX_TAIL);
  q->tx_tail = (volatile uint32_t*)(page + DESC_TX_TAIL);
  rearm(q);
}
