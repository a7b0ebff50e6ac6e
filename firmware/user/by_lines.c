/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/user/by_lines.c: a process that serves an RPC program by the lines of its end-points. Each thread waits in a
 * load of its own; what comes otherwise comes by the kernel. */
#include <stddef.h>

#include "firmware/drivers/lauberhorn/lines.h"
#include "firmware/kernel/account.h"
#include "firmware/kernel/likely.h"
#include "firmware/kernel/memory.h"
#include "firmware/rpc/program.h"
#include "firmware/user/nested.h"
#include "firmware/user/runtime.h"
#include "firmware/user/service.h"
#include "firmware/user/system.h"
#include "firmware/user/ways.h"

/* What a service's code pointer leads to: a handler, which ignores the data pointer, if arguments and results have room
 * in a control line. */
typedef int32_t service_code(struct rpc_call* call, const void* data);

/* What a handler needs to know of a call stands here before it comes, but for the length of its arguments. */
struct worker {
  uintptr_t base, line_bytes, which; /* which: offset of the control line that is next */
  struct rpc_call call[2];           /* by control line */
  uint64_t* scratch;                 /* for arguments and results that have no room in a control line */
  struct lauberhorn_lines out;       /* for calls of handlers */
  bool holds_out;                    /* a control line of these */
};

static struct worker workers[SERVICE_THREADS];
static int32_t serve_copied(struct rpc_call* call, const void* data);

#define DESCRIBE(name, number, version)                                                                \
  __attribute__((used, section(".description"))) static const struct service_description of_##name = { \
      (uintptr_t)&name##_program, (uintptr_t)serve_copied};
RPC_PROGRAMS(DESCRIBE)
static volatile uint32_t* word_of(uintptr_t line) { return (volatile uint32_t*)(line + LAUB_HEAD_WORD); }
static volatile uint32_t* status_of(uintptr_t line) { return (volatile uint32_t*)(line + LAUB_HEAD_XID); }

static void set_up_worker(struct worker* w, uint64_t thread, uint64_t line_bytes) {
  *w = (struct worker){.base = SERVICE_LINES(thread), .line_bytes = line_bytes};
  w->out = (struct lauberhorn_lines){.base = w->base + LAUB_TX, .line_bytes = (uint32_t)line_bytes};
  w->scratch = memory_reserve(LAUB_OVERFLOW_BYTES + 256, 64);
  for (unsigned i = 0; i < 2; i++) {
    const uintptr_t line = w->base + i * line_bytes;
    w->call[i].args = w->call[i].result = (uint32_t*)(line + LAUB_HEAD_BYTES);
    w->call[i].result_room = (uint32_t)line_bytes - LAUB_HEAD_BYTES;
    w->call[i].datagram.frame = (uint8_t*)line; /* names the request in the ledger */
  }
}

static bool is_in_lines(uintptr_t frame) { return frame >= SERVICE_LINES(0); }

/* The one that serves a call. */
static struct worker* worker_of(const struct rpc_call* call) {
  const uintptr_t frame = (uintptr_t)call->datagram.frame;
  return &workers[is_in_lines(frame) ? (frame - SERVICE_LINES(0)) / LAUB_ENDPOINT_SIZE
                                     : (frame - SERVICE_CALL(0)) / SERVICE_CALL_STEP];
}

/* Runs code on a copy of what the lines have, since it may go on in the overflow lines, which do not follow each
 * control line. */
static int32_t run_copied(const struct rpc_call* call, service_code* code, const void* data) {
  const uintptr_t line = (uintptr_t)call->datagram.frame;
  const struct worker* w = worker_of(call);
  const struct lauberhorn_lines lines = {w->base, (uint32_t)w->line_bytes, (uint32_t)(line - w->base)};
  struct rpc_call copied = *call;
  stage(unmarshal, call->datagram.frame);
  lauberhorn_read(&lines, w->scratch, call->args_length);
  copied.args = copied.result = (uint32_t*)w->scratch;
  copied.result_room = call->result_room + LAUB_OVERFLOW_BYTES;
  stage(handler, call->datagram.frame);
  int32_t length = code(&copied, data);
  stage(marshal, call->datagram.frame);
  if (length > 0) {
    lauberhorn_write(&lines, (const uint64_t*)copied.result, (uint32_t)length);
    lauberhorn_bind_overflow(&lines, (const void*)line, (uint32_t)length);
  }
  return length;
}

/* data: the handler. */
static int32_t run_handler(struct rpc_call* call, const void* data) { return ((rpc_handler*)(uintptr_t)data)(call); }

/* The code of a service whose arguments or results may have no room in a control line. */
static int32_t serve_copied(struct rpc_call* call, const void* data) { return run_copied(call, run_handler, data); }

/* --------------------------------------------------------------------------------------------------------------------
 * Calls of handlers (nested.h) */

static int32_t run_then(struct rpc_call* call, const void* data) {
  struct nested_call* own = (struct nested_call*)(uintptr_t)data;
  return own->then(call, *status_of((uintptr_t)call->datagram.frame), own);
}

/* The code of a result. */
static int32_t go_on(struct rpc_call* call, const void* data) {
  const bool is_there = !is_in_lines((uintptr_t)call->datagram.frame);
  return is_there ? run_then(call, data) : run_copied(call, run_then, data);
}

