/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/apps/lauberhorn_server.c: a kernel that serves RPC programs through Lauberhorn. Each program is a process in
 * user mode. Each hart has a kernel thread, which waits at its kernel line; a call that comes there is handed to the
 * call's process, whose thread goes on at its own lines until the NIC wants the hart elsewhere. No hart has a tick. */
#include "firmware/boot/boot.h"
#include "firmware/drivers/lauberhorn/lauberhorn.h"
#include "firmware/drivers/lauberhorn/services.h"
#include "firmware/drivers/lauberhorn/workers.h"
#include "firmware/drivers/nic.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/exit_codes.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/start.h"
#include "firmware/kernel/statistics.h"
#include "firmware/memory/translation.h"
#include "firmware/process/system_call.h"
#include "firmware/rpc/port.h"
#include "firmware/user/service.h"

static struct lauberhorn lauberhorn;
static struct nic frames;                                   /* those for the kernel */
static struct server servers[LAUBERHORN_PROGRAMS_MOST + 1]; /* by process */

#define ASIDE_MOST 8u
#define TURN \
  16u /* messages of the kernel line, of which one may have been wanted for, between turns of those set aside */

struct core {
  uint32_t hart;
  struct lauberhorn_lines lines;
  struct worker* handed; /* has the call of the kernel line */
  /* In the middle of their handlers, the first one longest. */
  struct worker* aside[ASIDE_MOST];
  uint32_t asides;
  struct rpc_port port;
  struct {
    uint64_t handed, frames, quiescent, preempted, ended, refused;
  } counters;
};
static struct core* cores[LAUB_CORES_MOST];

/* what: LAUB_KERNEL_DONE, or 0. */
static void tell(const struct core* c, uint64_t what) {
  lauberhorn_set(&lauberhorn, LAUB_KERNEL_LINE(c->hart), what | (c->asides != 0 ? LAUB_KERNEL_NO_WAIT : 0));
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
  *(volatile uint32_t*)lauberhorn_at(&c->lines, LAUB_HEAD_WORD) = lauberhorn_word(LAUB_KEPT, 0);
  finish(c);
}

static void answer_kept(const struct core* c, struct worker* w, int64_t reply) {
  const bool is_result = reply >= 0 && reply <= (int64_t)result_room(c);
  const uint32_t status = is_result ? RPC_SUCCESS : reply < 0 && reply > -8 ? (uint32_t)-reply : RPC_SYSTEM_ERR;
  lauberhorn_frames_reply(&frames, c->hart, w->session, status, (const uint64_t*)(w->handed + LAUB_HEAD_BYTES),
                          is_result ? (uint32_t)reply : 0);
  w->has_kept = false;
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
  if (was_called && c->asides == 0) {
    thread_answer(&w->thread, SERVICE_GO_ON);
    return true;
  }
  worker_give(w);
  return false;
}

/* The worker's process has ended. */
static void lose(struct core* c, struct worker* w) {
  if (w->has_kept) {
    answer_kept(c, w, -(int64_t)RPC_SYSTEM_ERR);
  } else if (c->handed == w) {
    write_reply(c, LAUB_ERROR_REPLY, 0, 0);
    finish(c);
  } else {
    lauberhorn_set(&lauberhorn, LAUB_LOST, (uint64_t)w->server->number << 16 | w->number); /* if it has a call */
  }
  c->counters.ended++;
  worker_end(w);
}

static void set_aside(struct core* c, struct worker* w) {
  c->counters.preempted++;
  c->aside[c->asides++] = w;
  if (c->handed == w)
    keep(c, w);
  else
    tell(c, 0);
  lauberhorn_set(&lauberhorn, LAUB_RUNS(c->hart), 0);
}

