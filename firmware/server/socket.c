/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/server/socket.c */
#include "firmware/server/socket.h"

#include "firmware/kernel/statistics.h"

void socket_setup(struct socket* s, uint16_t port) {
  s->lock = (struct spinlock){0, 0};
  s->port = port;
  s->first = s->count = 0;
  s->is_closed = false;
  s->waiting = (struct task_queue){0, 0};
  s->overflows = 0;
  statistics_add("socket_full", &s->overflows);
}

struct task* socket_take_waiting(struct socket* s) {
  spinlock_take(&s->lock);
  struct task* t = task_queue_take(&s->waiting);
  spinlock_give(&s->lock);
  return t;
}

bool socket_close(struct socket* s) {
  spinlock_take(&s->lock);
  const bool was_closed = s->is_closed;
  s->is_closed = true;
  spinlock_give(&s->lock);
  return !was_closed;
}

bool socket_put(struct socket* s, const struct net_datagram* datagram, uint32_t core) {
  spinlock_take(&s->lock);
  const bool has_room = !s->is_closed && s->count < SOCKET_DATAGRAMS_MOST;
  if (has_room) {
    struct socket_datagram* d = &s->datagrams[(s->first + s->count++) % SOCKET_DATAGRAMS_MOST];
    d->datagram = *datagram;
    d->core = core;
  } else if (!s->is_closed) {
    s->overflows++;
  }
  spinlock_give(&s->lock);
  return has_room;
}

bool socket_take(struct socket* s, struct task* task, struct socket_datagram* datagram) {
  spinlock_take(&s->lock);
  const bool is_there = s->count != 0;
  if (is_there) {
    *datagram = s->datagrams[s->first];
    s->first = (s->first + 1) % SOCKET_DATAGRAMS_MOST;
    s->count--;
  } else {
    task_queue_put(&s->waiting, task);
  }
  spinlock_give(&s->lock);
  return is_there;
}
