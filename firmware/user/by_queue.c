/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/user/by_queue.c: a process that drives a queue pair of the descriptor NIC itself, with the driver and the
 * protocols that the kernel has (kernel bypass). */
#include "firmware/drivers/descriptor/queue.h"
#include "firmware/kernel/account.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/memory.h"
#include "firmware/process/address_space.h"
#include "firmware/rpc/port.h"
#include "firmware/user/service.h"
#include "firmware/user/system.h"
#include "firmware/user/ways.h"

/* The NIC's rule finds the process; the queue's is its core. */
static void tell_steps(const struct rpc_port* port) {
  rpc_tell_steps(port);
  tells(identify_process);
  tells(find_core);
  tells(schedule);
  tells(context_switch);
}

/* Returns when the queue may have a frame, or the turn has come again. */
static void wait(const struct rpc_port* port, uint32_t idle_polls, uint32_t* idle) {
  struct nic_queue* queue = port->interface.queue;
  account(polling);
  if (idle_polls == 0) {
    queue->driver->wait(queue);
  } else if (++*idle >= idle_polls) {
    *idle = 0;
    yield();
  } else {
    cpu_pause();
  }
}

void serve_by_queue(void) {
  const struct service_start* start = (const struct service_start*)SERVICE_START;
  struct nic nic = start->nic;
  struct queue* q = nic_descriptor_create_queue(&nic.settings);
  q->base.driver = &nic_descriptor_polling;
  nic.queue[0] = &q->base;
  nic_descriptor_start_queue(q, SERVICE_QUEUE, nic_descriptor_room(&nic.settings));
  struct rpc_port* port = memory_reserve(sizeof *port, PAGE_BYTES); /* its counters lie in one page */
  rpc_port_setup(port, &nic, 0, nic.settings.ipv4);
  tell_steps(port);
  yield(); /* the kernel waits for that */
  for (uint32_t idle = 0;;) {
    if (rpc_take_turn(port))
      idle = 0;
    else
      wait(port, start->idle_polls, &idle);
  }
}
