/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/nic_descriptor_rings.h: the descriptors of the descriptor NIC as its drivers use them. */
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
