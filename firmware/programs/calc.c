/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/programs/calc.c: weights of work: a few instructions, one pass over the data, a sort, and any time. */
#include "protocols/rpc/calc.h"

#include "firmware/kernel/hart.h"
#include "firmware/rpc/program.h"
#include "firmware/rpc/xdr.h"

#define ADLER_MODULUS 65521u

static int32_t add(struct rpc_call* call) {
  if (call->args_length < 8) return RPC_REFUSE_GARBAGE_ARGS;
  uint32_t a = from_be32(call->args[0]), b = from_be32(call->args[1]);
  rpc_begin_work(call);
  call->result[0] = to_be32(a + b);
  return 4;
}

/* A frame is so short that 64-bit sums need only one division at the end. */
static int32_t checksum(struct rpc_call* call) {
  const uint32_t* at = call->args;
  uint32_t left = call->args_length, length;
  const uint8_t* data;
  if (!xdr_opaque(&at, &left, left, &data, &length)) return RPC_REFUSE_GARBAGE_ARGS;
  rpc_begin_work(call);
  uint64_t a = 1, b = 0;
  for (uint32_t i = 0; i < length; i++) {
    a += data[i];
    b += a;
  }
  call->result[0] = to_be32((uint32_t)(b % ADLER_MODULUS << 16 | a % ADLER_MODULUS));
  return 4;
}

static void sift_down(int32_t* v, uint32_t root, uint32_t end) {
  int32_t value = v[root];
  for (;;) {
    uint32_t child = 2 * root + 1;
    if (child >= end) break;
    if (child + 1 < end && v[child + 1] > v[child]) child++;
    if (v[child] <= value) break;
    v[root] = v[child];
    root = child;
  }
  v[root] = value;
}

/* Heap sort: in place, and no input makes it slow. */
static void sort_values(int32_t* v, uint32_t n) {
  for (uint32_t i = n / 2; i > 0; i--) sift_down(v, i - 1, n);
  for (uint32_t end = n; end > 1; end--) {
    int32_t largest = v[0];
    v[0] = v[end - 1];
    v[end - 1] = largest;
    sift_down(v, 0, end - 1);
  }
}

static int32_t sort(struct rpc_call* call) {
  if (call->args_length < 4) return RPC_REFUSE_GARBAGE_ARGS;
  uint32_t n = from_be32(call->args[0]);
  if (n > (call->args_length - 4) / 4) return RPC_REFUSE_GARBAGE_ARGS;
  if (call->result_room < 4 * (n + 1)) return RPC_REFUSE_SYSTEM_ERR;
  int32_t* values = (int32_t*)(call->result + 1);
  call->result[0] = to_be32(n);
  for (uint32_t i = 0; i < n; i++) values[i] = (int32_t)from_be32(call->args[1 + i]);
  rpc_begin_work(call);
  sort_values(values, n);
  rpc_end_work(call);
  for (uint32_t i = 0; i < n; i++) values[i] = (int32_t)to_be32((uint32_t)values[i]);
  return (int32_t)(4 * (n + 1));
}

static int32_t spin(struct rpc_call* call) {
  if (call->args_length < 4) return RPC_REFUSE_GARBAGE_ARGS;
  uint32_t nanoseconds = from_be32(call->args[0]);
  rpc_begin_work(call);
  hart_spin(nanoseconds);
  return 0;
}

RPC_PROGRAM(
    calc,
    0, [CALC_NULL] = rpc_null, [CALC_ADD] = add, [CALC_CHECKSUM] = checksum, [CALC_SORT] = sort, [CALC_SPIN] = spin)
