/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/peer_ping.c: sends frames to whoever echoes them at the far end of the wire, one at a time, and
 * adds up the times from MAC to MAC, by the NIC's stamps. */
#include "firmware/drivers/descriptor/nic.h"
#include "firmware/drivers/pcie.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/start.h"
#include "firmware/kernel/statistics.h"
#include "models/nic/descriptor/descriptor_regs.h"

#define ROUNDS 16u
#define FRAME 100u
#define ENTRY 5u

static struct { uint64_t round_trips, round_trip_ns; } counters;

static void build(const struct nic* nic, uint8_t* frame) {
  static const uint8_t peer[6] = {0x02, 0, 0, 0, 0, 1};
  for (unsigned i = 0; i < FRAME; i++) frame[i] = (uint8_t)i;
  for (unsigned i = 0; i < 6; i++) frame[i] = peer[i];
  for (unsigned i = 0; i < 6; i++) frame[6 + i] = nic->mac[i];
  frame[12] = 0x88; /* a local experiment's EtherType */
  frame[13] = 0xb5;
}

int application_main(void) {
  struct nic nic = {.queues = 1, .settings = NIC_DEFAULT_SETTINGS};
  pcie_setup();
  const struct pcie_function* function = pcie_find(DESC_VENDOR_ID, DESC_DEVICE_ID);
  if (function == 0 || !nic_descriptor_setup(&nic, function)) return 1;
  const struct nic_stamping* stamping = nic_descriptor_stamping();
  struct nic_queue* queue = nic.queue[0];
  statistics_add("round_trips round_trip_ns", &counters.round_trips);
  /* The first buffer is a free one; each later one is that of the frame before. */
  uint8_t* data = nic_descriptor_take_buffer(queue);
  for (unsigned n = 0; n < ROUNDS; n++) {
    struct nic_frame* frames[NIC_BURST];
    uint64_t arrived[NIC_BURST], left;
    build(&nic, data);
    if (!stamping->transmit(queue, data, FRAME, NIC_SEND_PLAIN, ENTRY)) return 2;
    queue->driver->flush(queue);
    queue->driver->wait(queue);
    if (stamping->receive(queue, frames, arrived) != 1 || frames[0]->length != FRAME) return 3;
    if (!stamping->departed(queue, ENTRY, &left)) return 4;
    counters.round_trips++;
    counters.round_trip_ns += arrived[0] - left;
    data = frames[0]->data;
  }
  print("%lu round trips\n", (unsigned long)counters.round_trips);
  return 0;
}
