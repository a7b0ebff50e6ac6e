/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/descriptor/wait.h: how a driver of the descriptor NIC waits for frames. Each driver includes
 * this behind its struct queue, whose members have the same names in all of them but other places, own(), and
 * next_frame(): where the next frame will begin. */
#pragma once

#include "firmware/kernel/account.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/interrupt.h"
#include "models/nic/descriptor/descriptor_regs.h"

/* Tells the ledger that a frame's interrupt has reached its handler. A frame is written before its descriptor; while
 * its descriptor is not done, the interrupt belongs to an earlier frame. */
static void note_interrupt(struct queue* q) {
  if (q->rx_ring[q->rx_next].done.status & DESC_RX_DD) stage(demultiplex, next_frame(q));
}

static void on_interrupt(void* context) {
  struct queue* q = context;
  note_interrupt(q);
  q->scheduled = 1;
}

/* Without MSI-X, INTx stays asserted until the vector is no longer pending. The read-back waits until the NIC has
 * cleared it. */
static void on_wired_interrupt(void* context) {
  struct queue* q = context;
  note_interrupt(q);
  *q->vector = DESC_VECTOR_CLEAR_PENDING;
  (void)*q->vector;
  q->scheduled = 1;
}

/* The ring was empty a moment ago. A frame that arrived since then has latched the vector, so unmasking the vector
 * raises the interrupt at once. AUTO_MASK masks it again. */
static const volatile uint32_t* arm(struct nic_queue* base) {
  struct queue* q = own(base);
  q->scheduled = 0;
  *q->vector = DESC_VECTOR_ENABLE | DESC_VECTOR_AUTO_MASK;
  return &q->scheduled;
}

static void wait_interrupt(struct nic_queue* base) {
  const volatile uint32_t* scheduled = arm(base);
  while (*scheduled == 0) interrupt_idle(scheduled);
}
