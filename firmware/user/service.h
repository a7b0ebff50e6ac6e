/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/user/service.h: what a kernel and a process that serves an RPC program have in common: where the process has
 * what the kernel maps for it, and which system calls it makes (beside those of firmware/process/system_call.h). */
#pragma once

#include <stdint.h>

#include "models/nic/lauberhorn/lauberhorn_regs.h"

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
