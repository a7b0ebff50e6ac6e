/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/descriptor/poll.h: how a driver of the descriptor NIC polls. As wait.h, for a driver's struct queue.
 */
#pragma once

#include "firmware/drivers/nic.h"
#include "firmware/kernel/csr.h"
#include "models/nic/descriptor/descriptor_regs.h"

static void wait_polling(struct nic_queue* base) {
  struct queue* q = own(base);
  const volatile struct desc_rx_writeback* done = &q->rx_ring[q->rx_next].done;
  /* The hint tells the core that it spins; the line is fetched again only when the NIC has written it. */
  while ((done->status & DESC_RX_DD) == 0) cpu_pause();
}
