/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/server/delivery.c */
#include "firmware/server/delivery.h"

#include "firmware/kernel/account.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/likely.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/statistics.h"
#include "firmware/process/batch.h"
#include "firmware/process/scheduler.h"
#include "firmware/process/system_call.h"
#include "firmware/process/time_slice.h"
#include "firmware/rpc/port.h"
#include "firmware/server/messages.h"
#include "firmware/server/socket.h"
#include "firmware/user/service.h"

/* Bursts that are taken before threads have their turn again. */
#define BURSTS 2u

struct service_thread {
  struct task task;
  struct socket* socket;
  bool receives; /* waits for a datagram */
};

struct core {
  uint32_t hart;
  struct nic_queue* queue;
  const volatile uint32_t* scheduled; /* the queue has interrupted */
  bool has_more;                      /* than the last bursts */
  bool is_called;                     /* by another hart */
  bool has_slice, is_over;            /* a time slice runs, and is over */
  uint32_t held;                      /* datagrams of the queue in sockets */
  uint8_t* returned;                  /* their buffers, of which other harts have made a list */
  struct rpc_port port;               /* what is for no process */
  struct {
    uint64_t delivered, wakeups, sent, preempted, held_back, bad_calls, ended;
  } counters;
};
static struct core* cores[BOOT_MAX_HARTS];
static struct socket* sockets[RPC_INSTANCES_MOST]; /* by UDP port from RPC_PORT_SERVICES on */

/* --------------------------------------------------------------------------------------------------------------------
 * Buffers. Only its own hart touches a queue of the NIC. */

/* A buffer in the list begins with the address of the next. */
static uint8_t** next_of(uint8_t* frame) { return (uint8_t**)((uintptr_t)frame & ~(uintptr_t)(NIC_BUFFER_BYTES - 1)); }

static void release(struct core* c, uint8_t* frame) {
  c->held--;
  c->queue->driver->release(c->queue, frame);
}

