/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/second_cluster.c: firmware of a second cluster. It boots, takes timer interrupts, starts its other
 * harts and works on its own memory for as long as the board runs. */
#include "firmware/kernel/account.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/start.h"

#define LINES 4096u

static volatile uint64_t memory[LINES * 8];
static volatile uint32_t ticks;
static volatile uint32_t harts_up;

static void tick(void* context) { *(volatile uint32_t*)context += 1; }

static void work(unsigned hart) {
  account(application);
  for (unsigned line = hart; line < LINES; line += board.harts) memory[line * 8] += line;
}

static void secondary_main(unsigned long hart, void* unused) {
  (void)unused;
  hart_set_id((unsigned)hart);
  __atomic_fetch_add(&harts_up, 1, __ATOMIC_RELEASE);
  for (;;) work((unsigned)hart);
}

int application_main(void) {
  for (unsigned hart = 1; hart < board.harts; hart++) hart_start(hart, secondary_main);
  while (harts_up + 1 < board.harts) cpu_pause();
  print("second cluster: %lu MiB at %lx, harts %u to %u\n", (unsigned long)board.memory_size >> 20,
        (unsigned long)board.memory_base, board.first_hart, board.first_hart + board.harts - 1);
  uint64_t deadline = read_time();
  for (;;) {
    uint32_t before = ticks;
    deadline += board.timebase_frequency / 100000;
    interrupt_at(deadline, tick, (void*)&ticks);
    const volatile uint32_t never = 0;
    while (ticks == before) interrupt_idle(&never);
    work(0);
    if (ticks == 20) print("second cluster: 20 ticks\n");
  }
}
