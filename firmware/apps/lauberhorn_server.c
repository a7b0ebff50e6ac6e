/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/apps/lauberhorn_server.c: a kernel that serves RPC programs through Lauberhorn. Each program is a process in
 * user mode. Each hart has a kernel thread, which waits at its kernel line; a call that comes there is handed to the
 * call's process, whose thread goes on at its own lines until the NIC wants the hart elsewhere. A hart that the NIC
 * gives back does batch work until the NIC interrupts it. No hart has a tick. */
#include "firmware/boot/boot.h"
#include "firmware/drivers/lauberhorn/lauberhorn.h"
#include "firmware/drivers/lauberhorn/services.h"
#include "firmware/drivers/lauberhorn/workers.h"
#include "firmware/drivers/nic.h"
#include "firmware/kernel/account.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/exit_codes.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/start.h"
#include "firmware/kernel/statistics.h"
#include "firmware/memory/translation.h"
#include "firmware/process/batch.h"
#include "firmware/process/system_call.h"
#include "firmware/process/time_slice.h"
#include "firmware/rpc/instances.h"
#include "firmware/rpc/port.h"
#include "firmware/user/service.h"

static struct lauberhorn lauberhorn;
static struct nic frames;                                    /* those for the kernel */
static struct server servers[LAUBERHORN_PROCESSES_MOST + 1]; /* by process */

/* Messages of the kernel line, of which one may have been wanted for, between turns of those set aside. */
#define TURN 16u

struct core {
  uint32_t hart;
  struct lauberhorn_lines lines;
  volatile bool is_wanted; /* elsewhere: an interrupt has ended the last turn of a thread */
  bool is_fetched;         /* a process has ended on another hart */
  uint64_t interrupt;      /* where other harts write interrupt_data to; 0: the hart takes no interrupts */
  uint32_t interrupt_data;
  struct worker* handed;             /* has the call of the kernel line */
  struct worker *aside, *last_aside; /* in the middle of their handlers, the first one longest; 0: none */
  struct rpc_port port;
  struct {
    uint64_t handed, frames, quiescent, preempted, ended, refused, given_back;
  } counters;
};
static struct core* cores[LAUB_CORES_MOST];

/* what: LAUB_KERNEL_DONE, or 0. */
static void tell(const struct core* c, uint64_t what) {
  if (c->aside != 0) what |= LAUB_KERNEL_NO_WAIT;
  if (batch_has_work(c->hart)) what |= LAUB_KERNEL_HAS_WORK;
  lauberhorn_set(&lauberhorn, LAUB_KERNEL_LINE(c->hart), what);
}

/* --------------------------------------------------------------------------------------------------------------------
 * The call of the kernel line */

static void hand(struct core* c, struct worker* w, uint32_t word) {
  const volatile uint64_t* line = lauberhorn_at(&c->lines, 0);
  sluice_bind(w->handed, (const void*)line);
  stage(copy, w->handed);
  for (unsigned i = 0; i < LAUB_HEAD_BYTES / 8; i++) ((uint64_t*)w->handed)[i] = line[i];
  lauberhorn_read(&c->lines, (uint64_t*)(w->handed + LAUB_HEAD_BYTES), lauberhorn_length(word));
  stage(context_switch, w->handed);
  if (w->has_begun) thread_answer(&w->thread, SERVICE_CALLED);
  c->handed = w;
  c->counters.handed++;
}

static void write_reply(struct core* c, uint32_t type, uint32_t status, uint32_t bytes) {
  *(volatile uint32_t*)lauberhorn_at(&c->lines, LAUB_HEAD_XID) = status;
  *(volatile uint32_t*)lauberhorn_at(&c->lines, LAUB_HEAD_WORD) = lauberhorn_word(type, bytes);
}

static uint32_t result_room(const struct core* c) { return lauberhorn_inline(&c->lines) + LAUB_OVERFLOW_BYTES; }

/* What stands in the kernel line is the answer to its call. */
static void finish(struct core* c) {
  lauberhorn_next(&c->lines);
  c->handed = 0;
  tell(c, LAUB_KERNEL_DONE);
}

/* The kernel line is wanted for others: the call's answer will go by the transmit lines. */
static void keep(struct core* c, struct worker* w) {
  w->has_kept = true;
  w->session = *(volatile uint32_t*)lauberhorn_at(&c->lines, LAUB_HEAD_SESSION) >> 16;
  write_reply(c, LAUB_KEPT, 0, 0);
  finish(c);
}

