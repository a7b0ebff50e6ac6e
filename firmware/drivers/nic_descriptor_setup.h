/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/nic_descriptor_setup.h: how the descriptor NIC (models/nic/descriptor/descriptor_regs.h) is started:
 * what its drivers have in common. open(), then connect() where there are interrupts and start() for each queue, then
 * enable(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/drivers/nic.h"
#include "firmware/drivers/pcie.h"

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

/* Resets the NIC, reads what it is, and takes away queues that it cannot have. longest: bytes of the longest frame that
 * the driver's buffers have room for. Says why if it returns false. */
bool nic_descriptor_open(struct nic* nic, const struct pcie_function* function, uint32_t longest);

/* Queue `index` shall interrupt: on_message is called for an MSI-X message, on_wire for INTx. */
void nic_descriptor_connect(const struct pcie_function* function, unsigned index, uint32_t moderation,
                            void (*on_message)(void*), void (*on_wire)(void*), void* context);

/* Starts both rings of a queue, of which the NIC gets no descriptor yet. */
void nic_descriptor_start(uint64_t bar, unsigned index, const struct nic_descriptor_rings* rings);

/* Lets frames in and out. False if the NIC has refused something since open(). */
bool nic_descriptor_enable(struct nic* nic, const struct pcie_function* function);
