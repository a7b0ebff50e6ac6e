/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/bad_driver.c: a driver of the descriptor NIC that makes every mistake a driver can make, one after
 * the other, on a whole board whose far end sends back what it gets. After each it says what the NIC answered, and at
 * the end the NIC must still work. Ends with the number of answers that were wrong. */
#include "firmware/drivers/pcie.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/start.h"
#include "models/nic/descriptor/descriptor_regs.h"
#include "models/pcie/pcie_regs.h"

#define RING 64u
#define BUFFER 2048u
#define FRAME 64u
#define NOWHERE 0x123400000000ull /* no memory, no device */
#define VECTOR 0u

static const struct pcie_function* nic;
static uint64_t bar, page;
static struct desc_rx_read* rx_ring;
static struct desc_tx* tx_ring;
static uint8_t *rx_buffers, *frame;
static int wrong;

static void write32(uint64_t address, uint32_t value) { *(volatile uint32_t*)address = value; }
static uint32_t read32(uint64_t address) { return *(volatile uint32_t*)address; }

/* Each read of a register takes a microsecond or so of a PCIe round trip. */
static void settle(void) {
  for (unsigned i = 0; i < 20; i++) (void)read32(bar + DESC_STATUS);
}

static uint32_t statistic(unsigned n) { return read32(bar + DESC_STAT_LOW(n)); }

static uint32_t take_errors(void) {
  uint32_t errors = read32(bar + DESC_ERRORS);
  write32(bar + DESC_ERRORS, errors);
  return errors;
}

static void expect(const char* what, uint64_t is, uint64_t should_be) {
  if (is != should_be) wrong++;
  print("%s: %lx%s\n", what, (unsigned long)is, is == should_be ? "" : " is wrong");
}

/* doing it right */

static void point_rings(uint64_t rx, uint64_t tx) {
  write32(page + DESC_RX_BASE_LOW, (uint32_t)rx);
  write32(page + DESC_RX_BASE_HIGH, (uint32_t)(rx >> 32));
  write32(page + DESC_RX_LENGTH, RING);
  write32(page + DESC_TX_BASE_LOW, (uint32_t)tx);
  write32(page + DESC_TX_BASE_HIGH, (uint32_t)(tx >> 32));
  write32(page + DESC_TX_LENGTH, RING);
}

static void enable_rings(uint32_t enable) {
  write32(page + DESC_RX_CONTROL, enable);
  write32(page + DESC_TX_CONTROL, enable);
  uint32_t active = enable ? DESC_RING_ACTIVE : 0;
  for (unsigned i = 0; i < 1000; i++)
    if ((read32(page + DESC_RX_CONTROL) & read32(page + DESC_TX_CONTROL) & DESC_RING_ACTIVE) == active) return;
  print("the rings do not follow\n");
  wrong++;
}

static void start(uint64_t rx, uint64_t tx) {
  enable_rings(0);
  for (unsigned i = 0; i < RING; i++) rx_ring[i] = (struct desc_rx_read){(uintptr_t)rx_buffers + i * BUFFER, 0, {0, 0}};
  point_rings(rx, tx);
  enable_rings(DESC_RING_ENABLE);
  write32(bar + DESC_CONTROL, DESC_CONTROL_RX_ENABLE | DESC_CONTROL_TX_ENABLE);
}

static void start_right(void) { start((uintptr_t)rx_ring, (uintptr_t)tx_ring); }

static void ring_rx(uint32_t tail) {
  fence_before_doorbell();
  write32(page + DESC_RX_TAIL, tail);
}

/* One frame in descriptor `slot`, which must be the ring's tail. */
static void send(uint32_t slot, uint64_t address, uint64_t size) {
  tx_ring[slot] = (struct desc_tx){address, DESC_TX_TYPE_DATA | DESC_TX_EOP | DESC_TX_RS | size << DESC_TX_SIZE_SHIFT};
  fence_before_doorbell();
  write32(page + DESC_TX_TAIL, slot + 1);
}

static uint64_t sent(uint32_t slot) {
  return (*(volatile uint64_t*)&tx_ring[slot].command & DESC_TX_TYPE) == DESC_TX_TYPE_DONE;
}

static uint64_t received(uint32_t slot) {
  return (((volatile struct desc_rx_writeback*)rx_ring)[slot].status & DESC_RX_DD) != 0;
}

static void put16(uint8_t* at, uint32_t value) {
  at[0] = (uint8_t)(value >> 8);
  at[1] = (uint8_t)value;
}