/* Runs a worker until its hart is wanted elsewhere. */
static void run(struct core* c, struct worker* w) {
  for (;;) {
    const enum thread_event event = thread_run(&w->thread);
    account(kernel);
    if (event == THREAD_ENDED) return lose(c, w);
    if (event == THREAD_PREEMPTED && c->asides < ASIDE_MOST) return set_aside(c, w);
    if (event != THREAD_CALLS) continue;
    if (thread_call(&w->thread) == SYSTEM_CALL_WAIT) {
      if (!wait(c, w)) return;
    } else if (thread_call(&w->thread) == SYSTEM_CALL_TRYAGAIN) {
      c->counters.quiescent++; /* the hart passes the kernel's scheduling point */
      thread_answer(&w->thread, 0);
    } else {
      thread_answer(&w->thread, SYSTEM_CALL_ERROR);
    }
  }
}

/* What the hart was wanted for has been done: the handler that was set aside first goes on. */
static void go_on(struct core* c) {
  struct worker* w = c->aside[0];
  c->asides--;
  for (uint32_t i = 0; i < c->asides; i++) c->aside[i] = c->aside[i + 1];
  tell(c, 0);
  lauberhorn_set(&lauberhorn, LAUB_RUNS(c->hart), w->server->number);
  run(c, w);
}

static void serve_call(struct core* c, uint32_t word) {
  const uint32_t process = *(volatile uint32_t*)lauberhorn_at(&c->lines, LAUB_HEAD_PROCESS) & 0xffffu;
  struct worker* w = server_take(&servers[process], c->hart);
  if (w == 0) { /* its last process is ending, or the next one cannot begin */
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

static void serve(struct core* c) {
  for (uint32_t turn = 0;; turn++) {
    account(parked);
    const uint32_t word = lauberhorn_wait(&c->lines);
    account(kernel);
    if (lauberhorn_type(word) == LAUB_CALL) {
      serve_call(c, word);
    } else if (lauberhorn_type(word) == LAUB_FRAME) {
      serve_frame(c, word);
    } else { /* TRYAGAIN */
      c->counters.quiescent++;
      lauberhorn_next(&c->lines);
    }
    if (c->asides == 0)
      turn = 0;
    else if (word == 0 || turn >= TURN)
      turn = 0, go_on(c);
  }
}

/* --------------------------------------------------------------------------------------------------------------------
 * Set-up */

/* The interrupt only brings the hart into the kernel. */
static void preempt(void* unused) { (void)unused; }

static void start(uint32_t hart) {
  translation_setup();
  if (board.interrupts == BOARD_INTERRUPTS_AIA) {
    uint64_t address;
    uint32_t data;
    interrupt_setup_hart(hart);
    interrupt_connect(hart, 0, preempt, 0, &address, &data);
    lauberhorn_set(&lauberhorn, LAUB_INTERRUPT(hart) + 8, data);
    lauberhorn_set(&lauberhorn, LAUB_INTERRUPT(hart), address);
  }
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
  statistics_add("handed frames quiescent preempted ended refused", &c->counters.handed);
  _Static_assert(sizeof c->counters == 6 * sizeof(uint64_t), "a name for each");
  cores[hart] = c;
}

int application_main(void) {
  print("sluice lauberhorn-server: %u harts, %lu MiB\n", board.harts, (unsigned long)board.memory_size >> 20);
  if (!lauberhorn_find(&lauberhorn)) {
    print("no Lauberhorn: nothing to serve\n");
    return EXIT_NO_NIC;
  }
  const uint32_t harts = board.harts < lauberhorn.cores ? board.harts : lauberhorn.cores;
  const struct process_image* images[LAUBERHORN_PROGRAMS_MOST + 1];
  rpc_programs_setup();
  lauberhorn_frames_setup(&lauberhorn, &frames);
  const uint32_t processes = lauberhorn_services_setup(&lauberhorn, harts, images);
  for (uint32_t p = 1; p <= processes; p++) server_setup(&servers[p], &lauberhorn, (uint16_t)p, harts, images[p]);
  for (uint32_t hart = 0; hart < harts; hart++) add_core(hart);
  print("Lauberhorn, %u processes, %u harts; serving on %u.%u.%u.%u\n", processes, harts, lauberhorn.ipv4 >> 24,
        lauberhorn.ipv4 >> 16 & 255, lauberhorn.ipv4 >> 8 & 255, lauberhorn.ipv4 & 255);
  for (uint32_t hart = 1; hart < harts; hart++) hart_start(hart, secondary_main);
  start(0);
  return 0;
}
