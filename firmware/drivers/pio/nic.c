/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/pio/nic.c: the PIO NIC as a NIC that delivers frames. A frame is copied into the one buffer that
 * there is, and its answer out of it. A receive waits in the NIC, for up to the block time, so the hart serves no other
 * NIC meanwhile. */
#include "firmware/drivers/nic_one_buffer.h"
#include "firmware/drivers/pio/pio.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/statistics.h"

struct queue {
  struct nic_one_buffer one;
  const struct pio* nic;
  uint64_t too_long; /* frames that did not fit */
};

static struct queue* own(struct nic_queue* base) { return (struct queue*)base; }

static uint32_t receive(struct nic_queue* base, struct nic_frame** frames) {
  struct queue* q = own(base);
  account(polling);
  uint32_t bytes = q->nic->receive();
  account(networking);
  if (bytes == 0) return 0;
  if (bytes > NIC_ONE_BUFFER_FRAME) {
    q->too_long++;
    q->nic->release();
    return 0;
  }
  nic_one_buffer_begin(&q->one, q->nic->received(), bytes);
  q->nic->read((uint64_t*)q->one.data, bytes);
  q->nic->release();
  frames[0] = &q->one.frame;
  return 1;
}

static void transmit(struct nic_queue* base, uint8_t* data, uint32_t length, uint32_t kind) {
  struct queue* q = own(base);
  (void)kind;
  stage(copy, q->one.data);
  q->nic->get_buffer();
  q->nic->write((const uint64_t*)data, length);
  q->nic->bind(q->one.data, length);
  stage(doorbell, q->one.data);
  q->nic->commit(length);
}

static const struct nic_driver driver = {.receive = receive,
                                         .transmit = transmit,
                                         .release = nic_one_buffer_release,
                                         .flush = nic_one_buffer_flush,
                                         .wait = nic_one_buffer_wait,
                                         .take = nic_one_buffer_take};

static void turn_around(const struct nic* nic) {
  *(volatile uint64_t*)(nic->registers + PIO_CONTROL) = PIO_CONTROL_TURN_AROUND;
}

/* The NIC has no station address of its own: a locally administered one with the IPv4 address in it. */
static void choose_address(struct nic* nic) {
  uint32_t ipv4 = nic->settings.ipv4;
  const uint8_t mac[6] = {2, 0, (uint8_t)(ipv4 >> 24), (uint8_t)(ipv4 >> 16), (uint8_t)(ipv4 >> 8), (uint8_t)ipv4};
  for (unsigned i = 0; i < 6; i++) nic->mac[i] = mac[i];
}

static bool setup(struct nic* nic, const struct pio* form) {
  choose_address(nic);
  nic->max_frame = NIC_ONE_BUFFER_FRAME;
  nic->buffer_bytes = NIC_ONE_BUFFER_BYTES;
  nic->queues = 1;
  nic->copies = true;
  nic->registers = pio_registers;
  nic->turn_around = turn_around;
  struct queue* q = memory_reserve(sizeof *q, 64);
  *q = (struct queue){.nic = form};
  nic_one_buffer_setup(&q->one, &driver);
  nic->queue[0] = &q->one.base;
  statistics_add("pio_too_long", &q->too_long);
  return true;
}

/* The forms keep what they know of their NIC in variables. */
static bool is_second(void) {
  if (pio_registers != 0) print("PIO NIC: only one can be driven\n");
  return pio_registers != 0;
}

static bool setup_pcie(struct nic* nic, const struct pcie_function* function) {
  return !is_second() && setup(nic, pio_open_pcie(function));
}

static bool setup_coherent(struct nic* nic, const struct nic_bus_place* place) {
  return !is_second() && setup(nic, pio_open_coherent(place->registers, place->lines));
}

NIC_DRIVER(PIO_VENDOR_ID, PIO_DEVICE_ID, setup_pcie);
NIC_BUS_DRIVER("sluice,pio-coherent", setup_coherent);