/* A UDP datagram to the far end, without UDP checksum. */
static void make_frame(void) {
  for (unsigned i = 0; i < FRAME; i++) frame[i] = (uint8_t)i;
  uint32_t low = read32(bar + DESC_MAC_LOW), high = read32(bar + DESC_MAC_HIGH);
  for (unsigned i = 0; i < 6; i++) {
    frame[i] = i == 0 ? 2 : 1;
    frame[6 + i] = (uint8_t)(i < 4 ? low >> (8 * i) : high >> (8 * (i - 4)));
  }
  static const uint8_t ip[20] = {0x45, 0, 0, FRAME - 14, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1};
  put16(frame + 12, 0x0800);
  uint32_t sum = 0;
  for (unsigned i = 0; i < 20; i++) {
    frame[14 + i] = ip[i];
    sum += (uint32_t)ip[i] << (i % 2 ? 0 : 8);
  }
  sum = (sum & 0xffff) + (sum >> 16);
  put16(frame + 24, ~sum & 0xffff);
  put16(frame + 34, 5000);
  put16(frame + 36, 7);
  put16(frame + 38, FRAME - 34);
  put16(frame + 40, 0);
}

/* mistakes, each in a function that the result file can name */

#define NAMED __attribute__((noinline))

NAMED static void wrong_accesses(void) {
  uint32_t before = statistic(DESC_STAT_BAD_ACCESS);
  expect("eight bytes of a register", *(volatile uint64_t*)(bar + DESC_REVISION), ~0ull);
  expect("one byte of a register", *(volatile uint8_t*)(bar + DESC_REVISION), 0xff);
  expect("a register that does not exist", read32(bar + 0x7fff0), 0xffffffff);
  *(volatile uint16_t*)(bar + DESC_MAX_FRAME) = 100;
  expect("the longest frame after two bytes were written", read32(bar + DESC_MAX_FRAME), 1514);
  expect("bad accesses", statistic(DESC_STAT_BAD_ACCESS) - before, 4);
}

NAMED static void rings_that_are_none(void) {
  write32(page + DESC_RX_LENGTH, 0);
  write32(page + DESC_RX_CONTROL, DESC_RING_ENABLE);
  expect("errors of a ring of zero size", take_errors(), DESC_ERROR_VALUE);
  expect("its state", read32(page + DESC_RX_CONTROL) & DESC_RING_ACTIVE, 0);
  write32(page + DESC_RX_LENGTH, 7);
  expect("errors of a ring of 7", take_errors(), DESC_ERROR_VALUE);
  ring_rx(1);
  write32(page + DESC_TX_TAIL, 1);
  expect("errors of doorbells without a ring", take_errors(), DESC_ERROR_TAIL);
}

NAMED static void doorbells(void) {
  start_right();
  ring_rx(RING);
  expect("errors of a doorbell out of range", take_errors(), DESC_ERROR_TAIL);
  ring_rx(0xffffffff);
  write32(page + DESC_TX_TAIL, 0x80000000);
  expect("errors of absurd doorbells", take_errors(), DESC_ERROR_TAIL);
  write32(page + DESC_RX_BASE_LOW, 0);
  expect("errors of a base under a ring", take_errors(), DESC_ERROR_RING_BUSY);
  expect("the base", read32(page + DESC_RX_BASE_LOW), (uint32_t)(uintptr_t)rx_ring);
}

NAMED static void descriptors_outside_memory(void) {
  start_right();
  uint32_t lost = statistic(DESC_STAT_TX_DROP_DMA), malformed = statistic(DESC_STAT_TX_DROP_DESCRIPTOR);
  send(0, NOWHERE, FRAME);
  send(1, (uintptr_t)frame, 0);
  send(2, (uintptr_t)frame, FRAME);
  settle();
  expect("frames lost that were nowhere", statistic(DESC_STAT_TX_DROP_DMA) - lost, 1);
  expect("frames lost without bytes", statistic(DESC_STAT_TX_DROP_DESCRIPTOR) - malformed, 1);
  expect("errors of such frames", take_errors(), DESC_ERROR_DMA | DESC_ERROR_DESCRIPTOR);
  expect("descriptors done", sent(0) + sent(1) + sent(2), 3);

  /* The frame that has come back found no descriptor and waits for one. Its buffer is nowhere: a posted write has no
   * answer, so the NIC reports the frame as received, and only the root complex knows that its bytes went nowhere. */
  rx_ring[0].packet_address = NOWHERE;
  ring_rx(32);
  settle();
  expect("errors of a buffer that is nowhere", take_errors(), 0);
  expect("its frame", received(0), 1);
  send(3, (uintptr_t)frame, FRAME);
  settle();
  expect("the next frame", received(1), 1);
  expect("its last byte", rx_buffers[BUFFER + FRAME - 1], FRAME - 1);
}

NAMED static void rings_outside_memory(void) {
  uint32_t packets = statistic(DESC_STAT_TX_PACKETS);
  start(NOWHERE, NOWHERE);
  ring_rx(32);
  write32(page + DESC_TX_TAIL, 1);
  settle();
  expect("errors of rings that are nowhere", take_errors(), DESC_ERROR_DMA);
  expect("receive ring", read32(page + DESC_RX_CONTROL) & DESC_RING_ERROR, DESC_RING_ERROR);
  expect("transmit ring", read32(page + DESC_TX_CONTROL) & DESC_RING_ERROR, DESC_RING_ERROR);
  expect("frames sent from nowhere", statistic(DESC_STAT_TX_PACKETS) - packets, 0);
}

