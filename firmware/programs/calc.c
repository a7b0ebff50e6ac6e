/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/programs/calc.c: weights of work: a few instructions, one pass over the data, a sort, and any time. */
#include "protocols/rpc/calc.h"

#include "firmware/kernel/hart.h"
#include "firmware/rpc/program.h"

#define ADLER_MODULUS 65521u

static int32_t add(struct rpc_call* call) {
  call->result[0] = call->args[0] + call->args[1];
  return 4;
}

/* A frame is so short that 64-bit sums need only one division at the end. */
static int32_t checksum(struct rpc_call* call) {
  uint32_t length = call->args[0];
  const uint8_t* data = (const uint8_t*)(call->args + 1);
  uint64_t a = 1, b = 0;
  for (uint32_t i = 0; i < length; i++) {
    a += data[i];
    b += a;
  }
  call->result[0] = (uint32_t)(b % ADLER_MODULUS << 16 | a % ADLER_MODULUS);
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
  uint32_t n = call->args[0], bytes = 4 * (n + 1);
  if (call->result_room < bytes) return RPC_REFUSE_SYSTEM_ERR;
  if (call->result != call->args) __builtin_memcpy(call->result, call->args, bytes);
  sort_values((int32_t*)(call->result + 1), n);
  return (int32_t)bytes;
}

static int32_t spin(struct rpc_call* call) {
  hart_spin(call->args[0]);
  return 0;
}

RPC_PROGRAM(
    calc,
    0, [CALC_NULL] = rpc_null, [CALC_ADD] = add, [CALC_CHECKSUM] = checksum, [CALC_SORT] = sort, [CALC_SPIN] = spin)