static void answer_kept(const struct core* c, struct worker* w, int64_t reply) {
  w->has_kept = false;
  if (reply == SERVICE_KEPT) return lauberhorn_frames_keep(&frames, c->hart, w->session, w->handed);
  const bool is_result = reply >= 0 && reply <= (int64_t)result_room(c);
  const uint32_t status = is_result ? RPC_SUCCESS : reply < 0 && reply > -8 ? (uint32_t)-reply : RPC_SYSTEM_ERR;
  lauberhorn_frames_reply(&frames, c->hart, w->session, status, (const uint64_t*)(w->handed + LAUB_HEAD_BYTES),
                          is_result ? (uint32_t)reply : 0);
}

/* The process has answered: reply is as the handler has returned it. */
static void answer(struct core* c, const struct worker* w, int64_t reply) {
  stage(copy, w->handed);
  if (reply > (int64_t)result_room(c)) {
    write_reply(c, LAUB_ERROR_REPLY, 0, 0);
  } else if (reply >= 0) {
    lauberhorn_write(&c->lines, (const uint64_t*)(w->handed + LAUB_HEAD_BYTES), (uint32_t)reply);
    write_reply(c, LAUB_REPLY, RPC_SUCCESS, (uint32_t)reply);
    lauberhorn_bind(&c->lines, w->handed, (uint32_t)reply);
  } else if (reply == SERVICE_KEPT) {
    write_reply(c, LAUB_KEPT, LAUB_KEPT_FOR_RESULT, 0);
  } else if (reply != RPC_REFUSE_SILENTLY) {
    write_reply(c, LAUB_REPLY, (uint32_t)-reply, 0);
  }
  stage(doorbell, w->handed);
  finish(c);
}

/* --------------------------------------------------------------------------------------------------------------------
 * Workers */

/* The thread has nothing to do. Returns whether it goes on. */
static bool wait(struct core* c, struct worker* w) {
  const int64_t reply = (int64_t)thread_argument(&w->thread, 0);
  if (!w->has_begun) { /* what it is to do has been handed to it */
    w->has_begun = true;
    thread_answer(&w->thread, SERVICE_CALLED);
    return true;
  }
  const bool was_called = c->handed == w || w->has_kept;
  if (w->has_kept)
    answer_kept(c, w, reply);
  else if (was_called)
    answer(c, w, reply);
  if (was_called && c->aside == 0) {
    thread_answer(&w->thread, SERVICE_GO_ON);
    return true;
  }
  worker_give(w);
  return false;
}

/* A process has ended: brings the other cores into the kernel, which may be in it or have threads of it set aside. */
static void fetch(const struct core* c) {
  for (uint32_t i = 0; i < LAUB_CORES_MOST; i++) {
    const struct core* other = cores[i];
    if (other != 0 && other != c && other->interrupt != 0)
      *(volatile uint32_t*)other->interrupt = other->interrupt_data;
  }
}

/* The worker's process has ended. */
static void lose(struct core* c, struct worker* w) {
  if (w->has_kept) {
    answer_kept(c, w, -(int64_t)RPC_SYSTEM_ERR);
  } else if (c->handed == w) {
    write_reply(c, LAUB_ERROR_REPLY, 0, 0);
    finish(c);
  }
  worker_lose_lines(w);
  c->counters.ended++;
  fetch(c);
  worker_give(w);
}

static void put_aside(struct core* c, struct worker* w) {
  w->next = 0;
  *(c->aside == 0 ? &c->aside : &c->last_aside->next) = w;
  c->last_aside = w;
}

static void set_aside(struct core* c, struct worker* w) {
  c->counters.preempted++;
  put_aside(c, w);
  if (c->handed == w)
    keep(c, w);
  else
    tell(c, 0);
  lauberhorn_set(&lauberhorn, LAUB_RUNS(c->hart), 0);
}

/* The threads of processes that have ended, which this hart has set aside, are done with. */
static void lose_aside(struct core* c) {
  struct worker* w = c->aside;
  if (w == 0) return;
  c->aside = 0;
  for (struct worker* next; w != 0; w = next) {
    next = w->next;
    if (process_lives(w->thread.process))
      put_aside(c, w);
    else
      lose(c, w);
  }
  if (c->aside == 0) tell(c, 0);
}

