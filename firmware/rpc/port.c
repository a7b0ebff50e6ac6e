/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/rpc/port.c: ONC RPC version 2 over UDP for NICs that deliver frames. */
#include "firmware/rpc/port.h"

#include "firmware/kernel/account.h"
#include "firmware/kernel/likely.h"
#include "firmware/kernel/statistics.h"
#include "firmware/rpc/instances.h"
#include "firmware/rpc/program.h"
#include "firmware/rpc/xdr.h"

/* Words of a call message. */
enum { CALL_XID, CALL_TYPE, CALL_RPC_VERSION, CALL_PROGRAM, CALL_VERSION, CALL_PROCEDURE, CALL_CREDENTIAL };
#define CALL_MIN_BYTES 12u /* enough to say that the RPC version is wrong */
#define REPLY_HEADER_WORDS (RPC_REPLY_HEADER_BYTES / 4)

/* Indexed by program number, so that the compiler reports two programs with the same number. 0: there is none, or the
 * board does not want it served. */
#define AT_ITS_NUMBER(name, number, version) [(number)-RPC_PROGRAM_FIRST] = &name##_program,
static const struct rpc_program* services[] = {RPC_PROGRAMS(AT_ITS_NUMBER)};
#define SERVICES (sizeof services / sizeof services[0])
_Static_assert(SERVICES <= RPC_PROGRAM_SLOTS,
               "the number of an RPC program is RPC_PROGRAM_FIRST to RPC_PROGRAM_LAST (protocols/rpc/onc_rpc.h)");

static uint32_t instances[SERVICES], most_instances;

/* Serves a program at so many ports. */
static void serve_instances(uint32_t program, uint32_t count) {
  instances[program - RPC_PROGRAM_FIRST] = count;
  if (count > most_instances) most_instances = count;
  if (count != 0) return;
  services[program - RPC_PROGRAM_FIRST] = 0;
  portmapper_remove(program);
}

