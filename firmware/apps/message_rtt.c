/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/apps/message_rtt.c: sends messages to a NIC that turns them around, one at a time, of the sizes in the
 * device tree's /chosen node, and waits for each until it has read the last byte of what came back. Each is a request
 * of the ledger, from before its first byte is written to where the NIC takes it from. */
#include "firmware/drivers/nic.h"
#include "firmware/drivers/pcie.h"
#include "firmware/kernel/account.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/fdt.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/start.h"
#include "models/workload/message_rtt/message_rtt_codes.h"

#define MAX_SIZES 1024u
#define MAX_MESSAGE 9618u
#define HEADER_BYTES 14u
#define TYPE 0xb588u /* 88b5, big endian: of local experiments */

static struct {
  uint32_t sizes[MAX_SIZES];
  uint32_t size_count, messages; /* of each size, those of the warm-up among them */
  char nic[NIC_NAME_BYTES];      /* as nic_settings.name */
} plan;

static struct nic nics[NIC_MAX];
static struct nic* nic;
static struct nic_queue* queue;
static uint8_t *sent, *received; /* the software's own copies */

static bool read_tree(void) {
  struct fdt_walk node;
  if (!fdt_find_chosen(&node, board_device_tree)) return false;
  uint32_t length = 0;
  const void* sizes = fdt_get(&node, "sluice,message-sizes", &length);
  for (uint32_t i = 0; sizes != 0 && i < length / 4 && i < MAX_SIZES; i++)
    plan.sizes[plan.size_count++] = fdt_cell(sizes, i);
  plan.messages = fdt_get_u32(&node, "sluice,messages", 0);
  const char* name = fdt_get(&node, "sluice,message-nic", 0);
  for (unsigned i = 0; name != 0 && name[i] != 0 && i < NIC_NAME_BYTES - 1; i++) plan.nic[i] = name[i];
  return plan.size_count != 0 && plan.messages != 0 && plan.nic[0] != 0;
}

static int open_nic(void) {
  pcie_setup();
  const unsigned count = nic_setup(nics, 0);
  for (unsigned i = 0; i < count; i++)
    if (text_equal(nics[i].settings.name, plan.nic)) nic = &nics[i];
  if (nic == 0) return MESSAGE_RTT_NO_NIC;
  if (nic->turn_around == 0) return MESSAGE_RTT_NO_TURN;
  queue = nic->queue[0];
  if (queue->driver->take == 0) return MESSAGE_RTT_NO_BUFFER;
  nic->turn_around(nic);
  if (nic->settings.interrupts) interrupt_setup_hart(0);
  return 0;
}

/* 32 B a turn, as a C library does. What lies behind a message is copied with it. */
static void copy(uint8_t* to, const uint8_t* from, uint32_t bytes) {
  const uint64_t* f = (const uint64_t*)from;
  uint64_t* t = (uint64_t*)to;
  for (uint32_t at = 0; at < bytes; at += 32) {
    uint64_t a = f[0], b = f[1], c = f[2], d = f[3];
    t[0] = a, t[1] = b, t[2] = c, t[3] = d;
    t += 4, f += 4;
  }
}

/* A frame to the NIC's own address, whose payload differs from one message to the next. */
static void fill(uint8_t* message, uint32_t bytes, uint32_t number) {
  for (unsigned i = 0; i < 6; i++) message[i] = message[6 + i] = nic->mac[i];
  *(uint16_t*)(message + 12) = TYPE;
  for (uint32_t i = HEADER_BYTES; i < bytes; i++) message[i] = (uint8_t)(number * 151 + i * 29 + (i >> 8));
}

static bool is_right(const uint8_t* message, uint32_t bytes, uint32_t number) {
  for (unsigned i = 0; i < 6; i++)
    if (message[i] != nic->mac[i] || message[6 + i] != nic->mac[i]) return false;
  if (*(const uint16_t*)(message + 12) != TYPE) return false;
  for (uint32_t i = HEADER_BYTES; i < bytes; i++)
    if (message[i] != (uint8_t)(number * 151 + i * 29 + (i >> 8))) return false;
  return true;
}

/* The time of a message lies between its two hints. A driver that copies takes the message from the buffer; for another
 * one the software writes it there. */
__attribute__((noinline)) static const struct nic_frame* exchange(uint8_t* buffer, uint32_t bytes) {
  const struct nic_driver* driver = queue->driver;
  struct nic_frame* frames[NIC_BURST];
  sluice_open(buffer, SLUICE_OPEN(SLUICE_STAGE_copy, bytes));
  if (!nic->copies) copy(buffer, sent, bytes);
  driver->transmit(queue, buffer, bytes, NIC_SEND_PLAIN);
  driver->flush(queue);
  account(polling);
  while (driver->receive(queue, frames) == 0) driver->wait(queue);
  account(application);
  if (!nic->copies) {
    stage(copy, frames[0]->data);
    copy(received, frames[0]->data, frames[0]->length);
  }
  sluice_complete(frames[0]->data);
  return frames[0];
}

static int measure(uint32_t bytes, uint32_t number) {
  uint8_t* buffer = queue->driver->take(queue);
  if (buffer == 0) return MESSAGE_RTT_NO_BUFFER;
  fill(nic->copies ? buffer : sent, bytes, number);
  const struct nic_frame* frame = exchange(buffer, bytes);
  const bool right = frame->length == bytes && is_right(nic->copies ? frame->data : received, bytes, number);
  queue->driver->release(queue, frame->data);
  return right ? 0 : MESSAGE_RTT_WRONG;
}

int application_main(void) {
  account(application);
  if (!read_tree()) return MESSAGE_RTT_NO_PLAN;
  const int error = open_nic();
  if (error != 0) return error;
  sent = memory_reserve(MAX_MESSAGE + 32, 128);
  received = memory_reserve(MAX_MESSAGE + 32, 128);
  for (uint32_t s = 0; s < plan.size_count; s++)
    for (uint32_t n = 0; n < plan.messages; n++) {
      const int wrong = measure(plan.sizes[s], n);
      if (wrong != 0) return wrong;
    }
  return 0;
}
