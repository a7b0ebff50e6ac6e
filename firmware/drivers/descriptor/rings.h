/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/descriptor/rings.h: the descriptors of the descriptor NIC as its drivers use them. */
#pragma once

#include <stdint.h>

#include "firmware/drivers/nic.h"
#include "models/nic/descriptor/descriptor_regs.h"

#define CHUNK 32u /* descriptors rearmed or reported as sent at a time; divides every ring length */
#define CACHE_LINE 64u

union rx_descriptor {
  struct desc_rx_read read;
  volatile struct desc_rx_writeback done;
};

static const uint64_t send_command[] = {
    [NIC_SEND_PLAIN] = DESC_TX_TYPE_DATA | DESC_TX_EOP,
    [NIC_SEND_UDP] = DESC_TX_TYPE_DATA | DESC_TX_EOP | DESC_TX_IPV4_CHECKSUM | DESC_TX_UDP_CHECKSUM |
                     7ull << DESC_TX_MAC_LENGTH_SHIFT | 5ull << DESC_TX_IP_LENGTH_SHIFT |
                     2ull << DESC_TX_L4_LENGTH_SHIFT,
};

struct nic_descriptor_rings {
  const void* rx;
  uint32_t rx_length;
  const void* tx;
  uint32_t tx_length;
  uint32_t buffer_bytes; /* where a received frame may lie, from its first byte on */
};

/* The length of a ring that is nearest to what is wanted. */
uint32_t nic_descriptor_ring_length(uint32_t wanted);

/* Puts an array of pointers in an order without a rule, the same in every run. */
void nic_descriptor_shuffle(void* pointers, uint32_t count);

/* Starts both rings of the queue whose registers are at `page`. The NIC gets no descriptor yet. */
void nic_descriptor_start(uint64_t page, const struct nic_descriptor_rings* rings);
