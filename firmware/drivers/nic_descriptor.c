/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/nic_descriptor.c: rings in the manner of a DPDK poll-mode driver: bursts of 32 frames, 32 receive
 * descriptors rearmed at a time, status reported by one transmit descriptor in 32, one doorbell per burst. */
#include "firmware/drivers/nic_descriptor.h"

#include "firmware/drivers/nic_descriptor_rings.h"
#include "firmware/drivers/nic_descriptor_setup.h"
#include "firmware/kernel/account.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/likely.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/statistics.h"
#include "models/nic/descriptor/descriptor_regs.h"

struct frame_line {
  _Alignas(CACHE_LINE) struct nic_frame frame;
};

/* Members are ordered so that a burst touches few cache lines: receive, transmit, then what is rarely needed. */
struct queue {
  struct nic_queue base;
  union rx_descriptor* rx_ring;
  uint8_t** rx_buffers; /* buffer in each receive descriptor */
  volatile uint32_t* rx_tail;
  uint32_t rx_next;  /* descriptor that the next frame will fill */
  uint32_t rx_rearm; /* first descriptor without a buffer */
  uint32_t rx_empty; /* descriptors without a buffer, beyond the CHUNK that always stay so */
  uint32_t rx_length;
  struct frame_line* lines; /* one for each buffer */
  uint8_t* memory;          /* the buffers */

  struct desc_tx* tx_ring;
  uint8_t** tx_buffers; /* buffer in each transmit descriptor */
  volatile uint32_t* tx_tail;
  uint32_t tx_next;  /* descriptor that the next frame gets */
  uint32_t tx_clean; /* oldest descriptor not known to be done; a multiple of CHUNK */
  uint32_t tx_free;  /* descriptors that may be used */
  uint32_t tx_rung;  /* value of the NIC's tail register */
  uint32_t tx_length;

  uint8_t** free; /* stack of free buffers */
  uint32_t free_count;

  volatile uint32_t scheduled; /* set by the interrupt handler: look at the ring */
  volatile uint32_t* vector;   /* this queue's DESC_VECTOR_CONTROL */
  uint64_t tx_full;            /* frames dropped because the transmit ring was full */
};

