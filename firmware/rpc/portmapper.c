/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/rpc/portmapper.c: program 100000 version 2 (RFC 1833), which has no schemas here: its handlers get XDR. The
 * services of this machine are always registered; SET and UNSET manage further mappings, in fixed memory. CALLIT
 * reaches the services of this machine. */
#include "firmware/kernel/account.h"
#include "firmware/kernel/spinlock.h"
#include "firmware/rpc/port.h"
#include "firmware/rpc/program.h"
#include "firmware/rpc/xdr.h"

#define ONE_MORE(name, number, version) +1u
#define BUILT_IN (2u RPC_PROGRAMS(ONE_MORE))
#define MAPPINGS (BUILT_IN + 16u)
#define MAPPING_ARGS_BYTES 16u
#define DUMP_ENTRY_WORDS 5u

struct mapping {
  uint32_t program, version, protocol, port; /* program 0: free */
};

#define ON_UDP(name, number, version) {number, version, PORTMAPPER_PROTOCOL_UDP, RPC_PORT_SERVICES},
static struct mapping mappings[MAPPINGS] = {
    {RPC_PROGRAM_PORTMAPPER, PORTMAPPER_VERSION, PORTMAPPER_PROTOCOL_TCP, RPC_PORT_PORTMAPPER},
    {RPC_PROGRAM_PORTMAPPER, PORTMAPPER_VERSION, PORTMAPPER_PROTOCOL_UDP, RPC_PORT_PORTMAPPER},
    RPC_PROGRAMS(ON_UDP)};
static struct spinlock lock;

void portmapper_remove(uint32_t program) {
  for (unsigned i = 0; i < BUILT_IN; i++)
    if (mappings[i].program == program) mappings[i].program = 0;
}

static bool read_mapping(const struct rpc_call* call, struct mapping* mapping) {
  if (call->args_length < MAPPING_ARGS_BYTES) return false;
  *mapping = (struct mapping){from_be32(call->args[0]), from_be32(call->args[1]), from_be32(call->args[2]),
                              from_be32(call->args[3])};
  return true;
}

static int32_t answer_word(struct rpc_call* call, uint32_t word) {
  call->result[0] = to_be32(word);
  return 4;
}

static bool add(const struct mapping* new) {
  struct mapping* free = 0;
  for (unsigned i = 0; i < MAPPINGS; i++) {
    struct mapping* m = &mappings[i];
    if (m->program == 0) {
      if (free == 0) free = m;
    } else if (m->program == new->program && m->version == new->version && m->protocol == new->protocol) {
      return false;
    }
  }
  if (free == 0 || new->program == 0) return false;
  *free = *new;
  return true;
}

static int32_t set(struct rpc_call* call) {
  struct mapping mapping;
  if (!read_mapping(call, &mapping)) return RPC_REFUSE_GARBAGE_ARGS;
  rpc_begin_work(call);
  spinlock_take(&lock);
  bool done = add(&mapping);
  spinlock_give(&lock);
  return answer_word(call, done);
}

/* Removes the mappings of a program version for all protocols, but never a built-in one. */
static int32_t unset(struct rpc_call* call) {
  struct mapping mapping;
  if (!read_mapping(call, &mapping)) return RPC_REFUSE_GARBAGE_ARGS;
  rpc_begin_work(call);
  bool done = false;
  spinlock_take(&lock);
  for (unsigned i = BUILT_IN; i < MAPPINGS; i++) {
    if (mappings[i].program == 0 || mappings[i].program != mapping.program) continue;
    if (mappings[i].version != mapping.version) continue;
    mappings[i].program = 0;
    done = true;
  }
  spinlock_give(&lock);
  return answer_word(call, done);
}

/* If the version asked for is not registered, returns the port of another version, as RFC 1833 allows; the server there
 * answers PROG_MISMATCH. */
static uint32_t find_port(const struct mapping* wanted) {
  uint32_t other = 0;
  for (unsigned i = 0; i < MAPPINGS; i++) {
    const struct mapping* m = &mappings[i];
    if (m->program == 0 || m->program != wanted->program || m->protocol != wanted->protocol) continue;
    if (m->version == wanted->version) return m->port;
    other = m->port;
  }
  return other;
}

static int32_t get_port(struct rpc_call* call) {
  struct mapping mapping;
  if (!read_mapping(call, &mapping)) return RPC_REFUSE_GARBAGE_ARGS;
  rpc_begin_work(call);
  spinlock_take(&lock);
  uint32_t port = find_port(&mapping);
  spinlock_give(&lock);
  return answer_word(call, port);
}

static int32_t dump(struct rpc_call* call) {
  if (call->result_room < 4 * (MAPPINGS * DUMP_ENTRY_WORDS + 1)) return RPC_REFUSE_SYSTEM_ERR;
  rpc_begin_work(call);
  uint32_t* out = call->result;
  spinlock_take(&lock);
  for (unsigned i = 0; i < MAPPINGS; i++) {
    const struct mapping* m = &mappings[i];
    if (m->program == 0) continue;
    out[0] = to_be32(1);
    out[1] = to_be32(m->program);
    out[2] = to_be32(m->version);
    out[3] = to_be32(m->protocol);
    out[4] = to_be32(m->port);
    out += DUMP_ENTRY_WORDS;
  }
  spinlock_give(&lock);
  *out++ = 0;
  return (int32_t)((uint8_t*)out - (uint8_t*)call->result);
}

/* CALLIT: calls a procedure on the caller's behalf, and answers nothing on errors. The inner result stays where its
 * handler put it, after the port and length of the reply. */
static int32_t call_it(struct rpc_call* call) {
  const uint32_t* at = call->args;
  uint32_t left = call->args_length;
  const uint8_t* data;
  uint32_t length;
  if (left < 12) return RPC_REFUSE_SILENTLY;
  uint32_t number = from_be32(at[0]), version = from_be32(at[1]), procedure = from_be32(at[2]);
  at += 3;
  left -= 12;
  if (!xdr_opaque(&at, &left, left, &data, &length)) return RPC_REFUSE_SILENTLY;
  const struct rpc_program* program = rpc_find_service(number);
  rpc_handler* handler = program != 0 ? rpc_find_handler(program, version, procedure) : 0;
  if (handler == 0) return RPC_REFUSE_SILENTLY;

  struct rpc_call inner = *call;
  inner.handler = handler;
  inner.schema = rpc_find_schema(program, procedure);
  inner.args = call->args + 4;
  inner.args_length = length;
  inner.result = call->result + 4;
  inner.result_room = call->result_room - 16;
  if (!rpc_arguments_arrive(inner.schema, inner.args, length)) return RPC_REFUSE_SILENTLY;
  int32_t result = handler(&inner);
  if (result < 0) return RPC_REFUSE_SILENTLY;
  if (!rpc_result_leaves(inner.schema, inner.result, (uint32_t)result)) return RPC_REFUSE_SILENTLY;
  call->result = inner.result - 2;
  call->result[0] = to_be32(RPC_PORT_SERVICES);
  call->result[1] = to_be32((uint32_t)result);
  return result + 8;
}

static rpc_handler* const handlers[] = {
    [PORTMAPPER_NULL] = rpc_null,    [PORTMAPPER_SET] = set,   [PORTMAPPER_UNSET] = unset,
    [PORTMAPPER_GETPORT] = get_port, [PORTMAPPER_DUMP] = dump, [PORTMAPPER_CALLIT] = call_it,
};

const struct rpc_program portmapper_program = {RPC_PROGRAM_PORTMAPPER, PORTMAPPER_VERSION,
                                               sizeof handlers / sizeof handlers[0], handlers};
