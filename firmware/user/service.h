/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/user/service.h: what a kernel and a process that serves an RPC program have in common: where the process has
 * what the kernel maps for it, and which system calls it makes (beside those of firmware/process/system_call.h). */
#pragma once

#include <stdint.h>

#include "firmware/drivers/nic.h"
#include "models/nic/lauberhorn/lauberhorn_regs.h"

#define SERVICE_THREADS 32u /* most of a process */

/* How a process gets its calls: main()'s second argument. */
enum service_delivery {
  SERVICE_BY_LINES,  /* of its end-points of Lauberhorn; the bytes of a line are in the bits above */
  SERVICE_BY_QUEUE,  /* of a descriptor NIC, which it drives itself */
  SERVICE_BY_SOCKET, /* of the kernel */
};
#define SERVICE_DELIVERY_BITS 8

/* What a process is told that gets no lines: at SERVICE_START. */
#define SERVICE_START 0x3fd8000000ul
struct service_start {
  uint32_t instance;            /* of its program, and so its UDP port */
  uint32_t idle_polls;          /* that find nothing, until it gives its turn up; 0: it keeps it */
  uint64_t device_memory;       /* where devices find SERVICE_DEVICE_MEMORY */
  uint64_t device_memory_bytes; /* there */
  struct nic nic;               /* whose queue it has, or by whose settings it sends */
};
/* SERVICE_BY_QUEUE: the queue's page of registers, and memory for its rings and buffers. */
#define SERVICE_QUEUE 0x3fd8001000ul
#define SERVICE_DEVICE_MEMORY 0x3fda000000ul

/* SERVICE_BY_SOCKET: (message), a struct socket_message. RECEIVE waits for a datagram to the process's port, and SEND
 * sends one from there. 0, or SYSTEM_CALL_ERROR: the message is not in memory of the process, or is too long. */
#define SYSTEM_CALL_RECEIVE 20
#define SYSTEM_CALL_SEND 21

/* Of thread n: the lines of its end-point, as LAUB_RX and LAUB_TX in it, and the call that its kernel hands to it, in
 * the form of a control line whose bytes go on behind each other. */
#define SERVICE_LINES(n) (0x3fe0000000ul + (n)*LAUB_ENDPOINT_SIZE)
#define SERVICE_LINES_BYTES 0x3000u /* whole pages: control lines and overflow lines */
#define SERVICE_CALL_STEP 0x10000ul
#define SERVICE_CALL(n) (0x3fd0000000ul + (n)*SERVICE_CALL_STEP)
#define SERVICE_CALL_BYTES 0x3000u

/* (reply): the thread has nothing to do, or has answered the call that the kernel has handed to it: bytes of the result
 * in that place, or a negative number as handlers return it, or SERVICE_NO_REPLY. Returns SERVICE_GO_ON: its lines may
 * bring calls; or SERVICE_CALLED: the kernel has handed it one. */
#define SYSTEM_CALL_WAIT 16
#define SERVICE_NO_REPLY (1l << 40)
#define SERVICE_KEPT (-1001) /* as handlers return it: the answer comes later */
#define SERVICE_GO_ON 0
#define SERVICE_CALLED 1
#define SERVICE_GO_BACK 2 /* of SYSTEM_CALL_TRYAGAIN: others wait for the hart */
/* (): its lines have brought TRYAGAIN. */
#define SYSTEM_CALL_TRYAGAIN 17
/* (program, procedure): number of the service for calls of handlers, or SYSTEM_CALL_ERROR. */
#define SYSTEM_CALL_FIND_SERVICE 18

/* At SERVICE_DESCRIPTION, the first address of the process's file. */
#define SERVICE_DESCRIPTION 0x3fc0010000ul
struct service_description {
  uint64_t program; /* address of its struct rpc_program, whose handlers are addresses of the process, too */
  uint64_t copied;  /* code for services whose arguments or results may have no room in a control line */
};