#define SET_UP(name, number, version) \
  rpc_schemas_setup(&name##_program); \
  name##_program_setup();             \
  serve_instances(number, rpc_instances(#name));
void rpc_programs_setup(void) { RPC_PROGRAMS(SET_UP) }

void rpc_port_setup(struct rpc_port* port, const struct nic* nic, unsigned queue, uint32_t ipv4) {
  *port = (struct rpc_port){.count = 0};
  net_setup(&port->interface, nic, queue, ipv4);
  statistics_add("calls refused echoes no_port malformed unanswered", &port->counters.calls);
  _Static_assert(sizeof port->counters == 6 * sizeof(uint64_t), "a name for each");
}

COLD void rpc_tell_steps(const struct rpc_port* port) {
  if (port->interface.rx_checksum) return;
  does(kernel_protocol, protocol);
  does(kernel_protocol, general_protocol);
}

int32_t rpc_null(struct rpc_call* call) {
  (void)call;
  return 0;
}

/* Writes a reply of `words` words over the start of the call and sends it. */
static void answer_in_front(struct rpc_port* port, const struct net_datagram* datagram, const uint32_t* reply,
                            uint32_t words) {
  uint32_t* message = (uint32_t*)datagram->payload;
  stage(marshal, datagram->frame);
  for (uint32_t i = 0; i < words; i++) message[1 + i] = to_be32(reply[i]);
  port->counters.refused++;
  net_reply(&port->interface, datagram, message, 4 * (1 + words));
}

COLD static void deny(struct rpc_port* port, const struct net_datagram* datagram, uint32_t reject_stat,
                      uint32_t detail) {
  if (reject_stat == RPC_MISMATCH) {
    const uint32_t reply[] = {RPC_REPLY, RPC_MSG_DENIED, RPC_MISMATCH, RPC_VERSION, RPC_VERSION};
    answer_in_front(port, datagram, reply, 5);
  } else {
    const uint32_t reply[] = {RPC_REPLY, RPC_MSG_DENIED, RPC_AUTH_ERROR, detail};
    answer_in_front(port, datagram, reply, 4);
  }
}

COLD static void refuse(struct rpc_port* port, const struct net_datagram* datagram, uint32_t accept_stat) {
  const uint32_t reply[] = {RPC_REPLY, RPC_MSG_ACCEPTED, RPC_AUTH_NONE, 0, accept_stat};
  answer_in_front(port, datagram, reply, 5);
}

COLD static void refuse_version(struct rpc_port* port, const struct net_datagram* datagram, uint32_t version) {
  const uint32_t reply[] = {RPC_REPLY, RPC_MSG_ACCEPTED, RPC_AUTH_NONE, 0, RPC_PROG_MISMATCH, version, version};
  answer_in_front(port, datagram, reply, 7);
}

/* Body of AUTH_SYS: stamp, machine name<255>, uid, gid, gids<16>. */
static bool auth_sys_is_valid(const uint32_t* at, uint32_t left) {
  const uint8_t* name;
  uint32_t name_length;
  if (left < 4) return false;
  at++;
  left -= 4;
  if (!xdr_opaque(&at, &left, 255, &name, &name_length) || left < 12) return false;
  uint32_t gids = from_be32(at[2]);
  return gids <= 16 && left == 12 + 4 * gids;
}

#define AUTH_FINE 0u
#define AUTH_TRUNCATED 0xffffffffu

struct arguments {
  uint32_t* at;
  uint32_t left; /* bytes */
};

/* Checks credential and verifier; moves `rest` past them. Returns AUTH_FINE, an auth_stat, or AUTH_TRUNCATED. */
COLD static uint32_t check_authentication(struct arguments* rest) {
  uint32_t result = AUTH_FINE;
  for (unsigned i = 0; i < 2; i++) {
    if (rest->left < 8) return AUTH_TRUNCATED;
    uint32_t flavor = from_be32(rest->at[0]), length = from_be32(rest->at[1]);
    if (length > RPC_AUTH_MAX_BYTES) return result != AUTH_FINE ? result : i == 0 ? RPC_AUTH_BADCRED : RPC_AUTH_BADVERF;
    if (xdr_padded(length) > rest->left - 8) return AUTH_TRUNCATED;
    if (result != AUTH_FINE) {
    } else if (i == 1) {
      if (flavor != RPC_AUTH_NONE) result = RPC_AUTH_REJECTEDVERF;
    } else if (flavor == RPC_AUTH_SYS) {
      if (!auth_sys_is_valid(rest->at + 2, length)) result = RPC_AUTH_BADCRED;
    } else if (flavor != RPC_AUTH_NONE) {
      result = RPC_AUTH_REJECTEDCRED;
    }
    rest->at += 2 + xdr_padded(length) / 4;
    rest->left -= 8 + xdr_padded(length);
  }
  return result;
}

COLD static bool drop(struct rpc_port* port, const struct net_datagram* datagram, uint64_t* counter) {
  ++*counter;
  net_drop(&port->interface, datagram);
  return false;
}

/* Sends a datagram to the echo port back to its sender (RFC 862), and drops a datagram to any other port. */
COLD static bool other_port(struct rpc_port* port, const struct net_datagram* datagram) {
  if (datagram->udp->destination != BE16(UDP_PORT_ECHO)) return drop(port, datagram, &port->counters.no_port);
  port->counters.echoes++;
  net_reply(&port->interface, datagram, datagram->payload, datagram->length);
  return false;
}

/* Which instance of programs a UDP port (in network byte order) is of, from the first one here on. */
static uint32_t instance_at(uint16_t udp_port) {
  return (uint32_t)from_be16(udp_port) - RPC_PORT_SERVICES - rpc_first_instance();
}

uint32_t rpc_instance_of(const struct rpc_call* call) {
  const struct udp_header* udp = call->datagram.udp;
  const uint32_t instance = udp == 0 ? 0 : instance_at(udp->destination);
  return instance < RPC_INSTANCES_MOST ? instance : 0;
}

/* The program of this number on a UDP port (in network byte order); 0 if there is none. */
static const struct rpc_program* program_on(uint16_t udp_port, uint32_t number) {
  uint32_t index = number - RPC_PROGRAM_FIRST;
  if (likely(udp_port == BE16(RPC_PORT_SERVICES))) return likely(index < SERVICES) ? services[index] : 0;
  if (udp_port == BE16(RPC_PORT_PORTMAPPER)) return number == RPC_PROGRAM_PORTMAPPER ? &portmapper_program : 0;
  return index < SERVICES && instance_at(udp_port) < instances[index] ? services[index] : 0;
}

const struct rpc_program* rpc_find_service(uint32_t program) { return program_on(BE16(RPC_PORT_SERVICES), program); }

/* Finds the handler and the arguments of the call in call->datagram; false if the datagram has been dealt with. */
static bool decode(struct rpc_port* port, struct rpc_call* call) {
  struct net_datagram* datagram = &call->datagram;
  uint16_t udp_port = datagram->udp->destination;
  if (unlikely(udp_port != BE16(RPC_PORT_SERVICES) && udp_port != BE16(RPC_PORT_PORTMAPPER)) &&
      instance_at(udp_port) >= most_instances) {
    return other_port(port, datagram);
  }

  stage(unmarshal, datagram->frame);
  uint32_t* message = (uint32_t*)datagram->payload;
  if (unlikely(datagram->length < CALL_MIN_BYTES || message[CALL_TYPE] != BE32(RPC_CALL))) {
    return drop(port, datagram, &port->counters.malformed);
  }
  if (unlikely(message[CALL_RPC_VERSION] != BE32(RPC_VERSION))) return deny(port, datagram, RPC_MISMATCH, 0), false;
  if (unlikely(datagram->length < RPC_CALL_HEADER_BYTES)) return drop(port, datagram, &port->counters.malformed);

  uint32_t* at = message + CALL_CREDENTIAL;
  uint32_t left = datagram->length - 4 * CALL_CREDENTIAL;
  if (likely((at[0] | at[1] | at[2] | at[3]) == 0)) {
    at += 4;
    left -= 16;
  } else {
    struct arguments rest = {at, left};
    uint32_t auth = check_authentication(&rest);
    if (auth == AUTH_TRUNCATED) return drop(port, datagram, &port->counters.malformed);
    if (auth != AUTH_FINE) return deny(port, datagram, RPC_AUTH_ERROR, auth), false;
    at = rest.at;
    left = rest.left;
  }

  begins(find_function, datagram->frame);
  const struct rpc_program* program = program_on(udp_port, from_be32(message[CALL_PROGRAM]));
  if (unlikely(program == 0)) return refuse(port, datagram, RPC_PROG_UNAVAIL), false;
  uint32_t version = from_be32(message[CALL_VERSION]);
  if (unlikely(version != program->version)) return refuse_version(port, datagram, program->version), false;
  uint32_t procedure = from_be32(message[CALL_PROCEDURE]);
  call->handler = rpc_find_handler(program, version, procedure);
  if (unlikely(call->handler == 0)) return refuse(port, datagram, RPC_PROC_UNAVAIL), false;
  call->schema = rpc_find_schema(program, procedure);
  stage(unmarshal, datagram->frame);
  if (unlikely(!rpc_arguments_arrive(call->schema, at, left))) return refuse(port, datagram, RPC_GARBAGE_ARGS), false;

  call->id = message[CALL_XID];
  call->args = at;
  call->args_length = left;
  call->result = at;
  call->result_room = net_reply_room(&port->interface, at - REPLY_HEADER_WORDS) - RPC_REPLY_HEADER_BYTES;
  begins(jump, datagram->frame);
  return true;
}

int rpc_poll(struct rpc_port* port, struct rpc_call* call) {
  struct nic_queue* queue = port->interface.queue;
  for (;;) {
    while (port->next < port->count) {
      const struct nic_frame* frame = port->frames[port->next++];
      if (net_receive(&port->interface, frame, &call->datagram) && decode(port, call)) return 1;
    }
    queue->driver->flush(queue);
    port->next = 0;
    port->count = queue->driver->receive(queue, port->frames);
    if (port->count == 0) return 0;
  }
}

void rpc_wait(struct rpc_port* port, struct rpc_call* call) {
  struct nic_queue* queue = port->interface.queue;
  while (rpc_poll(port, call) == 0) {
    account(polling);
    queue->driver->wait(queue);
    account(networking);
  }
}

void rpc_reply(struct rpc_port* port, struct rpc_call* call, uint32_t* result, uint32_t length) {
  stage(marshal, call->datagram.frame);
  uint32_t* message = result - REPLY_HEADER_WORDS;
  message[0] = call->id;
  message[1] = BE32(RPC_REPLY);
  message[2] = BE32(RPC_MSG_ACCEPTED);
  message[3] = BE32(RPC_AUTH_NONE);
  message[4] = 0;
  message[5] = BE32(RPC_SUCCESS);
  net_reply(&port->interface, &call->datagram, message, length + RPC_REPLY_HEADER_BYTES);
}

/* The handler may have written over the arguments, but not over the start of the message. */
void rpc_refuse(struct rpc_port* port, struct rpc_call* call, uint32_t accept_stat) {
  refuse(port, &call->datagram, accept_stat);
}

COLD void rpc_ignore(struct rpc_port* port, struct rpc_call* call) {
  port->counters.unanswered++;
  net_drop(&port->interface, &call->datagram);
}

void rpc_execute(struct rpc_port* port, struct rpc_call* call) {
  account(application);
  port->counters.calls++;
  if (likely(call->schema->is_known))
    stage(handler, call->datagram.frame);
  else
    stage(unmarshal, call->datagram.frame); /* until rpc_begin_work() */
  int32_t length = call->handler(call);
  account(networking);
  if (likely(length >= 0)) {
    if (call->schema->result != 0) stage(marshal, call->datagram.frame);
    if (unlikely(!rpc_result_leaves(call->schema, call->result, (uint32_t)length)))
      return rpc_refuse(port, call, RPC_SYSTEM_ERR);
    rpc_reply(port, call, call->result, (uint32_t)length);
  } else if (length == RPC_REFUSE_SILENTLY) {
    rpc_ignore(port, call);
  } else {
    rpc_refuse(port, call, (uint32_t)-length);
  }
}

void rpc_serve(struct rpc_port* port) {
  struct rpc_call call;
  account(networking);
  for (;;) {
    rpc_wait(port, &call);
    rpc_execute(port, &call);
  }
}

/* `flatten` inlines all calls here, so that rpc_serve() stays the only caller of the called functions and the compiler
 * inlines them there too. */
__attribute__((flatten, noinline)) bool rpc_take_turn(struct rpc_port* port) {
  struct nic_queue* queue = port->interface.queue;
  struct rpc_call call;
  uint32_t count = queue->driver->receive(queue, port->frames);
  if (count == 0) return false;
  account(networking);
  for (uint32_t i = 0; i < count; i++) {
    if (net_receive(&port->interface, port->frames[i], &call.datagram) && decode(port, &call)) rpc_execute(port, &call);
  }
  queue->driver->flush(queue);
  return true;
}

void rpc_serve_datagram(struct rpc_port* port, const struct net_datagram* datagram) {
  struct rpc_call call = {.datagram = *datagram};
  if (decode(port, &call)) rpc_execute(port, &call);
}