/* The core whose queue has brought the frame may have it again. */
static void give_back(struct core* c, uint8_t* frame, uint32_t owner) {
  if (likely(owner == c->hart)) return release(c, frame);
  uint8_t** list = &cores[owner]->returned;
  uint8_t* first = __atomic_load_n(list, __ATOMIC_RELAXED);
  do {
    *next_of(frame) = first;
  } while (!__atomic_compare_exchange_n(list, &first, frame, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static void take_returned(struct core* c) {
  if (likely(__atomic_load_n(&c->returned, __ATOMIC_RELAXED) == 0)) return;
  uint8_t* frame = __atomic_exchange_n(&c->returned, 0, __ATOMIC_ACQUIRE);
  for (uint8_t* next; frame != 0; frame = next) {
    next = *next_of(frame);
    release(c, frame);
  }
}

/* --------------------------------------------------------------------------------------------------------------------
 * From the NIC to sockets */

static struct socket* socket_at(uint16_t udp_port) {
  const uint32_t instance = (uint32_t)from_be16(udp_port) - RPC_PORT_SERVICES;
  return instance < RPC_INSTANCES_MOST ? sockets[instance] : 0;
}

static void drop(struct core* c, const struct net_datagram* datagram) {
  sluice_drop(SLUICE_DROP_socket_full, datagram->frame);
  net_drop(&c->port.interface, datagram);
}

/* Where the thread runs is decided before others can see the datagram: they may take it at once. */
static void deliver(struct core* c, const struct net_datagram* datagram) {
  stage(schedule_decision, datagram->frame);
  struct socket* s = socket_at(datagram->udp->destination);
  if (s == 0 || s->is_closed || datagram->reply != 0) return rpc_serve_datagram(&c->port, datagram);
  if (c->held >= DELIVERY_HELD_MOST && s->count != 0) {
    c->counters.held_back++;
    return drop(c, datagram);
  }
  struct task* wake = socket_take_waiting(s);
  uint32_t core = wake != 0 ? scheduler_find_core(wake) : 0;
  stage(wait_core, datagram->frame);
  const bool is_put = socket_put(s, datagram, c->hart);
  c->held += is_put;
  c->counters.delivered += is_put;
  if (!is_put) drop(c, datagram);
  if (wake == 0) { /* one may have come to wait between the looks for one and for the datagram */
    wake = socket_take_waiting(s);
    if (wake == 0) return;
    core = scheduler_find_core(wake);
  }
  c->counters.wakeups++;
  scheduler_put(core, wake);
}

/* Looks at the NIC's queue if it has interrupted, until it is empty or threads are to have a turn. */
static void look(struct core* c) {
  if (likely(*c->scheduled == 0 && !c->has_more)) return;
  account(networking);
  take_returned(c);
  c->has_more = true;
  for (uint32_t i = 0; i < BURSTS && c->has_more; i++) {
    const uint32_t count = c->queue->driver->receive(c->queue, c->port.frames);
    struct net_datagram datagram;
    for (uint32_t f = 0; f < count; f++)
      if (net_receive(&c->port.interface, c->port.frames[f], &datagram)) deliver(c, &datagram);
    c->has_more = count == NIC_BURST;
  }
  c->queue->driver->flush(c->queue);
  if (!c->has_more) c->scheduled = c->queue->driver->arm(c->queue);
  account(kernel);
}

/* --------------------------------------------------------------------------------------------------------------------
 * System calls */

/* The thread takes a datagram, or sleeps until there may be one: then false. */
static bool receive(struct core* c, struct service_thread* t) {
  struct socket_datagram d;
  t->receives = true; /* before another hart may find it waiting */
  if (!socket_take(t->socket, &t->task, &d)) return false;
  t->receives = false;
  uint8_t* frame = d.datagram.frame;
  const uint64_t error = message_receive(&t->task.thread, &d.datagram);
  thread_answer(&t->task.thread, error);
  c->counters.bad_calls += error != 0;
  give_back(c, frame, d.core);
  return true;
}

static uint64_t send(struct core* c, const struct thread* t, const struct socket* s) {
  struct nic_queue* q = c->queue;
  uint8_t* frame = q->driver->take(q);
  if (unlikely(frame == 0)) {
    take_returned(c);
    frame = q->driver->take(q);
    if (frame == 0) return SYSTEM_CALL_ERROR;
  }
  struct net_peer peer;
  const uint32_t most = net_reply_room(&c->port.interface, frame + UDP_FRAME_HEADER_BYTES);
  const int64_t length = message_send(t, frame + UDP_FRAME_HEADER_BYTES, most, &peer);
  if (length < 0) {
    q->driver->release(q, frame);
    return SYSTEM_CALL_ERROR;
  }
  stage(kernel_protocol, frame);
  c->counters.sent++;
  net_send(&c->port.interface, &peer, s->port, frame + UDP_FRAME_HEADER_BYTES, (uint32_t)length);
  q->driver->flush(q);
  return 0;
}

/* False: the thread sleeps. */
static bool serve_call(struct core* c, struct service_thread* t) {
  struct thread* thread = &t->task.thread;
  if (thread_call(thread) == SYSTEM_CALL_RECEIVE) return receive(c, t);
  const uint64_t error = thread_call(thread) == SYSTEM_CALL_SEND ? send(c, thread, t->socket) : SYSTEM_CALL_ERROR;
  thread_answer(thread, error);
  c->counters.bad_calls += error != 0;
  return true;
}

/* --------------------------------------------------------------------------------------------------------------------
 * Threads */

static void end_slice(void* core) { ((struct core*)core)->is_over = true; }
static void be_called(void* core) { ((struct core*)core)->is_called = true; }

/* The thread's process has ended: what waits for it is lost. Each of its threads comes here that was not asleep. */
static void lose(struct core* c, struct service_thread* t) {
  struct socket_datagram d;
  if (socket_close(t->socket)) c->counters.ended++;
  while (socket_take(t->socket, &t->task, &d)) give_back(c, d.datagram.frame, d.core);
}

/* A slice runs while another thread waits for the hart, or frames do that raise no interrupt. */
static void limit(struct core* c) {
  if (c->has_slice || !(scheduler_has_task(c->hart) || c->has_more)) return;
  c->has_slice = true;
  c->is_over = false;
  interrupt_at(time_slice_end(), end_slice, c);
}

static void run(struct core* c, struct service_thread* t) {
  c->has_slice = false;
  interrupt_never();
  if (t->receives && !receive(c, t)) return; /* another thread was faster */
  for (;;) {
    limit(c);
    account(application);
    const enum thread_event event = thread_run(&t->task.thread);
    account(kernel);
    if (unlikely(event == THREAD_ENDED)) return lose(c, t);
    look(c);
    if (event == THREAD_CALLS && !serve_call(c, t)) return;
    if (!c->is_over && event != THREAD_YIELDED) continue;
    c->has_slice = c->is_over = false;
    if (!scheduler_has_task(c->hart)) continue;
    c->counters.preempted++;
    return scheduler_put(c->hart, &t->task);
  }
}

static bool is_wanted(const void* core) {
  const struct core* c = core;
  return c->is_called || *c->scheduled != 0;
}

/* No thread is ready. Interrupts are let in here, and in user mode, only. */
static void rest(struct core* c) {
  interrupt_never();
  if (batch_has_work(c->hart)) return batch_run(c->hart, is_wanted, c);
  interrupt_idle(c->scheduled);
}

static void tell_steps(const struct core* c) {
  rpc_tell_steps(&c->port);
  does(schedule_decision, identify_process);
  does(schedule_decision, find_core);
  does(schedule_decision, schedule);
  does(context_switch, context_switch);
}

void delivery_serve(uint32_t hart) {
  struct core* c = cores[hart];
  uint64_t address = 0;
  uint32_t data = 0;
  tell_steps(c);
  interrupt_setup_hart(hart);
  if (board.interrupts == BOARD_INTERRUPTS_AIA) interrupt_connect(hart, 0, be_called, c, &address, &data);
  c->scheduled = c->queue->driver->arm(c->queue);
  scheduler_start(hart, address, data);
  for (;;) {
    look(c);
    c->is_called = false;
    struct task* t = scheduler_take(hart);
    if (t != 0)
      run(c, (struct service_thread*)t);
    else if (!c->has_more)
      rest(c);
  }
}

/* --------------------------------------------------------------------------------------------------------------------
 * Set-up */

static void add_core(const struct nic* nic, uint32_t hart) {
  struct core* c = memory_reserve(sizeof *c, 64);
  *c = (struct core){.hart = hart, .queue = nic->queue[hart]};
  rpc_port_setup(&c->port, nic, hart, nic->settings.ipv4);
  statistics_add("delivered wakeups sent preempted held_back bad_calls ended", &c->counters.delivered);
  _Static_assert(sizeof c->counters == 7 * sizeof(uint64_t), "a name for each");
  cores[hart] = c;
}

/* The threads are spread over the harts, which run them until they sleep. */
static void add_process(struct server_process* p, uint32_t threads) {
  struct socket* s = memory_reserve(sizeof *s, 64);
  socket_setup(s, to_be16(p->udp_port));
  sockets[p->udp_port - RPC_PORT_SERVICES] = s;
  for (uint32_t i = 0; i < threads; i++) {
    struct service_thread* t = memory_reserve(sizeof *t, 64);
    *t = (struct service_thread){.task.core = i, .socket = s};
    thread_create(&t->task.thread, &p->process, i, SERVICE_BY_SOCKET, board.core_frequency);
    scheduler_put(i, &t->task);
  }
}

void delivery_setup(const struct nic* nic, struct server_process* processes, uint32_t count) {
  const uint32_t threads = nic->queues < SERVICE_THREADS ? nic->queues : SERVICE_THREADS;
  for (uint32_t hart = 0; hart < nic->queues; hart++) add_core(nic, hart);
  for (uint32_t i = 0; i < count; i++) add_process(&processes[i], threads);
}
