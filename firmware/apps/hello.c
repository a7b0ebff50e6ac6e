/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/apps/hello.c: shows that boot, console, device tree, timer interrupt and secondary harts work, then passes.
 */
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/start.h"

#define TICKS 3u

static volatile uint32_t ticks;
static volatile uint32_t harts_up;

static void tick(void* context) { *(volatile uint32_t*)context += 1; }

static void secondary_main(unsigned long hart, void* unused) {
  (void)unused;
  hart_set_id((unsigned)hart);
  __atomic_fetch_add(&harts_up, 1, __ATOMIC_RELEASE);
  hart_park();
}

int application_main(void) {
  static const char* const controllers[] = {"none", "PLIC", "AIA"};
  print("hello from supervisor mode\n");
  print("memory %lu MiB at %lx, %u harts, time base %lu Hz, interrupts %s\n", (unsigned long)board.memory_size >> 20,
        (unsigned long)board.memory_base, board.harts, (unsigned long)board.timebase_frequency,
        controllers[board.interrupts]);

  uint64_t deadline = read_time();
  for (uint32_t n = 0; n < TICKS; n++) {
    deadline += board.timebase_frequency / 10000;
    interrupt_at(deadline, tick, (void*)&ticks);
    const volatile uint32_t never = 0;
    while (ticks == n) interrupt_idle(&never);
    if (read_time() < deadline) return 1;
  }
  print("timer interrupt %u times\n", ticks);

  for (unsigned hart = 1; hart < board.harts; hart++) hart_start(hart, secondary_main);
  while (harts_up + 1 < board.harts) cpu_pause();
  print("all %u harts in supervisor mode\n", board.harts);
  return 0;
}
