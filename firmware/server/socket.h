/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/server/socket.h: UDP sockets of the kernel. A datagram stays in the NIC's buffer until a thread takes it;
 * then its payload is copied to the thread's memory, and the buffer is the NIC's again. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/kernel/spinlock.h"
#include "firmware/net/stack.h"
#include "firmware/process/scheduler.h"

#define SOCKET_DATAGRAMS_MOST 256u

struct socket_datagram {
  struct net_datagram datagram;
  uint32_t core; /* whose NIC queue has brought it */
};

struct socket {
  struct spinlock lock;
  uint16_t port; /* as on the wire */
  uint32_t first, count;
  bool is_closed;
  struct task_queue waiting;
  uint64_t overflows; /* datagrams that found it full */
  struct socket_datagram datagrams[SOCKET_DATAGRAMS_MOST];
};

void socket_setup(struct socket* socket, uint16_t port);

/* Takes a task that waits for a datagram; 0: none does. */
struct task* socket_take_waiting(struct socket* socket);

/* Takes no datagrams any more. False: it has been closed before. */
bool socket_close(struct socket* socket);

/* Adds a datagram. False: the socket is closed, or full, which it counts. */
bool socket_put(struct socket* socket, const struct net_datagram* datagram, uint32_t core);

/* Takes the first datagram. False: there is none, and the task waits for one. */
bool socket_take(struct socket* socket, struct task* task, struct socket_datagram* datagram);