static uint64_t find_service(const struct thread* t) {
  const int32_t number = lauberhorn_find_service((uint32_t)thread_argument(t, 0), (uint32_t)thread_argument(t, 1));
  return number < 0 ? SYSTEM_CALL_ERROR : (uint64_t)number;
}

static void end_quantum(void* core) {
  struct core* c = core;
  c->is_wanted = c->aside != 0;
}

/* Runs a worker until its hart is wanted elsewhere, or its process has ended. */
static void run(struct core* c, struct worker* w) {
  if (c->aside != 0) interrupt_at(time_slice_end(), end_quantum, c);
  for (;;) {
    c->is_wanted = c->is_fetched = false;
    const enum thread_event event = thread_run(&w->thread);
    account(kernel);
    if (event == THREAD_ENDED) return lose(c, w);
    if (c->is_fetched) lose_aside(c);
    if (c->is_wanted || (event == THREAD_YIELDED && c->aside != 0)) return set_aside(c, w);
    if (event != THREAD_CALLS) continue;
    if (thread_call(&w->thread) == SYSTEM_CALL_WAIT) {
      if (!wait(c, w)) return;
    } else if (thread_call(&w->thread) == SYSTEM_CALL_TRYAGAIN) {
      c->counters.quiescent++; /* the hart passes the kernel's scheduling point */
      thread_answer(&w->thread, c->aside == 0 ? SERVICE_GO_ON : SERVICE_GO_BACK);
    } else if (thread_call(&w->thread) == SYSTEM_CALL_FIND_SERVICE) {
      thread_answer(&w->thread, find_service(&w->thread));
    } else {
      thread_answer(&w->thread, SYSTEM_CALL_ERROR);
    }
  }
}

/* What the hart was wanted for has been done: the handler that was set aside first goes on. */
static void go_on(struct core* c) {
  struct worker* w = c->aside;
  c->aside = w->next;
  tell(c, 0);
  lauberhorn_set(&lauberhorn, LAUB_RUNS(c->hart), w->server->number);
  run(c, w);
}

/* A worker for a call. A process that ends is soon gone: its threads are fetched from other harts. */
static struct worker* find_worker(struct core* c, struct server* s) {
  for (;;) {
    bool is_ending;
    struct worker* w = server_take(s, c->hart, &is_ending);
    if (!is_ending) return w;
    lose_aside(c);
  }
}

static void serve_call(struct core* c, uint32_t word) {
  const uint32_t of = *(volatile uint32_t*)lauberhorn_at(&c->lines, LAUB_HEAD_PROCESS);
  struct server* s = &servers[of & 0xffff];
  struct worker* w = find_worker(c, s);
  /* A result of a call that the process before has made is none for this one. */
  const bool is_stale = w != 0 && lauberhorn_type(word) == LAUB_CONTINUE && of >> 16 != s->instance;
  if (is_stale) worker_give(w);
  if (w == 0 || is_stale) { /* no worker: all are in the middle of a handler, or the process cannot begin */
    c->counters.refused++;
    write_reply(c, LAUB_ERROR_REPLY, 0, 0);
    return finish(c);
  }
  hand(c, w, word);
  run(c, w);
}

static void serve_frame(struct core* c, uint32_t word) {
  account(networking);
  c->counters.frames++;
  lauberhorn_frames_offer(&frames, c->hart, &c->lines, lauberhorn_length(word));
  lauberhorn_next(&c->lines);
  rpc_take_turn(&c->port);
}

static bool is_wanted(const void* core) { return ((const struct core*)core)->is_wanted; }

/* The NIC has nothing for the hart. It interrupts the batch work when it has. */
static void do_batch(struct core* c) {
  c->counters.given_back++;
  c->is_wanted = false;
  lauberhorn_set(&lauberhorn, LAUB_RUNS(c->hart), LAUB_RUNS_BATCH);
  batch_run(c->hart, is_wanted, c);
}

