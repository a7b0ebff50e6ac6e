/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/lauberhorn/workers.h: the threads of processes that serve calls. Worker n of a process has its
 * end-point n; any hart may run it. */
#pragma once

#include "firmware/drivers/lauberhorn/lauberhorn.h"
#include "firmware/drivers/lauberhorn/services.h"
#include "firmware/process/process.h"

struct server;

struct worker {
  struct server* server;
  struct thread thread;
  uint32_t number;
  uint8_t* handed;     /* what lies at SERVICE_CALL(number) */
  bool exists;         /* its process has not ended */
  bool is_busy;        /* a hart runs it, or it has been set aside */
  bool has_begun;      /* it has asked for something to do */
  bool has_kept;       /* the call that was handed to it, which is no longer in the kernel line */
  uint32_t session;    /* of that call */
  struct worker* next; /* of those that the hart has set aside */
};

/* The processes that serve one program, one after the other: the call behind the end of one begins the next. */
struct server {
  const struct lauberhorn* nic;
  const struct process_image* image;
  uint16_t number;   /* of the process, at the NIC and as ASID */
  uint16_t instance; /* of the process: those that have been before are counted, modulo 2^16 */
  uint32_t harts;    /* that may serve it */
  struct spinlock lock;
  struct process* process; /* 0: none yet */
  struct worker** workers; /* 0: none yet */
  uint32_t busy;           /* of them */
};

void server_setup(struct server* server, const struct lauberhorn* nic, uint16_t number, uint32_t harts,
                  const struct process_image* image);

/* A worker that waits, if possible the one of this number; 0: there is none. Begins the process, or the thread, which
 * has not run then. is_ending: the process has ended, and some of its workers have not been given back. */
struct worker* server_take(struct server* server, uint32_t preferred, bool* is_ending);

/* The NIC takes back the worker's lines, and drops the call that it may have in them. */
void worker_lose_lines(const struct worker* worker);

/* The worker waits again. If its process has ended, the NIC sends away its other threads, and holds back what comes for
 * it until the last of them is here: their end-points are the next process's. */
void worker_give(struct worker* worker);
