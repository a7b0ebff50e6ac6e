/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/user/by_socket.c: a process whose calls the kernel receives and whose replies it sends. */
#include "firmware/kernel/account.h"
#include "firmware/kernel/memory.h"
#include "firmware/process/address_space.h"
#include "firmware/rpc/port.h"
#include "firmware/user/service.h"
#include "firmware/user/socket_message.h"
#include "firmware/user/system.h"
#include "firmware/user/ways.h"

#define BUFFER_BYTES 16384u /* more than the longest UDP payload */

/* A thread's. The port's interface gives it to whom a datagram is answered by. */
struct socket {
  struct nic_queue queue;
  struct rpc_port port;
  struct socket_message message;
  struct udp_header udp; /* of the datagram, as far as RPC looks at it */
};

static void release(struct nic_queue* queue, uint8_t* data) { (void)queue, (void)data; }
static const struct nic_driver driver = {.release = release};

static void reply(struct net_interface* interface, const struct net_datagram* datagram, void* payload,
                  uint32_t length) {
  struct socket* s = (struct socket*)interface->queue;
  (void)datagram;
  struct socket_message* m = &s->message;
  m->payload = (uintptr_t)payload;
  m->length = length;
  sluice_bind(payload, datagram->frame);
  stage(system_call, payload);
  system_call(SYSTEM_CALL_SEND, (uintptr_t)m, 0);
}

static struct socket* open_socket(const struct nic* nic, uint32_t instance) {
  struct socket* s = memory_reserve(sizeof *s, PAGE_BYTES);
  s->queue.driver = &driver;
  struct nic own = *nic;
  own.queue[0] = &s->queue;
  own.buffer_bytes = BUFFER_BYTES;
  rpc_port_setup(&s->port, &own, 0, nic->settings.ipv4);
  s->udp = (struct udp_header){.destination = to_be16((uint16_t)(RPC_PORT_SERVICES + instance))};
  return s;
}

void serve_by_socket(void) {
  const struct service_start* start = (const struct service_start*)SERVICE_START;
  struct socket* s = open_socket(&start->nic, start->instance);
  uint8_t* buffer = memory_reserve(BUFFER_BYTES, BUFFER_BYTES);
  for (uint32_t i = 0; i < BUFFER_BYTES; i += PAGE_BYTES) *(volatile uint8_t*)(buffer + i) = 0; /* the page is there */
  struct net_datagram datagram = {.frame = buffer, .udp = &s->udp, .payload = buffer, .reply = reply};
  does(unmarshal, unmarshal); /* and what is done in supervisor mode is the kernel's */
  for (;;) {
    s->message.payload = (uintptr_t)buffer;
    s->message.room = BUFFER_BYTES;
    if (system_call(SYSTEM_CALL_RECEIVE, (uintptr_t)&s->message, 0) != 0) continue;
    account(networking);
    datagram.length = s->message.length;
    rpc_serve_datagram(&s->port, &datagram);
  }
}