int32_t nested_find(uint32_t program, uint32_t procedure) {
  return (int32_t)system_call(SYSTEM_CALL_FIND_SERVICE, program, procedure);
}

int32_t nested_begin(struct rpc_call* call, struct nested_call* own, int32_t service, const uint64_t* arguments,
                     uint32_t bytes) {
  struct worker* w = worker_of(call);
  const uintptr_t frame = (uintptr_t)call->datagram.frame;
  if (service < 0 || bytes > w->out.line_bytes - LAUB_HEAD_BYTES + LAUB_OVERFLOW_BYTES) return RPC_REFUSE_SYSTEM_ERR;
  if (!w->holds_out) lauberhorn_wait(&w->out);
  w->holds_out = true;
  stage(marshal, frame);
  lauberhorn_write(&w->out, arguments, bytes);
  *(volatile uint32_t*)lauberhorn_at(&w->out, LAUB_HEAD_XID) = (uint32_t)service;
  *(volatile uint64_t*)lauberhorn_at(&w->out, LAUB_HEAD_CODE) = (uintptr_t)go_on;
  *(volatile uint64_t*)lauberhorn_at(&w->out, LAUB_HEAD_DATA) = (uintptr_t)own;
  *(volatile uint32_t*)lauberhorn_at(&w->out, LAUB_HEAD_SESSION) = *(volatile uint32_t*)(frame + LAUB_HEAD_SESSION);
  const uint32_t refused = lauberhorn_commit(&w->out, LAUB_CALL, bytes, (const void*)frame);
  return refused ? RPC_REFUSE_SYSTEM_ERR : SERVICE_KEPT;
}

/* --------------------------------------------------------------------------------------------------------------------
 * The loop */

COLD static void refuse(uintptr_t line, int32_t length) {
  if (length == RPC_REFUSE_SILENTLY) return;
  const bool is_kept = length == SERVICE_KEPT;
  if (!is_kept) *status_of(line) = (uint32_t)-length;
  *word_of(line) = lauberhorn_word(is_kept ? LAUB_KEPT : LAUB_REPLY, 0);
}

/* Serves the calls that the lines bring until one brings another word, which it returns. Between the load that brings a
 * call and the handler's first instruction, every one counts. */
__attribute__((noinline)) static uint32_t serve_lines(struct worker* w) {
  const uintptr_t both = 2 * w->base + w->line_bytes, calls = (uintptr_t)&w->call[0] + (uintptr_t)&w->call[1];
  uintptr_t line = w->base + w->which;
  struct rpc_call* call = &w->call[w->which != 0];
  uint32_t got;
  for (;;) {
    account(parked);
    got = *word_of(line);
    account(application);
    if (unlikely(!lauberhorn_is_request(got))) break;
    call->args_length = got >> LAUB_WORD_LENGTH_SHIFT; /* no bits lie above the length */
    stage(handler, line);
    service_code* code = (service_code*)*(volatile uint64_t*)(line + LAUB_HEAD_CODE);
    int32_t length = code(call, (const void*)*(volatile uint64_t*)(line + LAUB_HEAD_DATA));
    stage(marshal, line);
    if (likely(length >= 0)) {
      *status_of(line) = RPC_SUCCESS;
      *word_of(line) = lauberhorn_word(LAUB_REPLY, (uint32_t)length);
    } else {
      refuse(line, length);
    }
    stage(doorbell, line);
    line = both - line;
    call = (struct rpc_call*)(calls - (uintptr_t)call);
  }
  w->which = both - line - w->base; /* the next one */
  return got;
}

/* The call that the kernel has handed over. */
static int64_t serve_handed(uint64_t thread, uint64_t line_bytes) {
  const uintptr_t at = SERVICE_CALL(thread);
  const uint64_t code = *(volatile uint64_t*)(at + LAUB_HEAD_CODE), data = *(volatile uint64_t*)(at + LAUB_HEAD_DATA);
  struct rpc_call call = {.args_length = *word_of(at) >> LAUB_WORD_LENGTH_SHIFT};
  call.args = call.result = (uint32_t*)(at + LAUB_HEAD_BYTES);
  call.result_room = (uint32_t)line_bytes - LAUB_HEAD_BYTES + LAUB_OVERFLOW_BYTES;
  call.datagram.frame = (uint8_t*)at;
  account(application);
  stage(handler, at);
  service_code* const run = code == (uintptr_t)serve_copied ? run_handler : (service_code*)code;
  int64_t length = run(&call, (const void*)data);
  stage(marshal, at);
  return length;
}

void serve_by_lines(uint64_t thread, uint64_t line_bytes) {
  struct worker* w = &workers[thread];
  set_up_worker(w, thread, line_bytes);
  does(poll, jump); /* with a call in its lines */
  int64_t reply = SERVICE_NO_REPLY;
  for (;;) {
    if (system_call(SYSTEM_CALL_WAIT, (uint64_t)reply, 0) == SERVICE_CALLED) {
      reply = serve_handed(thread, line_bytes);
      continue;
    }
    reply = SERVICE_NO_REPLY;
    while (serve_lines(w) == 0 && system_call(SYSTEM_CALL_TRYAGAIN, 0, 0) == SERVICE_GO_ON) {
    }
  }
}
