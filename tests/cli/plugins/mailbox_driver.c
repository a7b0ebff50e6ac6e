/* SPDX-License-Identifier: Apache-2.0 */
/* mailbox_driver.c: the driver of the mailbox NIC, for test_nic_kinds.py. A frame is copied, and answered or discarded
 * before the next one is taken: one buffer is enough. */
#include "firmware/drivers/nic.h"
#include "firmware/drivers/pcie.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/memory.h"
#include "mailbox_regs.h"

struct queue {
  struct nic_queue base;
  uint64_t registers;
  uint8_t* buffer;
  struct nic_frame frame;
};

static struct queue* own(struct nic_queue* base) { return (struct queue*)base; }

static volatile uint64_t* reg(const struct queue* q, uint32_t at) { return (volatile uint64_t*)(q->registers + at); }

static uint32_t receive(struct nic_queue* base, struct nic_frame* frames[NIC_BURST]) {
  struct queue* q = own(base);
  uint32_t length = (uint32_t)*reg(q, MAILBOX_RECEIVED);
  if (length == 0) return 0;
  uint8_t* data = q->buffer + NIC_BUFFER_HEADROOM;
  for (uint32_t at = 0; at < length; at += 8) {
    uint64_t word = *reg(q, MAILBOX_RX + at);
    __builtin_memcpy(data + at, &word, 8);
  }
  *reg(q, MAILBOX_RECEIVED) = 0;
  q->frame = (struct nic_frame){.data = data, .length = length};
  frames[0] = &q->frame;
  return 1;
}

static void transmit(struct nic_queue* base, uint8_t* data, uint32_t length, uint32_t kind) {
  (void)kind;
  for (uint32_t at = 0; at < length; at += 8) {
    uint64_t word;
    __builtin_memcpy(&word, data + at, 8);
    *reg(own(base), MAILBOX_TX + at) = word;
  }
  *reg(own(base), MAILBOX_SEND) = length;
}

static void release(struct nic_queue* base, uint8_t* data) { (void)base, (void)data; }
static void flush(struct nic_queue* base) { (void)base; }
static void wait(struct nic_queue* base) {
  while (*reg(own(base), MAILBOX_RECEIVED) == 0) cpu_pause();
}

static const struct nic_driver driver = {receive, transmit, release, flush, wait, 0, 0, 0};

static bool mailbox_setup(struct nic* nic, const struct pcie_function* function) {
  struct queue* q = memory_reserve(sizeof *q, 64);
  *q = (struct queue){{&driver}, function->bar[0], memory_reserve(NIC_BUFFER_BYTES, NIC_BUFFER_BYTES), {0}};
  if (q->registers == 0) return false;
  uint64_t address = *reg(q, MAILBOX_ADDRESS);
  for (unsigned i = 0; i < 6; i++) nic->mac[i] = (uint8_t)(address >> 8 * i);
  nic->rx_checksum = nic->tx_checksum = false;
  nic->max_frame = MAILBOX_FRAME_MAX;
  nic->queues = 1;
  nic->queue[0] = &q->base;
  return true;
}

NIC_DRIVER(MAILBOX_VENDOR_ID, MAILBOX_DEVICE_ID, mailbox_setup);
