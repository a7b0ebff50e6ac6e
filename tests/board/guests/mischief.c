/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/mischief.c */
#include "tests/board/guests/mischief.h"

#include "firmware/rpc/program.h"
#include "firmware/user/service.h"
#include "firmware/user/system.h"

static volatile unsigned calls, depth = 1u << 30;

static int32_t count(struct rpc_call* call) {
  call->result[0] = ++calls;
  return 4;
}

static int32_t crash(struct rpc_call* call) {
  (void)call;
  return (int32_t) * (volatile uint32_t*)0x80000000;
}

__attribute__((noinline)) static unsigned deeper(unsigned n) {
  volatile unsigned pad[100];
  pad[n % 100] = n;
  return n == depth ? 0 : deeper(n + 1) + pad[n % 100];
}

static int32_t deep(struct rpc_call* call) {
  (void)call;
  return (int32_t)deeper(0);
}

static int32_t loop(struct rpc_call* call) {
  while (depth != 0) call->result[0]++;
  return 0;
}

static int32_t too_long(struct rpc_call* call) {
  for (unsigned i = 0; i < 8; i++) call->result[i] = i;
  return 32;
}

/* The lines of worker 31, which no board here has: what lies there would be another process's. */
static int32_t snoop(struct rpc_call* call) {
  (void)call;
  return (int32_t) * (volatile uint32_t*)SERVICE_LINES(31);
}

static int32_t leave(struct rpc_call* call) {
  (void)call;
  system_call(SYSTEM_CALL_EXIT, 3, 0);
  return 0;
}

/* A load of its own lines by the kernel would be a call that nobody answers. */
static int32_t print_line(struct rpc_call* call) {
  call->result[0] = (uint32_t)system_call(SYSTEM_CALL_PRINT, SERVICE_LINES(0), 8);
  return 4;
}

static int32_t stay(struct rpc_call* call) {
  const uint32_t line_bytes = call->result_room + LAUB_HEAD_BYTES; /* by a control line */
  for (uint32_t which = 0; depth != 0; which ^= line_bytes)
    call->result[0] = *(volatile uint32_t*)(SERVICE_LINES(0) + which);
  return 0;
}

static int32_t hang(struct rpc_call* call) {
  (void)call;
  for (;;) {
  }
  return 0;
}

static int32_t take_line(struct rpc_call* call) {
  (void)call;
  return (int32_t) * (volatile uint32_t*)(SERVICE_LINES(0) + 0x2f00);
}

RPC_PROGRAM(mischief,
            0, [MISCHIEF_NULL] = rpc_null, [MISCHIEF_COUNT] = count, [MISCHIEF_CRASH] = crash, [MISCHIEF_DEEP] = deep,
            [MISCHIEF_LOOP] = loop, [MISCHIEF_LONG] = too_long, [MISCHIEF_SNOOP] = snoop, [MISCHIEF_EXIT] = leave,
            [MISCHIEF_PRINT] = print_line, [MISCHIEF_STAY] = stay, [MISCHIEF_HANG] = hang, [MISCHIEF_LINE] = take_line)
