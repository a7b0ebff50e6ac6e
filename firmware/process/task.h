/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/process/task.h: threads in queues. */
#pragma once

#include "firmware/process/process.h"

struct task {
  struct thread thread;
  struct task* next; /* of the queue that it is in: a core's, or one of those who wait for something */
  uint32_t core;     /* has run it last */
};

/* Of tasks, in order. */
struct task_queue {
  struct task *first, *last; /* first = 0: empty */
};

static inline void task_queue_put(struct task_queue* q, struct task* t) {
  t->next = 0;
  *(q->first == 0 ? &q->first : &q->last->next) = t;
  q->last = t;
}

/* 0: it is empty. */
static inline struct task* task_queue_take(struct task_queue* q) {
  struct task* t = q->first;
  if (t != 0) q->first = t->next;
  return t;
}
