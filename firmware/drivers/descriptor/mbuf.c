/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/descriptor/mbuf.c: drives the descriptor NIC as DPDK's ice driver does the E810: buffers from a pool
 * as mbufs are, 32 receive descriptors rearmed at a time and before a burst is taken, status reported by one transmit
 * descriptor in 32, buffers of sent frames collected only when descriptors run short, one doorbell for at most 32
 * frames. nic.c, which does less for each frame, is for images that wait for single frames. */
#include "firmware/drivers/descriptor/mbuf.h"

#include "firmware/drivers/descriptor/pool.h"
#include "firmware/drivers/descriptor/rings.h"
#include "firmware/drivers/descriptor/setup.h"
#include "firmware/kernel/account.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/likely.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/statistics.h"
#include "models/nic/descriptor/descriptor_regs.h"

/* Members are ordered so that a burst touches few cache lines: receive, transmit, then what is rarely needed. */
struct queue {
  struct nic_queue base;
  union rx_descriptor* rx_ring;
  struct nic_buffer** rx_buffers; /* buffer in each receive descriptor */
  volatile uint32_t* rx_tail;
  uint32_t rx_next;  /* descriptor that the next frame will fill */
  uint32_t rx_rearm; /* first descriptor without a buffer */
  uint32_t rx_empty; /* descriptors without a buffer */
  uint32_t rx_length;

  struct desc_tx* tx_ring;
  struct nic_buffer** tx_buffers; /* buffer in each transmit descriptor */
  volatile uint32_t* tx_tail;
  uint32_t tx_next;  /* descriptor that the next frame gets */
  uint32_t tx_clean; /* oldest descriptor not known to be done; a multiple of CHUNK */
  uint32_t tx_free;  /* descriptors that may be used */
  uint32_t tx_rung;  /* value of the NIC's tail register */
  uint32_t tx_length;

  volatile uint32_t scheduled; /* set by the interrupt handler: look at the ring */
  volatile uint32_t* vector;   /* this queue's DESC_VECTOR_CONTROL */
  uint64_t tx_full;            /* frames dropped because the transmit ring was full */
  struct nic_pool pool;
};

static struct queue* own(struct nic_queue* base) { return (struct queue*)base; }

static uint8_t* frame_start(struct nic_buffer* buffer) { return buffer->room + NIC_POOL_HEADROOM; }

static uint64_t bus_address(const struct nic_buffer* buffer, const uint8_t* data) {
  return (uint64_t)((intptr_t)data + buffer->to_bus);
}

__attribute__((noinline)) static bool reclaim(struct queue* q);

/* Gives the NIC the next CHUNK receive descriptors, if there are buffers for them. The tail register stays one behind:
 * a ring of which the NIC has every descriptor would look empty. */
__attribute__((noinline)) static void rearm(struct queue* q) {
  union rx_descriptor* descriptor = q->rx_ring + q->rx_rearm;
  struct nic_buffer** slot = q->rx_buffers + q->rx_rearm;
  if (unlikely(!nic_pool_take(&q->pool, slot, CHUNK)) && !(reclaim(q) && nic_pool_take(&q->pool, slot, CHUNK))) return;
  for (uint32_t i = 0; i < CHUNK; i++) {
    descriptor[i].read.packet_address = bus_address(slot[i], frame_start(slot[i]));
    descriptor[i].read.header_address = 0;
  }
  q->rx_empty -= CHUNK;
  q->rx_rearm += CHUNK;
  uint32_t tail = q->rx_rearm - 1;
  if (q->rx_rearm == q->rx_length) q->rx_rearm = 0;
  fence_before_doorbell();
  *q->rx_tail = tail;
}

/* Collects the buffers of the oldest CHUNK transmit descriptors, if they are done. */
__attribute__((noinline)) static bool reclaim(struct queue* q) {
  if (q->tx_length - q->tx_free < CHUNK) return false;
  uint32_t last = q->tx_clean + CHUNK - 1;
  uint64_t command = __atomic_load_n(&q->tx_ring[last].command, __ATOMIC_RELAXED);
  if ((command & DESC_TX_TYPE) != DESC_TX_TYPE_DONE) return false;
  nic_pool_give(&q->pool, q->tx_buffers + q->tx_clean, CHUNK);
  q->tx_free += CHUNK;
  q->tx_clean = last + 1;
  if (q->tx_clean == q->tx_length) q->tx_clean = 0;
  return true;
}

