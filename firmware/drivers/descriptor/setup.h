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

/* Lets frames in and out. False if the NIC has refused something since open(). */
bool nic_descriptor_enable(struct nic* nic, const struct pcie_function* function);
