/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/descriptor/nic.c: the descriptor NIC as a NIC of the kernel: its queues (queue.c), their interrupts
 * and time stamps. */
#include "firmware/drivers/descriptor/nic.h"

#include "firmware/drivers/descriptor/queue.h"
#include "firmware/drivers/descriptor/setup.h"

static uint8_t* next_frame(const struct queue* q) { return q->rx_buffers[q->rx_next] + NIC_BUFFER_HEADROOM; }

#include "firmware/drivers/descriptor/wait.h"
#include "models/nic/descriptor/descriptor_regs.h"

static const struct nic_driver interrupt_driver = {nic_descriptor_receive,
                                                   nic_descriptor_transmit,
                                                   nic_descriptor_release,
                                                   nic_descriptor_flush,
                                                   wait_interrupt,
                                                   arm,
                                                   nic_descriptor_transmit_burst,
                                                   nic_descriptor_take_buffer};

/* receive() never rearms the last CHUNK descriptors, so the descriptors of the burst still hold their stamps here. */
static uint32_t receive_stamped(struct nic_queue* base, struct nic_frame* frames[NIC_BURST],
                                uint64_t stamps[NIC_BURST]) {
  struct queue* q = own(base);
  uint32_t next = q->rx_next;
  uint32_t count = nic_descriptor_receive(base, frames);
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
  nic_descriptor_transmit(base, data, length, kind);
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

const struct nic_stamping* nic_descriptor_stamping(void) {
  static const struct nic_stamping stamping = {receive_stamped, transmit_stamped, departed, DESC_TX_STAMPS};
  return &stamping;
}

/* Bytes of the longest frame, for the board, which refuses calls that need longer ones. */
__asm__(".globl sluice_largest_frame\n.set sluice_largest_frame, 9618");

bool nic_descriptor_setup(struct nic* nic, const struct pcie_function* function) {
  const struct nic_settings* settings = &nic->settings;
  uint64_t bar = function->bar[DESC_BAR_REGISTERS];
  const uint32_t room = nic_descriptor_room(settings);
  if (!nic_descriptor_open(nic, function, room)) return false;
  nic->buffer_bytes = settings->buffer_bytes;
  for (unsigned i = 0; i < nic->queues; i++) {
    struct queue* q = nic_descriptor_create_queue(settings);
    q->base.driver = settings->interrupts ? &interrupt_driver : &nic_descriptor_polling;
    nic->queue[i] = &q->base;
    if (settings->interrupts) {
      q->vector = (volatile uint32_t*)(bar + DESC_VECTOR_CONTROL(i));
      nic_descriptor_connect(function, i, settings->moderation, on_interrupt, on_wired_interrupt, q);
    }
    nic_descriptor_start_queue(q, bar + DESC_QUEUE(i), room);
  }
  return nic_descriptor_enable(nic, function);
}

NIC_DRIVER(DESC_VENDOR_ID, DESC_DEVICE_ID, nic_descriptor_setup);
