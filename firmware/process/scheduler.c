/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/process/scheduler.c */
#include "firmware/process/scheduler.h"

#include "firmware/boot/boot.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/spinlock.h"

/* A line of its own for each core: others look at its state. */
struct core {
  _Alignas(64) struct spinlock lock; /* of ready */
  struct task_queue ready;
  uint32_t is_free; /* runs none of the tasks */
  bool is_there;
  uint64_t interrupt; /* where other cores write interrupt_data; 0: it looks by itself */
  uint32_t interrupt_data;
};
static struct core cores[BOOT_MAX_HARTS];

void scheduler_start(uint32_t core, uint64_t address, uint32_t data) {
  cores[core].interrupt_data = data;
  cores[core].interrupt = address;
  __atomic_store_n(&cores[core].is_there, true, __ATOMIC_RELEASE);
}

/* Two who look for a free core do not find the same one. */
static bool claim(struct core* c) {
  return __atomic_load_n(&c->is_free, __ATOMIC_RELAXED) != 0 &&
         __atomic_exchange_n(&c->is_free, 0, __ATOMIC_ACQ_REL) != 0;
}

uint32_t scheduler_find_core(const struct task* t) {
  if (claim(&cores[t->core])) return t->core;
  for (uint32_t i = 0; i < BOOT_MAX_HARTS && cores[i].is_there; i++)
    if (claim(&cores[i])) return i;
  return t->core;
}

void scheduler_put(uint32_t core, struct task* t) {
  struct core* c = &cores[core];
  spinlock_take(&c->lock);
  task_queue_put(&c->ready, t);
  spinlock_give(&c->lock);
  if (core != hart_id() && c->interrupt != 0) *(volatile uint32_t*)c->interrupt = c->interrupt_data;
}

struct task* scheduler_take(uint32_t core) {
  struct core* c = &cores[core];
  spinlock_take(&c->lock);
  struct task* t = task_queue_take(&c->ready);
  __atomic_store_n(&c->is_free, t == 0, __ATOMIC_RELEASE);
  spinlock_give(&c->lock);
  if (t != 0) t->core = core;
  return t;
}

bool scheduler_has_task(uint32_t core) { return __atomic_load_n(&cores[core].ready.first, __ATOMIC_RELAXED) != 0; }