static uint32_t receive(struct nic_queue* base, struct nic_frame** frames) {
  struct queue* q = own(base);
  union rx_descriptor* const ring = q->rx_ring;
  union rx_descriptor* const ring_end = ring + q->rx_length;
  union rx_descriptor* descriptor = ring + q->rx_next;
  struct nic_buffer** buffer = q->rx_buffers + q->rx_next;
  prefetch_read(descriptor);
  if (q->rx_empty > CHUNK) rearm(q);
  /* Descriptors beyond those that the NIC was given still say "done" from the last round of the ring. */
  const uint32_t given = q->rx_length - 1 - q->rx_empty;
  struct nic_frame** const most = frames + (given < NIC_MBUF_BURST ? given : NIC_MBUF_BURST);
  struct nic_frame** next = frames;
  for (; next != most; next++) {
    uint32_t status = descriptor->done.status;
    if ((status & DESC_RX_DD) == 0) break;
    fence_reads();
    struct nic_frame* frame = &(*buffer)->frame;
    uint8_t* data = frame_start(*buffer);
    stage(poll, data);
    *next = frame;
    frame->data = data;
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
  q->rx_empty += count;
  return count;
}

static void release(struct nic_queue* base, uint8_t* data) {
  struct queue* q = own(base);
  struct nic_buffer* buffer = nic_pool_buffer(&q->pool, data);
  nic_pool_give(&q->pool, &buffer, 1);
}

static void flush(struct nic_queue* base) {
  struct queue* q = own(base);
  if (q->tx_rung == q->tx_next) return;
  q->tx_rung = q->tx_next;
  fence_before_doorbell();
  *q->tx_tail = q->tx_rung;
}

static void transmit(struct nic_queue* base, uint8_t* data, uint32_t length, uint32_t kind);

/* One descriptor stays unused, because a full ring would look empty. */
COLD static void transmit_when_full(struct nic_queue* base, uint8_t* data, uint32_t length, uint32_t kind) {
  flush(base);
  while (reclaim(own(base))) continue;
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
  if (unlikely(q->tx_free < CHUNK)) reclaim(q);
  uint32_t free = q->tx_free;
  if (unlikely(free <= 1)) return transmit_when_full(base, data, length, kind);
  struct nic_buffer* buffer = nic_pool_buffer(&q->pool, data);
  size_t slot = q->tx_next;
  uint64_t command = send_command[kind] | (uint64_t)length << DESC_TX_SIZE_SHIFT;
  /* Rings start at slot 0 and a chunk divides their length, so each chunk's last slot reports. */
  if (slot % CHUNK == CHUNK - 1) command |= DESC_TX_RS;
  struct desc_tx* descriptor = q->tx_ring + slot;
  descriptor->address = bus_address(buffer, data);
  descriptor->command = command;
  q->tx_buffers[slot] = buffer;
  q->tx_free = free - 1;
  if (++slot == q->tx_length) slot = 0;
  q->tx_next = (uint32_t)slot;
  stage(doorbell, data);
}

COLD static void transmit_singly(struct nic_queue* base, struct nic_frame* const* frames, uint32_t count,
                                 uint32_t kind) {
  for (uint32_t i = 0; i < count; i++) transmit(base, frames[i]->data, frames[i]->length, kind);
}

/* Fills `count` descriptors that lie in one chunk: only there a descriptor reports, and the ring may wrap. */
static void fill(struct queue* q, struct nic_frame* const* frames, uint32_t count, uint64_t send) {
  const uint32_t slot = q->tx_next;
  struct desc_tx* descriptor = q->tx_ring + slot;
  struct nic_buffer** sent = q->tx_buffers + slot;
  for (struct nic_frame* const* end = frames + count; frames != end; frames++) {
    struct nic_buffer* const buffer = (struct nic_buffer*)*frames;
    uint8_t* const data = buffer->frame.data;
    const uint32_t length = buffer->frame.length;
    descriptor->address = bus_address(buffer, data);
    descriptor->command = send | (uint64_t)length << DESC_TX_SIZE_SHIFT;
    *sent = buffer;
    stage(doorbell, data);
    descriptor++;
    sent++;
  }
  q->tx_next = slot + count;
  if (q->tx_next % CHUNK != 0) return;
  descriptor[-1].command |= DESC_TX_RS;
  if (q->tx_next == q->tx_length) q->tx_next = 0;
}

static void transmit_burst(struct nic_queue* base, struct nic_frame* const* frames, uint32_t count, uint32_t kind) {
  struct queue* q = own(base);
  while (count != 0) {
    const uint32_t piece = count < CHUNK ? count : CHUNK;
    if (q->tx_free < CHUNK) reclaim(q);
    if (unlikely(q->tx_free <= piece)) return transmit_singly(base, frames, count, kind);
    q->tx_free -= piece;
    const uint32_t room = CHUNK - q->tx_next % CHUNK;
    const uint32_t first = piece < room ? piece : room;
    fill(q, frames, first, send_command[kind]);
    if (piece != first) fill(q, frames + first, piece - first, send_command[kind]);
    flush(base);
    frames += piece;
    count -= piece;
  }
}

static uint8_t* next_frame(const struct queue* q) { return frame_start(q->rx_buffers[q->rx_next]); }

#include "firmware/drivers/descriptor/poll.h"
#include "firmware/drivers/descriptor/wait.h"

static const struct nic_driver polling_driver = {receive, transmit, release, flush, wait_polling, 0, transmit_burst, 0};
static const struct nic_driver interrupt_driver = {receive,        transmit, release,        flush,
                                                   wait_interrupt, arm,      transmit_burst, 0};

/* Memory for the rings, and buffers: as many as both rings, a burst and the pool's stack can hold, so that the pool
 * never runs dry, unless the settings say a number. */
static struct queue* create_queue(const struct nic_settings* s) {
  struct queue* q = memory_reserve(sizeof *q, CACHE_LINE);
  *q = (struct queue){.rx_length = nic_descriptor_ring_length(s->rx_ring),
                      .tx_length = nic_descriptor_ring_length(s->tx_ring)};
  q->rx_ring = memory_reserve_dma(q->rx_length * sizeof *q->rx_ring, 4096);
  q->tx_ring = memory_reserve_dma(q->tx_length * sizeof *q->tx_ring, 4096);
  q->rx_buffers = memory_reserve(q->rx_length * sizeof *q->rx_buffers, CACHE_LINE);
  q->tx_buffers = memory_reserve(q->tx_length * sizeof *q->tx_buffers, CACHE_LINE);
  uint32_t buffers = q->rx_length + q->tx_length + NIC_MBUF_BURST + NIC_POOL_STACK;
  if (s->buffers != 0) buffers = s->buffers;
  nic_pool_setup(&q->pool, buffers, s->buffer_bytes / NIC_BUFFER_BYTES);
  if (s->shuffled) nic_descriptor_shuffle(q->pool.ring, buffers);
  for (uint32_t i = 0; i < q->rx_length; i++) q->rx_ring[i].read = (struct desc_rx_read){0};
  q->tx_free = q->tx_length;
  q->rx_empty = q->rx_length;
  statistics_add("tx_full", &q->tx_full);
  return q;
}

static void start_rings(struct queue* q, uint64_t bar, unsigned index) {
  const struct nic_descriptor_rings rings = {q->rx_ring, q->rx_length, q->tx_ring, q->tx_length,
                                             NIC_POOL_ROOM - NIC_POOL_HEADROOM};
  nic_descriptor_start(bar + DESC_QUEUE(index), &rings);
  q->rx_tail = (volatile uint32_t*)(bar + DESC_QUEUE(index) + DESC_RX_TAIL);
  q->tx_tail = (volatile uint32_t*)(bar + DESC_QUEUE(index) + DESC_TX_TAIL);
  uint32_t left;
  do {
    left = q->rx_empty;
    rearm(q);
  } while (q->rx_empty != 0 && q->rx_empty != left);
}

/* Bytes of the longest frame, for the board, too. */
#define LONGEST 1514u
__asm__(".globl sluice_largest_frame\n.set sluice_largest_frame, 1514");
_Static_assert(LONGEST == 1514, "the symbol");

static bool setup(struct nic* nic, const struct pcie_function* function) {
  const struct nic_settings* settings = &nic->settings;
  uint64_t bar = function->bar[DESC_BAR_REGISTERS];
  if (!nic_descriptor_open(nic, function, LONGEST)) return false;
  nic->buffer_bytes = NIC_POOL_ROOM;
  for (unsigned i = 0; i < nic->queues; i++) {
    struct queue* q = create_queue(settings);
    q->base.driver = settings->interrupts ? &interrupt_driver : &polling_driver;
    nic->queue[i] = &q->base;
    if (settings->interrupts) {
      q->vector = (volatile uint32_t*)(bar + DESC_VECTOR_CONTROL(i));
      nic_descriptor_connect(function, i, settings->moderation, on_interrupt, on_wired_interrupt, q);
    }
    start_rings(q, bar, i);
  }
  return nic_descriptor_enable(nic, function);
}

NIC_DRIVER(DESC_VENDOR_ID, DESC_DEVICE_ID, setup);
