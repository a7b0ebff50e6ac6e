/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/rpc/port.h: what a service sees: calls, and a way to answer them. A service does not know which NIC it runs
 * on. Where the NIC delivers frames, port.c turns them into calls; where the NIC delivers calls, the NIC's driver
 * implements this file. */
#pragma once

#include <stdint.h>

#include "firmware/kernel/account.h"
#include "firmware/net/stack.h"
#include "firmware/rpc/schema.h"
#include "protocols/rpc/onc_rpc.h"

struct rpc_call;

/* A procedure: reads call->args, writes its result to call->result, which may be the same memory, and returns the
 * result's length in bytes, a multiple of 4; or refuses with a negative value below. Both are in the layout of
 * firmware/rpc/schema.h; arguments have what their schema says. */
typedef int32_t rpc_handler(struct rpc_call* call);
#define RPC_REFUSE_GARBAGE_ARGS (-(int32_t)RPC_GARBAGE_ARGS)
#define RPC_REFUSE_SYSTEM_ERR (-(int32_t)RPC_SYSTEM_ERR)
#define RPC_REFUSE_SILENTLY (-1000) /* no reply at all (portmapper CALLIT) */

struct rpc_program {
  uint32_t number;
  uint32_t version; /* the only version served */
  uint32_t procedures;
  rpc_handler* const* handler; /* by procedure number; 0: no such procedure */
};

struct rpc_call {
  rpc_handler* handler;
  const struct rpc_schema* schema;
  uint32_t* args;       /* aligned to 4 */
  uint32_t args_length; /* bytes, to the end of the datagram */
  uint32_t* result;
  uint32_t result_room; /* bytes */
  uint32_t id;          /* xid, as on the wire */
  struct net_datagram datagram;
};

/* Counts what became of datagrams. */
struct rpc_counters {
  uint64_t calls;      /* handed to a handler */
  uint64_t refused;    /* answered with an error by the port or a handler */
  uint64_t echoes;     /* datagrams to the echo port, sent back */
  uint64_t no_port;    /* datagrams to a port that nobody serves */
  uint64_t malformed;  /* not a call: too short, or truncated credentials */
  uint64_t unanswered; /* calls whose handler wanted no reply */
};

struct rpc_port {
  struct net_interface interface;
  struct rpc_counters counters;
  uint32_t next, count; /* position in the current burst, and its size */
  struct nic_frame* frames[NIC_BURST];
};

/* Sets up each program of this image. Hart 0 calls it once, before the first call. */
void rpc_programs_setup(void);

void rpc_port_setup(struct rpc_port* port, const struct nic* nic, unsigned queue, uint32_t ipv4);
/* Tells which steps of receiving a call this hart, which is to serve the port, does in which stage. */
void rpc_tell_steps(const struct rpc_port* port);

/* Returns when a call is there. Every call must be ended by rpc_reply(), rpc_refuse() or rpc_ignore() before the next.
 */
void rpc_wait(struct rpc_port* port, struct rpc_call* call);

/* Sends `length` bytes at `result` as the call's result. `result` lies in call->result's buffer, at or after
 * call->result; nothing is copied. */
void rpc_reply(struct rpc_port* port, struct rpc_call* call, uint32_t* result, uint32_t length);

/* Answers with an accept_stat other than RPC_SUCCESS and RPC_PROG_MISMATCH. */
void rpc_refuse(struct rpc_port* port, struct rpc_call* call, uint32_t accept_stat);

void rpc_ignore(struct rpc_port* port, struct rpc_call* call);

/* Repeats rpc_wait() and rpc_execute() for ever. */
void rpc_serve(struct rpc_port* port) __attribute__((noreturn));

/* rpc_serve() for several ports of one hart: serves a burst of each in turn. The hart sleeps only if every port's NIC
 * raises interrupts and none has a frame. */
void rpc_serve_all(struct rpc_port* const* ports, unsigned count) __attribute__((noreturn));

/* Calls the handler and ends the call. */
void rpc_execute(struct rpc_port* port, struct rpc_call* call);

/* Serves a datagram that has come otherwise than by the port's queue. */
void rpc_serve_datagram(struct rpc_port* port, const struct net_datagram* datagram);

/* Takes the next call that has arrived; false if there is none. Does not wait, unlike rpc_wait(). */
int rpc_poll(struct rpc_port* port, struct rpc_call* call);

/* Serves one port of several: takes a burst, ends each call in it and sends the answers; false if nothing has arrived.
 */
bool rpc_take_turn(struct rpc_port* port);

/* The program on RPC_PORT_SERVICES; 0 if there is none. */
const struct rpc_program* rpc_find_service(uint32_t program);

/* Handler of a version and procedure, or 0. */
static inline rpc_handler* rpc_find_handler(const struct rpc_program* program, uint32_t version, uint32_t procedure) {
  return version == program->version && procedure < program->procedures ? program->handler[procedure] : 0;
}

/* A handler without a schema decodes its arguments and encodes its result, and says where its own work begins and, if
 * encoding takes long, ends. */
static inline void rpc_begin_work(const struct rpc_call* call) { stage(handler, call->datagram.frame); }
static inline void rpc_end_work(const struct rpc_call* call) { stage(marshal, call->datagram.frame); }

/* Which instance of its program a call is for: 0 to RPC_INSTANCES_MOST - 1 (instances.h). */
uint32_t rpc_instance_of(const struct rpc_call* call);

/* NULL procedure of every program. */
int32_t rpc_null(struct rpc_call* call);

extern const struct rpc_program portmapper_program;

/* The portmapper knows a program of the image no more. Before the first call. */
void portmapper_remove(uint32_t program);