static void serve(struct core* c) {
  for (uint32_t turn = 0;; turn++) {
    account(parked);
    const uint32_t word = lauberhorn_wait(&c->lines);
    account(kernel);
    if (lauberhorn_is_request(word)) {
      serve_call(c, word);
    } else if (lauberhorn_type(word) == LAUB_FRAME) {
      serve_frame(c, word);
    } else { /* TRYAGAIN or RETIRE */
      c->counters.quiescent++;
      lauberhorn_next(&c->lines);
      if (lauberhorn_type(word) == LAUB_RETIRE_THREAD) do_batch(c);
    }
    if (c->aside == 0) {
      turn = 0;
    } else if (word == 0 || turn >= TURN) {
      turn = 0;
      go_on(c);
    }
  }
}

/* --------------------------------------------------------------------------------------------------------------------
 * Set-up */

static void preempt(void* core) { ((struct core*)core)->is_wanted = true; }
static void come_back(void* core) { ((struct core*)core)->is_fetched = true; }

/* In the stage `poll` of a call that the kernel line brings, the kernel takes a thread of its process; the switch ends
 * in the handler. The NIC finds processes and cores, and tells so. */
static void tell_steps(uint32_t hart) {
  rpc_tell_steps(&cores[hart]->port);
  does(poll, schedule);
  does(context_switch, context_switch);
  does(context_switch, jump);
  tells(identify_process);
  tells(find_core);
  tells(schedule);
  tells(context_switch);
}

static void start(uint32_t hart) {
  translation_setup();
  tell_steps(hart);
  if (board.interrupts == BOARD_INTERRUPTS_AIA) {
    uint64_t address;
    uint32_t data;
    interrupt_setup_hart(hart);
    interrupt_connect(hart, 0, come_back, cores[hart], &address, &data);
    cores[hart]->interrupt_data = data;
    cores[hart]->interrupt = address;
    interrupt_connect(hart, 0, preempt, cores[hart], &address, &data);
    lauberhorn_set(&lauberhorn, LAUB_INTERRUPT(hart) + 8, data);
    lauberhorn_set(&lauberhorn, LAUB_INTERRUPT(hart), address);
  }
  tell(cores[hart], 0);
  serve(cores[hart]);
}

static void secondary_main(unsigned long hart, void* unused) {
  (void)unused;
  hart_set_id((unsigned)hart);
  start((uint32_t)hart);
}

static void add_core(uint32_t hart) {
  struct core* c = memory_reserve(sizeof *c, 64);
  *c = (struct core){.hart = hart, .lines = lauberhorn_kernel(&lauberhorn, hart, LAUB_RX)};
  rpc_port_setup(&c->port, &frames, hart, lauberhorn.ipv4);
  statistics_add("handed frames quiescent preempted ended refused given_back", &c->counters.handed);
  _Static_assert(sizeof c->counters == 7 * sizeof(uint64_t), "a name for each");
  cores[hart] = c;
}

int application_main(void) {
  rpc_instances_setup();
  batch_find();
  time_slice_find();
  print("sluice lauberhorn-server: %u harts, %lu MiB\n", board.harts, (unsigned long)board.memory_size >> 20);
  if (!lauberhorn_find(&lauberhorn)) {
    print("no Lauberhorn: nothing to serve\n");
    return EXIT_NO_NIC;
  }
  const uint32_t harts = board.harts < lauberhorn.cores ? board.harts : lauberhorn.cores;
  const struct process_image* images[LAUBERHORN_PROCESSES_MOST + 1];
  rpc_programs_setup();
  frames.settings = NIC_DEFAULT_SETTINGS;
  frames.settings.ipv4 = lauberhorn.ipv4;
  lauberhorn_frames_setup(&lauberhorn, &frames, false);
  /* Each that serves a process has an end-point of its own there. */
  const uint32_t serving = harts < lauberhorn.workers ? harts : lauberhorn.workers;
  const uint32_t processes = lauberhorn_services_setup(&lauberhorn, serving, images);
  for (uint32_t p = 1; p <= processes; p++) server_setup(&servers[p], &lauberhorn, (uint16_t)p, serving, images[p]);
  batch_setup(harts, (uint16_t)(processes + 1), false);
  for (uint32_t hart = 0; hart < harts; hart++) add_core(hart);
  print("Lauberhorn, %u processes, %u harts; serving on %u.%u.%u.%u\n", processes, harts, lauberhorn.ipv4 >> 24,
        lauberhorn.ipv4 >> 16 & 255, lauberhorn.ipv4 >> 8 & 255, lauberhorn.ipv4 & 255);
  for (uint32_t hart = 1; hart < harts; hart++) hart_start(hart, secondary_main);
  start(0);
  return 0;
}