static struct queue* own(struct nic_queue* base) { return (struct queue*)base; }

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
      descriptor[i].read.packet_address = (uintptr_t)buffer + NIC_BUFFER_HEADROOM;
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
static uint32_t receive(struct nic_queue* base, struct nic_frame* frames[NIC_BURST]) {
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

static void release(struct nic_queue* base, uint8_t* data) {
  struct queue* q = own(base);
  q->free[q->free_count++] = buffer_of(data);
}

static void flush(struct nic_queue* base) {
  struct queue* q = own(base);
  if (q->tx_rung == q->tx_next) return;
  q->tx_rung = q->tx_next;
  fence_before_doorbell();
  *q->tx_tail = q->tx_rung;
  reclaim(q);
}

static void transmit(struct nic_queue* base, uint8_t* data, uint32_t length, uint32_t kind);

/* One descriptor stays unused, because a full ring would look empty. */
COLD static void transmit_when_full(struct nic_queue* base, uint8_t* data, uint32_t length, uint32_t kind) {
  flush(base);
  reclaim(own(base)); /* flush() does so only if it rings the doorbell */
  if (own(base)->tx_free > 1) {
    transmit(base, data, length, kind);
  } else {
    own(base)->tx_full++;
    sluice_drop(SLUICE_DROP_transmit_ring_full, data);
    release(base, data);
  }
}

static void transmit(struct nic_queue* base, uint8_t* data, uint32_t length, uint32_t kind) {
  struct queue* q = own(base);
  uint32_t free = q->tx_free;
  if (unlikely(free <= 1)) return transmit_when_full(base, data, length, kind);
  size_t slot = q->tx_next;
  uint64_t command = send_command[kind] | (uint64_t)length << DESC_TX_SIZE_SHIFT;
  /* Rings start at slot 0 and a chunk divides their length, so each chunk's last slot reports. */
  if (slot % CHUNK == CHUNK - 1) command |= DESC_TX_RS;
  struct desc_tx* descriptor = q->tx_ring + slot;
  descriptor->address = (uintptr_t)data;
  descriptor->command = command;
  q->tx_buffers[slot] = buffer_of(data);
  q->tx_free = free - 1;
  if (++slot == q->tx_length) slot = 0;
  q->tx_next = (uint32_t)slot;
  stage(doorbell, data);
}

COLD static void transmit_singly(struct nic_queue* base, struct nic_frame* const* frames, uint32_t count,
                                 uint32_t kind) {
  for (uint32_t i = 0; i < count; i++) transmit(base, frames[i]->data, frames[i]->length, kind);
}

/* A piece of the burst ends where a chunk does: only there a descriptor reports, and the ring may wrap. */
static void transmit_burst(struct nic_queue* base, struct nic_frame* const* frames, uint32_t count, uint32_t kind) {
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
      descriptor->address = (uintptr_t)data;
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

static uint8_t* next_frame(const struct queue* q) { return q->rx_buffers[q->rx_next] + NIC_BUFFER_HEADROOM; }

#include "firmware/drivers/nic_descriptor_wait.h"

static const struct nic_driver polling_driver = {receive,      transmit, release,        flush,
                                                 wait_polling, 0,        transmit_burst, nic_descriptor_take_buffer};
static const struct nic_driver interrupt_driver = {
    receive, transmit, release, flush, wait_interrupt, arm, transmit_burst, nic_descriptor_take_buffer};

/* receive() never rearms the last CHUNK descriptors, so the descriptors of the burst still hold their stamps here. */
static uint32_t receive_stamped(struct nic_queue* base, struct nic_frame* frames[NIC_BURST],
                                uint64_t stamps[NIC_BURST]) {
  struct queue* q = own(base);
  uint32_t next = q->rx_next;
  uint32_t count = receive(base, frames);
  for (uint32_t i = 0; i < count; i++) {
    stamps[i] = q->rx_ring[next].done.timestamp;
    if (++next == q->rx_length) next = 0;
  }
  return count;
}
_Static_assert(NIC_BURST <= CHUNK, "a burst's descriptors are still there behind receive()");

static bool transmit_stamped(struct nic_queue* base, uint8_t* data, uint32_t length, uint32_t kind, unsigned entry) {
  struct queue* q = own(base);
  uint32_t slot = q->tx_next;
  transmit(base, data, length, kind);
  if (q->tx_next == slot) return false;
  q->tx_ring[slot].command |= DESC_TX_STAMP | (uint64_t)entry << DESC_TX_STAMP_SHIFT;
  return true;
}

static bool departed(struct nic_queue* base, unsigned entry, uint64_t* stamp) {
  volatile uint32_t* bar = (volatile uint32_t*)((uintptr_t)own(base)->tx_tail & ~(uintptr_t)(DESC_BAR0_SIZE - 1));
  volatile uint32_t* ready = bar + DESC_TX_STAMP_READY(entry / 32) / 4;
  if ((*ready >> entry % 32 & 1) == 0) return false;
  *stamp = (uint64_t)bar[DESC_TX_STAMP_HIGH(entry) / 4] << 32 | bar[DESC_TX_STAMP_LOW(entry) / 4];
  *ready = 1u << entry % 32;
  return true;
}

uint8_t* nic_descriptor_take_buffer(struct nic_queue* base) {
  struct queue* q = own(base);
  if (q->free_count == 0) reclaim(q);
  return q->free_count == 0 ? 0 : q->free[--q->free_count] + NIC_BUFFER_HEADROOM;
}

const struct nic_stamping* nic_descriptor_stamping(void) {
  static const struct nic_stamping stamping = {receive_stamped, transmit_stamped, departed, DESC_TX_STAMPS};
  return &stamping;
}

/* Memory for the rings, and buffers: as many as both rings and a burst can hold, so that the free list never runs dry,
 * unless the settings say a number. */
static struct queue* create_queue(const struct nic_settings* s) {
  struct queue* q = memory_reserve(sizeof *q, CACHE_LINE);
  *q = (struct queue){.rx_length = nic_descriptor_ring_length(s->rx_ring),
                      .tx_length = nic_descriptor_ring_length(s->tx_ring)};
  uint32_t buffers = s->buffers != 0 ? s->buffers : q->rx_length + q->tx_length + NIC_BURST;
  /* Buffers that are further apart are found by the same arithmetic, and most lines are not used. */
  uint32_t apart = s->buffer_bytes / NIC_BUFFER_BYTES;
  q->rx_ring = memory_reserve_dma(q->rx_length * sizeof *q->rx_ring, 4096);
  q->tx_ring = memory_reserve_dma(q->tx_length * sizeof *q->tx_ring, 4096);
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

static void start_rings(struct queue* q, uint64_t bar, unsigned index, uint32_t room) {
  const struct nic_descriptor_rings rings = {q->rx_ring, q->rx_length, q->tx_ring, q->tx_length, room};
  nic_descriptor_start(bar, index, &rings);
  q->rx_tail = (volatile uint32_t*)(bar + DESC_QUEUE(index) + DESC_RX_TAIL);
  q->tx_tail = (volatile uint32_t*)(bar + DESC_QUEUE(index) + DESC_TX_TAIL);
  rearm(q);
}

/* Bytes of the longest frame, for the board, which refuses calls that need longer ones. */
__asm__(".globl sluice_largest_frame\n.set sluice_largest_frame, 9618");

bool nic_descriptor_setup(struct nic* nic, const struct pcie_function* function) {
  const struct nic_settings* settings = &nic->settings;
  uint64_t bar = function->bar[DESC_BAR_REGISTERS];
  const uint32_t room = (settings->buffer_bytes - NIC_BUFFER_HEADROOM) & ~(DESC_RX_BUFFER_MULTIPLE - 1);
  if (!nic_descriptor_open(nic, function, room)) return false;
  nic->buffer_bytes = settings->buffer_bytes;
  for (unsigned i = 0; i < nic->queues; i++) {
    struct queue* q = create_queue(settings);
    q->base.driver = settings->interrupts ? &interrupt_driver : &polling_driver;
    nic->queue[i] = &q->base;
    if (settings->interrupts) {
      q->vector = (volatile uint32_t*)(bar + DESC_VECTOR_CONTROL(i));
      nic_descriptor_connect(function, i, settings->moderation, on_interrupt, on_wired_interrupt, q);
    }
    start_rings(q, bar, i, room);
  }
  return nic_descriptor_enable(nic, function);
}

NIC_DRIVER(DESC_VENDOR_ID, DESC_DEVICE_ID, nic_descriptor_setup);
