/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/process/batch.c */
#include "firmware/process/batch.h"

#include "firmware/boot/boot.h"
#include "firmware/kernel/account.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/fdt.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/panic.h"
#include "firmware/kernel/statistics.h"
#include "firmware/process/system_call.h"
#include "firmware/process/task.h"
#include "firmware/process/time_slice.h"
#include "firmware/user/batch.h"

/* The threads of a hart. The first one has the turn. */
struct queue {
  struct task_queue threads;
  bool is_over; /* the turn */
};

static struct process process;
static struct queue queues[BOOT_MAX_HARTS];
static uint32_t wanted;

void batch_find(void) {
  struct fdt_walk node;
  if (fdt_find_chosen(&node, board_device_tree)) wanted = fdt_get_u32(&node, "sluice,batch-threads", 0);
  if (wanted > THREADS_MOST) panic("/chosen's sluice,batch-threads is more than a process may have");
}

static bool is_empty(const struct queue* q) { return q->threads.first == 0; }
static void rotate(struct queue* q) { task_queue_put(&q->threads, task_queue_take(&q->threads)); }

void batch_setup(unsigned harts, uint16_t number, bool from_last) {
  if (wanted == 0) return;
  const struct process_image* image = process_find_image("process-batch");
  if (image == 0 || !process_create(&process, number, image)) panic("there is no batch process");
  uint64_t* units = memory_reserve(PAGE_BYTES, PAGE_BYTES);
  address_space_map(&process.space, BATCH_UNITS, (uintptr_t)units, PAGE_READ | PAGE_WRITE);
  for (uint32_t i = 0; i < wanted; i++) {
    struct task* t = memory_reserve(sizeof *t, 64);
    thread_create(&t->thread, &process, i, 0, 0);
    task_queue_put(&queues[from_last ? harts - 1 - i % harts : i % harts].threads, t);
    units[i] = 0;
    statistics_add("batch_units", &units[i]);
  }
}

bool batch_has_work(unsigned hart) { return !is_empty(&queues[hart]); }

static void end_turn(void* queue) { ((struct queue*)queue)->is_over = true; }

/* Runs the first thread to its next event. False: it has ended, or gives its turn up. */
static bool run_first(struct queue* q) {
  struct thread* t = &q->threads.first->thread;
  account(batch);
  const enum thread_event event = thread_run(t);
  account(kernel);
  if (event == THREAD_CALLS) thread_answer(t, SYSTEM_CALL_ERROR);
  if (event == THREAD_ENDED)
    task_queue_take(&q->threads);
  else if (event == THREAD_YIELDED)
    rotate(q);
  return event != THREAD_ENDED && event != THREAD_YIELDED;
}

void batch_run(unsigned hart, batch_until* until, const void* context) {
  struct queue* q = &queues[hart];
  bool begins = true;
  while (!is_empty(q) && !until(context)) {
    if (begins && q->threads.first->next != 0) interrupt_at(time_slice_end(), end_turn, q);
    q->is_over = false;
    begins = !run_first(q);
    if (begins || !q->is_over) continue;
    rotate(q);
    begins = true;
  }
  if (!is_empty(q)) rotate(q); /* the next one has what is left of the hart */
}

void batch_take_turn(unsigned hart, batch_until* until, const void* context) {
  struct queue* q = &queues[hart];
  while (!is_empty(q) && !until(context)) run_first(q);
  if (!is_empty(q)) rotate(q);
}
