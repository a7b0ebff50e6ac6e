/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/sabotage_driver.h: what a driver of the descriptor NIC does right, for the mistakes of
 * sabotage.c. */
#pragma once

#include "firmware/drivers/pcie.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/csr.h"
#include "models/nic/descriptor/descriptor_regs.h"
#include "models/pcie/pcie_regs.h"

#define NAMED __attribute__((noinline, noclone))

#define REG8(address) (*(volatile uint8_t*)(address))
#define REG16(address) (*(volatile uint16_t*)(address))
#define REG32(address) (*(volatile uint32_t*)(address))
#define REG64(address) (*(volatile uint64_t*)(address))

#define RING 64u
#define BUFFER 2048u
#define FRAME 64u
#define LONG_FRAME 1500u
#define NOWHERE 0x123400000000ull /* no memory, no device */

volatile uint32_t sabotage_order[16] __attribute__((section(".data"))) = {0}; /* ends with 0 */

/* The sentences in the list of mistakes name addresses in these. */
struct desc_rx_read rx_ring[RING] __attribute__((aligned(4096)));
struct desc_tx tx_ring[RING] __attribute__((aligned(4096)));
uint8_t rx_buffer[BUFFER] __attribute__((aligned(64)));
uint8_t frame[BUFFER] __attribute__((aligned(64)));
uint32_t own_code[16] __attribute__((aligned(64)));

static const struct pcie_function* nic;
static uint64_t bar, page;

extern void sabotage_trap(void);
extern void sabotage_atomic_word(uint64_t address);
extern void sabotage_atomic(uint64_t address);
extern void sabotage_load(uint64_t address);
extern void sabotage_store(uint64_t address);
extern void sabotage_load_word(uint64_t address);
extern void sabotage_illegal(void);
extern void sabotage_jump(uint64_t address);
extern char sabotage_victim[];

static void settle(void) {
  for (unsigned i = 0; i < 20; i++) (void)REG32(bar + DESC_STATUS);
}

static void reset(void) {
  REG32(bar + DESC_CONTROL) = DESC_CONTROL_RESET;
  while ((REG32(bar + DESC_CONTROL) & DESC_CONTROL_RESET) != 0) cpu_pause();
}

static void set_up_rx(uint64_t ring) {
  REG32(page + DESC_RX_BASE_LOW) = (uint32_t)ring;
  REG32(page + DESC_RX_BASE_HIGH) = (uint32_t)(ring >> 32);
  REG32(page + DESC_RX_LENGTH) = RING;
  REG32(page + DESC_RX_CONTROL) = DESC_RING_ENABLE;
}

static void set_up_tx(uint64_t ring) {
  REG32(page + DESC_TX_BASE_LOW) = (uint32_t)ring;
  REG32(page + DESC_TX_BASE_HIGH) = (uint32_t)(ring >> 32);
  REG32(page + DESC_TX_LENGTH) = RING;
  REG32(page + DESC_TX_CONTROL) = DESC_RING_ENABLE;
}

static void start(void) {
  set_up_rx((uintptr_t)rx_ring);
  set_up_tx((uintptr_t)tx_ring);
  REG32(bar + DESC_CONTROL) = DESC_CONTROL_RX_ENABLE | DESC_CONTROL_TX_ENABLE;
}

static uint64_t command_of(uint64_t size) {
  return DESC_TX_TYPE_DATA | DESC_TX_EOP | DESC_TX_RS | size << DESC_TX_SIZE_SHIFT;
}

static void describe(unsigned n, uint64_t address, uint64_t command) {
  tx_ring[n] = (struct desc_tx){address, command};
  fence_before_doorbell();
}

/* Makes a frame to the far end, which sends it back to this station. */
static void make_frame(unsigned size) {
  uint32_t low = REG32(bar + DESC_MAC_LOW), high = REG32(bar + DESC_MAC_HIGH);
  for (unsigned i = 0; i < size; i++) frame[i] = (uint8_t)i;
  for (unsigned i = 0; i < 6; i++) {
    frame[i] = i == 0 ? 2 : 1;
    frame[6 + i] = (uint8_t)(i < 4 ? low >> (8 * i) : high >> (8 * (i - 4)));
  }
  static const uint8_t head[] = {0x08, 0, 0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1};
  for (unsigned i = 0; i < sizeof head; i++) frame[12 + i] = head[i];
  frame[16] = (uint8_t)((size - 14) >> 8);
  frame[17] = (uint8_t)(size - 14);
  uint32_t sum = 0;
  for (unsigned i = 14; i < 34; i += 2) sum += (uint32_t)frame[i] << 8 | frame[i + 1];
  sum = (sum & 0xffff) + (sum >> 16);
  frame[24] = (uint8_t)(~sum >> 8);
  frame[25] = (uint8_t)~sum;
  frame[34] = 5000 >> 8;
  frame[35] = 5000 & 0xff;
  frame[36] = 0;
  frame[37] = 7;
  frame[38] = (uint8_t)((size - 34) >> 8);
  frame[39] = (uint8_t)(size - 34);
  frame[40] = frame[41] = 0;
}

/* Prepares a frame that the far end sends back, and a descriptor by which it goes to this buffer. */
static void expect_frame(uint64_t buffer, unsigned size) {
  start();
  make_frame(size);
  rx_ring[0] = (struct desc_rx_read){buffer, 0, {0, 0}};
  describe(0, (uintptr_t)frame, command_of(size));
}

static volatile struct pcie_msix_entry* entry(unsigned vector) {
  return (volatile struct pcie_msix_entry*)(nic->bar[DESC_BAR_MSIX] + DESC_MSIX_TABLE_OFFSET) + vector;
}

static uint64_t config(const struct pcie_function* f, uint32_t reg) {
  return board.ecam + PCIE_ECAM_OFFSET(f->bus, f->device, f->function, reg);
}

static void clear_command(const struct pcie_function* f, uint32_t bits) {
  REG16(config(f, PCIE_COMMAND)) = (uint16_t)(REG16(config(f, PCIE_COMMAND)) & ~bits);
}

static void set_command(const struct pcie_function* f, uint32_t bits) {
  REG16(config(f, PCIE_COMMAND)) = (uint16_t)(REG16(config(f, PCIE_COMMAND)) | bits);
}