static uint64_t command_register(void) {
  return board.ecam + PCIE_ECAM_OFFSET(nic->bus, nic->device, nic->function, PCIE_COMMAND);
}

NAMED static void no_bus_master(void) {
  start_right();
  volatile uint16_t* command = (volatile uint16_t*)command_register();
  *command = (uint16_t)(*command & ~PCIE_COMMAND_BUS_MASTER);
  send(0, (uintptr_t)frame, FRAME);
  settle();
  expect("errors without bus mastering", take_errors(), DESC_ERROR_DMA);
  expect("descriptors done without bus mastering", sent(0), 0);
  *command = (uint16_t)(*command | PCIE_COMMAND_BUS_MASTER);
}

/* A frame comes back when its ring is off: nothing may be written to the buffers any more. */
static void disabled_under_traffic(void) {
  start_right();
  ring_rx(32);
  settle();
  send(0, (uintptr_t)frame, FRAME);
  write32(page + DESC_RX_CONTROL, 0);
  while ((read32(page + DESC_RX_CONTROL) & DESC_RING_ACTIVE) != 0) cpu_pause();
  for (unsigned i = 0; i < 32; i++) {
    rx_ring[i] = (struct desc_rx_read){0};
    *(volatile uint64_t*)(rx_buffers + i * BUFFER) = 0x5a5a5a5a;
  }
  settle();
  unsigned written = 0;
  for (unsigned i = 0; i < 32; i++)
    written += received(i) || *(volatile uint64_t*)(rx_buffers + i * BUFFER) != 0x5a5a5a5a;
  expect("buffers written after a ring was disabled", written, 0);
  expect("errors of that", take_errors(), 0);
}

NAMED static void masked_vector(void) {
  if (pcie_msix_vectors(nic) == 0) return;
  uint64_t entry = nic->bar[DESC_BAR_MSIX] + DESC_MSIX_TABLE_OFFSET + 16 * VECTOR;
  uint32_t before = statistic(DESC_STAT_INTERRUPTS);
  /* The message goes to memory of this guest, which takes writes like any other target. */
  volatile uint32_t* message = memory_reserve(64, 64);
  *message = 0;
  pcie_msix_route(nic, VECTOR, (uintptr_t)message, 0xcafe);
  write32(entry + 12, 1);
  pcie_msix_enable(nic);
  write32(bar + DESC_VECTOR_CONTROL(VECTOR), DESC_VECTOR_ENABLE | DESC_VECTOR_TRIGGER);
  settle();
  expect("a masked message", *message, 0);
  write32(entry + 12, 0);
  settle();
  expect("the message after unmasking", *message, 0xcafe);
  expect("messages sent", statistic(DESC_STAT_INTERRUPTS) - before, 1);
  write32(bar + DESC_VECTOR_CONTROL(64), DESC_VECTOR_ENABLE | DESC_VECTOR_TRIGGER);
  write32(page + DESC_RX_INTERRUPT, DESC_CAUSE_ENABLE | 0xff);
  expect("errors of a vector that is none", take_errors() & DESC_ERROR_VALUE, DESC_ERROR_VALUE);
}

static void works_still(void) {
  write32(bar + DESC_CONTROL, DESC_CONTROL_RESET);
  while ((read32(bar + DESC_CONTROL) & DESC_CONTROL_RESET) != 0) cpu_pause();
  start_right();
  ring_rx(32);
  for (unsigned i = 0; i < 8; i++) send(i, (uintptr_t)frame, FRAME);
  settle();
  unsigned back = 0;
  for (unsigned i = 0; i < 8; i++) back += sent(i) && received(i) && rx_buffers[i * BUFFER + FRAME - 1] == FRAME - 1;
  expect("frames that went and came back after all that", back, 8);
  expect("errors", take_errors(), 0);
}

int application_main(void) {
  pcie_setup();
  nic = pcie_find(DESC_VENDOR_ID, DESC_DEVICE_ID);
  if (nic == 0) return 100;
  bar = nic->bar[DESC_BAR_REGISTERS];
  page = bar + DESC_QUEUE(0);
  rx_ring = memory_reserve(RING * sizeof *rx_ring, 4096);
  tx_ring = memory_reserve(RING * sizeof *tx_ring, 4096);
  rx_buffers = memory_reserve(RING * BUFFER, 4096);
  frame = memory_reserve(BUFFER, 4096);
  make_frame();
  wrong_accesses();
  rings_that_are_none();
  doorbells();
  descriptors_outside_memory();
  rings_outside_memory();
  no_bus_master();
  disabled_under_traffic();
  masked_vector();
  works_still();
  return wrong;
}
