/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/descriptor/setup.h: how the descriptor NIC (models/nic/descriptor/descriptor_regs.h) is started:
 * what its drivers have in common. open(), then connect() where there are interrupts and nic_descriptor_start()
 * (rings.h) for each queue, then enable(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/drivers/nic.h"
#include "firmware/drivers/pcie.h"

/* Resets the NIC, reads what it is, and takes away queues that it cannot have. longest: bytes of the longest frame that
 * the driver's buffers have room for. Says why if it returns false. */
bool nic_descriptor_open(struct nic* nic, const struct pcie_function* function, uint32_t longest);

/* Queue `index` shall interrupt: on_message is called for an MSI-X message, on_wire for INTx. */
void nic_descriptor_connect(const struct pcie_function* function, unsigned index, uint32_t moderation,
                            void (*on_message)(void*), void (*on_wire)(void*), void* context);

/* Queue pairs that the NIC has, whether or not the driver uses them. */
uint32_t nic_descriptor_queues(uint64_t bar);

/* Datagrams for this UDP port (in host order) go to the receive queue. rule: below DESC_UDP_RULES. */
void nic_descriptor_steer(uint64_t bar, unsigned rule, uint16_t udp_port, uint32_t queue);

/* Lets frames in and out, unless the settings say `stopped`. False if the NIC has refused something since open(). */
bool nic_descriptor_enable(struct nic* nic, const struct pcie_function* function);
