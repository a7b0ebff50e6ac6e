/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/descriptor/nic.h: the descriptor-ring NIC (models/nic/descriptor/descriptor_regs.h), for images that
 * set one up themselves. */
#pragma once

#include "firmware/drivers/nic.h"
#include "firmware/drivers/pcie.h"

bool nic_descriptor_setup(struct nic* nic, const struct pcie_function* function);

/* take() of a queue that nic_descriptor_setup() made. */
uint8_t* nic_descriptor_take_buffer(struct nic_queue* queue);

/* Time stamping for queues that nic_descriptor_setup() made. */
const struct nic_stamping* nic_descriptor_stamping(void);
