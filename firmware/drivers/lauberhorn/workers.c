/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/lauberhorn/workers.c */
#include "firmware/drivers/lauberhorn/workers.h"

#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/memory.h"
#include "firmware/user/service.h"

void server_setup(struct server* s, const struct lauberhorn* nic, uint16_t number, uint32_t harts,
                  const struct process_image* image) {
  *s = (struct server){.nic = nic, .number = number, .image = image, .harts = harts};
}

static void lose_lines(const struct server* s, uint32_t number) {
  lauberhorn_set(s->nic, LAUB_LOST, (uint64_t)s->number << 16 | number);
}

void worker_lose_lines(const struct worker* w) { lose_lines(w->server, w->number); }

static void reserve(struct server* s) {
  s->process = memory_reserve(sizeof *s->process, 64);
  *s->process = (struct process){0};
  s->workers = memory_reserve(s->nic->workers * sizeof *s->workers, 64);
  for (uint32_t i = 0; i < s->nic->workers; i++) s->workers[i] = 0;
}

/* Nothing of the process before is left in its lines. */
static bool begin_process(struct server* s) {
  if (s->process == 0) reserve(s);
  for (uint32_t i = 0; i < s->nic->workers; i++) {
    if (s->workers[i] == 0) continue;
    lose_lines(s, i);
    s->workers[i]->exists = false;
  }
  lauberhorn_set_process(s->nic, s->number, ++s->instance, s->harts);
  if (process_create(s->process, s->number, s->image)) return true;
  print("process %u (%s): is no program\n", s->number, s->image->name);
  return false;
}

static struct worker* reserve_worker(void) {
  struct worker* w = memory_reserve(sizeof *w, 64);
  w->handed = memory_reserve(SERVICE_CALL_BYTES, PAGE_BYTES);
  return w;
}

static void begin_worker(struct server* s, uint32_t number) {
  struct worker* w = s->workers[number] != 0 ? s->workers[number] : reserve_worker();
  *w = (struct worker){.server = s, .number = number, .handed = w->handed, .exists = true};
  for (uint32_t i = 0; i < SERVICE_CALL_BYTES; i++) w->handed[i] = 0; /* what the process before had there */
  const struct lauberhorn_lines lines = lauberhorn_user(s->nic, s->number, number, LAUB_RX);
  spinlock_take(&s->process->lock);
  address_space_map_range(&s->process->space, SERVICE_CALL(number), (uintptr_t)w->handed, SERVICE_CALL_BYTES,
                          PAGE_READ | PAGE_WRITE);
  const struct lauberhorn_lines out = lauberhorn_user(s->nic, s->number, number, LAUB_TX);
  const unsigned access = PAGE_READ | PAGE_WRITE | PAGE_DEVICE;
  address_space_map_range(&s->process->space, SERVICE_LINES(number), lines.base, SERVICE_LINES_BYTES, access);
  address_space_map_range(&s->process->space, SERVICE_LINES(number) + LAUB_TX, out.base, SERVICE_LINES_BYTES, access);
  thread_create(&w->thread, s->process, number,
                SERVICE_BY_LINES | (uint64_t)s->nic->line_bytes << SERVICE_DELIVERY_BITS, board.core_frequency);
  spinlock_give(&s->process->lock);
  s->workers[number] = w;
}

static struct worker* take(struct server* s, uint32_t number) {
  if (s->workers[number] == 0 || !s->workers[number]->exists) begin_worker(s, number);
  struct worker* w = s->workers[number];
  if (w->is_busy) return 0;
  w->is_busy = true;
  s->busy++;
  return w;
}

/* Whether there is a process that serves. None begins before all threads of the last one are here. */
static bool has_process(struct server* s) {
  if (s->process != 0 && process_lives(s->process)) return true;
  return s->busy == 0 && begin_process(s);
}

struct worker* server_take(struct server* s, uint32_t preferred, bool* is_ending) {
  struct worker* w = 0;
  spinlock_take(&s->lock);
  const bool is_there = has_process(s);
  *is_ending = !is_there && s->busy != 0;
  if (is_there) {
    w = take(s, preferred % s->nic->workers);
    for (uint32_t i = 0; w == 0 && i < s->nic->workers; i++) w = take(s, i);
  }
  spinlock_give(&s->lock);
  return w;
}

void worker_give(struct worker* w) {
  struct server* s = w->server;
  spinlock_take(&s->lock);
  w->is_busy = false;
  s->busy--;
  if (!process_lives(s->process)) {
    if (s->busy == 0) lose_lines(s, LAUB_LOST_KEPT);
    lauberhorn_set_process(s->nic, s->number, s->instance, s->busy == 0 ? s->harts : 0);
  }
  spinlock_give(&s->lock);
}
