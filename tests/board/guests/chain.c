/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/chain.c */
#include "tests/board/guests/chain.h"

#include "firmware/rpc/program.h"
#include "firmware/rpc/xdr.h"
#include "firmware/user/nested.h"
#include "firmware/user/system.h"
#include "protocols/rpc/echo.h"

#define STATES 1024u

/* Numbers of services; 0: not looked for yet. Two threads may find the same. */
static int32_t descend_service, echo_service;
static int32_t found(int32_t* number, uint32_t program, uint32_t procedure) {
  if (*number == 0) *number = nested_find(program, procedure) + 1;
  return *number - 1;
}

/* A request that waits for results. */
struct state {
  struct nested_call nested;
  uint32_t is_used;
  uint32_t wanted, got; /* results */
};
static struct state states[STATES];

static struct state* take(nested_then* then) {
  for (unsigned i = 0; i < STATES; i++) {
    struct state* s = &states[i];
    if (__atomic_exchange_n(&s->is_used, 1, __ATOMIC_ACQUIRE) != 0) continue;
    s->nested.then = then;
    s->wanted = s->got = 0;
    return s;
  }
  return 0;
}
static void give(struct state* s) { __atomic_store_n(&s->is_used, 0, __ATOMIC_RELEASE); }

static int32_t ascend(struct rpc_call* call, uint32_t status, struct nested_call* own) {
  give((struct state*)own);
  if (status != RPC_SUCCESS) return -(int32_t)status;
  call->result[0] = call->args[0] + 1;
  return 4;
}

static int32_t descend(struct rpc_call* call) {
  const uint64_t depth = call->args[0];
  if (depth == 0) {
    call->result[0] = 0;
    return 4;
  }
  struct state* s = take(ascend);
  if (s == 0) return RPC_REFUSE_SYSTEM_ERR;
  const uint64_t deeper = depth - 1;
  const int32_t kept =
      nested_begin(call, &s->nested, found(&descend_service, RPC_PROGRAM_CHAIN, CHAIN_DESCEND), &deeper, 4);
  if (kept != SERVICE_KEPT) give(s);
  return kept;
}

static int32_t hand_on(struct rpc_call* call, uint32_t status, struct nested_call* own) {
  give((struct state*)own);
  if (status != RPC_SUCCESS) return -(int32_t)status;
  if (call->result != call->args) __builtin_memcpy(call->result, call->args, call->args_length);
  return (int32_t)call->args_length;
}

static int32_t relay(struct rpc_call* call) {
  struct state* s = take(hand_on);
  if (s == 0) return RPC_REFUSE_SYSTEM_ERR;
  const int32_t kept = nested_begin(call, &s->nested, found(&echo_service, RPC_PROGRAM_ECHO, ECHO_ECHO),
                                    (const uint64_t*)call->args, 4 + xdr_padded(call->args[0]));
  if (kept != SERVICE_KEPT) give(s);
  return kept;
}

/* Results may come on several threads. */
static int32_t gather(struct rpc_call* call, uint32_t status, struct nested_call* own) {
  struct state* s = (struct state*)own;
  if (status != RPC_SUCCESS) return -(int32_t)status;
  const uint32_t wanted = s->wanted;
  if (__atomic_add_fetch(&s->got, 1, __ATOMIC_ACQ_REL) != wanted) return SERVICE_KEPT;
  give(s);
  call->result[0] = wanted;
  return 4;
}

static int32_t wide(struct rpc_call* call) {
  const uint32_t wanted = call->args[0] < CHAIN_WIDE_MOST ? call->args[0] : CHAIN_WIDE_MOST;
  struct state* s = take(gather);
  if (s == 0 || wanted == 0) return RPC_REFUSE_SYSTEM_ERR;
  s->wanted = wanted;
  const int32_t service = found(&descend_service, RPC_PROGRAM_CHAIN, CHAIN_DESCEND);
  const uint64_t none = 0;
  for (uint32_t i = 0; i < wanted; i++)
    if (nested_begin(call, &s->nested, service, &none, 4) != SERVICE_KEPT) return RPC_REFUSE_SYSTEM_ERR;
  return SERVICE_KEPT;
}

static int32_t orphan(struct rpc_call* call) {
  descend(call);
  system_call(SYSTEM_CALL_EXIT, 1, 0);
  return SERVICE_KEPT;
}

static int32_t forget(struct rpc_call* call) {
  (void)call;
  return SERVICE_KEPT;
}

RPC_PROGRAM(chain, 0, [CHAIN_NULL] = rpc_null, [CHAIN_DESCEND] = descend, [CHAIN_RELAY] = relay, [CHAIN_WIDE] = wide,
            [CHAIN_ORPHAN] = orphan, [CHAIN_FORGET] = forget)
