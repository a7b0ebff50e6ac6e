/* SPDX-License-Identifier: Apache-2.0 */
/* tests/firmware/interrupt_idle.c: interrupt_idle() serves whatever is pending when it is called before it returns,
 * whether its caller has work or not. It waits for an interrupt that is not pending only if the caller has no work. */
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/start.h"

#define AGAIN 3u

static volatile uint32_t ticks;
static const volatile uint32_t no_work = 0, work = 1;

static void tick(void* unused) {
  (void)unused;
  ticks++;
}

/* The timer of a time that is over is pending a delivery after it is set. */
static void interrupt_now(interrupt_handler* handler) {
  interrupt_at(0, handler, 0);
  while ((csr_read(sip) & SIE_TIMER) == 0) continue;
}

/* Each tick makes the next one pending. */
static void tick_again(void* unused) {
  (void)unused;
  if (++ticks < AGAIN) interrupt_now(tick_again);
}

static uint32_t ticks_of(const volatile uint32_t* ready) {
  ticks = 0;
  interrupt_idle(ready);
  return ticks;
}

int application_main(void) {
  interrupt_now(tick);
  if (ticks_of(&work) != 1) return 16;
  if (ticks_of(&work) != 0) return 17;
  interrupt_now(tick);
  if (ticks_of(&no_work) != 1) return 18;
  interrupt_now(tick_again);
  if (ticks_of(&work) != AGAIN) return 19;
  interrupt_now(tick_again);
  if (ticks_of(&no_work) != AGAIN) return 20;

  uint64_t deadline = read_time() + board.timebase_frequency / 1000;
  interrupt_at(deadline, tick, 0);
  if (ticks_of(&work) != 0 || read_time() >= deadline) return 21;
  if (ticks_of(&no_work) != 1 || read_time() < deadline) return 22;
  if (csr_read(sstatus) & SSTATUS_SIE) return 23;
  print("interrupt_idle serves what is pending\n");
  return 0;
}
