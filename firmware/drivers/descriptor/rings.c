/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/descriptor/rings.c */
#include "firmware/drivers/descriptor/rings.h"

#include "firmware/kernel/csr.h"
#include "firmware/kernel/memory.h"

static void reg_write(uint64_t page, uint32_t offset, uint32_t value) { *(volatile uint32_t*)(page + offset) = value; }
static uint32_t reg_read(uint64_t page, uint32_t offset) { return *(volatile uint32_t*)(page + offset); }

uint32_t nic_descriptor_ring_length(uint32_t wanted) {
  uint32_t length = wanted / DESC_RING_MULTIPLE * DESC_RING_MULTIPLE;
  if (length < DESC_RING_MIN) return DESC_RING_MIN;
  return length > DESC_RING_MAX ? DESC_RING_MAX : length;
}

void nic_descriptor_start(uint64_t page, const struct nic_descriptor_rings* rings) {
  const uint64_t rx = memory_device_address(rings->rx), tx = memory_device_address(rings->tx);
  reg_write(page, DESC_RX_BASE_LOW, (uint32_t)rx);
  reg_write(page, DESC_RX_BASE_HIGH, (uint32_t)(rx >> 32));
  reg_write(page, DESC_RX_LENGTH, rings->rx_length);
  reg_write(page, DESC_RX_BUFFER, rings->buffer_bytes & ~(DESC_RX_BUFFER_MULTIPLE - 1));
  reg_write(page, DESC_RX_CONTROL, DESC_RING_ENABLE);
  reg_write(page, DESC_TX_BASE_LOW, (uint32_t)tx);
  reg_write(page, DESC_TX_BASE_HIGH, (uint32_t)(tx >> 32));
  reg_write(page, DESC_TX_LENGTH, rings->tx_length);
  reg_write(page, DESC_TX_CONTROL, DESC_RING_ENABLE);
  while ((reg_read(page, DESC_RX_CONTROL) & DESC_RING_ACTIVE) == 0) cpu_pause();
  while ((reg_read(page, DESC_TX_CONTROL) & DESC_RING_ACTIVE) == 0) cpu_pause();
}

/* Draws by a linear congruential generator; its upper bits are the good ones. */
void nic_descriptor_shuffle(void* pointers, uint32_t count) {
  static uint64_t state = 1;
  char(*const at)[sizeof(void*)] = pointers;
  for (uint32_t i = count; i > 1; i--) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    uint32_t other = (uint32_t)((state >> 32) * i >> 32);
    char pointer[sizeof(void*)];
    __builtin_memcpy(pointer, at[other], sizeof pointer);
    __builtin_memcpy(at[other], at[i - 1], sizeof pointer);
    __builtin_memcpy(at[i - 1], pointer, sizeof pointer);
  }
}
