/* SPDX-License-Identifier: Apache-2.0 */
/* tests/firmware/processes.c: processes in user mode: their memory is their own, what they may not do ends them and no
 * other, and a timer divides a hart between those that never give it up. */
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/panic.h"
#include "firmware/kernel/start.h"
#include "firmware/process/process.h"

#define TRESPASSES 8u
#define SLICE_US 100u

static struct process processes[16];
static struct thread threads[16]; /* the only one of each */
static unsigned ticks;

static void expect(bool is_right, const char* what) {
  if (!is_right) panic(what);
}

static struct thread* create(unsigned number, const char* name, uint64_t argument) {
  const struct process_image* image = process_find_image(name);
  expect(image != 0, "there is no such process image");
  expect(process_create(&processes[number], (uint16_t)number, image), "the image is no program");
  thread_create(&threads[number], &processes[number], 0, argument, 0);
  return &threads[number];
}

/* Two of one image lie at the same addresses, and each finds what it has written. */
static void run_apart(void) {
  struct thread *a = create(1, "process-greets", 1), *b = create(2, "process-greets", 2);
  expect(thread_run(a) == THREAD_YIELDED && thread_run(b) == THREAD_YIELDED, "they yield");
  expect(thread_run(a) == THREAD_ENDED && a->process->exit_code == 41, "the first one's memory is as it left it");
  expect(thread_run(b) == THREAD_ENDED && b->process->exit_code == 42, "and the second one's");
  expect(a->system_calls == 4 && b->system_calls == 4, "system calls are counted");
}

static void end_trespassers(void) {
  for (unsigned i = 0; i < TRESPASSES; i++) {
    struct thread* t = create(3, "process-trespasses", i);
    expect(thread_run(t) == THREAD_ENDED && !t->process->is_alive && t->process->exit_code == ~0ul,
           "a trespasser is ended");
  }
  struct thread* deep = create(4, "process-recurses", 0);
  expect(thread_run(deep) == THREAD_ENDED && deep->process->exit_code == ~0ul,
         "a stack that is too deep ends its process");
}

/* A process that begins again has the memory of the one before, and nothing of what was in it. */
static void begin_again(void) {
  const char* before = 0;
  for (unsigned i = 0; i < 20; i++) {
    struct thread* t = create(8, "process-greets", 1);
    expect(thread_run(t) == THREAD_YIELDED && thread_run(t) == THREAD_ENDED && t->process->exit_code == 41,
           "it finds its memory as its file says");
    if (i == 0) before = memory_reserve(1, 1);
  }
  const char* after = memory_reserve(1, 1);
  expect(after == before + 1, "no memory is reserved for one that begins again");
}

static void tick(void* unused) {
  (void)unused;
  ticks++;
  interrupt_at(read_time() + board.timebase_frequency / 1000000 * SLICE_US, tick, 0);
}

static void share_hart(void) {
  struct thread* t[3];
  for (unsigned i = 0; i < 3; i++) t[i] = create(5 + i, "process-counts", 10 + i);
  unsigned alive = 3, turns = 0;
  tick(0);
  while (alive > 0) {
    for (unsigned i = 0; i < 3; i++) {
      if (!t[i]->process->is_alive) continue;
      turns++;
      if (thread_run(t[i]) == THREAD_ENDED) alive--;
    }
  }
  csr_clear(sie, SIE_TIMER);
  for (unsigned i = 0; i < 3; i++) {
    expect(t[i]->process->exit_code == 10 + i, "a process has its registers again");
    expect(t[i]->preemptions > 3, "each was preempted");
  }
  expect(turns >= ticks && ticks > 10, "a turn for each tick");
  print("processes: %u turns\n", turns);
}

int application_main(void) {
  run_apart();
  end_trespassers();
  begin_again();
  share_hart();
  print("processes: all is right\n");
  return 0;
}
