/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/rpc/turns.c: one hart serves the ports of several NICs. */
#include "firmware/kernel/csr.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/rpc/port.h"

/* All queues were empty a moment ago. Only interrupt_idle() lets interrupts in, so none can come between the last look
 * at the queues and the sleep. */
static void sleep(struct rpc_port* const* ports, unsigned count) {
  const volatile uint32_t* raised[NIC_MAX];
  for (unsigned i = 0; i < count; i++) {
    struct nic_queue* queue = ports[i]->interface.queue;
    raised[i] = queue->driver->arm(queue);
  }
  for (;;) {
    for (unsigned i = 0; i < count; i++) {
      if (*raised[i] != 0) return;
    }
    interrupt_idle(raised[0]);
  }
}

__attribute__((noinline)) void rpc_serve_all(struct rpc_port* const* ports, unsigned count) {
  bool all_have_interrupts = true;
  for (unsigned i = 0; i < count; i++) {
    if (ports[i]->interface.queue->driver->arm == 0) all_have_interrupts = false;
  }
  for (;;) {
    bool busy = false;
    for (unsigned i = 0; i < count; i++) busy |= rpc_take_turn(ports[i]);
    if (busy) continue;
    account(polling);
    if (all_have_interrupts) {
      sleep(ports, count);
    } else {
      cpu_pause();
    }
  }
}
