/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/server/bypass.c */
#include "firmware/server/bypass.h"

#include "firmware/drivers/descriptor/queue.h"
#include "firmware/drivers/descriptor/setup.h"
#include "firmware/kernel/account.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/fdt.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/statistics.h"
#include "firmware/memory/translation.h"
#include "firmware/process/batch.h"
#include "firmware/process/scheduler.h"
#include "firmware/process/system_call.h"
#include "firmware/process/time_slice.h"
#include "firmware/rpc/port.h"
#include "firmware/user/service.h"

/* How often hart 0 looks at the kernel's queue. */
#define LOOK_US 100u

struct core {
  struct task_queue ready;
  bool is_due; /* its time to look at the kernel's queue, or at who is next */
  struct {
    uint64_t turns, yields, ended;
  } counters;
};
static struct core cores[BOOT_MAX_HARTS];
static struct task tasks[SERVER_PROCESSES_MOST];
static struct rpc_port kernel_port; /* of queue 0: what no rule steers */
static uint32_t idle_polls;

void bypass_find(void) {
  struct fdt_walk node;
  if (fdt_find_chosen(&node, board_device_tree)) idle_polls = fdt_get_u32(&node, "sluice,idle-polls", 0);
}

bool bypass_is_asked_for(void) { return idle_polls != 0; }

/* What a process's driver takes from memory_reserve_dma(), in large pages. */
static uint64_t driver_memory(const struct nic_settings* s) {
  return (nic_descriptor_device_memory(s) + LARGE_PAGE_BYTES - 1) & ~(uint64_t)(LARGE_PAGE_BYTES - 1);
}

static void give_memory(struct server_process* p, const uint8_t* memory, uint64_t bytes) {
  p->start->device_memory = memory_device_address(memory);
  p->start->device_memory_bytes = bytes;
  for (uint64_t at = 0; at < bytes; at += LARGE_PAGE_BYTES)
    address_space_map_large(&p->process.space, SERVICE_DEVICE_MEMORY + at, (uintptr_t)memory + at,
                            PAGE_READ | PAGE_WRITE);
}

static void give_queue(const struct nic* nic, struct server_process* p, uint32_t queue) {
  p->start->idle_polls = idle_polls;
  address_space_map(&p->process.space, SERVICE_QUEUE, translation_physical(nic->registers + DESC_QUEUE(queue)),
                    PAGE_READ | PAGE_WRITE | PAGE_DEVICE);
  nic_descriptor_steer(nic->registers, queue - 1, p->udp_port, queue);
}

/* Runs a process until it has started its queue, and says so by giving its turn up. */
static bool begin(struct task* t, struct server_process* p) {
  thread_create(&t->thread, &p->process, 0, SERVICE_BY_QUEUE, board.core_frequency);
  enum thread_event event;
  do {
    event = thread_run(&t->thread);
    if (event == THREAD_CALLS) thread_answer(&t->thread, SYSTEM_CALL_ERROR);
  } while (event == THREAD_CALLS || event == THREAD_PREEMPTED);
  account(kernel);
  return event == THREAD_YIELDED;
}

bool bypass_setup(const struct nic* nic, struct server_process* processes, uint32_t count, uint32_t harts) {
  const uint32_t queues = nic_descriptor_queues(nic->registers);
  if (count >= queues || count > DESC_UDP_RULES) {
    print("%u processes need %u queues, and %s has %u\n", count, count + 1, nic->settings.name, queues);
    return false;
  }
  rpc_port_setup(&kernel_port, nic, 0, nic->settings.ipv4);
  /* Together, so that nothing lies between them that their alignment would leave empty. */
  const uint64_t bytes = driver_memory(&nic->settings);
  const uint8_t* memory = memory_reserve_dma(count * bytes, LARGE_PAGE_BYTES);
  for (uint32_t i = 0; i < count; i++) {
    give_memory(&processes[i], memory + i * bytes, bytes);
    give_queue(nic, &processes[i], i + 1);
    if (!begin(&tasks[i], &processes[i])) {
      print("%s does not begin\n", processes[i].process.record.name);
      return false;
    }
    task_queue_put(&cores[i % harts].ready, &tasks[i]);
  }
  for (uint32_t i = 0; i < harts; i++) statistics_add("turns yields ended", &cores[i].counters.turns);
  return nic->start(nic);
}

static void be_due(void* core) { ((struct core*)core)->is_due = true; }
static bool is_due(const void* core) { return ((const struct core*)core)->is_due; }

enum end { DUE, YIELDED, ENDED };

/* Runs a process until the core is due. */
static enum end run(struct core* c, struct task* t) {
  while (!c->is_due) {
    account(polling); /* it says itself when it has found something */
    const enum thread_event event = thread_run(&t->thread);
    account(kernel);
    if (event == THREAD_CALLS) thread_answer(&t->thread, SYSTEM_CALL_ERROR);
    if (event == THREAD_ENDED) return ENDED;
    if (event == THREAD_YIELDED) return YIELDED;
  }
  return DUE;
}

static void look_at_kernel_queue(uint32_t hart) {
  if (hart != 0) return;
  while (rpc_take_turn(&kernel_port)) {
  }
  account(kernel);
}

/* Runs a process, or the hart's batch threads, for a time slice. */
static enum end run_slice(uint32_t hart, struct task* t, bool is_batch) {
  struct core* c = &cores[hart];
  const uint64_t slice_end = time_slice_end();
  enum end end = DUE;
  c->counters.turns++;
  do {
    const uint64_t look = read_time() + board.timebase_frequency / 1000000 * LOOK_US;
    c->is_due = false;
    interrupt_at(hart == 0 && look < slice_end ? look : slice_end, be_due, c);
    if (is_batch)
      batch_take_turn(hart, is_due, c);
    else
      end = run(c, t);
    look_at_kernel_queue(hart);
  } while (end == DUE && read_time() < slice_end);
  c->counters.yields += end == YIELDED;
  c->counters.ended += end == ENDED;
  return end;
}

void bypass_serve(uint32_t hart) {
  struct core* c = &cores[hart];
  struct task batch = {.next = 0}; /* stands for the batch threads in the hart's queue */
  if (batch_has_work(hart)) task_queue_put(&c->ready, &batch);
  interrupt_setup_hart(hart);
  for (;;) {
    struct task* t = task_queue_take(&c->ready);
    if (t == 0 && hart != 0) hart_park();
    if (t == 0)
      look_at_kernel_queue(hart);
    else if (run_slice(hart, t, t == &batch) != ENDED)
      task_queue_put(&c->ready, t);
  }
}
